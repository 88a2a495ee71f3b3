package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// redlockHeld is K10 and K11 for clients that hold more than the least: with h of
// five nodes held, h - 2 of them must forget before another can get a majority.
func redlockHeld() *Scenario {
	held, failing := "3", "1"
	s := &Scenario{
		Name: "redlock-held", Pair: "restart",
		Claim:  "the more nodes a client holds, the more of them must forget: one of three, two of four, three of five",
		Claims: []string{"K10", "K11", "S33"},
	}
	s.Params = []Param{
		choice("held", &held, []string{"3", "4", "5"}, "how many nodes c1 holds"),
		choice("failing", &failing, []string{"0", "1", "2", "3"}, "how many of them, from r3 on, restart empty"),
	}
	s.Also = []string{"held=4 failing=1", "held=4 failing=2", "held=5 failing=2", "held=5 failing=3"}
	h, f := func() int { return int(held[0] - '0') }, func() int { return int(failing[0] - '0') }
	nodes := []string{"r1", "r2", "r3", "r4", "r5"}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:  redis.Redlock{Order: map[string][]string{"c1": nodes[:h()]}},
			Cast:    two("acquire; work 5s; write doc; work 1000h; release", "until 2s; try; work 1s; write doc; work 1000h; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
		for _, node := range nodes[2:min(2+f(), h())] {
			spec.Schedule = append(spec.Schedule, faults.Fault{
				Anchor: faults.At(500 * time.Millisecond), Action: faults.Restart{Server: node, How: faults.PowerLoss},
			})
		}
		return spec
	}
	// c2 asks all five; those that c1 does not hold, and those that forgot, say OK.
	s.Expect = func() Expectation {
		votes := 5 - h() + min(f(), h()-2)
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		e.Because = fmt.Sprintf("5 - %s nodes are free and %d forgot: c2 gets %d of 5", held, min(f(), h()-2), votes)
		if votes < 3 {
			return e
		}
		end1, accepted2 := deadline(10*time.Second), 2*time.Second+acquisition
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
		e.Belief, e.Overlap = check.Overlapping, end1-accepted2
		e.Damage = []string{check.StaleWrite}
		e.Because += fmt.Sprintf("; overlap = %s - %s = %s", short(end1), short(accepted2), short(e.Overlap))
		return e
	}
	s.Control = func() Control {
		if f() >= h()-2 {
			more := []string{"3", "4", "5"}
			if i := slices.Index(more, held); i < 2 {
				return Control{"redlock-held", []string{"held=" + more[i+1], "failing=" + fmt.Sprint(h()-2)}}
			}
			return Control{"redlock-held", []string{"failing=2"}}
		}
		return Control{"redlock-held", []string{"failing=3"}}
	}
	return s
}
