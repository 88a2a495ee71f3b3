package scenarios

import (
	"fmt"
	"math/rand/v2"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// etcdSkewed is J1: what Jepsen found of etcd 3.4.3, whose keys were right under
// pauses, crashes and clocks that are hundreds of seconds apart. The lock that guards
// them breaks no promise either, unless its leases end by the clock that was set.
func etcdSkewed() *Scenario {
	counts := "wall-queue"
	s := &Scenario{
		Name:   "etcd-skewed",
		Pair:   "consensus",
		Claim:  "with clocks hundreds of seconds apart, one server paused and one crashed, etcd's keys lose no update, nor does its lock break",
		Claims: []string{"J1", "E1", "E2", "K14", "S23", "K9"},
	}
	s.Params = []Param{choice("counts", &counts, countsNames, "by which clock a leader counts leases: since 3.5, in 3.4, in 3.0")}
	s.Spec = func() trial.Spec {
		system := etcd.Etcd{TTL: 10 * time.Second, Timeout: 2 * time.Second}
		mustText(&system.Counts, counts)
		cast := two("until 1s; acquire; read doc; work 5s; write doc; release; until 8s; acquire; read doc; work 2s; write doc; release; until 13s; acquire; read doc; work 2s; write doc; release",
			"until 1500ms; acquire; read doc; work 1s; write doc; release; until 9s; acquire; read doc; work 2s; write doc; release; until 14s; acquire; read doc; work 2s; write doc; release")
		cast.Resources = []models.Resource{etcd.Keys{Called: "doc", Guarded: true}}
		return trial.Spec{System: system, Cast: cast, Latency: sim.Every(hop), Horizon: time.Minute}
	}
	s.Vary = func(spec *trial.Spec, choose *rand.Rand) { spec.Schedule = skewed(choose) }
	s.Share = func() Share {
		want := map[string]float64{"monotonic": 0, "wall-queue": 0, "wall": 0.5}[counts]
		return Share{
			Of: "a breach of the promise, or damage", Hit: brokenOrDamaged, Runs: 1000, Want: want, Tolerance: fourSigma(want, 1000),
			Because: map[string]string{
				"monotonic":  "no lease looks at the clocks that are stepped; a write that compares the lock's revision is the holder's, and a read is of what a majority has",
				"wall-queue": "a clock that is set back lets a lease outlive its TTL, and one that is set ahead ends none, since the monotonic clock has the last word; a write that compares the lock's revision is the holder's, and a read is of what a majority has",
				"wall":       "n1, which leads when the clocks are stepped, is set ahead in half of the runs, by more than c1's TTL: c1's lease is over before c1 has released, within four standard deviations",
			}[counts],
		}
	}
	s.Control = func() Control { return turned("etcd-skewed", "counts", counts, "wall", "wall-queue") }
	return s
}

// skewed are the faults of one run: between 2 and 4 s, while c1 holds the lock and n1
// leads, each server's wall clock is stepped by 100 to 900 s, ahead or back. From 7 s
// on one server is paused and one crashes, each for up to 5 s.
func skewed(choose *rand.Rand) faults.Schedule {
	within := func(from, to int64) time.Duration {
		return time.Duration(from+choose.Int64N(to-from)) * time.Millisecond
	}
	node := func() string { return fmt.Sprintf("n%d", 1+choose.IntN(3)) }
	var f faults.Schedule
	for i := range 3 {
		by := within(100_000, 900_000)
		if choose.IntN(2) == 0 {
			by = -by
		}
		f = append(f, faults.Fault{Anchor: faults.At(within(2000, 4000)), Action: faults.ClockStep{Machine: fmt.Sprintf("n%d", i+1), By: by}})
	}
	crash := faults.Restart{Server: node(), How: faults.Crash(choose.IntN(2)), For: within(1, 5000)}
	return append(f,
		faults.Fault{Anchor: faults.At(within(7000, 15_000)), Action: faults.Pause{Machine: node(), Kind: sim.GC, For: within(1, 5000)}},
		faults.Fault{Anchor: faults.At(within(7000, 15_000)), Action: crash})
}

func brokenOrDamaged(r *trial.Result) bool {
	return r.Promise.Status != check.Kept || r.Damage.Status != check.None
}
