package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/trial"
)

// twoStores is what a fence has over a compare-and-set (K7, A3): with two stores
// under one lock, each store's comparison is right about that store, and together
// they let one holder's half stand beside the other's. A token is one order for both.
func twoStores() *Scenario {
	ttl, pause, by := 10*time.Second, 10500*time.Millisecond, "cas"
	s := &Scenario{
		Name:   "two-stores",
		Pair:   "fence",
		Claim:  "two stores that each compare for themselves end with different last writers; with one token for both, both end with the newer",
		Claims: []string{"K7", "A3", "A4", "T25"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused between the two stores, before it has written"),
		choice("check", &by, []string{"cas", "fence"}, "by what each store decides"),
	}
	s.Spec = func() trial.Spec {
		store, look := resource.Store{Check: resource.Compare}, "claim"
		if by == "fence" {
			store, look = resource.Store{Check: resource.AtLeast, Reads: true}, "read"
		}
		a, b := store, store
		a.Called, b.Called = "a", "b"
		cast := claimed(a, fmt.Sprintf("acquire; %s a; %s b; work 1s; write a and b", look, look))
		cast.Resources = append(cast.Resources, b)
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: by == "fence"},
			Cast:     cast,
			Schedule: pauseAt(look, 2, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	// c1 has looked at a at 1 s and looks at b when its pause is over, at 1 s + P; a
	// second later it writes both. c2 looks at both at a2 and writes both a second
	// later: in a tie c1's claim comes first, and is replaced by c2's or replaces it.
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		claim := time.Second + pause
		switch {
		case w.write1 <= w.accepted2:
			return e
		case by == "fence":
			e.Rejected = []string{"c1", "c1"}
			e.Because += "; both stores have seen c2's token since a2"
			return e
		case claim <= w.accepted2:
			e.Rejected = []string{"c1", "c1"}
			e.Because += "; both stores have c2's mark since a2"
			return e
		case claim <= w.write2:
			e.Rejected = []string{"c2", "c1"}
			e.Damage = []string{check.TornWrite, check.TornWrite}
			e.Because += "; a has c2's mark since a2, b c1's since " + short(claim) + ": each writes one of the two"
		default:
			e.Rejected = []string{"c1"}
			e.Damage = []string{check.TornWrite}
			e.Because += "; c2 has written both, and c1 claims b at " + short(claim) + " and writes it; a has c2's mark since a2"
		}
		return e
	}
	s.Control = func() Control { return turned("two-stores", "check", by, "fence", "cas") }
	return s
}

// twoStoresCrash is T25: a lock is no transaction. Who dies between two stores leaves
// half of its change, and no token or lock undoes that.
func twoStoresCrash() *Scenario {
	ttl, crash, next := 10*time.Second, "between", "nobody"
	s := &Scenario{
		Name:   "two-stores-crash",
		Pair:   "fence",
		Claim:  "a holder that dies between two stores leaves half of its change; a lock with a token is no transaction",
		Claims: []string{"T25", "S58", "J4"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		choice("crash", &crash, []string{"between", "after"}, "when c1 dies: between its two writes, or after them"),
		choice("next", &next, []string{"nobody", "writer"}, "who gets the lock after it: nobody, or a client that writes both stores"),
	}
	s.Spec = func() trial.Spec {
		cast := trial.Cast{
			Resources: []models.Resource{resource.Fenced("a"), resource.Fenced("b")},
			Clients:   []trial.Client{{Name: "c1", Script: trial.MustScript("until 1s; acquire; write a and b; work 1s; release")}},
		}
		if next == "writer" {
			cast.Clients = append(cast.Clients, trial.Client{Name: "c2", Script: trial.MustScript("until 3s; acquire; write a and b; release")})
		}
		death := "before c1.write#2  kill c1"
		if crash == "after" {
			death = "after c1.write#2  kill c1"
		}
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     cast,
			Schedule: faults.MustParse(death),
			Horizon:  ttl + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		switch {
		case next == "writer":
			e.Because = fmt.Sprintf("c2 has the lock at max(3s, 1s + TTL) = %s and writes both stores anew", short(max(3*time.Second, time.Second+ttl)))
		case crash == "after":
			e.Because = "both writes were accepted at 1s"
		default:
			e.Damage = []string{check.TornWrite}
			e.Because = "a has c1's write of 1s, b has none"
		}
		return e
	}
	s.Control = func() Control {
		if next == "nobody" && crash == "between" {
			return Control{"two-stores-crash", []string{"next=writer"}}
		}
		return Control{"two-stores-crash", []string{"next=nobody", "crash=between"}}
	}
	return s
}
