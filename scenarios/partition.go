package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// partitionedHolder is R3: a client that is cut off as soon as it has the lock, and
// so cannot release it, costs everybody a TTL, each time.
func partitionedHolder() *Scenario {
	ttl, times, cut := 10*time.Second, "2", "on"
	s := &Scenario{
		Name:   "partitioned-holder",
		Pair:   "recipe",
		Claim:  "a client that is cut off right after it got the lock keeps all others waiting for a TTL, each time anew",
		Claims: []string{"R3", "A1", "S6", "T2"},
		Also:   []string{"times=1", "times=3"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 5*time.Second, 5*time.Minute, "PX of the key"),
		choice("times", &times, []string{"1", "2", "3"}, "how often c1 takes the lock: as soon as its last key is gone"),
		choice("cut", &cut, []string{"on", "off"}, "whether c1 is cut off from Redis for 2s each time"),
	}
	k := func() int { return int(times[0] - '0') }
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System: redis.SetNX{TTL: ttl},
			// c2 asks between the milliseconds, so that it never meets c1 at one instant.
			Cast:    two("acquire; work 1s; release", "until 2000500us; acquire; work 1s; release"),
			Latency: sim.Every(hop),
			Horizon: 3*ttl + time.Minute,
		}
		for i := range k() {
			again := time.Duration(i) * (ttl + time.Millisecond)
			if i > 0 {
				c1 := &spec.Cast.Clients[0]
				c1.Script = append(c1.Script, trial.MustScript("until "+again.String()+"; acquire; work 1s; release")...)
			}
			if cut == "on" {
				spec.Schedule = append(spec.Schedule, faults.Fault{
					Anchor: faults.Before("c1", "work", i+1),
					Action: faults.Partition{A: []string{"c1"}, B: []string{"r1"}, For: 2 * time.Second},
				})
			}
		}
		return spec
	}
	// c1's n-th key is set 1 ms after (n-1) x (TTL + 1ms) and still stands at its last
	// millisecond: the next SET is there in the very instant in which it is free.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		e.Longest, e.Because = ask, "c1 has released the lock at 1.003s, c2 asks at 2.001s"
		if cut == "on" {
			free, seen := time.Duration(k())*(ttl+time.Millisecond)+hop, 2000500*time.Microsecond+hop
			for seen < free {
				seen += ask + trial.DefaultEvery
			}
			e.Longest = seen + hop - 2000500*time.Microsecond
			e.Because = fmt.Sprintf("c1's last key is gone at %d x (TTL + 1ms) + 1ms = %s; c2 asks every 102ms from 2.0005s on, and has the lock at %s",
				k(), short(free), short(seen+hop))
		}
		e.Figures = []Figure{{releases, c1Releases(k(), cut == "on")}}
		return e
	}
	s.Control = func() Control { return Control{s.Name, []string{"cut=" + other(cut)}} }
	return s
}

// c1Releases is what the releases of c1 and that of c2 come to: c2's is the last
// where c1 is cut off, and otherwise the second.
func c1Releases(times int, cut bool) string {
	if cut {
		return strings.Repeat("c1 unknown, ", times) + "c2 ok"
	}
	return "c1 ok, c2 ok" + strings.Repeat(", c1 ok", times-1)
}
