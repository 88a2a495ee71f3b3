package scenarios

import (
	"fmt"
	"time"

	"locksim/models/resource"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperGCPause is Junqueira's note of 2016 in five steps (S44, S7): the holder is
// paused, its session ends, another gets the lock, and the first comes back. The
// recipe's page says that at no time two clients think that they hold the lock.
func zookeeperGCPause() *Scenario {
	session, pause, kind, fencing := 10*time.Second, 14*time.Second, "gc", "off"
	s := &Scenario{
		Name:   "zookeeper-gc-pause",
		Pair:   "session",
		Claim:  "a session that beats ends all the same while its process stands still: two clients think that they hold the lock",
		Claims: []string{"S44", "S7", "S12", "S14", "K3", "K14", "T21"},
	}
	s.Also = []string{"fencing=on", "kind=thread"}
	s.Params = []Param{
		milliseconds("session", &session, 4*time.Second, 40*time.Second, "the timeout of a session"),
		milliseconds("pause", &pause, 2*time.Second, time.Minute, "how long c1 is paused before its write"),
		choice("kind", &kind, pauseKinds, "what pauses it"),
		choice("fencing", &fencing, []string{"on", "off"}, "whether the store checks the zxid of the holder's node"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if fencing == "on" {
			store = resource.Fenced("doc")
		}
		return trial.Spec{
			System:   zookeeper.Mutex{Session: session},
			Cast:     trial.Writers(2, store),
			Schedule: pauseBefore("write", kind, pause),
			Latency:  sim.Every(hop),
			Horizon:  session + pause + 20*time.Second,
		}
	}
	s.Expect = func() Expectation {
		w := widgetOnZooKeeper(session, pause, kind)
		e := w.expectation()
		if fencing == "on" && len(e.Damage) > 0 {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += "; the node of c2 has the greater zxid, and the store rejects c1's"
		}
		return e
	}
	s.Control = func() Control {
		return Control{"zookeeper-gc-pause", []string{"pause=2s"}}
	}
	return s
}

// widgetOnZooKeeper: c1 connects at 1 s, has the lock zkTake later and is paused a
// second after that, at its write. The leader has heard of it last a hop before it
// had the lock. c2 waits from 3 s on. When the node of c1 is gone, by its release or
// with its session, it takes a hop until c2 is told, and a read until it knows that
// its own is the lowest.
//
// A c1 that comes back before its session ends goes on with it. If it has heard
// nothing for two thirds of the timeout by its own clock, it has first to connect to
// n2, which asks the leader: 4 hops, in which its write is answered and its release
// must wait; and from then on it is on a follower.
func widgetOnZooKeeper(session, pause time.Duration, kind string) story {
	took := time.Second + zkTake
	woken := took + time.Second + pause
	end := zkEnd(took-hop, session)
	end1 := woken + 2*hop
	gone := end1 + hop + zkCommit
	form := fmt.Sprintf("c1 releases at %s", short(end1))
	silent := woken-took >= zkDeaf(session)
	switch {
	case kind == "thread": // the thread that pings goes on
	case woken+2*hop >= end && (kind != "suspend" || woken+3*hop >= end):
		gone = end + zkCommit
		form = fmt.Sprintf("c1 was heard of last at %s and its session ends at the tick after its timeout, at %s", short(took-hop), short(end))
	case silent && kind != "suspend":
		gone = woken + 4*hop + 2*hop + zkCommit
		form = fmt.Sprintf("c1 is connected again at %s, to n2, and releases then", short(woken+4*hop))
	}
	a2 := gone + zkWake
	return story{
		accepted2: a2,
		end1:      end1,
		end2:      a2 + 1500*time.Millisecond + 2*hop,
		write1:    woken + hop,
		write2:    a2 + time.Second + hop,
		form:      fmt.Sprintf("%s; its node is gone at %s, and c2 knows at a2 = %s", form, short(gone), short(a2)),
	}
}
