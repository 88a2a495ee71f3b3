package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// demo is the program of the second document, with its own figures (T12, T13): A
// takes a lock of 0.3 s, fetches a token with INCR and pauses for 0.6 s; B gets the
// lock with 2 s; A comes back, writes, and releases. Path C1 has neither a fence
// nor a comparison, path C2 has both.
func demo(name string) *Scenario {
	pause, fencing, release := 600*time.Millisecond, "off", "del"
	s := &Scenario{
		Name: name, Pair: "fence",
		Claim:  "two workers of a demo, A paused for 0.6 s under a lock of 0.3 s, no fence, a plain DEL: the late write is the last, and B's lock is gone",
		Claims: []string{"T12", "S26", "T5"},
	}
	control := Control{"demo-c2", []string{"fencing=on", "release=compare"}}
	if name == "demo-c2" {
		fencing, release = "on", "compare"
		s.Claim = "the same demo with a fence and a compare-and-delete: the late write is rejected, and B keeps its lock"
		s.Claims = []string{"T13", "S12", "S26", "T8"}
		control = Control{"demo-c1", []string{"fencing=off", "release=del"}}
	}
	s.Params = []Param{
		milliseconds("pause", &pause, 400*time.Millisecond, 1200*time.Millisecond, "how long A pauses before its write"),
		choice("fencing", &fencing, []string{"on", "off"}, "whether the store checks the token"),
		choice("release", &release, []string{"del", "compare"}, "how a client gives up the lock"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if fencing == "on" {
			store = resource.Fenced("doc")
		}
		system := redis.SetNX{
			TTLs:  map[string]time.Duration{"A": 300 * time.Millisecond, "B": 2 * time.Second},
			Token: redis.SeparateIncr,
		}
		mustText(&system.Release, release)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{store},
				Clients: []trial.Client{
					{Name: "A", Script: trial.MustScript("acquire; write doc; release; look")},
					{Name: "B", Script: trial.MustScript("until 350ms; acquire; write doc; work 1s")},
				},
			},
			Schedule: pauseOf("A", "write", pause),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return demoed(pause, fencing == "on", release == "del") }
	s.Control = func() Control {
		if fencing == "on" && release == "del" { // half of each
			return Control{name, []string{"fencing=off", "release=compare"}}
		}
		return control
	}
	return s
}

// demoed: A sets its key at 0.001 and has its token at 0.004; the key is gone at
// 0.302. B sets its own at 0.351, which stands to 2.351, has its token at 0.354,
// and has written at 0.355. A sends its write a pause after 0.004, begins its
// release 2 ms later, and looks after 2 ms more, while B is at work.
func demoed(pause time.Duration, fenced, blind bool) Expectation {
	const has1, has2 = 4 * hop, 354 * hop
	write1, end1 := has1+pause+hop, has1+pause+2*hop
	e := Expectation{
		Promise: check.Kept, Belief: check.Overlapping, Overlap: end1 - has2, Progress: check.OK,
		Because: fmt.Sprintf("A has token 1 since %s, B has 2 since %s; A believes until %s; A's write with 1 comes at %s, after B's with 2",
			short(has1), short(has2), short(end1), short(write1)),
	}
	last := "A"
	if fenced {
		last = "B"
		e.Rejected = []string{"A"}
		e.Because += ", and is rejected"
	} else {
		e.Damage = []string{check.StaleWrite}
		e.Because += ", and is accepted"
	}
	release, owner := "A not held", "B"
	if blind {
		release, owner = "A ok", "nobody"
		// A's DEL is confirmed after its loss; who looks is told that B's lock is not.
		e.Promise, e.Breaches = check.Broken, []string{check.ConfirmedAfterLoss, check.StaleRead}
		e.Damage = append(e.Damage, check.WrongRelease)
		e.Because += "; A's DEL deletes B's key"
	} else {
		e.Because += "; A's release finds B's value and deletes nothing"
	}
	e.Figures = []Figure{{tokens, "1, 2"}, {lastWrite, last}, {releases, release}, {owners, owner}}
	return e
}
