package consul

import (
	"slices"
	"time"

	"locksim/clock"
	"locksim/models/raft"
	"locksim/sim"
)

// What a client asks beside the commands, and the answers: moved, a bool, an
// outcome and an entry.
type (
	renew struct{ session string }
	// get asks for a key; once its ModifyIndex is greater than index, or after wait.
	// consistent: the leader first hears from a majority that it still is the leader.
	get struct {
		key        string
		index      int64
		wait       time.Duration
		consistent bool
	}
	// moved is the answer of a server that does not lead; leader is who does, "" where
	// it does not know.
	moved struct{ leader string }
)

func (renew) Label() string { return "session renew" }
func (get) Label() string   { return "get" }

// replica is the state on one server: what the log says, and beside it what only
// this server has.
type replica struct {
	sessions []session
	entries  []*entry
	// Of this server alone.
	delays  []delay
	watches []*watch
	timers  []timer // while it leads
}

// delay is until when, on the server's monotonic clock, a key cannot be acquired.
type delay struct {
	key   string
	until time.Duration
}

// watch is a blocking query that waits for a key to change.
type watch struct {
	key     string
	index   int64
	request sim.Request
	alarm   sim.Alarm
}

// timer ends a session.
type timer struct {
	session string
	alarm   sim.Alarm
}

// Serve handles what a client asks: the leader does.
func (x *replica) Serve(n *raft.Node, r sim.Request) {
	if !n.Leads() {
		a := moved{}
		if l := n.Leader(); l != nil && l != n {
			a.leader = l.Name()
		}
		r.Reply(a)
		return
	}
	switch q := r.Body.(type) {
	case create:
		n.Propose(q, func(any) {
			x.arm(n, q.session)
			r.Reply(true)
		})
	case destroy:
		n.Propose(q, func(any) {
			x.disarm(q.session)
			r.Reply(true)
		})
	case renew:
		r.Reply(x.arm(n, q.session))
	case put:
		if q.verb == acquire && x.delayed(n, q.key) {
			r.Reply(refused)
			return
		}
		n.Propose(q, func(came any) { r.Reply(came) })
	case get:
		if q.consistent {
			n.Read(func() { x.get(n, q, r) })
			return
		}
		x.get(n, q, r)
	}
}

// get answers a query, now or when the key has changed. The maximum of its wait is
// not drawn out by up to a sixteenth, as Consul does to spread the load.
func (x *replica) get(n *raft.Node, q get, r sim.Request) {
	if k := x.entry(q.key); q.index == 0 || k.modify > q.index {
		r.Reply(*k)
		return
	}
	w := &watch{key: q.key, index: q.index, request: r}
	w.alarm = n.Server().After(clock.Monotonic, q.wait, func() { x.answer(w) })
	x.watches = append(x.watches, w)
}

// wake answers the queries that wait for k to change.
func (x *replica) wake(k *entry) {
	for _, w := range slices.Clone(x.watches) {
		if w.key == k.key && k.modify > w.index {
			x.answer(w)
		}
	}
}

func (x *replica) answer(w *watch) {
	w.alarm.Cancel()
	x.watches = slices.DeleteFunc(x.watches, func(o *watch) bool { return o == w })
	w.request.Reply(*x.entry(w.key))
}

// delay keeps a key from being acquired until then.
func (x *replica) delay(key string, until time.Duration) {
	x.delays = slices.DeleteFunc(x.delays, func(d delay) bool { return d.key == key })
	x.delays = append(x.delays, delay{key, until})
}

// delayed tells whether a key cannot be acquired now. At the end itself it can.
func (x *replica) delayed(n *raft.Node, key string) bool {
	return slices.ContainsFunc(x.delays, func(d delay) bool {
		return d.key == key && d.until > n.Server().Now(clock.Monotonic)
	})
}

// Lead begins the time of every session anew: when it was renewed last, the
// predecessor alone knew (initializeSessionTimers). It is a method of raft.Leader.
func (x *replica) Lead(n *raft.Node) {
	for _, s := range x.sessions {
		x.arm(n, s.id)
	}
}

// Follow stops the timers (clearAllSessionTimers). It is a method of raft.Leader.
func (x *replica) Follow(*raft.Node) {
	for _, t := range x.timers {
		t.alarm.Cancel()
	}
	x.timers = x.timers[:0]
}

// arm begins the time of a session anew, and reports whether there is one. One that
// is being ended just now is still there: its renewal is acknowledged, and then it
// ends all the same.
func (x *replica) arm(n *raft.Node, id string) bool {
	i := x.session(id)
	if i < 0 {
		return false
	}
	x.disarm(id)
	if !n.Leads() {
		return true
	}
	alarm := n.Server().After(clock.Monotonic, multiplier*x.sessions[i].ttl, func() {
		x.disarm(id)
		n.Propose(destroy{session: id, term: n.Term()}, nil)
	})
	x.timers = append(x.timers, timer{id, alarm})
	return true
}

func (x *replica) disarm(id string) {
	for i, t := range x.timers {
		if t.session == id {
			t.alarm.Cancel()
			x.timers = slices.Delete(x.timers, i, i+1)
			return
		}
	}
}
