package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/clock"
)

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

// Pauses is how many pauses of the machine, or of its first thread, are on.
func (m *Machine) Pauses() int {
	if len(m.threads) == 0 {
		return m.frozen
	}
	return m.frozen + m.threads[0].stalled
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
