package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"locksim/clock"
	"locksim/history"
)

// World is one run: machines, their network, and the timeline that moves them.
// It is made with [New], prepared with [World.Reset], and run with [World.Run];
// it can be reset and run again, which keeps its memory. It is not safe for use
// by several goroutines; run several worlds instead.
type World struct {
	timeline clock.Timeline[event]
	history  history.History
	config   Config

	machines []*Machine
	spares   []*Machine // machines of earlier runs, to be used again
	calls    []call
	freed    []uint32 // calls to be used again
	rules    []rule
	ruleID   int
	anchors  []anchor

	idle    []*coroutine
	thawing bool // a machine is catching up: time must not run ahead
	kept    map[string]any

	serving string // what runs outside any process, for an error about it
	events  int
	over    bool // the run has ended: nothing is recorded and nobody waits any more
	err     error
}

// Config is what a run depends on, beside the machines that are put into it.
type Config struct {
	// Seed splits into one stream of choices for each process and link.
	Seed uint64
	// Horizon is the true instant after which nothing happens; 0 for none.
	Horizon time.Duration
	// Bound is the greatest number of events, and of recorded ones; 0 for
	// [DefaultBound]. A run that hits it ends with history.Bound.
	Bound int
	// Latency is how long messages take.
	Latency Latency
}

// DefaultBound is the greatest number of events of a run, unless it is set: a
// thousand times what a scenario needs, and few enough to end a livelock within
// seconds and a hundred megabytes.
const DefaultBound = 500_000

// New makes an empty world. Close it after its last run.
func New() *World { return &World{kept: map[string]any{}} }

// Reset ends the last run, if any, and prepares the next.
func (w *World) Reset(c Config) {
	w.release()
	if c.Horizon == 0 {
		c.Horizon = math.MaxInt64
	}
	if c.Bound == 0 {
		c.Bound = DefaultBound
	}
	w.config = c
	w.timeline.Reset()
	w.history.Reset()
	w.spares = append(w.spares, w.machines...)
	w.machines = w.machines[:0]
	w.freed = w.freed[:0]
	// The slots are taken again in the order in which a fresh world makes them.
	for i := len(w.calls) - 1; i >= 0; i-- {
		w.closeCall(uint32(i))
	}
	w.rules, w.anchors = w.rules[:0], w.anchors[:0]
	w.ruleID, w.events, w.over, w.err = 0, 0, false, nil
	w.thawing = false
}

// Close ends the last run and gives up the coroutines of the world. It must be
// called, or they leak.
func (w *World) Close() {
	w.release()
	for _, c := range w.idle {
		c.stop()
	}
	w.idle = nil
}

// Now is the true instant. Only what stands outside the story may use it: the
// recorder, a fault, a test. A lock, a client or a server reads a clock.
func (w *World) Now() time.Duration { return w.timeline.Now() }

// Seed is the run's seed.
func (w *World) Seed() uint64 { return w.config.Seed }

// Stream is a stream of choices that the seed splits off for name, for a server
// that has some to make. It begins at its beginning each time.
func (w *World) Stream(name string) *rand.Rand {
	return rand.New(rand.NewPCG(w.config.Seed, nameHash(name)))
}

// Events is how many events the run has taken so far, readings of a clock
// included.
func (w *World) Events() int { return w.events }

// History is what has happened so far. The next Reset empties it.
func (w *World) History() *history.History { return &w.history }

// Record adds e to the history at the present instant and returns its position.
// After the end of the run it records nothing.
func (w *World) Record(e history.Event) int {
	if w.over {
		return 0
	}
	e.At = w.timeline.Now()
	return w.history.Add(e)
}

// At lets f happen at true instant at.
func (w *World) At(at time.Duration, f func()) {
	w.timeline.Schedule(at, event{kind: evFunc, body: f})
}

// In lets f happen when d of true time has passed; d beyond the end of time means
// never.
func (w *World) In(d time.Duration, f func()) { w.At(later(w.Now(), max(d, 0)), f) }

// Keep returns what an earlier run in w left under name, or what fresh makes.
// It is for what is dear to build, such as a database engine. Who keeps a thing
// must clear it for the next run: no trace may depend on an earlier one.
func Keep[T any](w *World, name string, fresh func() T) T {
	if v, ok := w.kept[name].(T); ok {
		return v
	}
	v := fresh()
	w.kept[name] = v
	return v
}

