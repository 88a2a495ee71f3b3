package scenarios

import (
	"time"

	"locksim/check"
	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/trial"
)

// casBlindWrite is where the random value fails (K8, A4): it guards what was read.
// A client that reads nothing claims the document and writes at once when it wakes,
// and its older write is the last. A fence knows the order.
func casBlindWrite() *Scenario {
	ttl, pause, by := 10*time.Second, 14*time.Second, "cas"
	s := &Scenario{
		Name:   "cas-blind-write",
		Pair:   "order",
		Claim:  "a write that is not computed from what was read passes a compare-and-set: the old holder's is the last, where a fence rejects it",
		Claims: []string{"K8", "A4", "S41"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before it claims the document and writes"),
		choice("check", &by, []string{"cas", "fence"}, "by what the store decides"),
	}
	s.Spec = func() trial.Spec {
		store := resource.CompareAndSet("doc")
		if by == "fence" {
			store = resource.Fenced("doc")
		}
		cast := claimed(store, "acquire; claim doc; work 1s; write doc blind")
		cast.Clients[0].Script = trial.MustScript("until 1s; acquire; work 1s; claim doc; write doc blind; release")
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: by == "fence"},
			Cast:     cast,
			Schedule: pauseAt("claim", 1, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	// c1 claims first and writes then: in a tie with c2's write, its claim comes before
	// that and its write after; in a tie with the end of its term, c2's claim comes
	// between its claim and its write.
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		last := "c2"
		switch {
		case by == "fence" && w.write1 >= w.write2:
			e.Rejected = []string{"c1"}
			e.Because += "; the store has seen c2's token by then"
		case by == "fence":
		case w.write1 > w.write2:
			e.Damage, last = []string{check.StaleWrite}, "c1"
			e.Because += "; c1 has claimed the document anew, and has read nothing that could be out of date"
		case w.write1 > w.accepted2:
			e.Rejected, last = []string{"c2"}, "c1"
			e.Because += "; c1's claim has replaced c2's mark"
		case w.write1 == w.accepted2 && time.Second+ttl <= w.write1:
			e.Rejected = []string{"c1"}
			e.Because += "; c2's claim has replaced c1's mark"
		}
		e.Figures = []Figure{{lastWrite, last}}
		return e
	}
	s.Control = func() Control { return turned("cas-blind-write", "check", by, "fence", "cas") }
	return s
}
