package redis

import (
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// newValue is a random value, by which the client knows its lock from others':
// such as "c1-8f02a6d3".
func newValue(p *sim.Process) string {
	const digits = "0123456789abcdef"
	value := append(make([]byte, 0, 32), p.Name()...)
	value = append(value, '-')
	random := p.Rand().Uint32()
	for shift := 28; shift >= 0; shift -= 4 {
		value = append(value, digits[random>>shift&15])
	}
	return string(value)
}

// call sends a command and waits for its answer, an R. The error is that of sim.Call,
// or an [Error] that the server answered.
func call[R any](p *sim.Process, to *sim.Server, command any, timeout time.Duration) (R, error) {
	var none R
	answer, err := sim.Call[any](p, to, command, timeout)
	if err != nil {
		return none, err
	}
	if refused, ok := answer.(Error); ok {
		return none, refused
	}
	return answer.(R), nil
}

// stopwatch is step 3 of Redlock: the client's own measure of how much of the
// term is left to it. The zero value, of a client that skips that step, reads no
// clock and has no deadline.
type stopwatch struct {
	on     bool
	clock  clock.Kind
	usable time.Duration // the term without what the client allows for clocks
	start  time.Duration
}

// started is the stopwatch, started.
func (w stopwatch) started(p *sim.Process) stopwatch {
	if w.on {
		w.start = p.Now(w.clock)
	}
	return w
}

// elapsed reads the clock again: T2 - T1. The lock is of use while that is less
// than usable. A stopwatch that is not on shows 0.
func (w stopwatch) elapsed(p *sim.Process) time.Duration {
	if !w.on {
		return 0
	}
	return p.Now(w.clock) - w.start
}

// late is the refusal of a grant that came too late to be of use.
func (w stopwatch) late(p *sim.Process) error {
	if elapsed := w.elapsed(p); w.on && elapsed >= w.usable {
		return models.Refused("after " + elapsed.String() + " of " + w.usable.String())
	}
	return nil
}

// deadline is when the client stops believing in what it was granted.
func (w stopwatch) deadline() *models.Deadline {
	if !w.on {
		return nil
	}
	return &models.Deadline{Clock: w.clock, Reading: w.start + w.usable}
}
