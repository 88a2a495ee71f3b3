package sql

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Reconnect is what a driver does that finds its connection closed.
type Reconnect uint8

// The ways to reconnect.
const (
	// Fail tells its caller, and opens another for the next statement.
	Fail Reconnect = iota
	// Silent opens another at once, sends the statement there, and tells nobody: what
	// went with the session is gone.
	Silent
)

var reconnectNames = [...]string{Fail: "fail", Silent: "silent"}

// String is the way's name: "fail" or "silent".
func (r Reconnect) String() string { return option.Name(reconnectNames[:], r) }

// MarshalText writes the way's name.
func (r Reconnect) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a way's name.
func (r *Reconnect) UnmarshalText(text []byte) error {
	return option.Parse("way to reconnect", reconnectNames[:], text, r)
}

// drivers are the drivers of all clients, each with the connections that it has.
type drivers struct {
	reconnect Reconnect
	// timeout is how long a driver waits for an answer; negative for ever. It closes
	// the connection on which none came.
	timeout time.Duration
	list    []*driver
}

type driver struct {
	client string
	conns  []*sim.Conn // nil where one is to be opened
	next   int
}

// of is the driver of p's client, with n connections.
func (ds *drivers) of(p *sim.Process, n int) *driver {
	for _, d := range ds.list {
		if d.client == p.Name() {
			for len(d.conns) < n {
				d.conns = append(d.conns, nil)
			}
			return d
		}
	}
	d := &driver{client: p.Name(), conns: make([]*sim.Conn, n)}
	ds.list = append(ds.list, d)
	return d
}

// exec sends a statement to a server on the i-th connection of p's driver, and waits
// for its result for wait longer than for others. An error that the server answered
// with is in the result.
func (ds *drivers) exec(p *sim.Process, to *sim.Server, i int, stmt statement, wait time.Duration) (Result, error) {
	d := ds.of(p, i+1)
	timeout := ds.timeout
	if timeout >= 0 {
		timeout += wait
	}
	if wait < 0 {
		timeout = -1
	}
	for again := ds.reconnect == Silent; ; again = false {
		c := d.conns[i]
		if c == nil || c.Server() != to {
			c = p.Dial(to)
			d.conns[i] = c
		}
		res, err := sim.CallOn[Result](p, c, stmt, timeout)
		if err == nil {
			return res, nil
		}
		p.Hangup(c)
		if d.conns[i] == c {
			d.conns[i] = nil
		}
		if !again || !errors.Is(err, sim.ErrClosed) {
			return Result{}, fmt.Errorf("%s: %w", stmt.Label(), err)
		}
	}
}

// do is exec of a statement that is not expected to be refused by the server.
func (ds *drivers) do(p *sim.Process, to *sim.Server, i int, stmt statement) (Result, error) {
	res, err := ds.exec(p, to, i, stmt, 0)
	if err == nil && res.Err != nil {
		return res, models.Refused(stmt.Label() + ": " + res.Err.Error())
	}
	return res, err
}

// yes is what it means that a statement returned 1, or 0 or NULL.
func yes(res Result, err error) error {
	if err == nil && res.Number == 0 {
		return models.ErrNotHeld
	}
	return err
}

// checkTimeout fills in the default of a driver's time-out: none, as drivers have it.
func checkTimeout(timeout *time.Duration) error {
	switch {
	case *timeout < 0:
		return fmt.Errorf("timeout %v: want 0, for none, or more", *timeout)
	case *timeout == 0:
		*timeout = -1
	}
	return nil
}

// checkTTL tells what is wrong with a TTL.
func checkTTL(ttl *time.Duration) error {
	if *ttl == 0 {
		*ttl = 10 * time.Second
	}
	if *ttl < time.Millisecond || *ttl%time.Millisecond != 0 {
		return fmt.Errorf("ttl %v: want whole milliseconds, at least 1ms", *ttl)
	}
	return nil
}

// allowance is what a term may be wrong by: 500 parts per million for the clock of
// the server, and the millisecond that is cut off.
func allowance(ttl time.Duration) time.Duration { return ttl/2000 + time.Millisecond }

// stopwatch measures how long an attempt takes, by the client's own clock. One that
// is not on reads none and knows no deadline.
type stopwatch struct {
	on    bool
	ttl   time.Duration
	start time.Duration
}

func started(p *sim.Process, on bool, ttl time.Duration) stopwatch {
	w := stopwatch{on: on, ttl: ttl}
	if on {
		w.start = p.Now(clock.Monotonic)
	}
	return w
}

// late is the refusal of a grant that came when its term was over.
func (w stopwatch) late(p *sim.Process) error {
	if !w.on {
		return nil
	}
	if elapsed := p.Now(clock.Monotonic) - w.start; elapsed >= w.ttl {
		return models.Refused(fmt.Sprintf("after %s of %s", elapsed, w.ttl))
	}
	return nil
}

func (w stopwatch) deadline() *models.Deadline {
	if !w.on {
		return nil
	}
	return &models.Deadline{Clock: clock.Monotonic, Reading: w.start + w.ttl}
}

// book is what clients hold: by client and key, how often.
type book []*held

type held struct {
	client, key, value string
	count              int
}

// of is what a client holds of a key; nil for nothing.
func (b book) of(client, key string) *held {
	for _, h := range b {
		if h.client == client && h.key == key {
			return h
		}
	}
	return nil
}

// enter notes that a client has taken what goes by value. It reports whether it had
// that already.
func (b *book) enter(client, key, value string) bool {
	h := b.of(client, key)
	if h != nil && h.value == value {
		h.count++
		return true
	}
	if h == nil {
		h = &held{client: client, key: key}
		*b = append(*b, h)
	}
	h.value, h.count = value, 1
	return false
}

// leave notes that a client has given it up once. It reports whether that was the
// last time.
func (b *book) leave(client, key string) bool {
	h := b.of(client, key)
	if h == nil {
		return true
	}
	if h.count--; h.count > 0 {
		return false
	}
	*b = slices.DeleteFunc(*b, func(x *held) bool { return x == h })
	return true
}
