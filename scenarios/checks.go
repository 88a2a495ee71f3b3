package scenarios

import (
	"time"

	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/trial"
)

// secondWrite is S13: UPDATE … WHERE fence <= :token lets the holder write again
// with the token that it has; a check for a greater one takes its second write too.
func secondWrite() *Scenario {
	ttl, pause, by := 10*time.Second, 14*time.Second, "at-least"
	s := &Scenario{
		Name:   "second-write",
		Pair:   "fence",
		Claim:  "a fence takes the same token again, and no older one; a check for a greater token costs the live holder its second write",
		Claims: []string{"S13", "S12", "K7"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its second write"),
		choice("check", &by, []string{"at-least", "greater"}, "how a token must compare with the greatest that the store has seen"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Fenced("doc")
		if by == "greater" {
			store.Check = resource.Greater
		}
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     claimed(store, "acquire; write doc; work 1s; write doc"),
			Schedule: pauseAt("write", 2, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		switch {
		case by == "at-least" && w.write1 > w.accepted2: // c2's first write comes with the lock
			e.Rejected = []string{"c1"}
			e.Because += "; the store has seen c2's token since a2 and updates 0 rows for c1's, and c2's second write has the token of its first"
		case by == "greater" && w.write1 > w.write2:
			e.Rejected = []string{"c2", "c1"}
		case by == "greater":
			e.Rejected = []string{"c1", "c2"}
		}
		if by == "greater" {
			e.Because += "; nobody's second token is greater than its first: both second writes update 0 rows"
		}
		return e
	}
	s.Control = func() Control { return turned("second-write", "check", by, "at-least", "greater") }
	return s
}
