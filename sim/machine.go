package sim

import (
	"fmt"
	"slices"
	"strings"
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

// Pause is a way in which a machine, or a thread, stops for a while.
type Pause uint8

// The kinds of pause.
const (
	// GC stops the whole process, as a garbage collection that stops the world
	// does: code, threads and timers. Its clocks run on and the kernel's sockets
	// still buffer. Afterwards its code goes on where it was, and then sees what
	// came in the meantime, in the order in which it came.
	GC Pause = iota
	// Loop blocks the event loop, as a long computation does in Node.js. When it
	// ends, the code goes on to its next wait; then the timers that are due run,
	// and only then what the sockets have buffered.
	Loop
	// Thread stalls the first thread alone. Timers and other threads go on.
	Thread
	// Suspend stops the machine, as a suspended laptop or a migrated virtual
	// machine: as GC, and its monotonic clock stands still.
	Suspend
)

var pauseNames = [...]string{GC: "gc", Loop: "loop", Thread: "thread", Suspend: "suspend"}

// String is the kind's name in a schedule: "gc", "loop", "thread" or "suspend".
func (k Pause) String() string { return pauseNames[k] }

// MarshalText writes the kind's name.
func (k Pause) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *Pause) UnmarshalText(text []byte) error {
	i := slices.Index(pauseNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no kind of pause %q: want one of %s", text, strings.Join(pauseNames[:], ", "))
	}
	*k = Pause(i)
	return nil
}

// Pause stops the machine for d of true time. Pauses may overlap: it goes on
// when the last of them is over.
func (m *Machine) Pause(k Pause, d time.Duration) {
	w := m.w
	e := event{kind: evThaw, to: m, gen: uint32(k), era: m.lives}
	switch k {
	case Thread:
		if len(m.threads) == 0 {
			return
		}
		e.p = m.threads[0]
		e.p.stalled++
	case Suspend:
		m.asleep++
		m.clock.Suspend(w.timeline.Now())
		m.retime(clock.Monotonic)
		m.frozen++
	default:
		m.frozen++
	}
	w.timeline.Schedule(later(w.timeline.Now(), max(d, 0)), e)
}

// thaw ends a pause of m, or of its thread p. Code that was caught in the middle
// goes on first, then comes what has been held back.
func (m *Machine) thaw(e *event) {
	if p := e.p; p != nil {
		p.stalled--
		if p.stalled == 0 && m.frozen == 0 && p.state != stateEnded {
			p.goOn()
			m.catchUp(&p.due, Thread)
		}
		return
	}
	if e.era != m.lives {
		return
	}
	m.frozen--
	kind := Pause(e.gen)
	if kind == Suspend {
		m.asleep--
		if m.asleep == 0 {
			m.clock.Resume(m.w.timeline.Now())
			m.retime(clock.Monotonic)
		}
	}
	if m.frozen > 0 {
		return
	}
	var older []event // what a thread missed while stalled, before m froze
	for _, p := range m.threads {
		if p.stalled == 0 {
			older = append(older, p.due...)
			p.due = p.due[:0]
			p.goOn()
		}
	}
	if len(older) > 0 {
		m.due = append(older, m.due...)
	}
	m.catchUp(&m.due, kind)
}

// goOn resumes p if a pause caught it in the middle of its code.
func (p *Process) goOn() {
	if p.state == stateStopped {
		p.resume()
	}
}

// catchUp handles what was held back while m or a thread of it was paused.
func (m *Machine) catchUp(held *[]event, kind Pause) {
	due := *held
	*held = nil
	if kind == Loop {
		slices.SortStableFunc(due, func(a, b event) int {
			switch {
			case a.isIO() == b.isIO():
				return 0
			case b.isIO():
				return -1
			}
			return 1
		})
	}
	for i := range due {
		if p := m.w.handle(&due[i]); p != nil {
			p.resume()
		}
	}
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

// alarm is a callback at a reading of one of the machine's clocks.
type alarm struct {
	live  bool
	gen   uint32
	by    clock.Kind
	at    time.Duration
	timer clock.Timer
	f     func()
}

// Alarm names a callback that was set with [Machine.SetAlarm].
type Alarm struct {
	m *Machine
	t Ticket
}

// SetAlarm lets f happen when clock k of the machine shows at least reading, as
// a timer of the process or server there: a frozen machine runs it when it
// thaws, a dead one never. f must not wait.
func (m *Machine) SetAlarm(k clock.Kind, reading time.Duration, f func()) Alarm {
	i := slices.IndexFunc(m.alarms, func(a alarm) bool { return !a.live })
	if i < 0 {
		i = len(m.alarms)
		m.alarms = append(m.alarms, alarm{})
	}
	a := &m.alarms[i]
	a.live, a.by, a.at, a.f = true, k, reading, f
	a.gen++
	m.schedule(uint32(i))
	return Alarm{m, Ticket{uint32(i), a.gen}}
}

// Cancel takes the alarm back. It does nothing when it has rung.
func (a Alarm) Cancel() {
	if a.m == nil {
		return
	}
	if x := &a.m.alarms[a.t.slot]; x.gen == a.t.gen {
		a.m.drop(x)
	}
}

func (m *Machine) drop(a *alarm) {
	if !a.live {
		return
	}
	a.live, a.f = false, nil
	m.w.timeline.Cancel(a.timer)
}

func (m *Machine) schedule(i uint32) {
	a := &m.alarms[i]
	a.timer = clock.Timer{}
	if at, ok := m.clock.When(a.by, m.w.timeline.Now(), a.at); ok {
		a.timer = m.w.timeline.Schedule(at, event{kind: evAlarm, to: m, call: Ticket{i, a.gen}})
	}
}

func (m *Machine) ring(e *event) {
	a := &m.alarms[e.call.slot]
	if !a.live || a.gen != e.call.gen {
		return
	}
	if m.frozen > 0 {
		m.due = append(m.due, *e)
		return
	}
	f := a.f
	a.live, a.f = false, nil
	if !m.Dead() {
		f()
	}
}

func (m *Machine) reset(w *World, name string) {
	m.w, m.name, m.server = w, name, nil
	m.clock = clock.Clock{}
	m.spare = append(m.spare, m.threads...)
	m.threads = m.threads[:0]
	m.frozen, m.asleep, m.lives = 0, 0, 0
	m.due = m.due[:0]
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
