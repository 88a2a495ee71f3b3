package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// redlockSends is T17 and S30: the documents differ on whether the nodes are asked
// at once or one after another. What differs in a run is how long it takes.
func redlockSends() *Scenario {
	sends, silent := "parallel", "off"
	s := &Scenario{
		Name:   "redlock-sends",
		Pair:   "overkill",
		Claim:  "asking all nodes at once takes as long as the slowest, one after another as long as all together",
		Claims: []string{"T17", "S30"},
	}
	s.Params = []Param{
		choice("sends", &sends, []string{"parallel", "one-by-one"}, "how the nodes are asked"),
		choice("silent", &silent, []string{"off", "on"}, "whether r5 is cut off and costs the timeout of 50ms"),
	}
	s.Spec = func() trial.Spec {
		system := redis.Redlock{}
		mustText(&system.Sends, sends)
		spec := trial.Spec{
			System:  system,
			Cast:    trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; release")}}},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
		if silent == "on" {
			spec.Schedule = faults.MustParse("at 0s  partition c1|r5")
		}
		return spec
	}
	s.Expect = func() Expectation {
		const timeout = 50 * time.Millisecond
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		switch {
		case sends == "parallel" && silent == "on":
			e.Longest, e.Because = timeout, "all five are asked at once, and r5 for 50ms"
		case sends == "parallel":
			e.Longest, e.Because = ask, "all five are asked at once: 2 x 1ms"
		case silent == "on":
			e.Longest, e.Because = 4*ask+timeout, "4 x 2 x 1ms, and 50ms for r5"
		default:
			e.Longest, e.Because = acquisition, "5 x 2 x 1ms"
		}
		return e
	}
	s.Control = func() Control { return turned("redlock-sends", "sends", sends, "parallel", "one-by-one") }
	return s
}
