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

// etcdLeaderCrash is S23 and S14: what a majority has on its disks outlives any
// crash, and without a majority there are no grants.
func etcdLeaderCrash() *Scenario {
	crash, how, disks := "leader", "power-loss", "synced"
	s := &Scenario{
		Name:   "etcd-leader-crash",
		Pair:   "consensus",
		Claim:  "a crash of the leader loses no lock, since a majority has it on its disks; without a majority nobody is granted anything",
		Claims: []string{"S23", "S14", "S24", "K14", "E5"},
	}
	s.Params = []Param{
		choice("crash", &crash, []string{"leader", "majority", "all"}, "which nodes crash: n1, n1 and n2 for good, or all at once"),
		choice("how", &how, []string{"kill", "power-loss"}, "how they crash"),
		choice("disks", &disks, []string{"synced", "unsafe"}, "whether nodes sync what they acknowledge, or not (etcd --unsafe-no-fsync)"),
	}
	s.Also = []string{"crash=majority", "crash=all"}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System: etcd.Etcd{TTL: 10 * time.Second, Config: raft.Config{
				NoFsync:  disks == "unsafe",
				Timeouts: []time.Duration{time.Second, 1200 * time.Millisecond, 1400 * time.Millisecond},
			}},
			Cast: two("until 1s; acquire; work 3s; write doc; work 3s; release",
				"until 3500ms; acquire; write doc; work 1s; release"),
			Latency: sim.Every(hop),
			Horizon: 20 * time.Second,
		}
		nodes, down := []string{"n1"}, 5*time.Second
		switch crash {
		case "majority":
			nodes, down = []string{"n1", "n2"}, time.Hour
		case "all":
			nodes, down = []string{"n1", "n2", "n3"}, 0
		}
		restart := faults.Restart{For: down}
		if how == "power-loss" {
			restart.How = faults.PowerLoss
		}
		for _, restart.Server = range nodes {
			spec.Schedule = append(spec.Schedule, faults.Fault{Anchor: faults.At(2050 * time.Millisecond), Action: restart})
		}
		return spec
	}
	s.Expect = func() Expectation { return crashedEtcd(crash, how, disks) }
	s.Control = func() Control {
		if crash == "all" && how == "power-loss" && disks == "unsafe" {
			return Control{"etcd-leader-crash", []string{"disks=synced"}}
		}
		return Control{"etcd-leader-crash", []string{"crash=all", "how=power-loss", "disks=unsafe"}}
	}
	return s
}

// crashedEtcd: where all nodes lose what they have not synced, which is everything,
// n1 stands for election a second after the crash, and has no lease when c2 asks.
// c1's next keepalive, 3.5s after its first, tells it so, and its release once more.
func crashedEtcd(crash, how, disks string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	switch {
	case crash == "all" && how == "power-loss" && disks == "unsafe":
		const write = 4 * hop // nobody waits for a disk
		accepted2 := 3500*time.Millisecond + 2*write
		told1 := time.Second + write + 3500*time.Millisecond + 2*hop
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.TokenOrder, check.LostLease, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, told1-accepted2
		e.Damage = []string{check.StaleWrite}
		e.Because = fmt.Sprintf("all nodes are back empty and n1 leads by 3.1s; c2 has the lock at %s with revision 2, as c1 had; c1 believes until its keepalive, and then its release, is told at %s that there is no such lease, and writes before that; overlap = %s",
			short(accepted2), short(told1), short(e.Overlap))
	case crash == "majority":
		e.Granted, e.Progress = []string{"c1"}, check.Stalled
		e.Because = "one node of three commits nothing: c2 gets no session, and when c1's term is over nobody is granted the lock"
	default:
		e.Because = "the nodes that are up, or back, have c1's lease and key on their disks or in their kernels; the leader gives the lease its full TTL again"
	}
	return e
}
