package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperSuspended is H16: the holder is cut off from ZooKeeper, not from what the
// lock protects. When it stops of its own accord decides.
func zookeeperSuspended() *Scenario {
	session, at, stop := 4*time.Second, time.Second, "never"
	s := &Scenario{
		Name:   "zookeeper-suspended",
		Pair:   "session",
		Claim:  "a holder that is cut off must stop when it loses the connection; to wait until it thinks that the session is over is too long",
		Claims: []string{"S44", "K14", "H16"},
	}
	s.Also = []string{"stop=lost", "stop=suspended"}
	s.Params = []Param{
		milliseconds("session", &session, 4*time.Second, 40*time.Second, "the timeout of a session"),
		milliseconds("cut-at", &at, time.Second, 10*time.Second, "when c1 is cut off from all servers"),
		choice("stop", &stop, []string{"never", "lost", "suspended"}, "when c1 stops: not, when it thinks that its session is over, when its connection is"),
	}
	s.Spec = func() trial.Spec {
		system := zookeeper.Mutex{Session: session}
		mustText(&system.Stop, stop)
		return trial.Spec{
			System:   system,
			Cast:     two("acquire; work 80s; write doc; release", "until 500ms; acquire; work 1s; write doc; work 3s; release"),
			Schedule: faults.MustParse(fmt.Sprintf("at %s  partition c1|n1,n2,n3", at)),
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	s.Expect = func() Expectation { return suspended(session, at, stop) }
	s.Control = func() Control { return turned("zookeeper-suspended", "stop", stop, "suspended", "never") }
	return s
}

// suspended: c1 asked last a read before it had the lock, and pings from then on. The
// last ping before the cut is the leader's last word of it, the last one that was
// answered before it c1's last word of the leader. c2 believes for 4 s and a write.
func suspended(session, at time.Duration, stop string) Expectation {
	listed := zkTake - zkRead
	end := zkEnd(zkLast(listed, at, session)+hop, session)
	lost := zkLast(listed, at-hop, session) + 2*hop + zkDeaf(session)
	a2 := end + zkCommit + zkWake
	end2 := a2 + 4*time.Second + 2*hop
	end1 := map[string]time.Duration{"never": zkTake + 80*time.Second + 2*hop, "lost": lost + session, "suspended": lost}[stop]
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	e.Overlap = max(0, min(end1, end2)-a2)
	e.Belief = overlapping(e.Overlap)
	e.Longest = a2 - 500*time.Millisecond
	e.Because = fmt.Sprintf("the leader, which looks every tick of 2s, ends the session at %s, and c2 has the lock at %s until %s; c1 loses the connection at %s and believes until %s; overlap = %s",
		short(end), short(a2), short(end2), short(lost), short(end1), short(e.Overlap))
	if stop == "never" {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}