// Run takes events until nothing is left, the horizon, or the bound; the
// history says which. The error names the process that panicked or left its
// goroutine; it is not about the lock, but about the code that simulates it.
func (w *World) Run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("at %v of virtual time, seed %d: %s panicked: %v\n%s", w.timeline.Now(), w.config.Seed, w.serving, r, debug.Stack())
			w.release()
		}
	}()
	for w.err == nil {
		if w.events >= w.config.Bound || len(w.history.Events) >= w.config.Bound {
			w.history.Stopped = history.Bound
			break
		}
		e := w.timeline.Next(w.config.Horizon)
		if e == nil {
			w.history.Stopped = history.Quiet
			if w.timeline.Len() > 0 {
				w.history.Stopped = history.Horizon
			}
			break
		}
		w.events++
		// The switch is made in this frame; see park.
		if p := w.handle(e); p != nil {
			p.enter()
			p.co.next()
			p.leave()
		}
	}
	w.history.End = w.timeline.Now()
	if w.history.Stopped == history.Horizon {
		w.history.End = w.config.Horizon
	}
	w.over = true
	w.release()
	return w.err
}

// event is what stands on the timeline.
type event struct {
	kind eventKind
	gen  uint32 // evWake: the wait that it ends
	left int32  // evReply: the position of its sending
	era  int32  // evRequest, evThaw: how often machine to had crashed by then
	call Ticket // evRequest, evReply: the call; evAlarm: the alarm
	p    *Process
	to   *Machine
	from *Machine
	body any
}

type eventKind uint8

const (
	evWake    eventKind = iota + 1 // p's sleep or patience is over
	evSignal                       // p's signal fired
	evRequest                      // a request reaches server to
	evReply                        // a reply reaches machine to
	evAlarm                        // an alarm of machine to
	evThaw                         // a pause of machine to, or of thread p, is over
	evFunc                         // body is a func() of the world's
	evClosed                       // machine to learns that connection body is closed
)

// isIO tells what comes from the network from what a timer brings.
func (e *event) isIO() bool {
	return e.kind == evRequest || e.kind == evReply || e.kind == evClosed
}

// handle does what e says, and returns the process that is to be resumed by it.
func (w *World) handle(e *event) *Process {
	switch e.kind {
	case evWake, evSignal:
		return e.p.wake(e)
	case evReply:
		return e.to.reply(e)
	case evRequest:
		w.serving = e.to.name
		e.to.request(e)
	case evAlarm:
		w.serving = e.to.name
		e.to.ring(e)
	case evClosed:
		w.serving = e.to.name
		e.to.disconnected(e)
	case evThaw:
		w.thawing = true
		e.to.thaw(e)
		w.thawing = false
	case evFunc:
		w.serving = "a fault or a hook"
		e.body.(func())()
	}
	return nil
}

// fail ends the run with an error about a process.
func (w *World) fail(p *Process, what string) {
	if w.err == nil {
		w.err = fmt.Errorf("at %v of virtual time, seed %d: process %s %s", w.timeline.Now(), w.config.Seed, p.label(), what)
	}
}

// release unwinds every process that still lives.
func (w *World) release() {
	w.over = true
	for _, m := range w.machines {
		for _, p := range m.threads {
			p.kill()
		}
	}
}

// Machine finds a machine by name; nil when there is none.
func (w *World) Machine(name string) *Machine {
	for _, m := range w.machines {
		if m.name == name {
			return m
		}
	}
	return nil
}

// Machines are all of them, in the order in which they were put up.
func (w *World) Machines() []*Machine { return w.machines }

// machine puts up a machine, from the spares if there is one.
func (w *World) machine(name string) *Machine {
	if name == "" || w.Machine(name) != nil {
		panic(fmt.Sprintf("sim: machine name %q is empty or taken", name))
	}
	var m *Machine
	if n := len(w.spares); n > 0 {
		m = w.spares[n-1]
		w.spares = w.spares[:n-1]
	} else {
		m = &Machine{}
	}
	m.reset(w, name)
	m.id = len(w.machines)
	w.machines = append(w.machines, m)
	return m
}
