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

// lookAgain is when a leader that keeps a queue looks again at a lease that is due in
// it (lessor.go of 3.4: defaultExpiredleaseRetryInterval).
const lookAgain = 3 * time.Second

// lease is a lease as one node knows it.
type lease struct {
	id  int64
	ttl time.Duration
	// Of the leader alone: expiry is when the lease is over, on the clock by which it
	// counts, and revoking that it has proposed to revoke it.
	expiry   time.Duration
	revoking bool
	// due is when the leader looks at the lease next, on its wall clock, if it keeps
	// them in a queue.
	due time.Duration
	// waiting are the keepalives that came when it was over and not yet revoked.
	waiting []func(answer any)
}

// lessor is a node's leases.
type lessor struct {
	least time.Duration // TTL
	// extend is what a new leader gives a lease beyond its TTL: an election timeout.
	extend time.Duration
	counts Counts
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

func newLessor(c raft.Config, counts Counts) lessor {
	return lessor{
		counts: counts,
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
	x.begin(n, &l, l.ttl)
	x.leases = append(x.leases, l)
	return l
}

// now is what the clock shows by which leases are counted.
func (x *lessor) now(n *raft.Node) time.Duration {
	if x.counts == WallClock {
		return n.Server().Now(clock.Wall)
	}
	return n.Server().Now(clock.Monotonic)
}

// begin lets a lease last that long from now on.
func (x *lessor) begin(n *raft.Node, l *lease, d time.Duration) {
	l.expiry = x.now(n) + d
	l.due = n.Server().Now(clock.Wall) + d
}

// over tells whether a leader that looks at its leases sees that l is over.
func (x *lessor) over(n *raft.Node, l *lease) bool {
	if x.counts == WallQueue {
		wall := n.Server().Now(clock.Wall)
		if wall < l.due {
			return false
		}
		l.due = wall + lookAgain
	}
	return x.now(n) >= l.expiry
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
	for i := range x.leases {
		l := &x.leases[i]
		x.begin(n, l, l.ttl+x.extend)
		l.revoking = false
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
	if n.Server().Now(clock.Monotonic)-x.due > x.still {
		x.doubtful = true
		n.Read(func() { x.doubtful = false })
	}
	for i := range x.leases {
		if l := &x.leases[i]; !l.revoking && x.over(n, l) {
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
	switch l := x.find(id); {
	case !x.primary: // not any more: it hears nothing, and asks again
	case l == nil:
		reply(keptAlive{})
	case x.now(n) >= l.expiry:
		l.waiting = append(l.waiting, reply)
	default:
		x.begin(n, l, l.ttl)
		reply(keptAlive{int64(l.ttl / time.Second)})
	}
}
