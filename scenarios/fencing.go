package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// gcPauseCAS is A4 and S41: the store decides with the lock's random value. Each
// holder puts it on the document when it gets the lock, and its write is accepted
// while it is still there.
func gcPauseCAS() *Scenario {
	ttl, pause, kind := 10*time.Second, 14*time.Second, "gc"
	s := &Scenario{
		Name:   "gc-pause-cas",
		Pair:   "fence",
		Claim:  "a compare-and-set with the lock's random value keeps the late write out as a fence does",
		Claims: []string{"S41", "A2", "A4", "T22"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		choice("kind", &kind, pauseKinds, "what pauses it"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl},
			Cast:     claimed(resource.CompareAndSet("doc"), "acquire; claim doc; work 1s; write doc"),
			Schedule: pauseBefore("write", kind, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		// c2 claims in the instant in which it gets the lock; in a tie c1's write was
		// under way before.
		if w.write1 > w.accepted2 {
			e.Rejected = []string{"c1"}
			e.Because += "; c2's claim has replaced c1's mark"
		}
		return e
	}
	s.Control = func() Control { return Control{Name: "gc-pause"} }
	return s
}

// claimed is the cast of the widget in which both do the same under the lock.
func claimed(store models.Resource, steps string) trial.Cast {
	return trial.Cast{
		Resources: []models.Resource{store},
		Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("until 1s; " + steps + "; release")},
			{Name: "c2", Script: trial.MustScript("until 3s; " + steps + "; work 500ms; release")},
		},
	}
}

// pauseOf pauses a client for d at its first step called label.
func pauseOf(client, label string, d time.Duration) faults.Schedule {
	return faults.Schedule{{Anchor: faults.Before(client, label, 1), Action: faults.Pause{Machine: client, Kind: sim.GC, For: d}}}
}

// pauseBefore pauses c1 at the first step called label.
func pauseBefore(label, kind string, d time.Duration) faults.Schedule {
	var k sim.Pause
	mustText(&k, kind)
	return faults.Schedule{{Anchor: faults.Before("c1", label, 1), Action: faults.Pause{Machine: "c1", Kind: k, For: d}}}
}

// pauseAt pauses c1, as a garbage collection does, at the count-th step called
// label; not at all where d is 0.
func pauseAt(label string, count int, d time.Duration) faults.Schedule {
	if d == 0 {
		return nil
	}
	return faults.Schedule{{Anchor: faults.Before("c1", label, count), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: d}}}
}

