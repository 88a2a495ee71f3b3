package trial

import (
	"math"
	"slices"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// Patience is how long a client waits for a resource's answer before it goes on.
const Patience = 10 * time.Second

// client runs one script.
type client struct {
	recorder  *recorder
	script    Script
	resources []protected
	held      []*holding  // in the order in which they were acquired
	working   *sim.Signal // ends what it is at, work or a wait; nil when it is at none
	read      []reading
	units     int32 // how many changes of two resources it has begun
}

// run is the client's process.
func (c *client) run(p *sim.Process) {
	for i := 0; i < len(c.script); {
		i = c.step(p, i)
	}
	for _, h := range c.held { // it goes without releasing them
		c.recorder.doubt(p, h, history.DoubtAbort)
	}
	p.Record(history.Event{Kind: history.End})
}

// step does line i and returns the line that comes next.
func (c *client) step(p *sim.Process, i int) int {
	l := &c.script[i]
	for h := c.unsure(); h != nil; h = c.unsure() {
		p.Wait(h.unsure, math.MaxInt64)
	}
	if c.lost() != nil && l.Verb != "release" {
		return c.unwind(i)
	}
	if l.Verb == "acquire" { // whose attempts are steps each
		p.Record(history.Event{Kind: history.Step, Value: l.Verb})
		c.acquire(p, l)
		return i + 1
	}
	p.Begin(l.Verb)
	p.Record(history.Event{Kind: history.Step, Value: l.Verb})
	next := c.do(p, l, i)
	p.End(l.Verb)
	if l.With != "" && c.lost() == nil {
		p.Begin(l.Verb)
		c.write(p, l, l.With)
		p.End(l.Verb)
	}
	return next
}

// do does line i and returns the line that comes next.
func (c *client) do(p *sim.Process, l *Line, i int) int {
	switch l.Verb {
	case "until":
		p.SleepUntil(clock.Monotonic, l.For)
	case "work":
		c.work(p, l.For)
	case "try":
		if !c.try(p, l, named(p, l.Key)) {
			return c.releaseOf(l.Key, i) + 1
		}
	case "extend":
		if h := c.holding(l.Key); h != nil {
			c.recorder.extend(p, h)
		}
	case "watch":
		c.watch(p, l)
	case "look":
		c.recorder.look(p, named(p, l.Key))
	case "check":
		if h := c.holding(l.Key); h != nil {
			c.recorder.check(p, h)
		}
	case "release":
		if !c.release(p, l.Key) && l.Retry > 0 {
			if c.lost() == nil {
				c.idle(p, l.Retry)
			}
			return c.askedFor(l.Key, i)
		}
	case "read", "once":
		if !c.reads(p, l) {
			return c.stop(i)
		}
	default:
		c.use(p, l)
	}
	return i + 1
}

// acquire makes one attempt after another, until one is granted, or the client learns
// that it has lost another lock.
func (c *client) acquire(p *sim.Process, l *Line) {
	key := named(p, l.Key)
	for {
		p.Begin("acquire")
		got := c.try(p, l, key)
		p.End("acquire")
		if got {
			return
		}
		wait := l.Every
		if l.Jitter > 0 {
			wait += time.Duration(p.Rand().Int64N(int64(l.Jitter) + 1))
		}
		if c.lost() == nil {
			c.idle(p, wait)
		}
		if c.lost() != nil {
			return
		}
	}
}

// idle lasts for d, or until the client learns that it has lost a lock that it holds.
func (c *client) idle(p *sim.Process, d time.Duration) {
	if len(c.held) == 0 {
		p.Sleep(d)
		return
	}
	var over sim.Signal
	c.working = &over
	defer func() { c.working = nil }()
	p.Wait(&over, d)
}

// try makes one attempt at the lock key, as the line l has it.
func (c *client) try(p *sim.Process, l *Line, key string) bool {
	h := c.recorder.acquire(p, key, c.held, l.Anyway)
	if h == nil {
		return false
	}
	h.called = append(h.called, l.Key)
	if slices.Contains(c.held, h) {
		return true
	}
	h.onLoss = c.interrupt
	c.held = append(c.held, h)
	return true
}

// watch begins to extend a lock, until it is released or lost.
func (c *client) watch(p *sim.Process, l *Line) {
	h := c.holding(l.Key)
	if h == nil {
		return
	}
	h.watch = l
	if l.Main {
		return
	}
	p.Go("watch", func(t *sim.Process) {
		for h.watched() && !t.Wait(&h.ended, l.Every) {
			c.recorder.renew(t, h)
		}
	})
}

// work lasts for d, or until the client learns that it has lost a lock. Locks that
// the first thread watches are extended in the meantime.
func (c *client) work(p *sim.Process, d time.Duration) {
	var over sim.Signal
	c.working = &over
	defer func() { c.working = nil }()
	end := p.Machine().Read(clock.Monotonic) + d
	for {
		left := end - p.Machine().Read(clock.Monotonic)
		h := c.watched()
		if h == nil {
			p.Wait(&over, left)
			return
		}
		if p.Wait(&over, min(left, h.watch.Every)) || left <= h.watch.Every {
			return
		}
		c.recorder.renew(p, h)
	}
}

// watched is the lock that the first thread watches; nil for none.
func (c *client) watched() *holding {
	for _, h := range c.held {
		if h.watched() && h.watch.Main {
			return h
		}
	}
	return nil
}

// interrupt ends the work or the wait that the client is at.
func (c *client) interrupt() {
	if c.working != nil {
		c.working.Fire()
	}
}

// release gives a lock back. It reports false where the client held it, and was not
// told that it is released.
func (c *client) release(p *sim.Process, key string) bool {
	h := c.holding(key)
	switch {
	case h == nil:
		return true
	case h.nested > 0:
		return c.recorder.leave(p, h) == history.OK
	}
	c.held = slices.DeleteFunc(c.held, func(x *holding) bool { return x == h })
	return c.recorder.release(p, h) == history.OK
}

// lost is a grant that the client knows to have lost and has not released.
func (c *client) lost() *holding {
	for _, h := range c.held {
		if h.lost {
			return h
		}
	}
	return nil
}

// unsure is a grant of which the client cannot tell whether it stands.
func (c *client) unsure() *holding {
	for _, h := range c.held {
		if h.unsure != nil {
			return h
		}
	}
	return nil
}

// holding is the grant that was acquired last of the lock that the script calls so.
func (c *client) holding(called string) *holding {
	for _, h := range slices.Backward(c.held) {
		if slices.Contains(h.called, called) {
			return h
		}
	}
	return nil
}

// stop is where a client goes on that has nothing more to do under the lock acquired
// last: to its release; without a lock, to the end.
func (c *client) stop(i int) int {
	if n := len(c.held); n > 0 {
		return c.releaseOf(c.held[n-1].called[0], i)
	}
	return len(c.script)
}

// unwind is the first line from i on that releases a lock that the client holds, or
// the last line's successor.
func (c *client) unwind(i int) int {
	for ; i < len(c.script); i++ {
		if l := &c.script[i]; l.Verb == "release" && c.holding(l.Key) != nil {
			break
		}
	}
	return i
}

// askedFor is the last line before i that asks for key.
func (c *client) askedFor(key string, i int) int {
	for ; i > 0; i-- {
		if c.script[i].asks(key) {
			break
		}
	}
	return i
}

// releaseOf is the first line from i on that releases key, or the last line's
// successor.
func (c *client) releaseOf(key string, i int) int {
	for ; i < len(c.script); i++ {
		if l := &c.script[i]; l.Verb == "release" && l.Key == key {
			break
		}
	}
	return i
}
