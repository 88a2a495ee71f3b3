package redis

import (
	"slices"

	"locksim/clock"
	"locksim/sim"
)

// waits is the clients that wait for replicas, and what for.
type waits struct {
	last map[string]position
	open []*waiting
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

// count is how many replicas the primary knows to have come to a position.
func (g *group) count(to position) int {
	n := 0
	for _, r := range g.replicas {
		if !r.acked.before(to) {
			n++
		}
	}
	return n
}

// wait serves a WAIT: for what the client has written last on this server since
// both are up, nothing of which is there at once.
func (g *group) wait(s *sim.Server, c *Wait, r sim.Request) {
	w := &g.waits
	x := &waiting{request: r, need: c.Replicas, to: w.last[r.From()]}
	if g.answer(x) {
		return
	}
	x.alarm = s.After(clock.Monotonic, c.Timeout, func() {
		w.open = slices.DeleteFunc(w.open, func(y *waiting) bool { return y == x })
		r.Reply(Integer(g.count(x.to)))
	})
	w.open = append(w.open, x)
	if len(g.replicas) > 0 {
		g.send(s, &getAck{g.sent}, g.replicas...)
	}
}

// answer answers x if enough replicas have come so far.
func (g *group) answer(x *waiting) bool {
	n := g.count(x.to)
	if n < x.need {
		return false
	}
	x.request.Reply(Integer(n))
	return true
}

// acknowledged takes down what a replica has told s, the primary: that it is there,
// and how far it has come. One that speaks of an earlier run is sent everything.
func (m member) acknowledged(s *sim.Server, r *replica, to position) {
	g := m.group
	if to.run != g.sent.run {
		m.sendAll(s, r)
		return
	}
	r.connected, r.seen = true, second(s)
	if !r.acked.before(to) {
		return
	}
	r.acked = to
	w := &g.waits
	w.open = slices.DeleteFunc(w.open, func(x *waiting) bool {
		if !g.answer(x) {
			return false
		}
		x.alarm.Cancel()
		return true
	})
}
