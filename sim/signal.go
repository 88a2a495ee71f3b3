package sim

import (
	"slices"
	"time"

	"locksim/clock"
)

// Signal is fired once, by any thread or alarm of the process whose threads
// wait for it. The zero value is ready.
type Signal struct {
	fired   bool
	waiting []*Process
}

// Fire wakes all that wait for s, and all that ever will.
func (s *Signal) Fire() {
	if s.fired {
		return
	}
	s.fired = true
	for _, p := range s.waiting {
		if p.signal == s {
			p.w.timeline.Schedule(p.w.timeline.Now(), event{kind: evSignal, p: p, gen: p.gen})
		}
	}
	s.waiting = nil
}

// Wait waits until s is fired, but no longer than d on p's monotonic clock. It
// reports whether s has been fired. It is a step, "sleep".
func (p *Process) Wait(s *Signal, d time.Duration) bool {
	if s.fired || p.gone() {
		return s.fired
	}
	p.Step("sleep")
	if s.fired {
		return true
	}
	p.arm(clock.Monotonic, later(p.m.Read(clock.Monotonic), max(d, 0)))
	p.signal = s
	s.waiting = append(s.waiting, p)
	p.park()
	p.awake()
	p.signal = nil
	if !s.fired {
		s.waiting = slices.DeleteFunc(s.waiting, func(q *Process) bool { return q == p })
	}
	return s.fired
}
