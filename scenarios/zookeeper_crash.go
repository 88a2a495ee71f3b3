package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/raft"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperLeaderCrash is S14, S20 and K14 on ZooKeeper: the leader goes, and the
// session with its lock does not. The new leader lets all sessions begin anew. Who
// stops whenever it has lost the connection stops for nothing.
func zookeeperLeaderCrash() *Scenario {
	at, crash, pause, stop := 5*time.Second, "kill", "off", "never"
	s := &Scenario{
		Name:   "zookeeper-leader-crash",
		Pair:   "consensus",
		Claim:  "when the leader crashes, the session and its lock go on with the next; a holder that is paused meanwhile still loses both",
		Claims: []string{"S14", "S20", "S23", "S44", "K14"},
	}
	s.Also = []string{"crash=power-loss", "pause=on", "stop=suspended"}
	s.Params = []Param{
		milliseconds("crash-at", &at, 3*time.Second, 8*time.Second, "when the leader crashes"),
		choice("crash", &crash, []string{"kill", "power-loss"}, "what happens to it"),
		choice("pause", &pause, []string{"off", "on"}, "whether c1 is paused for 30s then"),
		choice("stop", &stop, []string{"never", "suspended"}, "whether c1 stops when it has lost the connection"),
	}
	s.Spec = func() trial.Spec {
		schedule := fmt.Sprintf("at %s  restart n1 %s 1h", at, crash)
		if pause == "on" {
			schedule += fmt.Sprintf("\nat %s  pause c1 gc 30s", at)
		}
		system := zookeeper.Mutex{Config: raft.Config{Timeouts: []time.Duration{time.Second, zkPatience, 3 * time.Second}}}
		mustText(&system.Stop, stop)
		return trial.Spec{
			System:   system,
			Cast:     two("acquire; work 15s; write doc; release", "until 2s; acquire; work 1s; write doc; work 500ms; release"),
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		return leaderCrashed(at, crash == "kill", pause == "on", stop == "suspended")
	}
	s.Control = func() Control { return turned("zookeeper-leader-crash", "pause", pause, "off", "on") }
	return s
}

// zkPatience is the election timeout of n2, which is the first to stand.
const zkPatience = 1200 * time.Millisecond

// leaderCrashed: the last heartbeat leaves n1 at a tenth of a second. n2 is patient from
// its arrival on, is elected by two rounds with two syncs, and leads a commit later. A
// killed leader's connections are reset; otherwise a client notices when it has heard
// nothing for two thirds of the timeout since the last answered ping.
func leaderCrashed(at time.Duration, killed, paused, stops bool) Expectation {
	const session = 10 * time.Second
	beat := (at - 1) / (100 * time.Millisecond) * (100 * time.Millisecond)
	leads := beat + hop + zkPatience + 4*hop + 2*zkSync + zkCommit
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	end1 := zkTake + 15*time.Second + 2*hop
	a2 := end1 + hop + zkCommit + zkWake
	e.Because = fmt.Sprintf("n2 leads from %s on and has both sessions and c1's node", short(leads))
	switch {
	case paused:
		end1 = at + 30*time.Second
		end := zkEnd(leads, session)
		a2 = end + zkCommit + zkWake
		e.Overlap = 1500*time.Millisecond + 2*hop
		e.Belief = check.Overlapping
		e.Because = fmt.Sprintf("n2 leads from %s on and ends c1's session at the tick after 10s, at %s; c1 goes on at %s", short(leads), short(end), short(end1))
		if !stops {
			end1 += 2 * hop
			e.Damage = []string{check.StaleWrite}
		}
	case stops && killed: // both clients are let in by n2 when it leads
		end1 = at + hop
		a2 = leads + 2*hop + zkCommit + zkWake
	case stops: // c2 may come to n2 after c1's node is gone
		end1 = zkLast(zkTake-zkRead, at-hop, session) + 2*hop + zkDeaf(session)
		lost2 := zkLast(2*time.Second+zkTake, at-hop, session) + 2*hop + zkDeaf(session)
		a2 = max(end1+3*hop+zkCommit+zkWake, lost2+3*zkRead)
	}
	e.Longest = a2 - 2*time.Second
	e.Figures = []Figure{{beliefs, fmt.Sprintf("c1 %s, c2 1.502s", short(end1-zkTake))}}
	if paused {
		e.Figures[0].Want = fmt.Sprintf("c2 1.502s, c1 %s", short(end1-zkTake))
	}
	e.Because += fmt.Sprintf("; c1 believes until %s, c2 from %s on for 1.502s", short(end1), short(a2))
	return e
}

// zookeeperFollowerDies: a follower answers a ping by itself, and tells the leader at
// the next half tick. If it dies between the two, the leader ends the session earlier
// than the client may expect, who is not there to go elsewhere.
func zookeeperFollowerDies() *Scenario {
	told := "no"
	s := &Scenario{
		Name:   "zookeeper-follower-dies",
		Pair:   "consensus",
		Claim:  "an answered ping is the word of one server: if it dies before it told the leader, the session ends before its timeout is over",
		Claims: []string{"S44", "S18"},
	}
	s.Params = []Param{choice("told", &told, []string{"no", "yes"}, "whether n2 has told the leader of c1's ping when it dies, and c1 is paused for 30s")}
	at := func() time.Duration {
		return map[string]time.Duration{"no": 10500 * time.Millisecond, "yes": 11500 * time.Millisecond}[told]
	}
	const session = 10 * time.Second
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   zookeeper.Mutex{Session: session, Servers: map[string][]string{"c1": {"n2", "n3", "n1"}}},
			Cast:     two("acquire; work 12s; write doc; release", "until 1s; acquire; work 1s; write doc; work 500ms; release"),
			Schedule: faults.MustParse(fmt.Sprintf("at %[1]s  restart n2 power-loss 1h\nat %[1]s  pause c1 gc 30s", at())),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// On a follower each change takes two hops more: c1 connects until 0.008, creates
	// until 0.016, lists, and pings every 3.333 s from then on.
	s.Expect = func() Expectation {
		listed := 2 * (zkWrite + 2*hop)
		ping := zkLast(listed, at(), session)
		before := zkLast(listed, ping, session) // the one before it
		heard := before
		if told == "yes" {
			heard = ping
		}
		heard = (heard+hop)/time.Second*time.Second + time.Second + hop
		end := zkEnd(heard, session)
		until := ping + session - session/2000
		a2 := end + zkCommit + zkWake
		e := Expectation{
			Promise: check.Kept, Belief: check.Overlapping, Overlap: 1500*time.Millisecond + 2*hop,
			Damage: []string{check.StaleWrite}, Progress: check.OK, Longest: a2 - time.Second,
			Because: fmt.Sprintf("n2 answers the ping of %s, which lasts until %s; the leader was told at %s last, and ends the session at %s; c2 has the lock at %s and for 1.502s",
				short(ping), short(until), short(heard), short(end), short(a2)),
		}
		if a2 < until {
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
		}
		return e
	}
	s.Control = func() Control { return turned("zookeeper-follower-dies", "told", told, "yes", "no") }
	return s
}
