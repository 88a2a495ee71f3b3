package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// redlockCleanup is R2 and step 5 of S30: whoever fails deletes its key on all
// nodes, even those from which it heard nothing.
func redlockCleanup() *Scenario {
	cleanup := "granted"
	s := &Scenario{
		Name:   "redlock-cleanup",
		Pair:   "overkill",
		Claim:  "a client that cleans up only where it heard OK leaves keys behind that lock everybody out for a TTL",
		Claims: []string{"R2", "S30"},
	}
	s.Params = []Param{choice("cleanup", &cleanup, []string{"all", "granted"}, "on which nodes a failed attempt is undone")}
	s.Spec = func() trial.Spec {
		system := redis.Redlock{Nodes: 3}
		mustText(&system.Cleanup, cleanup)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("try; release")},
				{Name: "c2", Script: trial.MustScript("until 1s; acquire; work 1s; release")},
			}},
			Schedule: faults.MustParse("at 0s  lose-reply r1>c1\nat 0s  lose-reply r2>c1"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// c1 asks r1 and r2 in vain for 50 ms each, has r3 at 0.102, and has cleaned up at
	// 0.108. Left to itself, the key of r1 is gone at 10.002. c2 asks r1 a hop after
	// each attempt begins, every 108 ms: three nodes, r3 again, and 100 ms.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		e.Longest, e.Because = 108*time.Millisecond, "c1 undoes all in 0.108; c2 finds all nodes free"
		if cleanup == "granted" {
			begins := time.Second
			for begins+hop < 10002*time.Millisecond {
				begins += 4*ask + trial.DefaultEvery
			}
			e.Longest = begins + 3*ask - time.Second
			e.Because = "c1's keys on r1 and r2 stay; that of r1 is gone at 10.002, and c2's next attempt has r1 and r3 at " + short(begins+3*ask)
		}
		return e
	}
	s.Control = func() Control { return turned("redlock-cleanup", "cleanup", cleanup, "all", "granted") }
	return s
}
