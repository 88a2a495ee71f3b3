package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
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

// versionEquality is a fence that asks for the same token instead of one that is not
// smaller, as the storage of etcd's contrib/lock does. It rejects the late writer of
// its own demonstration, and every later holder too, once one has written.
func versionEquality() *Scenario {
	ttl, pause, by := 10*time.Second, time.Duration(0), "equal"
	s := &Scenario{
		Name:   "version-equality",
		Pair:   "fence",
		Claim:  "a store that compares versions for equality is no fence: whoever writes first shuts out every later holder",
		Claims: []string{"K7", "S12"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		choice("check", &by, []string{"equal", "at-least"}, "how a token must compare with that of the last write"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Fenced("doc")
		if by == "equal" {
			store.Check = resource.Equal
		}
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     trial.Writers(2, store),
			Schedule: pauseAt("write", 1, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		switch {
		case w.write1 > w.write2:
			e.Rejected = []string{"c1"}
		case by == "equal":
			e.Rejected = []string{"c2"}
			e.Because += "; c2's version is not the one that is there, and never will be"
		}
		return e
	}
	s.Control = func() Control { return turned("version-equality", "check", by, "at-least", "equal") }
	return s
}

// tornCheck is a store whose check and write are two steps, as a SELECT and an
// UPDATE without a transaction. With a fence, both holders pass the check before
// either token is seen, and the older one's write lands last; with a
// compare-and-set, the new holder reads between the old one's check and its write.
func tornCheck() *Scenario {
	ttl, pause, gap, by := 10*time.Second, 10050*time.Millisecond, 100*time.Millisecond, "fence"
	s := &Scenario{
		Name:   "torn-check",
		Pair:   "fence",
		Claim:  "a store that checks in one step and writes in another lets the late write through, over the newer one",
		Claims: []string{"K7", "A4", "S15"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		durations("gap", &gap, 0, 5*time.Second, 1, "how long after its check a write is applied"),
		choice("check", &by, []string{"fence", "cas"}, "by what the store decides"),
	}
	s.Spec = func() trial.Spec {
		cast := trial.Writers(2, resource.Store{Called: "doc", Check: resource.AtLeast, Gap: gap})
		if by == "cas" {
			cast = claimed(resource.Store{Called: "doc", Check: resource.Compare, Gap: gap}, "acquire; claim doc; work 1s; write doc")
		}
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: by == "fence"},
			Cast:     cast,
			Schedule: pauseAt("write", 1, pause),
			Horizon:  ttl + pause + 2*gap + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if by == "cas" {
			return tornCompare(ttl, pause, gap)
		}
		return tornFence(ttl, pause, gap)
	}
	s.Control = func() Control {
		if gap == 0 {
			return Control{"torn-check", []string{"gap=1s"}}
		}
		return Control{"torn-check", []string{"gap=0s"}}
	}
	return s
}

// tornFence: c1 waits for its answer, so it releases a gap after its write came,
// unless that is rejected. c2's token is seen a gap after its write came; in a tie
// before c1's write, unless there is no gap at all.
func tornFence(ttl, pause, gap time.Duration) Expectation {
	w := torn(ttl, pause, gap)
	seen := w.write2 + gap
	rejected := w.write1 > seen || w.write1 == seen && gap > 0
	if rejected {
		w.end1 = w.write1
	}
	e := w.expectation()
	if rejected {
		e.Damage, e.Rejected = nil, []string{"c1"}
	}
	e.Because += fmt.Sprintf("; c2's token is seen a gap later, at %s", short(seen))
	return e
}

// tornCompare: c2's claim at a2 replaces c1's mark and reads. c1's write has passed
// by then, in a tie too, or is rejected; it is applied a gap after it came.
func tornCompare(ttl, pause, gap time.Duration) Expectation {
	w := torn(ttl, pause, gap)
	rejected := w.write1 > w.accepted2
	if rejected {
		w.end1 = w.write1
	}
	e := w.expectation()
	e.Damage = nil
	switch {
	case rejected:
		e.Rejected = []string{"c1"}
		e.Because += "; c2's claim has replaced c1's mark"
	case w.write1+gap > w.accepted2:
		e.Damage = []string{check.LostUpdate}
		e.Because += fmt.Sprintf("; c2 has read at a2, c1's write is applied at %s", short(w.write1+gap))
	}
	return e
}

// torn is the widget where an accepted write is answered a gap after it came.
func torn(ttl, pause, gap time.Duration) story {
	w := widget(ttl, pause+gap)
	w.write1 = 2*time.Second + pause
	w.end2 += gap
	w.form += " with P = pause + gap"
	return w
}
