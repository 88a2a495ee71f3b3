package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// replicaExpiry is R6: a replica does not expire a key, it waits for the primary's
// DEL. Cut off from that it keeps the key in memory; when it is promoted, it judges
// the key by its date and its own clock.
func replicaExpiry() *Scenario {
	clock := "0s"
	s := &Scenario{
		Name: "replica-expiry", Pair: "clock",
		Claim:  "a replica waits for its primary's DEL; promoted without it, it frees the key by its own clock, or does not",
		Claims: []string{"R6", "S29"},
	}
	s.Params = []Param{choice("clock", &clock, []string{"0s", "-60s"}, "how far r2's clock is off")}
	s.Spec = func() trial.Spec {
		f := faults.MustParse("at 1s  kill c1\nat 1s  partition r1|r2\nat 12s  failover r1>r2")
		if clock != "0s" {
			f = append(f, faults.MustParse("at 0s  clock-step r2 "+clock)...)
		}
		return trial.Spec{
			System:   redis.SetNX{Replicas: 1},
			Cast:     two("acquire; work 5s; release", "until 11s; look; until 13s; acquire; release"),
			Schedule: f,
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	// c1's key has the date 10.001. r1 has deleted it when c2 looks, at 11.001; its DEL
	// does not reach r2. c2 asks r2 from 13.001 on, every 102 ms.
	s.Expect = func() Expectation {
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Longest: ask, Figures: []Figure{{owners, "nobody"}},
			Because: "r2 still has the key, and drops it when c2 asks, at 13.001: it is past the date by r2's clock too",
		}
		if clock != "0s" {
			seen := 13*time.Second + hop
			for seen-time.Minute < 10*time.Second+2*hop {
				seen += ask + trial.DefaultEvery
			}
			e.Longest = seen + hop - 13*time.Second
			e.Because = "r2 still has the key, which stands until its clock has passed 10.001, a minute late: c2's first attempt after that is at " + short(seen)
		}
		return e
	}
	s.Control = func() Control { return turned(s.Name, "clock", clock, "0s", "-60s") }
	return s
}

// replicaClock is R6 with a read: since Redis 3.2 a replica shows nobody a key that is
// past its date by the replica's own clock, whatever the primary has.
func replicaClock() *Scenario {
	clock := "+60s"
	s := &Scenario{
		Name: "replica-clock", Pair: "clock",
		Claim:  "a replica whose clock is ahead answers that a lock is free which its primary still has",
		Claims: []string{"R6", "S19", "S29"},
	}
	s.Params = []Param{choice("clock", &clock, []string{"+60s", "0s", "-60s"}, "how far r2's clock is off")}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:  redis.SetNX{Replicas: 1, Check: redis.CheckReplica},
			Cast:    two("acquire; work 5s; release", "until 1s; try; work 6s; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
		if clock != "0s" {
			spec.Schedule = faults.MustParse("at 500ms  clock-step r2 " + clock)
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"},
			Because: "r2 has c1's key with the date 10.003, and shows it at 1.001"}
		if clock == "+60s" {
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
			e.Belief, e.Overlap = check.Overlapping, 4*time.Second
			e.Granted = []string{"c1", "c2"}
			e.Because = "r2's clock shows 61.001 when c2 asks it, and c1's key has the date 10.003; c2 overwrites it on r1; overlap = 5.004s - 1.004s"
		}
		return e
	}
	s.Control = func() Control { return turned(s.Name, "clock", clock, "+60s", "0s") }
	return s
}