// fenceOnWritesOnly is A5 and the objection of a reader of the debate: a fence that
// sees only writes accepts the old holder's, as long as the new one has only read.
func fenceOnWritesOnly() *Scenario {
	ttl, pause, reads, first := 10*time.Second, 9500*time.Millisecond, "off", "read"
	s := &Scenario{
		Name:   "fence-on-writes-only",
		Pair:   "read",
		Claim:  "a fence on writes alone lets the old holder's update in, which the new holder then erases",
		Claims: []string{"A5", "K7"},
		Also:   []string{"first=write"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		choice("reads", &reads, []string{"off", "on"}, "whether a read shows the token too"),
		choice("first", &first, []string{"read", "write"}, "what a holder does first: it reads, or it writes at once, so that its token is seen"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Fenced("doc")
		store.Reads = reads == "on"
		steps, late := "read doc; work 1s; write doc", 1
		if first == "write" {
			steps, late = "write doc blind; "+steps, 2
		}
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     claimed(store, "acquire; "+steps),
			Schedule: pauseAt("write", late, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		seen := w.write2 // when the store has seen c2's token
		if reads == "on" || first == "write" {
			seen = w.accepted2
		}
		switch {
		case w.write1 > seen:
			e.Rejected = []string{"c1"}
			e.Because += "; the store has seen c2's token by then"
		case w.write1 > w.accepted2:
			e.Damage = []string{check.LostUpdate}
			e.Because += "; c2 has read before c1's update, and overwrites it"
		}
		return e
	}
	s.Control = func() Control {
		if first == "write" {
			return Control{"fence-on-writes-only", []string{"first=read", "reads=off"}}
		}
		return Control{"fence-on-writes-only", []string{"reads=" + other(reads)}}
	}
	return s
}

// stolenMark is the price of the random value (A4, K8): a client that wakes before
// it has put its mark on the document takes the live holder's mark away. With a
// fence the live holder goes on.
func stolenMark() *Scenario {
	ttl, pause, by := 10*time.Second, 9500*time.Millisecond, "cas"
	s := &Scenario{
		Name:   "stolen-mark",
		Pair:   "order",
		Claim:  "a client that wakes late takes the mark of the live holder, whose write then fails",
		Claims: []string{"A4", "K8", "S41"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before it claims the document"),
		choice("check", &by, []string{"cas", "fence"}, "by what the store decides"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Fenced("doc")
		if by == "cas" {
			store = resource.CompareAndSet("doc")
		}
		cast := claimed(store, "acquire; claim doc; work 1s; write doc")
		cast.Clients[0].Script = trial.MustScript("until 1s; acquire; work 1s; claim doc; write doc; release")
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: by == "fence"},
			Cast:     cast,
			Schedule: pauseBefore("claim", "gc", pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		// c1 claims first and writes then: in a tie with c2's write its claim comes
		// before that, and its write after.
		late, between := w.write1 > w.write2, w.write1 > w.accepted2
		if by == "fence" {
			late = w.write1 >= w.write2
		}
		// In a tie with the end of the term, c2's claim comes between c1's and its
		// write.
		tie := w.write1 == w.accepted2 && time.Second+ttl <= w.write1
		e.Damage = nil
		switch {
		case by == "fence" && late:
			e.Rejected = []string{"c1"}
		case by == "fence" && (between || tie): // no newer token was seen yet
			e.Damage = []string{check.LostUpdate}
			e.Because += "; c2 has read before c1's update, and overwrites it"
		case late && by == "cas": // it claims and writes at once, from what c2 has written
			e.Because += "; c1 claims the document anew before it writes"
		case tie && by == "cas":
			e.Rejected = []string{"c1"}
			e.Because += "; c2's claim has replaced c1's mark"
		case between && by == "cas":
			e.Rejected = []string{"c2"}
			e.Because += "; c1's claim has replaced c2's mark"
		}
		return e
	}
	s.Control = func() Control { return turned("stolen-mark", "check", by, "fence", "cas") }
	return s
}

// lateWrite is S9 and K6: the write is sent while the lock is held, and lands when
// it is another's. Neither belief nor promise is at fault.
func lateWrite() *Scenario {
	ttl, delay, fencing := 20*time.Second, 14*time.Second, "off"
	s := &Scenario{
		Name:   "late-write",
		Pair:   "timing",
		Claim:  "a write that was sent in time can land too late: nobody else believed, and the data is wrong",
		Claims: []string{"S9", "K6", "K13"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("delay", &delay, 0, "how much longer c1's write takes"),
		choice("fencing", &fencing, []string{"on", "off"}, "whether the store checks a fencing token"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if fencing == "on" {
			store = resource.Fenced("doc")
		}
		return trial.Spec{
			System: lease.Ideal{TTL: ttl, Tokens: fencing == "on"},
			Cast:   trial.Writers(2, store),
			Schedule: faults.Schedule{{
				Anchor: faults.Before("c1", "write", 1),
				Action: faults.Message{What: faults.Delay, From: "c1", To: "doc", By: delay},
			}},
			Horizon: ttl + delay + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widget(ttl, min(delay, trial.Patience))
		w.write1 = 2*time.Second + delay
		w.form += fmt.Sprintf(" with P = min(delay, the %s that c1 waits for an answer)", short(trial.Patience))
		e := w.expectation()
		if fencing == "on" && len(e.Damage) > 0 {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += "; the store rejects c1's older token"
		}
		return e
	}
	s.Control = func() Control { return Control{"late-write", []string{"fencing=" + other(fencing)}} }
	return s
}

// noLock is A3: with a store that compares, two clients without any lock do each
// other no harm either; one of them has worked in vain.
func noLock() *Scenario {
	lock, store := "off", "cas"
	s := &Scenario{
		Name:   "no-lock-cas",
		Pair:   "fence",
		Claim:  "where one store compares, no lock is needed to keep the data right, only to save work",
		Claims: []string{"A3", "A4", "S41", "K9"},
	}
	s.Params = []Param{
		choice("lock", &lock, []string{"off", "on"}, "whether the clients take a lock"),
		choice("check", &store, []string{"cas", "none"}, "whether the store compares"),
	}
	s.Spec = func() trial.Spec {
		doc := resource.Plain("doc")
		if store == "cas" {
			doc = resource.CompareAndSet("doc")
		}
		spec := trial.Spec{Horizon: time.Minute}
		spec.Cast.Resources = []models.Resource{doc}
		steps := "claim doc; work 1s; write doc"
		if lock == "on" {
			spec.System = lease.Ideal{TTL: 10 * time.Second}
			steps = "acquire; " + steps + "; release"
		}
		spec.Cast.Clients = []trial.Client{
			{Name: "c1", Script: trial.MustScript("until 1s; " + steps)},
			{Name: "c2", Script: trial.MustScript("until 1500ms; " + steps)},
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "c1 writes at 2s and releases, c2 claims then and writes at 3s"}
		if lock == "on" {
			return e
		}
		e.Promise, e.Belief = check.None, check.None
		if store == "cas" {
			e.Rejected = []string{"c1"}
			e.Because = "c2's claim at 1.5s has replaced c1's mark: c1's write at 2s is rejected, c2's at 2.5s accepted"
			return e
		}
		e.Damage = []string{check.LostUpdate}
		e.Because = "both have read by 1.5s; c1 writes at 2s, and c2 over it at 2.5s"
		return e
	}
	s.Control = func() Control {
		if lock == "on" {
			return Control{"no-lock-cas", []string{"lock=off"}}
		}
		return turned("no-lock-cas", "check", store, "cas", "none")
	}
	return s
}
