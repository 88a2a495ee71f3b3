package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// waited is what a lock costs whose client waits for replicas: SET, and WAIT, which
// asks them and hears from them.
const waited = ask + ask + ask

// syncToAll is S21: a client that takes a lock only when all replicas have it is safe
// whichever takes over, and gets none while one of them is away.
func syncToAll(name string) *Scenario {
	wait, trouble := "all", "lagging"
	s := &Scenario{
		Name: name, Pair: "copies",
		Claim:  "a lock that all three servers must have is not lost when one of them takes over; one that a majority has can be",
		Claims: []string{"S21", "T16", "R7"},
		Also:   []string{"trouble=failover"},
	}
	if name == "sync-all-replica-down" {
		trouble = "replica-down"
		s.Claim = "while one of three servers is down, nobody gets a lock that all must have; one that a majority must have goes on"
		s.Claims = []string{"S21"}
		s.Also = nil
	}
	s.Params = []Param{
		choice("wait", &wait, []string{"all", "majority"}, "how many of the three servers must have the key: all, or two"),
		choice("trouble", &trouble, []string{"none", "replica-down", "failover", "lagging"}, "r3 loses power before c2 asks; or takes over while c1 works; or does that, and was cut off from the start"),
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:  redis.SetNX{Replicas: 2, Wait: map[string]int{"all": 2, "majority": 1}[wait]},
			Cast:    two("try; work 3s; write doc; release", "until 4s; try; work 1s; write doc; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
		switch trouble {
		case "replica-down":
			spec.Schedule = faults.MustParse("at 3500ms  restart r3 power-loss 1h")
		case "failover", "lagging":
			spec.Schedule = faults.MustParse("at 1s  failover r1>r3")
			spec.Cast.Clients[1].Script[0].For = 1500 * time.Millisecond
		}
		if trouble == "lagging" {
			spec.Schedule = append(faults.MustParse("at 0s  partition r1|r3"), spec.Schedule...)
		}
		return spec
	}
	s.Expect = func() Expectation { return synchronous(wait == "all", trouble) }
	s.Control = func() Control {
		switch trouble {
		case "none":
			return Control{s.Name, []string{"trouble=replica-down", "wait=all"}}
		case "failover":
			return Control{s.Name, []string{"trouble=lagging", "wait=majority"}}
		}
		return turned(s.Name, "wait", wait, "all", "majority")
	}
	return s
}

// synchronous: c1 asks at 0, c2 when c1 is done, or, after the failover at 1 s, while
// it is not.
func synchronous(all bool, trouble string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	switch {
	case trouble == "none":
		e.Granted, e.Because = []string{"c1", "c2"}, "all is well"
	case trouble == "failover":
		e.Granted, e.Because = []string{"c1"}, "r3 has c1's key, and refuses c2"
	case trouble == "replica-down" && all:
		e.Granted, e.Because = []string{"c1"}, "r3 is down: c2 hears of 1 of 2 replicas"
	case trouble == "replica-down":
		e.Granted, e.Because = []string{"c1", "c2"}, "r1 and r2 have c2's key"
	case all:
		e.Granted = []string{}
		e.Because = "r3 is cut off: c1 hears of 1 of 2 replicas, and gives the key back; when r3 has taken over, it has one replica left, and c2 gets nothing either"
	default:
		e.Because = "r1 and r2 have c1's key, r3 takes over without it, and with r2 grants c2's"
		overtake(&e, 3*time.Second, 1500*time.Millisecond, time.Second+ask)
	}
	return e
}

// overtake is what follows when a failover has lost c1's key: c1 asks at 0 and works
// before it writes and releases; c2 asks at again, and writes a second after it has
// the lock, which it keeps for so long.
func overtake(e *Expectation, work1, again, held2 time.Duration) {
	end1, accepted2 := waited+work1+ask, again+waited
	end2 := accepted2 + held2
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
	e.Overlap = min(end1, end2) - accepted2
	e.Belief = overlapping(e.Overlap)
	e.Granted = []string{"c1", "c2"}
	e.Damage = []string{check.StaleWrite}
	e.Because += fmt.Sprintf("; overlap = %s - %s = %s", short(min(end1, end2)), short(accepted2), short(e.Overlap))
}

// waitNoConsensus is R7: WAIT has returned 1, and the failover loses the lock all the
// same.
func waitNoConsensus() *Scenario {
	promoted := "other"
	s := &Scenario{
		Name: "wait-no-consensus", Pair: "copies",
		Claim:  "WAIT has returned 1, and the failover loses the lock: by another replica, an early clock, or a restart",
		Claims: []string{"R7", "T16", "S20", "K2"},
		Also:   []string{"promoted=clock", "promoted=restart"},
	}
	attacks := map[string]string{
		"same":    "at 100ms  failover r1>r2",
		"other":   "at 0s  partition r1|r3\nat 100ms  failover r1>r3",
		"clock":   "at 50ms  clock-step r2 +60s\nat 100ms  failover r1>r2",
		"restart": "at 500ms  restart r2 power-loss 100ms\nat 550ms  failover r1>r2 100ms",
	}
	s.Params = []Param{choice("promoted", &promoted, []string{"same", "other", "clock", "restart"},
		"what takes over: r2, which has acknowledged; r3, which has not; r2 with its clock a minute ahead; r2, which has restarted empty")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   redis.SetNX{Replicas: 2, Wait: 1},
			Cast:     two("try; work 5s; write doc; release", "until 1s; try; work 1s; write doc; work 5s; release"),
			Schedule: faults.MustParse(attacks[promoted]),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
		e.Because = map[string]string{
			"same":    "r2 has c1's key, and refuses c2",
			"other":   "r2 has acknowledged c1's key; r3, which never heard of it, takes over",
			"clock":   "r2 has acknowledged c1's key with the date 10.001; its clock shows 61.001 when c2 asks",
			"restart": "r2 has acknowledged c1's key and restarts empty; r1 dies before it can send it anything, and r2 takes over",
		}[promoted]
		if promoted != "same" {
			overtake(&e, 5*time.Second, time.Second, 6*time.Second+ask)
		}
		return e
	}
	s.Control = func() Control { return turned(s.Name, "promoted", promoted, "same", "other") }
	return s
}

// minReplicas is S20 with min-replicas-to-write: a primary that has lost its replicas
// gives locks away for ten seconds more, and each of them is lost with it.
func minReplicas() *Scenario {
	least, at := "1", 5*time.Second
	s := &Scenario{
		Name: "min-replicas", Pair: "copies",
		Claim:  "min-replicas-to-write refuses locks that no replica would have, but only ten seconds after it heard of one last",
		Claims: []string{"S20", "T16"},
	}
	s.Params = []Param{
		choice("least", &least, []string{"0", "1"}, "min-replicas-to-write"),
		milliseconds("c1-at", &at, time.Second, 30*time.Second, "when c1 asks; r1 is cut off from both replicas since 500ms, and dies a second later"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.SetNX{Replicas: 2, MinReplicas: map[string]int{"0": 0, "1": 1}[least]},
			Cast:   two("until "+at.String()+"; try; work 5s; release", "until "+(at+2*time.Second).String()+"; try; work 6s; release"),
			Schedule: append(faults.MustParse("at 500ms  partition r1|r2,r3"), faults.Fault{
				Anchor: faults.At(at + time.Second), Action: faults.Failover{Primary: "r1", Replica: "r2"},
			}),
			Latency: sim.Every(hop),
			Horizon: at + 30*time.Second,
		}
	}
	// The replicas are last heard of at 0: reports are sent at whole seconds, from 1 s
	// on. 10 is the greatest number of whole seconds that is not too many.
	refused := func() bool { return least == "1" && at+hop >= 11*time.Second }
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if refused() {
			e.Granted = []string{"c2"}
			e.Because = fmt.Sprintf("r1 has last heard of a replica at 0s, and refuses c1's SET at %s: that is more than 10s, in whole seconds", short(at+hop))
			return e
		}
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, 3*time.Second
		e.Granted = []string{"c1", "c2"}
		e.Because = fmt.Sprintf("r1 takes c1's SET at %s, and dies with it; c2 has the lock 2s after c1 has, which keeps it for 5s", short(at+hop))
		return e
	}
	s.Control = func() Control {
		if refused() {
			return Control{s.Name, []string{"least=0"}}
		}
		return Control{s.Name, []string{"least=1", "c1-at=12s"}}
	}
	return s
}
