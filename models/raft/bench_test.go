package raft_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/models/raft"
	"locksim/sim"
)

// BenchmarkLeaderCrash is a group of three for 20 s, whose leader crashes at 5 s
// and is back at 10 s, with two commands. It is to be judged by its ratio to
// BenchmarkSwitch of package sim on the same machine.
func BenchmarkLeaderCrash(b *testing.B) {
	w := sim.New()
	defer w.Close()
	schedule := faults.MustParse("at 5s restart n1 power-loss 5s")
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(sim.Config{Horizon: 20 * time.Second, Latency: sim.Every(time.Millisecond)})
		g, err := raft.Open(w, raft.Config{}, func(*raft.Node) raft.Replica { return &register{} })
		if err != nil {
			b.Fatal(err)
		}
		w.Go("c1", func(p *sim.Process) {
			_, _ = sim.Call[int](p, g.Node("n2").Server(), add{1}, 5*time.Second)
			p.Sleep(10 * time.Second)
			_, _ = sim.Call[int](p, g.Node("n2").Server(), add{1}, 5*time.Second)
		})
		if err := schedule.Apply(w); err != nil {
			b.Fatal(err)
		}
		if err := w.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
