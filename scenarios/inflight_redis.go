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

// gcInFlightRedis is A9: what step 3 of Redlock is good for, it is good for on one
// Redis too. c1 is paused while the OK is in flight; neither of the documents'
// programs would notice.
func gcInFlightRedis() *Scenario {
	ttl, pause, validity := 10*time.Second, 14*time.Second, "on"
	s := &Scenario{
		Name: "gc-in-flight-redis", Pair: "in-flight",
		Claim:  "a client of one Redis that measures its attempt refuses a lock that is over; the usual recipe takes it",
		Claims: []string{"A9", "T23", "S40"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, most, "PX of the key"),
		duration("pause", &pause, 0, "how long c1 is paused before it reads the OK"),
		choice("validity", &validity, []string{"on", "off"}, "whether the client measures how long its attempt took"),
	}
	c2At := func() time.Duration { return ttl + 500*time.Millisecond }
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.SetNX{TTL: ttl, Deadline: validity == "on"},
			Cast:   two("try; work 1s; write doc; release", "until "+c2At().String()+"; try; work 1s; write doc; work 7s; release"),
			Schedule: faults.Schedule{{
				Anchor: faults.Before("c1", "receive", 1),
				Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause},
			}},
			Latency: sim.Every(hop),
			Horizon: ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation { return gcInFlightOfOne(ttl, pause, c2At(), validity == "on") }
	s.Control = func() Control { return Control{"gc-in-flight-redis", []string{"validity=" + other(validity)}} }
	return s
}

// gcInFlightOfOne: c1 has read the OK at 2 ms + P. A client that measures refuses
// from T1 + TTL on, and has stopped by then. c2 finds the key expired half a second
// after the TTL.
func gcInFlightOfOne(ttl, pause, c2At time.Duration, measures bool) Expectation {
	accepted1 := ask + pause
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	switch {
	case measures && accepted1 >= ttl:
		e.Granted = []string{"c2"}
		e.Because = fmt.Sprintf("elapsed %s >= TTL = %s: refused", short(accepted1), short(ttl))
		return e
	case measures:
		e.Granted = []string{"c1", "c2"}
		e.Because = fmt.Sprintf("elapsed %s < TTL = %s: c1 has stopped by then, c2 comes at %s", short(accepted1), short(ttl), short(c2At))
		return e
	}
	accepted2 := c2At + ask
	end1, end2 := accepted1+time.Second+ask, accepted2+8*time.Second+ask
	e.Overlap = max(0, min(end1, end2)-max(accepted1, accepted2))
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("c1 measures nothing: it believes from %s to %s, c2 from %s to %s; overlap = %s",
		short(accepted1), short(end1), short(accepted2), short(end2), short(e.Overlap))
	if accepted1 > accepted2 { // and so are the writes, a second and a hop later
		e.Damage = []string{check.StaleWrite}
	}
	return e
}
