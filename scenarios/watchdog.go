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

// The watchdog's setting: work of 25 s under a lock of 10 s, extended every 3.3 s.
const (
	watchEvery = 3300 * time.Millisecond
	watchTTL   = 10 * time.Second
	longWork   = 25 * time.Second
)

// watchdog is S11, S65, T24 and R5: a lock that is extended while the work lasts.
func watchdog() *Scenario {
	by, trouble, loss := "own", "gc", "abort"
	s := &Scenario{
		Name: "watchdog", Pair: "pause",
		Claim:  "a watchdog keeps the lock for long work, and stands still with its process",
		Claims: []string{"S11", "S64", "S65", "T24"},
		Also:   []string{"by=off trouble=none"},
	}
	s.Params = []Param{
		choice("by", &by, []string{"own", "main", "off"}, "who extends: a thread of its own, the main thread while it works, nobody"),
		choice("trouble", &trouble, []string{"none", "gc", "thread", "cut"}, "c1 is paused for 14s before its write, or cut off from Redis at 6s"),
		choice("loss", &loss, []string{"abort", "ignore"}, "what a failed extension does to the work"),
	}
	s.Spec = func() trial.Spec {
		watch := map[string]string{"own": "watch every 3300ms", "main": "watch every 3300ms main", "off": "work 0s"}[by]
		if loss == "ignore" && by != "off" {
			watch += " ignore"
		}
		spec := trial.Spec{
			System:  redis.SetNX{TTL: watchTTL},
			Cast:    two("acquire; "+watch+"; work 25s; write doc; release", "until 3s; acquire; write doc; work 1s; release"),
			Latency: sim.Every(hop),
			Horizon: 2 * time.Minute,
		}
		switch trouble {
		case "gc", "thread":
			spec.Schedule = pauseBefore("write", trouble, 14*time.Second)
		case "cut":
			spec.Schedule = faults.MustParse("at 6s  partition c1|r1")
		}
		return spec
	}
	s.Expect = func() Expectation { return watched(by, trouble, loss) }
	s.Control = func() Control {
		if e := watched(by, trouble, loss); e.Overlap > 0 {
			return Control{"watchdog", []string{"by=own", "trouble=none"}}
		}
		return Control{"watchdog", []string{"by=off"}}
	}
	return s
}

// watched: c1 accepts at 2 ms. Its n-th extension is sent at n x 3.302 s, while it
// can be, and gives the key 10 s from its arrival. c2 gets the lock with its first
// attempt after that; its second of work lies inside what c1 believes, if c1 still
// does. Where c1's main thread alone is stalled, a thread of its own goes on.
func watched(by, trouble, loss string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	const worked = 2*hop + longWork
	last := time.Duration(0) // when the last extension arrived
	switch {
	case by == "off":
		last = hop
	case trouble == "cut":
		last = watchEvery + 2*hop + hop
	case trouble == "gc" || trouble == "thread" && by == "main":
		last = 7*(watchEvery+2*hop) + hop
	default:
		e.Because = "the key is extended until c1 releases it"
		return e
	}
	gone := last + watchTTL + time.Millisecond
	accepted2 := pollSeen(gone) + hop
	end2 := accepted2 + 2*hop + time.Second
	e.Because = fmt.Sprintf("the key was last given 10s at %s and is gone at %s; c2's next attempt, every 102ms from 3.001s, is answered at %s, and it believes to %s",
		short(last), short(gone), short(accepted2), short(end2))
	if trouble == "cut" && loss == "abort" && by != "off" {
		e.Because += "; c1 has stopped when its extension failed, at 6.654s"
		return e
	}
	end1 := worked + 2*hop
	if trouble == "gc" || trouble == "thread" {
		end1 += 14 * time.Second
	}
	e.Overlap = max(0, min(end1, end2)-accepted2)
	e.Belief = overlapping(e.Overlap)
	e.Damage = []string{check.StaleWrite}
	e.Because += fmt.Sprintf(", c1 until %s; overlap = %s", short(end1), short(e.Overlap))
	return e
}

// pollSeen is when Redis sees the first attempt of a client that polls from 3 s on,
// at or after an instant.
func pollSeen(from time.Duration) time.Duration { return polled(3*time.Second+hop, from) }
