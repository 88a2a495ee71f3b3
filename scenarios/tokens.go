package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// setThenIncr is T12, T14 and S54: the token is fetched by a command of its own. c1
// is paused between the two, so that its older lock gets the greater token.
func setThenIncr() *Scenario {
	token := "incr"
	s := &Scenario{
		Name: "set-then-incr", Pair: "mint",
		Claim:  "a token fetched after the lock turns the order around: the stale holder writes, the live one cannot",
		Claims: []string{"T14", "S54"},
	}
	s.Params = []Param{choice("token", &token, []string{"incr", "script"}, "whether the token comes from a second command or from the granting one")}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 300 * time.Millisecond}
		mustText(&system.Token, token)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Fenced("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until 350ms; acquire; write doc; work 260ms; write doc; release")},
				},
			},
			// c1's second message is its INCR, or its write.
			Schedule: faults.Schedule{{Anchor: faults.Before("c1", "send", 2), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: 598 * time.Millisecond}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Overlapping, Progress: check.OK}
		if token == "script" {
			// c1 believes from 0.002 to its release at 0.602, c2 from 0.352 to 0.616.
			e.Overlap, e.Rejected = 250*time.Millisecond, []string{"c1"}
			e.Because = "c1 has token 1 since 0.002, c2 has 2 since 0.352; c1's write comes at 0.601, after c2's with 2"
			return e
		}
		// c1 fetches its token at 0.600 and believes from 0.602 to 0.604; c2 has believed
		// since 0.354.
		e.Promise, e.Breaches = check.Broken, []string{check.TokenOrder}
		e.Overlap, e.Damage, e.Rejected = 2*time.Millisecond, []string{check.StaleWrite}, []string{"c2"}
		e.Because = "c2's INCR at 0.353 gives 1, c1's at 0.601 gives 2, for a lock of 0.001; c1's write with 2 is accepted at 0.603, c2's with 1 rejected at 0.617"
		return e
	}
	s.Control = func() Control { return turned("set-then-incr", "token", token, "script", "incr") }
	return s
}

// redlockIncr is K8: each node counts its grants, and the token is made of the
// counters of a majority.
func redlockIncr() *Scenario {
	token := "max"
	s := &Scenario{
		Name: "redlock-incr", Pair: "mint",
		Claim:  "counters on the nodes of a majority make no order: a token repeats or falls",
		Claims: []string{"K8", "S38", "T20"},
	}
	s.Also = []string{"token=sum", "token=min"}
	s.Params = []Param{choice("token", &token, []string{"max", "sum", "min"}, "what is made of the counters of a majority")}
	s.Spec = func() trial.Spec {
		system := redis.Redlock{Order: majorities(token)}
		mustText(&system.Token, token)
		spec := trial.Spec{System: system, Latency: sim.Every(hop), Horizon: time.Minute}
		spec.Cast.Resources = []models.Resource{resource.Fenced("doc")}
		for i, name := range []string{"c1", "c2", "c3"} {
			script := "until " + (time.Duration(i) * time.Second).String() + "; acquire; write doc; release"
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{Name: name, Script: trial.MustScript(script)})
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{
			Promise: check.Broken, Breaches: []string{check.TokenOrder}, Belief: check.Exclusive, Progress: check.OK,
			Because: map[string]string{
				"max": "nodes 1,2,3 then 1,2,4 then 3,4,5: the greatest counters are 1, 2, 2",
				"sum": "nodes 1,2,3 then 1,2,3 then 1,4,5: the sums are 3, 6, 5; the store has seen 6 and rejects the third",
				"min": "nodes 1,2,3 then 3,4,5 then 3,4,5: the least counters are 1, 1, 2",
			}[token],
		}
		if token == "sum" {
			e.Rejected = []string{"c3"}
		}
		return e
	}
	s.Control = func() Control { return Control{"gc-pause-fenced", []string{"pause=0s"}} }
	return s
}

// majorities are the nodes that each client asks, one after another in time.
func majorities(token string) map[string][]string {
	abc, abd, ade, cde := []string{"r1", "r2", "r3"}, []string{"r1", "r2", "r4"}, []string{"r1", "r4", "r5"}, []string{"r3", "r4", "r5"}
	switch token {
	case "max":
		return map[string][]string{"c1": abc, "c2": abd, "c3": cde}
	case "sum":
		return map[string][]string{"c1": abc, "c2": abc, "c3": ade}
	}
	return map[string][]string{"c1": abc, "c2": cde, "c3": cde}
}
