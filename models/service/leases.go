package service

import (
	"slices"

	"locksim/clock"
	"locksim/models/raft"
)

// Lead gives every session its whole TTL: a new leader does not know when its
// predecessor heard of it last. It is a method of raft.Leader.
func (x *replica) Lead(n *raft.Node) {
	for _, q := range x.queues {
		for _, m := range q.members {
			x.renew(n, m.session)
		}
	}
}

// Follow sends everybody who waits elsewhere. It is a method of raft.Leader.
func (x *replica) Follow(n *raft.Node) {
	for _, l := range x.leases {
		l.alarm.Cancel()
	}
	x.leases = x.leases[:0]
	all := x.kept
	x.kept = nil
	for _, k := range all {
		k.request.Reply(moved(n))
	}
}

// renew begins the TTL of a session of a queue anew. One that is being put out is
// not alive for that.
func (x *replica) renew(n *raft.Node, session string) {
	if !n.Leads() || !x.queued(session) {
		return
	}
	l := x.lease(session)
	if l == nil {
		l = &lease{session: session}
		x.leases = append(x.leases, l)
	}
	l.alarm.Cancel()
	l.alarm = n.Server().After(clock.Monotonic, x.options.TTL, func() {
		l.over = true
		n.Propose(expire{session, n.Term()}, nil)
	})
}

// alive tells whether a session can be relied on for another TTL.
func (x *replica) alive(session string) bool {
	l := x.lease(session)
	return l != nil && !l.over
}

// drop ends the lease of a session that is over.
func (x *replica) drop(session string) {
	if l := x.lease(session); l != nil {
		l.alarm.Cancel()
		x.leases = slices.DeleteFunc(x.leases, func(o *lease) bool { return o == l })
	}
}

func (x *replica) queued(session string) bool {
	return slices.ContainsFunc(x.queues, func(q *queue) bool { return q.find(session) >= 0 })
}

func (x *replica) lease(session string) *lease {
	for _, l := range x.leases {
		if l.session == session {
			return l
		}
	}
	return nil
}
