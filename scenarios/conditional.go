package scenarios

import (
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/resource"
	"locksim/trial"
)

// conditional is the read-modify-write of a file in HDFS or S3 under a lock that
// cannot fail (K3), and S16: S3 knows no token, but If-Match is a compare-and-set.
func conditional(name string) *Scenario {
	ttl, pause, header, object := 10*time.Second, 14*time.Second, "if-match", "exists"
	s := &Scenario{
		Name:   name,
		Pair:   "fence",
		Claim:  "a conditional write to S3 fails with 412 when the file was written since it was read: a compare-and-set where there are no tokens",
		Claims: []string{"S16", "A4", "S41"},
	}
	if name == "read-modify-write" {
		s.Pair, header = "pause", "none"
		s.Claim = "with the best of locks, a file that is read, changed and written back loses an update when the holder is paused"
		s.Claims = []string{"K3", "K4", "S7", "S5", "K1", "T3"}
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before it writes the file back"),
		choice("header", &header, []string{"if-match", "none"}, "whether a write says which version it was made from"),
		choice("object", &object, []string{"exists", "missing"}, "whether the file exists before"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if header == "if-match" {
			store.Check = resource.IfMatch
		}
		cast := claimed(store, "acquire; read doc; work 1s; write doc")
		schedule := pauseAt("write", 1, pause)
		if object == "exists" {
			c1 := &cast.Clients[0]
			c1.Script = append(trial.MustScript("write doc as draft"), c1.Script...)
			schedule = pauseAt("write", 2, pause)
		}
		return trial.Spec{System: lease.Ideal{TTL: ttl}, Cast: cast, Schedule: schedule, Horizon: ttl + pause + time.Minute}
	}
	// c2 reads with the grant, at a2. Of two that have read the same version, the first
	// to write is right, and the second too late.
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		second := "c1"
		switch {
		case w.write1 <= w.accepted2:
			return e
		case w.write1 <= w.write2:
			second = "c2"
		}
		e.Because += "; both have read the same version, and " + second + " is the second to write"
		if header == "if-match" {
			e.Rejected = []string{second}
		} else {
			e.Damage = []string{check.LostUpdate}
		}
		return e
	}
	s.Control = func() Control { return turned("s3-if-match", "header", header, "if-match", "none") }
	return s
}

// aba is the limit of If-Match: a tag is made of the content, so a file that was
// changed and changed back passes for one that nobody has touched.
func aba() *Scenario {
	at, body := 4*time.Second, "same"
	s := &Scenario{
		Name:   "s3-aba",
		Pair:   "fence",
		Claim:  "a file that was changed and changed back has its old tag again: If-Match lets the outdated write through, unless each write has a body of its own",
		Claims: []string{"S16", "A4"},
	}
	s.Params = []Param{
		duration("c1-at", &at, time.Second, "when c1 writes what it made of its reading at 1s"),
		choice("body", &body, []string{"same", "unique"}, "whether c2 writes what was there before, or something unique"),
	}
	s.Spec = func() trial.Spec {
		c2 := "until 2s; read doc; write doc as closed; until 3s; read doc; write doc as open"
		if body == "unique" {
			c2 = "until 2s; read doc; write doc as closed-2; until 3s; read doc; write doc as open-3"
		}
		return trial.Spec{
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Store{Called: "doc", Check: resource.IfMatch}},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("write doc as open; until 1s; read doc; until " + at.String() + "; write doc as done")},
					{Name: "c2", Script: trial.MustScript(c2)},
				},
			},
			Horizon: at + time.Minute,
		}
	}
	// c2 reads and writes at 2 s and at 3 s. In a tie c1's write comes between the two.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.None, Belief: check.None, Progress: check.OK, Because: "c1 writes from version 1 at " + short(at)}
		switch {
		case at < 2*time.Second:
			e.Because += ", before c2 reads"
		case at == 2*time.Second:
			e.Rejected = []string{"c2"}
			e.Because += ", just after c2 has read the same"
		case at <= 3*time.Second || body == "unique":
			e.Rejected = []string{"c1"}
			e.Because += "; the tag is another since 2s"
		default:
			e.Damage = []string{check.LostUpdate}
			e.Because += "; c2 has written twice since, and the tag is that of version 1 again since 3s"
		}
		return e
	}
	s.Control = func() Control { return turned("s3-aba", "body", body, "unique", "same") }
	return s
}
