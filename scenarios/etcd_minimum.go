package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/etcd"
	"locksim/models/raft"
	"locksim/sim"
	"locksim/trial"
)

// etcdLeaseMinimum is E3: a cluster grants no lease for less than it may take to
// elect a leader.
func etcdLeaseMinimum() *Scenario {
	ttl, election := time.Second, time.Second
	s := &Scenario{
		Name:   "etcd-lease-minimum",
		Pair:   "session",
		Claim:  "a lease lasts at least 1.5 election timeouts, rounded up to seconds, whatever was asked for",
		Claims: []string{"E3"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, time.Second, time.Hour, time.Second, "the TTL that a session asks for"),
		durations("election", &election, 500*time.Millisecond, 10*time.Second, 100*time.Millisecond, "the election timeout"),
	}
	s.Also = []string{"election=500ms", "ttl=5s"}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: etcd.Etcd{TTL: ttl, Config: raft.Config{Election: election}},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1000h; release")},
				{Name: "c2", Script: trial.MustScript("until 1200ms; acquire; release")},
			}},
			Schedule: faults.MustParse("at 1100ms  kill c1"),
			Latency:  sim.Every(hop),
			Horizon:  ttl + 30*time.Second,
		}
	}
	s.Expect = func() Expectation {
		least := from(election*3/2, time.Second)
		c1 := etcdSession{time.Second + etcdWrite, max(ttl, least)}
		a2 := c1.revoked(c1.start) + etcdNotice
		return Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Granted: []string{"c1", "c2"}, Longest: a2 - 1200*time.Millisecond,
			Because: fmt.Sprintf("the least TTL is 1.5 x %s, in whole seconds %s: c1, which dies after its keepalive of %s, has a lease until %s; the leader revokes it at %s and c2 has the lock at %s",
				short(election), short(least), short(c1.start), short(c1.start+hop+c1.ttl), short(c1.revoked(c1.start)), short(a2)),
		}
	}
	s.Control = func() Control {
		if election == 500*time.Millisecond {
			return Control{"etcd-lease-minimum", []string{"ttl=" + short(ttl+time.Second)}}
		}
		return Control{"etcd-lease-minimum", []string{"ttl=1s", "election=500ms"}}
	}
	return s
}
