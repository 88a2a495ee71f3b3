package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// plainDel is S26, T5 and H6: c1 comes back late and deletes a key that
// is c2's by now, so that c3 gets in.
func plainDel() *Scenario {
	release := "del"
	at := lateness{start1: time.Second, start2: 3 * time.Second, start3: 12500 * time.Millisecond, pause: 10 * time.Second}
	s := &Scenario{
		Name: "plain-del", Pair: "recipe",
		Claim:  "a release that does not compare deletes another's lock and lets a third in",
		Claims: []string{"S26", "T5", "T19", "H6"},
	}
	s.Params = []Param{
		choice("release", &release, []string{"del", "get-then-del", "compare", "lua"}, "how a client gives up the lock"),
		milliseconds("c1-at", &at.start1, 0, time.Second, "when c1 asks"),
		milliseconds("pause", &at.pause, 10*time.Second, 11*time.Second, "how long c1 is paused before its release"),
		milliseconds("c2-at", &at.start2, 2*time.Second, 11*time.Second, "when c2 asks"),
		milliseconds("c3-at", &at.start3, 12*time.Second, 13*time.Second, "when c3 asks"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second}
		mustText(&system.Release, release)
		script := func(start, work time.Duration) trial.Script {
			return trial.MustScript(fmt.Sprintf("until %s; acquire; work %s; write doc; release", start, work))
		}
		return trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: script(at.start1, time.Second)},
					{Name: "c2", Script: script(at.start2, 5*time.Second)},
					{Name: "c3", Script: script(at.start3, time.Second)},
				},
			},
			Schedule: pauseBefore("release", "gc", at.pause),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return at.expectation(release == "del") }
	s.Control = func() Control { return turned(s.Name, "release", release, "del", "compare") }
	return s
}

// lateness is when three clients ask, and how long the first is paused.
type lateness struct{ start1, start2, start3, pause time.Duration }

// expectation: c1 works for a second, writes, and is paused at its release. c2 has had
// the lock since the first of its attempts, every 102 ms, that Redis sees after c1's
// key has expired. If c1's DEL, without a look, arrives, c3 gets the lock with the next
// attempt for its second of work and its write. With the figures of plain-del: c1 is
// paused at 2.004; c2 believes since 11.060, the first attempt after 11.002; the DEL
// arrives at 12.005, c3 gets the lock at 12.502.
func (l *lateness) expectation(blind bool) Expectation {
	accepted2 := polled(l.start2+hop, l.start1+hop+10*time.Second+time.Millisecond) + hop
	end1 := l.start1 + ask + time.Second + ask + l.pause
	accepted3 := polled(l.start3+hop, end1+hop) + hop
	end3 := accepted3 + time.Second + ask
	write2 := accepted2 + 5*time.Second + hop
	e := Expectation{
		Promise: check.Kept, Belief: check.Overlapping, Overlap: end1 - accepted2, Progress: check.OK,
		Because: fmt.Sprintf("c1 believes until its release at %s, c2 from %s", short(end1), short(accepted2)),
	}
	if !blind {
		e.Because += "; c1's release finds another's value and leaves it"
		return e
	}
	e.Promise, e.Breaches = check.Broken, []string{check.ConfirmedAfterLoss, check.DoubleGrant, check.LostLease}
	e.Overlap += end3 - accepted3
	e.Damage = []string{check.WrongRelease, check.StaleWrite}
	e.Because += fmt.Sprintf("; c1's DEL is confirmed although its lock was lost, and frees c2's key; c3 believes from %s to %s; c2's write at %.3f is the older grant's, and it is told that it holds nothing",
		short(accepted3), short(end3), write2.Seconds())
	return e
}

// getThenDel is S27: the client compares, and then deletes in a second command.
// Between the two the key changes hands.
func getThenDel() *Scenario {
	release := "get-then-del"
	s := &Scenario{
		Name:   "get-then-del",
		Pair:   "recipe",
		Claim:  "comparing in the client leaves a gap: the key that was checked is another's when it is deleted",
		Claims: []string{"S27", "T5"},
		Also:   []string{"release=lua"},
	}
	s.Params = []Param{choice("release", &release, []string{"get-then-del", "compare", "lua"}, "how a client gives up the lock: GET and DEL, DELEX IFEQ, or EVAL of the script")}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second}
		mustText(&system.Release, release)
		// c1's last message, whichever that is: its DEL, or its compare-and-delete.
		last := map[string]int{"get-then-del": 3, "compare": 2, "lua": 2}[release]
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; release")},
				{Name: "c2", Script: trial.MustScript("until 3s; acquire; work 5s; release")},
			}},
			Schedule: faults.Schedule{{
				Anchor: faults.Before("c1", "send", last),
				Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: 10 * time.Second},
			}},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	// c1 has begun its release at 2.002 and believes no more; c2 accepts at 11.060
	// and is told at 16.062 that its key is gone.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Because: "the server compares at the instant of the deletion, by DELEX as by the script",
			Figures: []Figure{{releases, "c1 not held, c2 ok"}}}
		if release == "get-then-del" {
			e.Figures = []Figure{{releases, "c1 ok, c2 not held"}}
			e.Promise, e.Breaches = check.Broken, []string{check.LostLease}
			e.Damage = []string{check.WrongRelease}
			e.Because = "c1's GET at 2.003 finds its own value, its DEL at 12.005 c2's key; c2 finds it gone at 16.061"
		}
		return e
	}
	s.Control = func() Control { return turned("get-then-del", "release", release, "get-then-del", "compare") }
	return s
}

// checkThenWrite is S10, T7, K5 and A9: asking before the write helps against what
// happened before it was asked, and not against what happens after.
func checkThenWrite() *Scenario {
	ttl, pause, where := 10*time.Second, 14*time.Second, "write"
	s := &Scenario{
		Name: "check-then-write", Pair: "pause",
		Claim:  "a check before the write leaves the gap between the two",
		Claims: []string{"S10", "T7", "K5"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 5*time.Second, most, "PX of the key"),
		milliseconds("pause", &pause, 0, most, "how long c1 is paused"),
		choice("before", &where, []string{"check", "write"}, "before which of its steps"),
	}
	s.Spec = func() trial.Spec {
		cast := trial.Writers(2, resource.Plain("doc"))
		cast.Clients[0].Script = trial.MustScript("until 1s; acquire; work 1s; check; write doc; release")
		return trial.Spec{
			System:   redis.SetNX{TTL: ttl},
			Cast:     cast,
			Schedule: pauseBefore(where, "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation { return checked(ttl, pause, where == "check") }
	s.Control = func() Control { return turned("check-then-write", "before", where, "check", "write") }
	return s
}

// checked is the widget on Redis with a check of two hops more before the write. A
// client that finds that the lock is not its own any more does not write.
func checked(ttl, pause time.Duration, early bool) Expectation {
	const checking = 2 * hop
	w := widgetOnRedis(ttl, pause+checking, hop, trial.DefaultEvery)
	asked := 2*time.Second + 2*hop + pause + hop
	if !early || !gone(ttl, asked) {
		return w.expectation()
	}
	// It gives up when it reads the answer, and then only releases.
	w.end1 = asked + hop
	e := w.expectation()
	e.Damage = nil
	e.Because += fmt.Sprintf("; c1 asks at %s, when its key is gone, and does not write", short(asked))
	return e
}

// gone tells whether c1's key, which Redis set at 1.001, has expired at an instant.
func gone(ttl, at time.Duration) bool {
	return at.Truncate(time.Millisecond) > time.Second+hop+ttl
}
