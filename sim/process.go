package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"locksim/clock"
	"locksim/history"
)

// Process is one thread of a client. Its methods may be called only by its own
// body, while it runs. A process that was killed unwinds: its defers run, and
// what they ask of the world does nothing.
type Process struct {
	w      *World
	m      *Machine
	thread string // "" for the first
	body   func(*Process)
	co     *coroutine

	state processState
	dead  bool
	// unwinding: it has begun to run its defers after its death; undead: how often
	// it has called the world since.
	unwinding bool
	undead    int
	// gen numbers the waits; a wake-up for an earlier one comes too late.
	gen uint32
	// While asleep or patient: the reading of clock wakeBy at which that ends, and
	// the timer of it.
	timed   bool
	wakeBy  clock.Kind
	wakeAt  time.Duration
	timer   clock.Timer
	signal  *Signal  // what it waits for, beside its timer
	awaits  []Ticket // or the calls to whose replies it listens
	one     [1]Ticket
	stalled int
	due     []event // what came while this thread was stalled

	last   string // the step passed last, for After anchors
	left   int32
	latest int32

	pcg    rand.PCG
	rand   *rand.Rand
	seeded bool
}

type processState uint8

const (
	stateNew     processState = iota // its first event is on the timeline
	stateRunning                     // on its coroutine now
	stateWaiting                     // for a timer, a reply or a signal
	stateStopped                     // caught by a pause in the middle of its code
	stateEnded
)

// Go starts a process on a machine of its own, called name, at the present
// instant.
func (w *World) Go(name string, body func(*Process)) *Process {
	return w.machine(name).start("", body)
}

// Go starts another thread of p's process, called thread.
func (p *Process) Go(thread string, body func(*Process)) *Process {
	if p.dead {
		return p
	}
	return p.m.start(thread, body)
}

// Name is the name of the process, which all its threads share.
func (p *Process) Name() string { return p.m.name }

// World is where p lives.
func (p *Process) World() *World { return p.w }

// Machine is what p runs on.
func (p *Process) Machine() *Machine { return p.m }

// Now reads clock k of p's machine. It is a step, "now". It takes no time, but it
// counts as an event, so that a loop that waits for a clock to go on ends at the
// bound.
func (p *Process) Now(k clock.Kind) time.Duration {
	if !p.gone() {
		p.count()
		p.Step("now")
	}
	return p.m.Read(k)
}

// count counts what takes no time as an event, and at the bound ends it there: a
// loop of such steps would never give control back.
func (p *Process) count() {
	if p.w.events++; p.w.events >= p.w.config.Bound {
		p.park()
		p.awake()
	}
}

// Record adds e to the history with p's name as Who. A dead process records
// nothing.
func (p *Process) Record(e history.Event) int {
	if p.dead {
		return 0
	}
	e.Who = p.m.name
	return p.w.Record(e)
}

// Rand is p's own stream of choices. It depends on the seed and on the names of
// the process and the thread, on nothing else.
func (p *Process) Rand() *rand.Rand {
	if !p.seeded {
		if p.rand == nil {
			p.rand = rand.New(&p.pcg)
		}
		p.pcg.Seed(p.w.config.Seed, nameHash(p.m.name, "/", p.thread))
		p.seeded = true
	}
	return p.rand
}

// Sleep waits until d has passed on p's monotonic clock. It is a step, "sleep".
func (p *Process) Sleep(d time.Duration) {
	if p.gone() {
		return
	}
	p.Step("sleep")
	if p.setOut(clock.Monotonic, later(p.m.Read(clock.Monotonic), max(d, 0))) {
		p.park()
		p.awake()
	}
}

// SleepUntil waits until clock k of p's machine shows at least reading. It is a
// step, "sleep".
func (p *Process) SleepUntil(k clock.Kind, reading time.Duration) {
	if p.gone() {
		return
	}
	p.Step("sleep")
	if p.setOut(k, reading) {
		p.park()
		p.awake()
	}
}

// setOut sets the timer of a sleep and tells whether to park: there is no need
// where nothing else happens before.
func (p *Process) setOut(k clock.Kind, reading time.Duration) bool {
	at, runs := p.m.clock.When(k, p.w.timeline.Now(), reading)
	if runs && p.ahead(at) {
		return false
	}
	p.timed, p.wakeBy, p.wakeAt, p.timer = true, k, reading, clock.Timer{}
	if runs {
		p.timer = p.w.timeline.Schedule(at, event{kind: evWake, p: p, gen: p.gen})
	}
	return true
}

// later is t+d, or the end of time where d is beyond it: no limit.
func later(t, d time.Duration) time.Duration {
	if d > 0 && t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}

// ahead runs on to true instant at without a switch, where nothing else happens
// before.
func (p *Process) ahead(at time.Duration) bool {
	w := p.w
	if w.thawing || w.events+1 >= w.config.Bound || at > w.config.Horizon {
		return false
	}
	if !w.timeline.Advance(at) {
		return false
	}
	w.events++
	return true
}

// arm sets the timer of p's next wait.
func (p *Process) arm(k clock.Kind, reading time.Duration) {
	p.timed, p.wakeBy, p.wakeAt = true, k, reading
	p.schedule()
}

// schedule puts p's timer on the timeline, where its clock runs at all.
func (p *Process) schedule() {
	now := p.w.timeline.Now()
	p.timer = clock.Timer{}
	if at, ok := p.m.clock.When(p.wakeBy, now, p.wakeAt); ok {
		p.timer = p.w.timeline.Schedule(at, event{kind: evWake, p: p, gen: p.gen})
	}
}

// park waits for an event; awake must follow. It is kept so small that it is
// inlined: after a switch a processor predicts the return from every frame that
// was there before wrongly, and each costs as much as a tenth of the switch.
func (p *Process) park() {
	p.state = stateWaiting
	p.co.yield(struct{}{})
}

// awake is what follows a wait.
func (p *Process) awake() {
	p.mortal()
	if p.timed {
		p.timed = false
		p.w.timeline.Cancel(p.timer)
	}
}

// wake ends p's wait, unless it is over already or p is paused. It returns p if it
// is to be resumed.
func (p *Process) wake(e *event) *Process {
	if e.gen != p.gen || p.state == stateEnded || p.held(e) {
		return nil
	}
	p.timed = p.timed && e.kind != evWake
	return p
}

// held keeps e for later when p cannot run now.
func (p *Process) held(e *event) bool {
	switch {
	case p.m.frozen > 0:
		p.m.due = append(p.m.due, *e)
	case p.stalled > 0:
		p.due = append(p.due, *e)
	default:
		return false
	}
	return true
}

// resume runs p until it waits again or ends. Only the kernel resumes.
func (p *Process) resume() {
	p.enter()
	p.co.next()
	p.leave()
}

// enter is what comes before a switch to p.
func (p *Process) enter() {
	if p.co == nil {
		p.co = p.w.coroutine(p)
	}
	p.gen++
	p.state = stateRunning
}

// leave is what follows it: the coroutine of a process that has ended is kept for
// another.
func (p *Process) leave() {
	if p.state != stateEnded || p.co == nil {
		return
	}
	if p.co.lost {
		p.co.stop()
	} else {
		p.w.idle = append(p.w.idle, p.co)
	}
	p.co = nil
}

func (p *Process) label() string {
	if p.thread == "" {
		return p.m.name
	}
	return fmt.Sprintf("%s/%s", p.m.name, p.thread)
}

// nameHash is FNV-1a over the parts: a stream's place among all that the seed
// splits into.
func nameHash(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range parts {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	return h
}
