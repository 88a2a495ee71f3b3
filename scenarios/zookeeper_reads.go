package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperStaleRead is S46 on ZooKeeper: a read is answered by the server that the
// client is connected to, which may be behind.
func zookeeperStaleRead() *Scenario {
	lag, at, sync := 200*time.Millisecond, 1100*time.Millisecond, "off"
	s := &Scenario{
		Name:   "zookeeper-stale-read",
		Pair:   "consensus",
		Claim:  "a read without sync may be old: a server that is behind says that nobody holds the lock",
		Claims: []string{"S18", "S19"},
	}
	s.Params = []Param{
		milliseconds("lag", &lag, time.Millisecond, 300*time.Millisecond, "how long messages take from n1 to n3, c2's server"),
		milliseconds("look-at", &at, 1100*time.Millisecond, 3*time.Second, "when c2 looks, after c1 got the lock at 1.014s"),
		choice("sync", &sync, []string{"off", "on"}, "whether c2 calls sync first"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: zookeeper.Mutex{Sync: sync == "on", Servers: map[string][]string{"c2": {"n3"}}},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 5s; release")},
				{Name: "c2", Script: trial.MustScript("look; until " + at.String() + "; look")},
			}},
			Latency: sim.Latency{Default: []time.Duration{hop}, Links: map[string][]time.Duration{"n1>n3": {lag}}},
			Horizon: 10 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		made := time.Second + zkWrite + hop + zkCommit // c1's node, on n1
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Figures: []Figure{{owners, "nobody, c1"}},
			Because: fmt.Sprintf("n3 knows of c1's node of %s at %s; c2 asks it at %s", short(made), short(made+lag), short(at+hop)),
		}
		switch {
		case sync == "on":
			e.Because += ", and n3 waits until it has what was committed"
		case made+lag > at+hop:
			e.Promise, e.Breaches = check.Broken, []string{check.StaleRead}
			e.Figures = []Figure{{owners, "nobody, nobody"}}
		}
		return e
	}
	s.Control = func() Control {
		if e := s.Expect(); e.Promise == check.Broken {
			return Control{"zookeeper-stale-read", []string{"sync=on"}}
		}
		return Control{"zookeeper-stale-read", []string{"sync=off", "lag=200ms", "look-at=1100ms"}}
	}
	return s
}
