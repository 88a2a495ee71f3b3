package etcd

import (
	"slices"
	"time"

	"locksim/clock"
	"locksim/models/raft"
	"locksim/sim"
)

// checkEvery is how often a leader looks for leases that are over (lessor.go:
// runLoop).
const checkEvery = 500 * time.Millisecond

// lease is a lease as one node knows it.
type lease struct {
	id  int64
	ttl time.Duration
	// Of the leader alone: expiry is when the lease is over, on its monotonic clock, and
	// revoking that it has proposed to revoke it.
	expiry   time.Duration
	revoking bool
	// waiting are the keepalives that came when it was over and not yet revoked.
	waiting []func(answer any)
}

// lessor is a node's leases.
type lessor struct {
	least time.Duration // TTL
	// extend is what a new leader gives a lease beyond its TTL: an election timeout.
	extend time.Duration
	// still is for how long a leader may have stood still without doubting that it
	// leads: three heartbeats (v3_server.go: isActive).
	still  time.Duration
	leases []lease // in the order of their grants

	// primary: the node leads, and counts.
	primary bool
	// doubtful: it has stood still since it began to lead, and has not been told since
	// that it still leads.
	doubtful bool
	due      time.Duration // when it looks next
	alarm    sim.Alarm
}

func newLessor(c raft.Config) lessor {
	return lessor{
		least:  LeastTTL(c),
		extend: c.Election,
		still:  3 * c.Heartbeat,
	}
}

// LeastTTL is the least TTL of a lease in a group with that configuration, whose
// defaults have been filled in: 1.5 election timeouts, rounded up to whole seconds.
// It is 2s at etcd's default timeout of 1s, and 1s at 500ms.
func LeastTTL(c raft.Config) time.Duration {
	return (c.Election*3/2 + time.Second - 1).Truncate(time.Second)
}

func (x *lessor) find(id int64) *lease {
	for i := range x.leases {
		if x.leases[i].id == id {
			return &x.leases[i]
		}
	}
	return nil
}

// grant adds a lease of at least that many seconds.
func (x *lessor) grant(n *raft.Node, id, seconds int64) lease {
	l := lease{id: id, ttl: max(time.Duration(seconds)*time.Second, x.least)}
	l.expiry = n.Server().Now(clock.Monotonic) + l.ttl
	x.leases = append(x.leases, l)
	return l
}

// revoke takes a lease away and tells who waits for that. It reports whether it was
// there.
func (x *lessor) revoke(id int64) bool {
	l := x.find(id)
	if l == nil {
		return false
	}
	for _, reply := range l.waiting {
		reply(keptAlive{})
	}
	x.leases = slices.DeleteFunc(x.leases, func(l lease) bool { return l.id == id })
	return true
}

// promote begins the node's time as a leader.
func (x *lessor) promote(n *raft.Node) {
	x.primary, x.doubtful = true, false
	now := n.Server().Now(clock.Monotonic)
	for i := range x.leases {
		l := &x.leases[i]
		l.expiry, l.revoking = now+l.ttl+x.extend, false
	}
	x.wait(n)
}

// demote ends it. Who waits for a revocation hears nothing, and asks again.
func (x *lessor) demote() {
	x.primary = false
	x.alarm.Cancel()
	for i := range x.leases {
		x.leases[i].waiting = nil
	}
}

// wait sets the alarm for the next look: at multiples of checkEvery of the node's
// monotonic clock.
func (x *lessor) wait(n *raft.Node) {
	x.due = n.Server().Now(clock.Monotonic).Truncate(checkEvery) + checkEvery
	x.alarm = n.Server().Machine().SetAlarm(clock.Monotonic, x.due, func() { x.check(n) })
}

// check proposes to revoke what is over.
func (x *lessor) check(n *raft.Node) {
	now := n.Server().Now(clock.Monotonic)
	if now-x.due > x.still {
		x.doubtful = true
		n.Read(func() { x.doubtful = false })
	}
	for i := range x.leases {
		if l := &x.leases[i]; now >= l.expiry && !l.revoking {
			l.revoking = true
			n.Propose(revokeLease{lease: l.id}, nil)
		}
	}
	x.wait(n)
}

// keepAlive prolongs a lease, on a leader. One that has stood still hears from a
// majority first.
func (x *lessor) keepAlive(n *raft.Node, id int64, reply func(any)) {
	if x.doubtful {
		n.Read(func() { x.prolong(n, id, reply) })
		return
	}
	x.prolong(n, id, reply)
}

func (x *lessor) prolong(n *raft.Node, id int64, reply func(any)) {
	now := n.Server().Now(clock.Monotonic)
	switch l := x.find(id); {
	case !x.primary: // not any more: it hears nothing, and asks again
	case l == nil:
		reply(keptAlive{})
	case now >= l.expiry:
		l.waiting = append(l.waiting, reply)
	default:
		l.expiry = now + l.ttl
		reply(keptAlive{int64(l.ttl / time.Second)})
	}
}
