package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/chubby"
	"locksim/models/consul"
	"locksim/models/etcd"
	"locksim/models/raft"
	"locksim/models/zookeeper"
	"locksim/trial"
)

// c1 talks to n1, which leads, and c2 to n2, which is patient for less than n3 and
// leads when n1 is gone.
var (
	trio      = target{servers: []string{"n1", "n2", "n3"}, victim: "n1", restart: briefly, from: early}
	inOrder   = raft.Config{Timeouts: []time.Duration{time.Second, zkPatience, 1400 * time.Millisecond}}
	askSecond = map[string][]string{"c2": {"n2", "n3", "n1"}}
)

// succeeds is when n2 leads that has heard of n1 last a tenth of a second before the
// accident: it stands, is elected by two rounds with two syncs, and commits an entry.
const succeeds = faultAt - 100*time.Millisecond + hop + zkPatience + 4*hop + 2*fsync + etcdCommit

// on is the true instant at which a server whose clock is fast has counted d from an
// instant on.
func on(fault string, since, d time.Duration) time.Duration {
	return countUp(countDown(since, -slow(fault))+d, -slow(fault))
}

// cutOffFrom: the holder is cut off from its lock, and from nothing else, soon after it
// has it.
const cutOffFrom = "at 250ms  partition c1|n1,n2,n3"

// etcdRow is etcd, whose clients stop when their session says that it is over, unless
// they are deaf.
func etcdRow(name, cut string, deaf bool, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: trio,
		system: func(string) models.System {
			return etcd.Etcd{TTL: etcdTTL, Config: inOrder, Order: askSecond, IgnoreDone: deaf}
		},
		fate: func(fault, store string) fate {
			f := onEtcd(fault, store, cut != "", deaf)
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

const etcdTTL = 10 * time.Second

// onEtcd: c1's session begins with the lease, and a keepalive that leaves then; the
// next is due after 3.5 s. Where that is never answered, the lease is over, and the
// leader revokes it at its next look; c1's session looks for its own deadline at whole
// seconds since its begin. c2 is told by a follower, unless that leads by now.
func onEtcd(fault, store string, cut, deaf bool) fate {
	start := on(fault, ask, fsync) + ask
	took := on(fault, start+ask, fsync) + ask
	first := holder(fault, store, took)
	if !cut && fault != "pause-after" && fault != "pause-acquire" {
		return turns(store, first, "c1's session is kept alive")
	}
	over, a2 := etcdLapse(fault, start)
	began := countDown(start, slow(fault))
	done := countUp(began+after(countDown(start+ask, slow(fault))+etcdTTL-began, time.Second), slow(fault))
	if fault == "pause-acquire" {
		first = holder(fault, store, took+paused)
	}
	switch {
	case deaf:
	case fault == "pause-after":
		first.to = first.write - hop // it goes on with its write, and sees that it is over
	default: // the code that waited for a reply goes on first, up to its next wait
		first.stop(max(done, first.from))
	}
	f := fate{first: first, second: successor(store, a2), why: fmt.Sprintf("c1's lease is over at %s", short(over))}
	if fault == "pause-acquire" && !deaf {
		f.why += ", and c1 sees that as soon as it is told that it has the lock"
	}
	if a2 < start+etcdTTL-etcdTTL/2000 { // which allows for clocks 500 ppm off
		f.breaches = []string{check.DoubleGrant}
	}
	return f
}

// etcdLapse is when the lease of a session that began at an instant is over, if only its
// first keepalive was answered, and when c2 has the lock.
func etcdLapse(fault string, start time.Duration) (over, a2 time.Duration) {
	over = on(fault, start+hop, etcdTTL)
	looks := countUp(from(countDown(over, -slow(fault)), 500*time.Millisecond), -slow(fault))
	a2 = on(fault, looks+hop, fsync) + 3*hop + 2*(etcdRead+ask)
	switch fault {
	case "restart", "restart-jump", "failover": // n2 gives it all of its term again, and more
		over = succeeds + etcdTTL + time.Second
		a2 = from(over, 500*time.Millisecond) + etcdCommit + etcdNotice
	}
	return over, a2
}

// consulRow is Consul with a lock-delay. Its servers wait for twice the TTL before they
// end a session, which no fault here outlasts.
func consulRow(name string, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: trio,
		system: func(string) models.System {
			return consul.Lock{Config: inOrder, TTL: 10 * time.Second, Delay: 15 * time.Second, Token: consul.ModifyIndex}
		},
		fate: func(fault, store string) fate {
			took := etcdWrite + ask + etcdWrite + etcdRead // create, get, acquire, and the index
			if fault == "pause-acquire" {
				took += paused
			}
			f := turns(store, holder(fault, store, took), "c1's session is due to end 20s after its last renewal")
			if fault == "failover" {
				f.orphaned(store, took)
			}
			f.number(1, 2)
			return f
		},
	}
	c.deciding = 3 // that of the acquire
	return c
}

// orphaned: a server that has lost its power answers nobody, and each client's agent
// waits for it for a minute. c1's session ends meanwhile, but not its lock-delay; c2's
// attempt fails, and the next is made elsewhere.
func (f *fate) orphaned(store string, took time.Duration) {
	const patience = time.Minute
	ended := succeeds + 20*time.Second + etcdCommit
	f.second, f.inTurn = successor(store, early+patience+trial.DefaultEvery+took), false
	f.why = fmt.Sprintf("c1's session ends at %s and its lock-delay at %s", short(ended), short(ended+15*time.Second))
}

// chubbyRow is Chubby, on three replicas and with a lease of 10 s, with a lock-delay or
// without.
func chubbyRow(name string, delay time.Duration, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: trio,
		system: func(string) models.System {
			config := inOrder
			config.Nodes = 3
			return chubby.Lock{Config: config, Lease: 10 * time.Second, Delay: delay}
		},
		fate: func(fault, store string) fate {
			f := onChubby(fault, store, delay)
			f.number(1, 2) // the generation
			return f
		},
	}
	c.deciding = 1
	return c
}

