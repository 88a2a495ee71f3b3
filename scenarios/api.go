package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/trial"
)

// apiUnfenced is A6 and S15: the work is a call to somebody else's API, which has
// no field for a token. The clients' own store is fenced, and tells whether the work
// was done; that does not help a call that is late.
func apiUnfenced() *Scenario {
	ttl, pause, key := 10*time.Second, 14*time.Second, "off"
	s := &Scenario{
		Name:   "api-unfenced",
		Pair:   "fence",
		Claim:  "a fence in one's own store does not keep a late call out of an API that cannot check a token; an idempotency key does",
		Claims: []string{"A6", "S15", "S4", "T25"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its call"),
		choice("key", &key, []string{"off", "on"}, "whether the API takes an idempotency key"),
	}
	s.Spec = func() trial.Spec {
		cast := claimed(resource.Store{Called: "doc", Check: resource.AtLeast, Reads: true},
			"acquire; once doc; work 1s; do api mail-1; write doc")
		cast.Resources = append(cast.Resources, resource.Mailer{Called: "api", Idempotent: key == "on"})
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: true},
			Cast:     cast,
			Schedule: pauseAt("do", 1, pause),
			Horizon:  ttl + pause + time.Minute,
		}
	}
	// c2 looks at a2 whether the work is done, and shows its token. In a tie with the
	// end of c1's term that comes before c1's write, which follows its call.
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		if w.write1 < w.accepted2 || w.write1 == w.accepted2 && w.write1 < time.Second+ttl {
			w.end2 = w.accepted2
			e := w.expectation()
			e.Because += "; c2 finds the work done at a2"
			return e
		}
		e := w.expectation()
		e.Damage, e.Rejected = nil, []string{"c1"}
		e.Because += "; the calls come just before the writes, and c2 had found nothing done at a2"
		if key == "off" {
			e.Damage = []string{check.DuplicateEffect}
		}
		return e
	}
	s.Control = func() Control { return Control{"api-unfenced", []string{"key=" + other(key)}} }
	return s
}

// apiRetry is S4: the answer is lost, and the caller cannot know whether the call
// was.
func apiRetry() *Scenario {
	key := "off"
	s := &Scenario{
		Name:   "api-retry",
		Pair:   "jobs",
		Claim:  "a call that is repeated because its answer was lost has its effect twice, and once with an idempotency key",
		Claims: []string{"S4", "T25"},
	}
	s.Params = []Param{choice("key", &key, []string{"off", "on"}, "whether the API takes an idempotency key")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "api", Idempotent: key == "on"}},
				Clients:   []trial.Client{{Name: "c1", Script: trial.MustScript("do api mail-1; do api mail-1")}},
			},
			Schedule: faults.MustParse("before c1.do#1  lose-reply api>c1"),
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.None, Belief: check.None, Progress: check.OK, Because: "2 calls, 2 mails"}
		if key == "on" {
			e.Because = "2 calls with one key, 1 mail"
			return e
		}
		e.Damage = []string{check.DuplicateEffect}
		return e
	}
	s.Control = func() Control { return Control{"api-retry", []string{"key=" + other(key)}} }
	return s
}
