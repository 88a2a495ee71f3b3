package scenarios

import (
	"fmt"
	"math"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// Two clients begin at once, with r5 down and from opposite ends: c1 has r1 and r2,
// c2 has r4 and r3, nobody a majority. Both have undone that at 20 ms.
const (
	collision = 2 * acquisition
	// race is how far ahead of the other a client has to be to have the third node
	// first: it asks there one node later.
	race = ask
)

// inLockStep is that cast. After each refusal a client waits for 100 ms, and up to
// jitter more.
func inLockStep(jitter string) trial.Spec {
	script := "acquire jitter " + jitter + "; release"
	spec := trial.Spec{
		System:   redis.Redlock{Order: map[string][]string{"c2": {"r4", "r3", "r2", "r1", "r5"}}},
		Cast:     trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript(script)}, {Name: "c2", Script: trial.MustScript(script)}}},
		Schedule: faults.MustParse("at 0s  restart r5 kill 1h"),
		Latency:  sim.Every(hop),
	}
	// Half a wait after the 84th collision.
	spec.Horizon = 83*(collision+trial.DefaultEvery) + collision + trial.DefaultEvery/2
	return spec
}

func jitterParam(v *string) Param {
	return choice("jitter", v, []string{"0s", "10ms", "50ms"}, "the most that is added at random to the wait of 100ms after a refusal")
}

// lockStep is S32 and T26: clients that wait for the same time after they collided
// collide again, for ever; a random delay parts them.
func lockStep() *Scenario {
	jitter := "0s"
	s := &Scenario{
		Name: "redlock-lock-step", Pair: "overkill",
		Claim:  "clients that retry after a fixed delay collide for ever; with a random one somebody wins",
		Claims: []string{"S32", "T26"},
	}
	s.Params = []Param{jitterParam(&jitter)}
	s.Spec = func() trial.Spec { return inLockStep(jitter) }
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if jitter == "0s" {
			e.Progress, e.Granted = check.Stalled, []string{}
			e.Longest = inLockStep(jitter).Horizon
			e.Because = fmt.Sprintf("every 120ms c1 gets r1 and r2, c2 gets r4 and r3: 2 of 5 each, 84 times until the end at %s", short(e.Longest))
			return e
		}
		e.Because = fmt.Sprintf("each further try parts them with probability %.2f or more: that 83 in a row do not is less likely than 1e-30", parted(jitter))
		return e
	}
	s.Control = func() Control { return turned(s.Name, "jitter", jitter, "0s", "50ms") }
	return s
}

// jittered is S32 as a share: how soon a random delay parts two clients.
func jittered() *Scenario {
	jitter := "50ms"
	s := &Scenario{
		Name: "redlock-jitter", Pair: "overkill",
		Claim:  "a random delay of up to 50 ms parts two clients that collided at their next try in nine runs of ten; a fixed one never",
		Claims: []string{"S32", "T26"},
	}
	s.Params = []Param{jitterParam(&jitter)}
	s.Spec = func() trial.Spec { return inLockStep(jitter) }
	s.Share = func() Share {
		const runs = 1000
		p := parted(jitter)
		share := Share{
			Of: "somebody has a majority by the second try", Hit: wonBySecondTry, Runs: runs,
			Want: p, Tolerance: fourSigma(p, runs),
			Because: fmt.Sprintf("(1 - 2ms/J)^2 is the chance that two delays of up to J = %s are more than 2ms apart; the tolerance is four standard deviations", jitter),
		}
		if p == 0 {
			share.Because = "both wait for 100ms, and collide as they did before"
		}
		return share
	}
	s.Control = func() Control { return turned(s.Name, "jitter", jitter, "50ms", "0s") }
	return s
}

// parted is the chance that two delays of up to jitter are further apart than the
// race is close. Where the clients were a little apart already it is greater, since
// the difference of two such delays is the likelier the smaller it is.
func parted(jitter string) float64 {
	j, err := time.ParseDuration(jitter)
	if err != nil {
		panic(err) // the parameter allows durations alone
	}
	if j <= race {
		return 0
	}
	return math.Pow(1-float64(race)/float64(j), 2)
}

func wonBySecondTry(r *trial.Result) bool {
	tries := map[string]int{}
	for i := range r.History.Events {
		e := &r.History.Events[i]
		if e.Verb != history.Acquire {
			continue
		}
		switch {
		case e.Kind == history.Call:
			tries[e.Who]++
		case e.Outcome == history.OK:
			return tries[e.Who] <= 2
		}
	}
	return false
}
