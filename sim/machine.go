package sim

import (
	"time"

	"locksim/clock"
)

// Machine is where a process or a server runs: it has clocks, buffers for what
// arrives, and can be paused, killed or cut off.
type Machine struct {
	w       *World
	id      int
	name    string
	clock   clock.Clock
	threads []*Process
	spare   []*Process // threads of earlier runs, to be used again
	server  *Server
	kept    Server // the memory of server

	frozen int     // pauses of the whole machine that are on
	asleep int     // those of them that suspend it
	lives  int32   // crashes so far: a pause ends with the process that it paused
	due    []event // what came while it was frozen
	alarms []alarm
	links  []*link // to each machine, by its id
	conns  []*Conn // of its process, as far as its kernel knows
}

// Name is the machine's name: that of its process or server.
func (m *Machine) Name() string { return m.name }

// Server is the server on this machine; nil when it runs a process.
func (m *Machine) Server() *Server { return m.server }

// Read is what clock k of the machine shows now.
func (m *Machine) Read(k clock.Kind) time.Duration {
	return m.clock.Read(k, m.w.timeline.Now())
}

// StepClock moves the wall clock by d.
func (m *Machine) StepClock(d time.Duration) {
	m.clock.Step(d)
	m.retime(clock.Wall) // the last of the kinds: the others did not change
}

// SetClockRate lets all clocks of the machine run at rate from now on.
func (m *Machine) SetClockRate(rate clock.Rate) {
	m.clock.SetRate(m.w.timeline.Now(), rate)
	m.retime(clock.Monotonic)
}

// Kill ends the machine's process: all its threads, timers and open calls. A
// server's machine is ended by [Server.Crash].
func (m *Machine) Kill() {
	for _, p := range m.threads {
		for i := range m.w.calls {
			if m.w.calls[i].owner == p {
				m.w.closeCall(uint32(i))
			}
		}
		p.dead = true // all, before the first defer runs
	}
	for _, p := range m.threads {
		p.kill()
	}
	m.dropTimers()
}

// Dead tells whether a process ran here and all of it has ended or was killed.
func (m *Machine) Dead() bool {
	for _, p := range m.threads {
		if p.state != stateEnded && !p.dead {
			return false
		}
	}
	return m.server == nil
}

func (m *Machine) dropTimers() {
	for i := range m.alarms {
		m.drop(&m.alarms[i])
	}
	m.due = m.due[:0]
}

// crash drops what the machine's process had in memory, and any pause of it.
func (m *Machine) crash() {
	m.dropTimers()
	m.lives++
	if m.asleep > 0 {
		m.clock.Resume(m.w.timeline.Now())
	}
	m.frozen, m.asleep = 0, 0
}

// retime sets the timers of the machine on the clocks from k on anew, after those
// have changed.
func (m *Machine) retime(k clock.Kind) {
	for _, p := range m.threads {
		if p.timed && p.wakeBy >= k && (p.timer == clock.Timer{} || m.w.timeline.Cancel(p.timer)) {
			p.schedule()
		}
	}
	for i := range m.alarms {
		a := &m.alarms[i]
		if a.live && a.by >= k && (a.timer == clock.Timer{} || m.w.timeline.Cancel(a.timer)) {
			m.schedule(uint32(i))
		}
	}
}

func (m *Machine) reset(w *World, name string) {
	m.w, m.name, m.server = w, name, nil
	m.clock = clock.Clock{}
	m.spare = append(m.spare, m.threads...)
	m.threads = m.threads[:0]
	m.frozen, m.asleep, m.lives = 0, 0, 0
	m.due, m.conns = m.due[:0], nil
	for i := range m.alarms { // generations go on: an Alarm from before names nothing
		m.alarms[i].live, m.alarms[i].f = false, nil
	}
	for _, l := range m.links {
		if l != nil {
			l.fresh = false
		}
	}
}

// start puts up a thread; its body begins at the present instant, after what is
// already scheduled for it.
func (m *Machine) start(thread string, body func(*Process)) *Process {
	var p *Process
	if n := len(m.spare); n > 0 {
		p = m.spare[n-1]
		m.spare = m.spare[:n-1]
		gen := p.gen
		*p = Process{due: p.due[:0], rand: p.rand, gen: gen}
	} else {
		p = &Process{}
	}
	p.w, p.m, p.thread, p.body = m.w, m, thread, body
	m.threads = append(m.threads, p)
	m.w.timeline.Schedule(m.w.timeline.Now(), event{kind: evWake, p: p, gen: p.gen})
	return p
}
