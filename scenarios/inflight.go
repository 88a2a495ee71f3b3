package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// redlockSuspended is the gap in K12's answer: a monotonic clock stands still while
// the machine is suspended, and the client measures too little.
func redlockSuspended() *Scenario {
	by, pause := "monotonic", 14*time.Second
	s := &Scenario{
		Name: "redlock-suspended", Pair: "in-flight",
		Claim:  "a client that is suspended in flight does not notice by its monotonic clock, and believes too late",
		Claims: []string{"K12", "A8", "S8", "S40"},
	}
	s.Params = []Param{
		choice("clock", &by, []string{"monotonic", "boottime"}, "by which the client measures"),
		duration("pause", &pause, 11*time.Second, "how long c1 is suspended before it reads the last reply"),
	}
	s.Spec = func() trial.Spec {
		return inFlightSpec(by, faults.Schedule{{
			Anchor: faults.Before("c1", "receive", 5),
			Action: faults.Pause{Machine: "c1", Kind: sim.Suspend, For: pause},
		}}, pause)
	}
	s.Expect = func() Expectation {
		if by == "boottime" {
			return refused(acquisition + pause)
		}
		// Its clock has counted 10 ms when it wakes, and its deadline moves with it.
		return inFlight(acquisition+pause, deadline(10*time.Second)+pause)
	}
	s.Control = func() Control {
		return turned("redlock-suspended", "clock", by, "monotonic", "boottime")
	}
	return s
}

// redlockSteppedBack is the other gap: the clock by which the client measures is
// stepped back while it is paused.
func redlockSteppedBack() *Scenario {
	back, pause := 10*time.Second, 14*time.Second
	s := &Scenario{
		Name: "redlock-stepped-back", Pair: "in-flight",
		Claim:  "a client whose wall clock is stepped back in flight measures too little, and believes too late",
		Claims: []string{"K12", "A8"},
	}
	s.Params = []Param{
		milliseconds("back", &back, 0, time.Hour, "how far c1's wall clock is stepped back at 5s"),
		milliseconds("pause", &pause, 11*time.Second, time.Hour, "how long c1 is paused before it reads the last reply"),
	}
	s.Spec = func() trial.Spec {
		return inFlightSpec("wall", faults.Schedule{
			{Anchor: faults.Before("c1", "receive", 5), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause}},
			{Anchor: faults.At(5 * time.Second), Action: faults.ClockStep{Machine: "c1", By: -back}},
		}, pause+back)
	}
	s.Expect = func() Expectation {
		accepted1, limit := acquisition+pause, deadline(10*time.Second)
		if accepted1-back >= limit {
			return refused(accepted1 - back)
		}
		return inFlight(accepted1, limit+back)
	}
	s.Control = func() Control {
		if back == 0 {
			return Control{"redlock-stepped-back", []string{"back=" + short(pause)}}
		}
		return Control{"redlock-stepped-back", []string{"back=0s"}}
	}
	return s
}

// inFlightSpec: c1 asks at once and works as long as it may; c2 comes at 10.5 s,
// when all keys have expired, and does so too.
func inFlightSpec(by string, f faults.Schedule, extra time.Duration) trial.Spec {
	var k clock.Kind
	mustText(&k, by)
	return trial.Spec{
		System: redis.Redlock{ClientClock: k},
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("try; work 1000h; release")},
			{Name: "c2", Script: trial.MustScript("until 10500ms; try; work 1000h; release")},
		}},
		Schedule: f,
		Latency:  sim.Every(hop),
		Horizon:  extra + time.Minute,
	}
}

func refused(elapsed time.Duration) Expectation {
	return Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c2"},
		Because: fmt.Sprintf("elapsed %s >= TTL - drift = %s: refused", short(elapsed), short(deadline(10*time.Second)))}
}

// inFlight: c1 believes from accepted1 to end1, c2 from 10.510 to its own deadline.
func inFlight(accepted1, end1 time.Duration) Expectation {
	const at2 = 10500 * time.Millisecond
	end2 := at2 + deadline(10*time.Second)
	e := Expectation{Promise: check.Kept, Progress: check.OK, Granted: []string{"c2", "c1"}}
	e.Overlap = max(0, min(end1, end2)-max(accepted1, at2+acquisition))
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("c1 believes from %s to T1 + TTL - drift + what its clock did not count = %s, c2 from %s to %s; overlap = %s",
		short(accepted1), short(end1), short(at2+acquisition), short(end2), short(e.Overlap))
	return e
}

// redlockDelayedJump is K11 against A10: a node that stays away for longer than the
// TTL waits by a clock, and that clock jumps.
func redlockDelayedJump() *Scenario {
	jump := "on"
	s := &Scenario{
		Name: "redlock-delayed-jump", Pair: "restart",
		Claim:  "a restarted node that waits out the TTL by its wall clock comes back too early when that jumps",
		Claims: []string{"K11", "A10", "S36"},
	}
	s.Params = []Param{choice("jump", &jump, []string{"on", "off"}, "whether r3's clock jumps by 12s while it waits")}
	s.Spec = func() trial.Spec {
		f := faults.MustParse("at 500ms  restart r3 power-loss 12s wall")
		if jump == "on" {
			f = append(f, faults.MustParse("at 1s  clock-step r3 +12s")...)
		}
		return trial.Spec{
			System:   redis.Redlock{Order: fromTheOtherEnd()},
			Cast:     onThree(2 * time.Second),
			Schedule: f,
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		why := "r3 is back at 1s, without c1's key"
		if jump == "off" {
			why = "r3 is down until 12.5s"
		}
		return secondHolder(jump == "on", 10*time.Second, 2*time.Second, why)
	}
	s.Control = func() Control { return Control{"redlock-delayed-jump", []string{"jump=" + other(jump)}} }
	return s
}

// redlockLateReply is the other half of K12: a long delay does what a pause does,
// where the client waits for every node for ever.
func redlockLateReply() *Scenario {
	delay := 12 * time.Second
	s := &Scenario{
		Name: "redlock-late-reply", Pair: "timing",
		Claim:  "a reply that takes longer than the term is measured, and the lock refused",
		Claims: []string{"K12", "K13", "A8", "S37"},
	}
	s.Params = []Param{milliseconds("delay", &delay, 0, time.Hour, "how much longer the reply of r5 takes")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.Redlock{NoTimeout: true},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("try; work 1s; release")},
				{Name: "c2", Script: trial.MustScript("until 10500ms; try; work 1s; release")},
			}},
			Schedule: faults.Schedule{{
				Anchor: faults.Before("c1", "send", 5),
				Action: faults.Message{What: faults.Delay, From: "r5", To: "c1", By: delay},
			}},
			Latency: sim.Every(hop),
			Horizon: delay + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if accepted := acquisition + delay; accepted < deadline(10*time.Second) {
			return Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"},
				Because: fmt.Sprintf("elapsed %s < TTL - drift = %s: granted, and done before c2 comes, or stopped", short(accepted), short(deadline(10*time.Second)))}
		}
		return refused(acquisition + delay)
	}
	s.Control = func() Control { return Control{Name: "late-write"} }
	return s
}