// onChubby: c1 is granted the lock by a change, and keeps it alive; c2 tries it every
// 100 ms, by a change as long as it is held, and is told at once while it is delayed. A
// c1 that is back from a pause sees first that its own lease, of less than 10 s, is over,
// and is in jeopardy.
func onChubby(fault, store string, delay time.Duration) fate {
	const lease = 10 * time.Second
	first := holder(fault, store, etcdWrite)
	switch fault {
	default:
		return turns(store, first, "c1's session is kept alive")
	case "pause-after":
		first.to = first.write - hop
	case "pause-acquire":
		first = holder(fault, store, etcdWrite+paused)
		first.stop(first.from)
	}
	over := etcdWrite - hop + lease
	free := over + etcdCommit
	asked := attempt(early, trial.DefaultEvery+etcdWrite, free-hop)
	asked = attempt(asked, trial.DefaultEvery+ask, free+delay-hop)
	return fate{
		first: first, second: successor(store, asked+etcdWrite),
		why: fmt.Sprintf("c1's lease is over at %s, and the lock-delay at %s", short(over), short(free+delay)),
	}
}

// attempt is the first of those that come every so often from an instant on, that is not
// before another.
func attempt(first, every, least time.Duration) time.Duration {
	return first + max(0, (least-first+every-1)/every*every)
}

// zookeeperRow is ZooKeeper, whose clients stop as soon as they have lost the connection.
func zookeeperRow(name, cut string, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: trio,
		system: func(string) models.System {
			return zookeeper.Mutex{Config: inOrder, Session: 10 * time.Second, Stop: zookeeper.Suspended}
		},
		fate: func(fault, store string) fate {
			f := onZooKeeper(fault, store, cut != "")
			f.number(1, 2) // the zxid
			return f
		},
	}
	c.deciding = 2 // that of getChildren, behind that of create
	if c.cut = cut; cut != "" {
		c.spared = "zookeeper"
	}
	return c
}

// onZooKeeper: c1 connects, creates its node and lists the children. It pings a third of
// the timeout after that, and has lost the connection when it has heard nothing for two
// thirds of it, or is answered by a server that does not know it. The leader ends the
// session at the first tick after the timeout, and closes the connection.
func onZooKeeper(fault, store string, cut bool) fate {
	const session = 10 * time.Second
	connected := on(fault, ask, zkSync) + ask
	took := on(fault, connected+ask, zkSync) + ask + zkRead
	lost := countUp(countDown(took, slow(fault))+zkDeaf(session), slow(fault))
	end := countUp(zkEnd(countDown(took-hop, -slow(fault)), session), -slow(fault))
	a2 := on(fault, end+hop, zkSync) + hop + zkWake
	first, renews := holder(fault, store, took), !cut
	switch fault {
	case "pause-after":
		first.to, renews = first.write-hop, false // it goes on with its write, and sees that it has lost
	case "pause-acquire":
		first, renews = holder(fault, store, took+paused), false
		if lost = first.from; cut { // the reply that waited is the last that it hears, and is news to it
			lost += zkDeaf(session)
		}
		first.stop(lost)
	case "restart", "restart-jump":
		end = zkEnd(succeeds, session)
		a2 = end + zkCommit + hop + zkWake // c2 is on n1, which follows
		if !cut {
			lost = took - zkRead + zkPing(session) + ask // n1 knows nothing of a connection
		}
		first.stop(lost)
	case "failover":
		end = zkEnd(succeeds, session)
		a2 = end + zkCommit + zkWake
		first.stop(lost)
	default:
		if cut {
			first.stop(lost)
		}
	}
	switch {
	case renews && first.to == lost:
		return turns(store, first, "c1 stops when it has lost the connection, and keeps its session")
	case renews:
		return turns(store, first, "c1's session is kept alive")
	}
	return fate{first: first, second: successor(store, a2), why: fmt.Sprintf("c1's session ends at %s", short(end))}
}
