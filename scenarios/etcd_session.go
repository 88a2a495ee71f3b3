package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// etcdSessionKept is S44: a session is kept alive for as long as the work takes,
// whatever its TTL, and not while its client is paused.
func etcdSessionKept() *Scenario {
	ttl, work, pause, check := 10*time.Second, 35*time.Second, 14*time.Second, "none"
	s := &Scenario{
		Name:   "etcd-session",
		Pair:   "session",
		Claim:  "a session outlasts any work, so that no TTL need be guessed; a pause beyond the TTL still loses it, and a look before the write sees only what was before it",
		Claims: []string{"S44", "S10", "S11", "T7", "T24", "K5"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, 2*time.Second, time.Hour, time.Second, "the session's TTL"),
		durations("work", &work, time.Second, time.Hour, time.Second, "how long c1 works before it writes"),
		durations("pause", &pause, 0, time.Hour, time.Second, "how long c1 is paused behind its work"),
		choice("check", &check, []string{"none", "after", "before"}, "whether c1 looks who holds the lock before it writes: not, after the pause, or before it"),
	}
	s.Also = []string{"work=1m pause=0s", "work=1m", "check=after", "check=before"}
	s.Spec = func() trial.Spec {
		look, paused := "check; ", "write"
		switch check {
		case "none":
			look = ""
		case "after":
			paused = "check"
		}
		return trial.Spec{
			System: etcd.Etcd{TTL: ttl},
			Cast: trial.Cast{
				Resources: storeOf("plain"),
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; work " + work.String() + "; " + look + "write doc; release")},
					{Name: "c2", Script: trial.MustScript("until 1500ms; acquire; work 1s; write doc; work 500ms; release")},
				},
			},
			Schedule: pauseBefore(paused, "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  work + ttl + pause + 30*time.Second,
		}
	}
	s.Expect = func() Expectation { return keptSession(ttl, work, pause, check) }
	s.Control = func() Control {
		if e := keptSession(ttl, work, pause, check); e.Overlap > 0 {
			return Control{"etcd-session", []string{"pause=0s"}}
		}
		return Control{"etcd-session", []string{"pause=" + short(min(2*ttl, time.Hour))}}
	}
	return s
}

// keptSession: the pause comes when c1's work is done, or a read later. Where c1
// looks after it and is no holder any more, it does not write: its own deadline, if
// that has passed, tells it at once, otherwise the answer to its keepalive.
func keptSession(ttl, work, pause time.Duration, look string) Expectation {
	c1 := etcdSession{time.Second + etcdWrite, ttl}
	paused := c1.start + etcdWrite + work
	if look == "before" {
		paused += etcdRead
	}
	w := c1.pausedBeforeWrite(paused, pause, direct)
	if look != "after" {
		return w.expectation()
	}
	beat, thaws := c1.lastBeat(paused), paused+pause
	if revoked := c1.revoked(beat); thaws+hop < revoked-etcdCommit {
		return c1.pausedBeforeWrite(paused, pause+etcdRead, direct).expectation()
	}
	w.end1 = max(thaws, min(thaws+etcdRead, c1.done(beat), c1.told(beat, thaws)))
	overlap := max(0, min(w.end1, w.end2)-w.accepted2)
	return Expectation{
		Promise: check.Kept, Belief: overlapping(overlap), Overlap: overlap, Progress: check.OK,
		Because: fmt.Sprintf("%s; c1 is back at %s and sees that another holds the lock, or that its own deadline is over; it believed until %s, and does not write",
			w.form, short(thaws), short(w.end1)),
	}
}
