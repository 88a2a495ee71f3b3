package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// etcdStaleRead is S46 and E2: a node that is cut off from the others answers a
// serializable read from what it has, and a linearizable one not at all.
func etcdStaleRead() *Scenario {
	read, cut := "serializable", "n3"
	s := &Scenario{
		Name:   "etcd-stale-read",
		Pair:   "consensus",
		Claim:  "a serializable read of a node that is cut off is old; a linearizable one waits",
		Claims: []string{"S46", "E2", "S67"},
	}
	s.Params = []Param{
		choice("read", &read, []string{"serializable", "linearizable"}, "how c3 asks n3 who holds the lock"),
		choice("cut", &cut, []string{"n3", "nothing"}, "what is cut off from n1 and n2, from 2s to 12s"),
	}
	s.Also = []string{"cut=nothing"}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System: etcd.Etcd{
				TTL: 10 * time.Second, Serializable: read == "serializable",
				Order: map[string][]string{"c3": {"n3"}},
			},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 2s; release")},
				{Name: "c2", Script: trial.MustScript("until 4s; acquire; work 8s; release")},
				{Name: "c3", Script: trial.MustScript("until 5s; look")},
			}},
			Latency: sim.Every(hop),
			Horizon: 20 * time.Second,
		}
		if cut == "n3" {
			spec.Schedule = faults.MustParse("at 2s  partition n3|n1,n2 10s")
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Because: "n3 knows of no leader that a majority confirms, and does not answer",
		}
		switch {
		case cut == "nothing":
			e.Because = "n3 has applied what the others have: c2 holds the lock"
		case read == "serializable":
			e.Promise, e.Breaches = check.Broken, []string{check.StaleRead}
			e.Because = "n3 has applied nothing since 2s: it names c1, which released at 3.012, when c2 has held the lock since 4.012"
		}
		return e
	}
	s.Control = func() Control { return turned("etcd-stale-read", "read", read, "linearizable", "serializable") }
	return s
}
