package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/etcd"
	"locksim/models/raft"
)

// c1 talks to n1, which leads, and c2 to n2, which is patient for less than n3 and
// leads when n1 is gone.
var (
	trio      = target{servers: []string{"n1", "n2", "n3"}, victim: "n1", restart: briefly, queues: true}
	inOrder   = raft.Config{Timeouts: []time.Duration{time.Second, 1200 * time.Millisecond, 1400 * time.Millisecond}}
	secondOne = map[string][]string{"c2": {"n2", "n3", "n1"}}
)

// on is the true instant at which a server whose clock is fast has counted d from an
// instant on.
func on(fault string, since, d time.Duration) time.Duration {
	return countUp(countDown(since, -slow(fault))+d, -slow(fault))
}

// etcdRow is etcd, whose clients stop when their session says that it is over; or
// whose holder is cut off from it, and from nothing else, soon after it has the lock.
func etcdRow(name string, cut string, predicted ...Mark) contender {
	c := contender{
		Row:    Row{name, predicted, Holds, Holds, true},
		target: trio,
		system: func(string) models.System {
			return etcd.Etcd{TTL: 10 * time.Second, Config: inOrder, Order: secondOne}
		},
		fate: func(fault, store string) fate {
			f := onEtcd(fault, store, cut != "")
			f.number(1, 2) // the revision
			return f
		},
	}
	c.deciding = 2 // that of the transaction, behind that of the lease
	if c.cut = cut; cut != "" {
		c.spared = "etcd"
	}
	return c
}

// onEtcd: c1's session begins with the lease, and a keepalive that leaves then; the
// next is due after 3.5 s. Where that is never answered, the lease is over, and the
// leader revokes it at its next look; c1's session looks for its own deadline at whole
// seconds since its begin. c2 is told by a follower.
func onEtcd(fault, store string, cut bool) fate {
	const ttl = 10 * time.Second
	start := on(fault, ask, fsync) + ask
	took := on(fault, start+ask, fsync) + ask
	first := holder(fault, store, took)
	if !cut && fault != "pause-after" && fault != "pause-acquire" {
		return turns(store, first, "c1's session is kept alive")
	}
	over := on(fault, start+hop, ttl)
	looks := countUp(from(countDown(over, -slow(fault)), 500*time.Millisecond), -slow(fault))
	a2 := on(fault, looks+hop, fsync) + 3*hop + 2*(etcdRead+ask)
	switch fault {
	case "restart", "restart-jump", "failover": // n2 gives it all of its term again, and more
		over = faultAt - 100*time.Millisecond + hop + inOrder.Timeouts[1] + 4*hop + 2*fsync + etcdCommit + ttl + time.Second
		a2 = from(over, 500*time.Millisecond) + etcdCommit + etcdNotice
	}
	began := countDown(start, slow(fault))
	done := countUp(began+after(countDown(start+ask, slow(fault))+ttl-began, time.Second), slow(fault))
	switch fault {
	case "pause-after":
		first.to = first.write - hop // it goes on with its write, and sees that it is over
	case "pause-acquire":
		// The code that waited for the reply goes on first, up to its next wait, and then the
		// session sees that its deadline was long ago.
		first = holder(fault, store, took+paused)
		first.stop(first.from)
	default:
		first.stop(done)
	}
	f := fate{first: first, second: successor(store, a2), why: fmt.Sprintf("c1's lease is over at %s", short(over))}
	if fault == "pause-acquire" {
		f.why += ", and c1 sees that as soon as it is told that it has the lock"
	}
	if a2 < start+ttl-ttl/2000 { // which allows for clocks 500 ppm off
		f.breaches = []string{check.DoubleGrant}
	}
	return f
}
