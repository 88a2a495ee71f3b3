package chubby

import (
	"fmt"
	"slices"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// What a client asks, and the one answer.
type (
	acquire   struct{ key, session, client string }
	release   struct{ key, session, client string }
	keepAlive struct{ session string }
	look      struct{ key string }
	answer    struct {
		// moved: this replica is not the master; master is who is, "" where it does not know.
		moved  bool
		master string
		// ok: granted, released, alive.
		ok         bool
		generation int64
		session    string // who holds the lock
	}
)

func (acquire) Label() string   { return "acquire" }
func (release) Label() string   { return "release" }
func (keepAlive) Label() string { return "keep-alive" }
func (look) Label() string      { return "look" }

// expire is the command that ends a session; acquire and release are commands as
// they are. It counts only as one of the master in whose term it was proposed: a
// later one has extended the lease.
type expire struct {
	session string
	term    int64
}

// replica is the state on one replica: what the log says, and beside it what only
// this one has.
type replica struct {
	options *Lock
	nodes   []*node
	// Of this replica alone: while it is the master, the leases.
	leases []*lease
}

// node is a file that is used as a lock, in exclusive mode.
type node struct {
	key, session string
	generation   int64
	// delayed is until when, on this replica's monotonic clock, nobody can acquire it.
	delayed time.Duration
}

// lease is the master's of a session.
type lease struct {
	session string
	alarm   sim.Alarm
}

// Serve handles what a client asks: the master does.
func (x *replica) Serve(n *raft.Node, r sim.Request) {
	if !n.Leads() {
		r.Reply(elsewhere(n))
		return
	}
	switch q := r.Body.(type) {
	case acquire:
		if x.node(q.key).delayed > n.Server().Now(clock.Monotonic) {
			r.Reply(answer{})
			return
		}
		n.Propose(q, func(a any) { r.Reply(a) })
	case release:
		n.Propose(q, func(a any) { r.Reply(a) })
	case keepAlive:
		x.extend(n, q.session)
		// If the session is being ended, it has ended by then: the question to the replicas
		// goes behind the command. By then there may be another master, and the leases are
		// its own.
		n.Read(func() {
			if !n.Leads() {
				r.Reply(elsewhere(n))
				return
			}
			r.Reply(answer{ok: x.lease(q.session) != nil})
		})
	case look:
		n.Read(func() { r.Reply(answer{session: x.node(q.key).session}) })
	}
}

// elsewhere is the answer of a replica that is not the master.
func elsewhere(n *raft.Node) answer {
	a := answer{moved: true}
	if l := n.Leader(); l != nil && l != n {
		a.master = l.Name()
	}
	return a
}

// Apply does what the log says.
func (x *replica) Apply(n *raft.Node, e raft.Entry) any {
	switch c := e.Command.(type) {
	case acquire:
		f := x.node(c.key)
		if f.session != "" {
			return answer{}
		}
		f.session = c.session
		f.generation++
		x.extend(n, c.session)
		return answer{ok: true, generation: f.generation}
	case release:
		f := x.node(c.key)
		if f.session != c.session {
			return answer{}
		}
		x.free(n, e, f, history.Event{Why: history.FreedDeleted, Peer: c.client})
		return answer{ok: true}
	case expire:
		f := x.held(c.session)
		if f == nil || c.term != e.Term {
			return nil
		}
		x.free(n, e, f, history.Event{Why: history.FreedExpired})
		// Each replica counts it on its own clock. What a command does must not depend on
		// that: it is looked at before one is proposed.
		f.delayed = n.Server().Now(clock.Monotonic) + x.options.Delay
		return nil
	}
	panic(fmt.Sprintf("chubby: no command %T", e.Command))
}

// free frees f, and ends the session that held it.
func (x *replica) free(n *raft.Node, e raft.Entry, f *node, freed history.Event) {
	if e.First {
		freed.Kind, freed.Lock, freed.Value = history.Freed, f.key, f.session
		n.Server().Record(freed)
	}
	if l := x.lease(f.session); l != nil {
		l.alarm.Cancel()
		x.leases = slices.DeleteFunc(x.leases, func(o *lease) bool { return o == l })
	}
	f.session = ""
}

// Lead extends the lease of every session (2.9). It is a method of raft.Leader.
func (x *replica) Lead(n *raft.Node) {
	for _, f := range x.nodes {
		x.extend(n, f.session)
	}
}

// Follow ends the leases. It is a method of raft.Leader.
func (x *replica) Follow(*raft.Node) {
	for _, l := range x.leases {
		l.alarm.Cancel()
	}
	x.leases = x.leases[:0]
}

// extend begins the lease of a session anew.
func (x *replica) extend(n *raft.Node, session string) {
	if !n.Leads() || x.held(session) == nil {
		return
	}
	l := x.lease(session)
	if l == nil {
		l = &lease{session: session}
		x.leases = append(x.leases, l)
	}
	l.alarm.Cancel()
	l.alarm = n.Server().After(clock.Monotonic, x.options.Lease, func() {
		n.Propose(expire{session, n.Term()}, nil)
	})
}

func (x *replica) lease(session string) *lease {
	for _, l := range x.leases {
		if l.session == session {
			return l
		}
	}
	return nil
}

// held is what a session holds; nil for nothing.
func (x *replica) held(session string) *node {
	for _, f := range x.nodes {
		if f.session == session && session != "" {
			return f
		}
	}
	return nil
}

func (x *replica) node(key string) *node {
	for _, f := range x.nodes {
		if f.key == key {
			return f
		}
	}
	f := &node{key: key}
	x.nodes = append(x.nodes, f)
	return f
}
