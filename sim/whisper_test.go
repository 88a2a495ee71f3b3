package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/sim"
)

// TestWhisper: what is whispered takes the links and the rules as what is
// forwarded does, but leaves no trace in the history, lost or not.
func TestWhisper(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		ruling sim.Ruling
		want   []string
	}{
		{"pass", sim.Pass(), []string{"5ms 0", "6ms 1", "7ms 2"}},
		{"deliver later", sim.Deliver(10 * ms), []string{"5ms 0", "7ms 2", "16ms 1"}},
		{"lose", sim.Lose(), []string{"5ms 0", "7ms 2"}},
		{"twice", sim.Twice(10 * ms), []string{"5ms 0", "6ms 1", "7ms 2", "16ms 1"}},
	} {
		got := play(t, sim.Config{Latency: sim.Every(5 * ms)}, func(w *sim.World, d *diary) {
			a := w.Server("a", echo)
			b := w.Server("b", serve(func(_ *sim.Server, r sim.Request) { d.note("%v", r.Body) }))
			w.AddRule(c.name, func(sim.Message) sim.Ruling {
				if w.Now() == ms {
					return c.ruling
				}
				return sim.Pass()
			})
			for i := range 3 {
				w.At(time.Duration(i)*ms, func() { a.Whisper(b, i) })
			}
			w.At(sec, func() { require.Empty(t, w.History().Events) })
		})
		require.Equal(t, c.want, got, c.name)
	}
}

// TestWhisperKeepsTheOrder of the link, between what is forwarded.
func TestWhisperKeepsTheOrder(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Latency{Default: []time.Duration{ms, 9 * ms, 4 * ms}}}, func(w *sim.World, d *diary) {
		a := w.Server("a", echo)
		b := w.Server("b", serve(func(_ *sim.Server, r sim.Request) { d.note("%v", r.Body) }))
		for i := range 10 {
			w.At(time.Duration(i)*ms, func() {
				if i%2 == 0 {
					a.Whisper(b, i)
				} else {
					a.Forward(b, i, 0)
				}
			})
		}
	})
	for i, line := range got {
		_, n, err := parse(line)
		require.NoError(t, err)
		require.Equal(t, i, n)
	}
}

// TestWhisperToACrashedServer is lost with its connection, even if the server is
// back before it would arrive.
func TestWhisperToACrashedServer(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(5 * ms)}, func(w *sim.World, d *diary) {
		a := w.Server("a", echo)
		b := w.Server("b", serve(func(_ *sim.Server, r sim.Request) { d.note("%v", r.Body) }))
		w.At(0, func() { a.Whisper(b, "before") })
		w.At(ms, func() { b.Crash(true) })
		w.At(2*ms, b.Start)
		w.At(3*ms, func() { a.Whisper(b, "after") })
	})
	require.Equal(t, []string{"8ms after"}, got)
}

// TestStream: a stream hangs on the seed and on its name.
func TestStream(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64, name string) (n uint64) {
		play(t, sim.Config{Seed: seed}, func(w *sim.World, _ *diary) { n = w.Stream(name).Uint64() })
		return n
	}
	require.Equal(t, draw(1, "n1"), draw(1, "n1"))
	require.NotEqual(t, draw(1, "n1"), draw(1, "n2"))
	require.NotEqual(t, draw(1, "n1"), draw(2, "n1"))
}
