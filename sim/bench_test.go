package sim_test

import (
	"iter"
	"testing"
	"time"

	"locksim/sim"
)

// BenchmarkSwitch is the yardstick: a bare switch to a coroutine and back. The
// others are judged by their ratio to it in the same run.
func BenchmarkSwitch(b *testing.B) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	defer stop()
	for b.Loop() {
		next()
	}
}

// BenchmarkWake is one sleep and wake of a process, among ten.
func BenchmarkWake(b *testing.B) {
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Bound: b.N + 100})
	for i := range 10 {
		w.Go(string(rune('a'+i)), func(p *sim.Process) {
			for {
				p.Sleep(time.Duration(10+i) * time.Microsecond)
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := w.Run(); err != nil {
		b.Fatal(err)
	}
}

// pong is two servers that play one message to and fro. A real run records a
// few hundred events, in memory that it used before: so does this.
type pong struct{ to *sim.Server }

func (h *pong) Serve(s *sim.Server, r sim.Request) {
	if past := s.World().History(); len(past.Events) == 256 {
		past.Reset()
	}
	s.Forward(h.to, r.Body, 0)
}

// BenchmarkDeliver is one message over a link to a handler.
func BenchmarkDeliver(b *testing.B) {
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Bound: b.N + 100, Latency: sim.Every(time.Millisecond)})
	left, right := &pong{}, &pong{}
	l, r := w.Server("left", left), w.Server("right", right)
	left.to, right.to = r, l
	l.Forward(r, "ball", 0)
	b.ReportAllocs()
	b.ResetTimer()
	if err := w.Run(); err != nil {
		b.Fatal(err)
	}
}
