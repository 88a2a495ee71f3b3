package redis

import (
	"slices"

	"locksim/clock"
	"locksim/sim"
)

// waits is the clients that wait for the replica, and what for.
type waits struct {
	acked position // what the primary knows the replica to have
	last  map[string]position
	open  []*waiting
}

// waiting is a WAIT that has not been answered.
type waiting struct {
	request sim.Request
	need    int      // replicas
	to      position // that they must have come to
	alarm   sim.Alarm
}

// wrote notes the last change that client made on its connection.
func (w *waits) wrote(client string, at position) {
	if w.last == nil {
		w.last = map[string]position{}
	}
	w.last[client] = at
}

// forget drops every connection of the primary.
func (w *waits) forget() {
	clear(w.last)
	for _, x := range w.open {
		x.alarm.Cancel()
	}
	w.open = w.open[:0]
}

// count is how many replicas are known to have come to a position.
func (p *pair) count(to position) int {
	if p.replica == nil || p.waits.acked.before(to) {
		return 0
	}
	return 1
}

// wait serves a WAIT: for what the client has written last on this server since
// both are up, nothing of which is there at once.
func (p *pair) wait(s *sim.Server, c *Wait, r sim.Request) {
	w := &p.waits
	x := &waiting{request: r, need: c.Replicas, to: w.last[r.From()]}
	if p.answer(x) {
		return
	}
	x.alarm = s.After(clock.Monotonic, c.Timeout, func() {
		w.open = slices.DeleteFunc(w.open, func(y *waiting) bool { return y == x })
		r.Reply(Integer(p.count(x.to)))
	})
	w.open = append(w.open, x)
	if p.replica != nil {
		p.send(s, &getAck{p.stream.sent})
	}
}

// answer answers x if enough replicas have come so far.
func (p *pair) answer(x *waiting) bool {
	n := p.count(x.to)
	if n < x.need {
		return false
	}
	x.request.Reply(Integer(n))
	return true
}

// acknowledged takes down how far the replica has come.
func (p *pair) acknowledged(to position) {
	w := &p.waits
	if !w.acked.before(to) {
		return
	}
	w.acked = to
	w.open = slices.DeleteFunc(w.open, func(x *waiting) bool {
		if !p.answer(x) {
			return false
		}
		x.alarm.Cancel()
		return true
	})
}
