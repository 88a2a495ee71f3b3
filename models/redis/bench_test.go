package redis

import (
	"testing"
	"time"

	"locksim/models"
	"locksim/sim"
)

// BenchmarkNode is single commands, without kernel and network.
func BenchmarkNode(b *testing.B) {
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	n := openNode(w, "r1", Config{})
	s := w.Server("r1", n)
	mine, theirs := &Set{"k", "c1-00000001", 10 * time.Second}, &Set{"k", "c2-00000002", 10 * time.Second}
	b.Run("SetGranted", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n.empty() // a DEL
			n.set(s, mine, "c1")
		}
	})
	b.Run("SetRefused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n.set(s, theirs, "c2")
		}
	})
	b.Run("Delex", func(b *testing.B) {
		del := &DelIfEqual{"k", "c2-00000002"}
		b.ReportAllocs()
		for b.Loop() {
			n.delIfEqual(s, del, "c2")
		}
	})
}

// BenchmarkRedlock is a whole run of two clients over five nodes: 20 commands.
func BenchmarkRedlock(b *testing.B) {
	w := sim.New()
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(sim.Config{Seed: 1, Latency: sim.Every(time.Millisecond)})
		l, err := Redlock{}.Open(w)
		if err != nil {
			b.Fatal(err)
		}
		w.Go("c1", func(p *sim.Process) { holdFor(p, l, time.Second) })
		w.Go("c2", func(p *sim.Process) {
			p.Sleep(500 * time.Millisecond)
			holdFor(p, l, time.Second)
		})
		if err := w.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func holdFor(p *sim.Process, l models.Lock, d time.Duration) {
	g, err := l.Acquire(p, "k")
	if err != nil {
		return
	}
	p.Sleep(d)
	_ = l.Release(p, "k", g)
}
