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

// nodeTimeout is R1: what a node costs that does not answer, and why the timeout of
// a node has to be small compared with the TTL.
func nodeTimeout() *Scenario {
	ttl, timeout, dead := 10*time.Second, 50*time.Millisecond, "2"
	s := &Scenario{
		Name: "redlock-node-timeout", Pair: "timing",
		Claim:  "each silent node costs its timeout; with one near the TTL nothing is left, and nobody gets the lock",
		Claims: []string{"R1", "S30", "S31", "S37"},
		Also:   []string{"silent=1"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, time.Hour, "PX of the keys"),
		milliseconds("timeout", &timeout, 5*time.Millisecond, time.Hour, "how long c1 waits for a node"),
		choice("silent", &dead, []string{"0", "1", "2"}, "how many nodes, from r5 down, answer nothing"),
	}
	silent := func() int { return int(dead[0] - '0') }
	elapsed := func() time.Duration {
		return time.Duration(5-silent())*ask + time.Duration(silent())*timeout
	}
	// The end of a run without a grant lies in the third wait between two attempts, of
	// which each has asked all nodes twice: for the lock, and to undo that.
	stalled := func() time.Duration { return 3*(2*elapsed()+trial.DefaultEvery) - trial.DefaultEvery/2 }
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:  redis.Redlock{TTL: ttl, Timeout: timeout},
			Cast:    trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1000h; release")}}},
			Latency: sim.Every(hop),
			Horizon: time.Second + stalled(),
		}
		if elapsed() < deadline(ttl) {
			spec.Horizon = ttl + time.Minute
		}
		if silent() > 0 {
			cut := faults.Partition{A: []string{"c1"}, B: []string{"r4", "r5"}[2-silent():]}
			spec.Schedule = faults.Schedule{{Anchor: faults.At(0), Action: cut}}
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive}
		e.Because = fmt.Sprintf("elapsed = %d x 2 x 1ms + %d x %s = %s; validity = TTL - drift - elapsed = %s",
			5-silent(), silent(), short(timeout), short(elapsed()), short(deadline(ttl)-elapsed()))
		if elapsed() >= deadline(ttl) {
			e.Progress, e.Longest, e.Granted = check.Stalled, stalled(), []string{}
			e.Because += ": refused, three times until the end at " + short(time.Second+stalled())
			return e
		}
		e.Progress, e.Longest, e.Granted = check.OK, elapsed(), []string{"c1"}
		e.Figures = []Figure{{beliefs, "c1 " + short(deadline(ttl)-elapsed())}}
		return e
	}
	s.Control = func() Control {
		if elapsed() >= deadline(ttl) {
			return Control{s.Name, []string{"timeout=50ms"}}
		}
		return Control{s.Name, []string{"silent=2", "timeout=" + short((ttl / 2).Truncate(time.Millisecond))}}
	}
	return s
}
