package scenarios

import (
	"slices"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/lease"
	"locksim/models/quorum"
	"locksim/trial"
)

// leaderlessFence is DDIA, 2nd edition, figure 9-7: the token in the high part of
// the timestamp fences replicas that know of no lock. c2 does not reach the third,
// which then takes the zombie's write; a quorum read prefers c2's.
func leaderlessFence() *Scenario {
	ttl, pause, stamp, reach := 10*time.Second, 14*time.Second, "token", "two"
	s := &Scenario{
		Name: "leaderless-fence", Pair: "fence",
		Claim:  "a fencing token in the high part of the timestamp fences replicas without a leader; a clock alone does not",
		Claims: []string{"K7"},
		Also:   []string{"reach=all"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		choice("stamp", &stamp, []string{"token", "clock"}, "what the timestamp of a write begins with"),
		choice("reach", &reach, []string{"two", "all"}, "how many replicas c2's write reaches"),
	}
	s.Spec = func() trial.Spec {
		doc := quorum.Store{Called: "doc", Tokens: stamp == "token"}
		last := ttl + pause + 10*time.Second
		cast := claimed(doc, "acquire; work 1s; write doc")
		cast.Clients = append(cast.Clients, trial.Client{Name: "c3", Script: trial.MustScript("until " + last.String() + "; read doc")})
		spec := trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     cast,
			Schedule: pauseBefore("write", "gc", pause),
			Horizon:  last + time.Minute,
		}
		if reach == "two" {
			spec.Schedule = append(spec.Schedule, faults.MustParse("before c2.write#1  partition doc|doc3 100ms")...)
		}
		return spec
	}
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		if w.write1 <= w.write2 {
			return e
		}
		reached := map[string]int{"two": 2, "all": 3}[reach]
		if stamp == "clock" {
			e.Damage = slices.Repeat([]string{check.StaleWrite}, reached)
			e.Because += "; it bears the later time, and goes over c2's on every replica that has that"
			return e
		}
		e.Damage, e.Rejected = nil, slices.Repeat([]string{"c1"}, reached)
		e.Because += "; it bears the smaller token, and is dropped by every replica that has c2's"
		return e
	}
	s.Control = func() Control { return turned("leaderless-fence", "stamp", stamp, "token", "clock") }
	return s
}
