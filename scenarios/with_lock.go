package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// withLock is S59: a helper that takes the lock, does the job and gives the lock
// back. It has nothing to return where the lock is busy; where the release fails, the
// job is done all the same.
func withLock() *Scenario {
	trouble, masks, again, ttl := "reply", "on", time.Second, 10*time.Second
	s := &Scenario{
		Name: "with-lock", Pair: "jobs",
		Claim:  "a release that fails says nothing about the job: who takes it for a failed job does it again, or is kept off by its own key; the lock is free at its TTL",
		Claims: []string{"S59", "S4", "S5"},
		Also: []string{
			"trouble=none", "trouble=request masks=off", "trouble=request",
			"trouble=request again=8.946s", "trouble=request again=8.947s",
		},
	}
	s.Params = []Param{
		choice("trouble", &trouble, []string{"none", "request", "reply"}, "what is lost when c1 releases: nothing, its DEL with the connection, the answer"),
		choice("masks", &masks, []string{"on", "off"}, "whether the error of the release takes the place of the result, so that the caller calls again"),
		milliseconds("again", &again, time.Millisecond, 20*time.Second, "how long the caller waits before it calls again"),
		milliseconds("ttl", &ttl, 2*time.Second, time.Hour, "PX of the key"),
	}
	s.Spec = func() trial.Spec {
		// c2 looks at the last instant of the key that c1 has set first, and at the next.
		const once = "try; work 1s; do mailer report; release"
		c1, c2 := once, "until 500ms; "+once+"; until "+(ttl-hop/2).String()+"; look; look"
		if masks == "on" {
			c1 += " retry " + again.String()
		}
		fault := map[string]string{
			"request": "before c1.release#1  partition c1|r1 500ms",
			"reply":   "before c1.release#1  lose-reply r1>c1",
		}[trouble]
		return trial.Spec{
			System:   redis.SetNX{TTL: ttl},
			Cast:     instances("off", c1, c2),
			Schedule: faults.MustParse(fault),
			Latency:  sim.Every(hop),
			Horizon:  ttl + again + time.Minute,
		}
	}
	s.Expect = func() Expectation { return calledAgain(trouble, masks, again, ttl) }
	s.Control = func() Control {
		if trouble == "none" {
			return Control{s.Name, []string{"trouble=reply"}}
		}
		return Control{s.Name, []string{"masks=" + other(masks)}}
	}
	return s
}

// calledAgain: c1's key is set at 1 ms, its DEL is sent at 1.004; if that has no
// answer within 50 ms, the second call begins when the wait is over, and takes as long
// as the first. c2's looks arrive half a millisecond before the first key's last is
// over, and two later.
func calledAgain(trouble, masks string, again, ttl time.Duration) Expectation {
	const sent, timeout = 4*hop + time.Second, 50 * time.Millisecond
	gone, why := sent+hop, "c1's DEL frees the key"
	if trouble == "request" {
		gone, why = hop+ttl+time.Millisecond, "c1's DEL is lost, and its key gone"
	}
	second := sent + timeout + again + hop // its SET arrives
	called := masks == "on" && trouble != "none"
	runs, released := []string{"c1"}, "c1 ok"
	if trouble != "none" {
		released = "c1 unknown"
	}
	why = fmt.Sprintf("%s at %s", why, short(gone))
	switch {
	case called && second >= gone:
		runs, released = append(runs, "c1"), released+", c1 ok"
		why += fmt.Sprintf("; its second call has the lock at %s: 2 runs", short(second))
	case called:
		why += fmt.Sprintf("; its second call finds the key at %s, its own: it is told that the lock is busy, and the job was done", short(second))
	default:
		why += "; the result is kept: 1 run"
	}
	var owned []string
	for _, at := range []time.Duration{ttl + hop/2, ttl + hop/2 + ask} {
		owner := "nobody"
		if at < gone || len(runs) == 2 && second <= at && at < second+sent {
			owner = "c1"
		}
		owned = append(owned, owner)
	}
	e := ran("off", "report", runs...)
	e.Granted, e.Because = runs, why+"; c2 finds it busy at 501ms, and skips the job"
	e.Figures = append(e.Figures, Figure{releases, released}, Figure{owners, strings.Join(owned, ", ")})
	return e
}
