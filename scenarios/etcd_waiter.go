package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/etcd"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// etcdWaiterExpired is H14 and E4 (etcd#11456, etcd#9921): a client whose session
// ends while it waits. The library, through 3.4, took the lock to be its own when
// the keys before its own were gone.
func etcdWaiterExpired() *Scenario {
	pause, recipe, done := 3*time.Second, "old", "ignored"
	s := &Scenario{
		Name:   "etcd-waiter-expired",
		Pair:   "session",
		Claim:  "a client whose session ended while it waited takes the lock, unless it looks whether its own key is still there",
		Claims: []string{"H14", "E4", "J2"},
	}
	s.Params = []Param{
		milliseconds("pause", &pause, 0, 3490*time.Millisecond, "how long c2 is paused, from 1.5s on, while it waits"),
		choice("recipe", &recipe, []string{"old", "fixed"}, "the library through 3.4, and since 3.5: it looks at its own key again"),
		choice("done", &done, []string{"ignored", "obeyed"}, "whether programs listen to what their sessions say"),
	}
	s.Also = []string{"done=obeyed", "pause=1s"}
	s.Spec = func() trial.Spec {
		client := func(name, script string) trial.Client {
			return trial.Client{Name: name, Script: trial.MustScript(script)}
		}
		return trial.Spec{
			System: etcd.Etcd{TTL: 2 * time.Second, NoRecheck: recipe == "old", IgnoreDone: done == "ignored"},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					client("c1", "acquire; work 5s; release"),
					client("c2", "until 1s; acquire; work 2s; write doc; release"),
					client("c3", "until 4s; acquire; work 1s; write doc; work 2s; release"),
				},
			},
			Schedule: faults.Schedule{{Anchor: faults.At(1500 * time.Millisecond), Action: faults.Pause{Machine: "c2", Kind: sim.GC, For: pause}}},
			Latency:  sim.Every(hop),
			Horizon:  20 * time.Second,
		}
	}
	s.Expect = func() Expectation { return expiredWaiter(pause, recipe, done) }
	s.Control = func() Control { return turned("etcd-waiter-expired", "recipe", recipe, "fixed", "old") }
	return s
}

// expiredWaiter: c2's first keepalive leaves at 1.006, the second is due at 2.006, or
// when c2 is back. c1 releases at 5.012; c2 and c3, if it does not wait for c2, are
// told at once, and c2's two seconds of work lie within the three that c3 holds.
func expiredWaiter(pause time.Duration, recipe, done string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	c2 := etcdSession{time.Second + etcdWrite, 2 * time.Second}
	over, back := c2.start+hop+c2.ttl, 1500*time.Millisecond+pause
	gone := 2*etcdWrite + 5*time.Second + hop + etcdCommit // c1's key
	if next := max(back, c2.start+time.Second); next+hop < over {
		e.Granted = []string{"c1", "c2", "c3"}
		e.Because = fmt.Sprintf("c2's second keepalive leaves at %s and finds its lease, which would be over at %s", short(next), short(over))
		return e
	}
	e.Because = fmt.Sprintf("c2's lease is over at %s and c2 is back at %s; c1's key goes at %s", short(over), short(back), short(gone))
	if recipe == "fixed" {
		e.Granted = []string{"c1", "c3", "c2"}
		e.Because += "; c2 does not find its own key, and asks again"
		return e
	}
	// A grant to c2 would have been made before its key was gone, when c1 had the lock.
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
	e.Granted = []string{"c1", "c2", "c3"}
	if done == "obeyed" {
		e.Because += "; c2 is told that it has the lock, but its session has said that it is over"
		return e
	}
	e.Belief, e.Overlap = check.Overlapping, 2*time.Second+2*hop
	e.Damage = []string{check.StaleWrite}
	e.Because += "; c2 and c3 both have the lock two reads later; c2 works for 2s and writes, after c3's write"
	return e
}
