package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// etcdCutHolder is H15 (etcd#10811, etcd#6127): the holder is cut off from etcd, but
// not from what the lock protects.
func etcdCutHolder() *Scenario {
	ttl, cut, done, store := 10*time.Second, "etcd", "obeyed", "plain"
	s := &Scenario{
		Name:   "etcd-cut-holder",
		Pair:   "session",
		Claim:  "a holder that is cut off from etcd alone learns of its loss up to a second after the next has the lock; a fence needs no notice",
		Claims: []string{"H15", "S50", "E1", "K7"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, 3*time.Second, time.Hour, time.Second, "the session's TTL"),
		choice("cut", &cut, []string{"etcd", "nothing"}, "what c1 is cut off from at 1s"),
		choice("done", &done, []string{"obeyed", "ignored"}, "whether programs listen to what their sessions say"),
		choice("store", &store, []string{"plain", "fenced"}, "what the store checks: nothing, or the revision"),
	}
	s.Also = []string{"done=ignored", "store=fenced", "ttl=3s"}
	s.Spec = func() trial.Spec {
		late := short(ttl + 1200*time.Millisecond)
		spec := trial.Spec{
			System:  etcd.Etcd{TTL: ttl, IgnoreDone: done == "ignored"},
			Cast:    two("until 490ms; acquire; until "+late+"; write doc; work 1000h; release", "until 3s; acquire; write doc; work 5s; release"),
			Latency: sim.Every(hop),
			Horizon: ttl + 30*time.Second,
		}
		spec.Cast.Resources = storeOf(store)
		if cut == "etcd" {
			spec.Schedule = faults.MustParse("at 1s  partition c1|n1,n2,n3")
		}
		return spec
	}
	s.Expect = func() Expectation { return cutOff(ttl, cut, done, store) }
	s.Control = func() Control { return turned("etcd-cut-holder", "cut", cut, "nothing", "etcd") }
	return s
}

// cutOff: c1's session begins at 0.496, and the keepalive that it begins with is the
// only one that is answered. The leader looks for leases that are over at whole and
// half seconds, the session for its own deadline at 0.496 past each: 992 ms after
// the leader, in the worst case, of which the notice to c2 takes 9 hops.
func cutOff(ttl time.Duration, cut, done, store string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
	if cut == "nothing" {
		e.Because = "c1's session is kept alive, and c1 holds the lock"
		return e
	}
	c1 := etcdSession{490*time.Millisecond + etcdWrite, ttl}
	a2, over := c1.revoked(c1.start)+etcdNotice, c1.done(c1.start)
	write1 := ttl + 1200*time.Millisecond
	end1, end2 := over, a2+2*hop+5*time.Second
	listens := "its session"
	if done == "ignored" {
		end1, listens = end2, "its session, and not c1," // c1 believes on
	}
	e.Granted = []string{"c1", "c2"}
	e.Overlap = min(end1, end2) - a2
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("c1's lease is over at %s and c2 has the lock at %s; c1's deadline is %s, which %s sees at %s; c1 writes at %s",
		short(c1.start+hop+ttl), short(a2), short(c1.start+2*hop+ttl), listens, short(over), short(write1))
	if store == "fenced" {
		e.Rejected = []string{"c1"}
		e.Because += ", with an older revision than the store has seen"
	} else {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}
