package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/history"
	"locksim/sim"
)

// arrivals sends n messages from a to b, one a millisecond, and returns which
// arrive when: "2ms 0" is the first, at 2 ms.
func arrivals(t *testing.T, c sim.Config, n int, before func(w *sim.World)) []string {
	t.Helper()
	return play(t, c, func(w *sim.World, d *diary) {
		a := w.Server("a", echo)
		b := w.Server("b", serve(func(_ *sim.Server, r sim.Request) { d.note("%v", r.Body) }))
		before(w)
		for i := range n {
			w.At(time.Duration(i)*ms, func() { a.Forward(b, i, 0) })
		}
	})
}

func TestLatencyTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		latency sim.Latency
		want    []string
	}{
		{"none", sim.Latency{}, []string{"0s 0", "1ms 1"}},
		{"default", sim.Every(5 * ms), []string{"5ms 0", "6ms 1"}},
		{"this link", sim.Latency{
			Default: []time.Duration{5 * ms},
			Links:   map[string][]time.Duration{"a>b": {7 * ms}, "b>a": {9 * ms}},
		}, []string{"7ms 0", "8ms 1"}},
		{"no time on this link", sim.Latency{
			Default: []time.Duration{5 * ms},
			Links:   map[string][]time.Duration{"a>b": nil},
		}, []string{"0s 0", "1ms 1"}},
	} {
		got := arrivals(t, sim.Config{Latency: c.latency}, 2, func(*sim.World) {})
		require.Equal(t, c.want, got, c.name)
	}
}

// TestLinkIsFirstInFirstOut, whatever the latencies; and a message never takes
// less than the least of them.
func TestLinkIsFirstInFirstOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		table := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 30), func(n int64) time.Duration {
			return time.Duration(n) * ms
		}), 1, 4).Draw(rt, "table")
		c := sim.Config{Seed: rapid.Uint64().Draw(rt, "seed"), Latency: sim.Latency{Default: table}}
		for i, line := range arrivals(t, c, 20, func(*sim.World) {}) {
			at, n, err := parse(line)
			require.NoError(rt, err)
			require.Equal(rt, i, n)
			require.GreaterOrEqual(rt, at, time.Duration(n)*ms+slices.Min(table))
		}
	})
}

func parse(line string) (at time.Duration, n int, err error) {
	var text string
	if _, err = fmt.Sscan(line, &text, &n); err == nil {
		at, err = time.ParseDuration(text)
	}
	return at, n, err
}

// TestRules sends messages 0, 1, 2 at 0, 1, 2 ms over a link of 5 ms; the rule is
// for message 1.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		ruling sim.Ruling
		want   []string
	}{
		{"pass", sim.Pass(), []string{"5ms 0", "6ms 1", "7ms 2"}},
		{"deliver", sim.Deliver(0), []string{"5ms 0", "6ms 1", "7ms 2"}},
		{"deliver later", sim.Deliver(10 * ms), []string{"5ms 0", "7ms 2", "16ms 1"}},
		{"lose", sim.Lose(), []string{"5ms 0", "7ms 2"}},
		{"twice", sim.Twice(10 * ms), []string{"5ms 0", "6ms 1", "7ms 2", "16ms 1"}},
	} {
		got := arrivals(t, sim.Config{Latency: sim.Every(5 * ms)}, 3, func(w *sim.World) {
			w.AddRule(c.name, func(sim.Message) sim.Ruling {
				if w.Now() == ms {
					return c.ruling
				}
				return sim.Pass()
			})
		})
		require.Equal(t, c.want, got, c.name)
	}
}

func TestFirstRuleThatDoesNotPassWins(t *testing.T) {
	t.Parallel()
	got := arrivals(t, sim.Config{}, 4, func(w *sim.World) {
		asked := 0
		w.AddRule("pass", func(m sim.Message) sim.Ruling {
			require.Equal(t, sim.Message{From: "a", To: "b"}, m)
			asked++
			return sim.Pass()
		})
		deliver := w.AddRule("deliver", func(sim.Message) sim.Ruling { return sim.Deliver(100 * ms) })
		lose := w.AddRule("lose", func(sim.Message) sim.Ruling { return sim.Lose() })
		w.At(1*ms, func() { w.RemoveRule(deliver) }) // just before message 1
		w.At(3*ms, func() { w.RemoveRule(lose); w.RemoveRule(lose) })
		w.At(9*ms, func() { require.Equal(t, 4, asked) })
	})
	require.Equal(t, []string{"3ms 3", "100ms 0"}, got)
}

// TestOneWayLoss: the request takes effect, its reply is lost, and the history
// says so.
func TestOneWayLoss(t *testing.T) {
	t.Parallel()
	play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, _ *diary) {
		served := 0
		db := w.Server("db", serve(func(_ *sim.Server, r sim.Request) { served++; r.Reply("ok") }))
		w.AddRule("partition", func(m sim.Message) sim.Ruling {
			if m.Reply && m.From == "db" && m.To == "c1" {
				return sim.Lose()
			}
			return sim.Pass()
		})
		w.Go("c1", func(p *sim.Process) {
			_, err := sim.Call[string](p, db, "set", 10*ms)
			require.ErrorIs(t, err, sim.ErrTimeout)
			require.Equal(t, 1, served)
			require.Equal(t, []history.Event{
				{Kind: history.Send, Verb: history.Request, Who: "c1", Peer: "db", Until: ms},
				{Kind: history.Send, Verb: history.Reply, Who: "db", Peer: "c1", At: ms, Until: 2 * ms},
				{Kind: history.Drop, Verb: history.Reply, Who: "db", Peer: "c1", At: ms, Why: "partition"},
			}, w.History().Events)
		})
	})
}

// TestLocalServer: no rule and no latency holds for it, in either direction.
func TestLocalServer(t *testing.T) {
	t.Parallel()
	play(t, sim.Config{Latency: sim.Latency{
		Default: []time.Duration{sec},
		Links:   map[string][]time.Duration{"c1>lease": {sec}},
	}}, func(w *sim.World, _ *diary) {
		lease := w.LocalServer("lease", echo)
		require.True(t, lease.Local())
		w.AddRule("lose all", func(sim.Message) sim.Ruling { return sim.Lose() })
		w.Go("c1", func(p *sim.Process) {
			_, err := sim.Call[string](p, lease, "lock", sec)
			require.NoError(t, err)
			require.Zero(t, w.Now())
		})
	})
}

// TestStreamsAreApart: what one link or process draws does not depend on what
// others draw, nor on whether they are there.
func TestStreamsAreApart(t *testing.T) {
	t.Parallel()
	table := []time.Duration{ms, 2 * ms, 3 * ms, 5 * ms, 8 * ms, 13 * ms}
	ab := func(seed uint64, others int) (got []string) {
		play(t, sim.Config{Seed: seed, Latency: sim.Latency{Default: table}}, func(w *sim.World, d *diary) {
			for i := range others {
				c := w.Server(fmt.Sprint("c", i), echo)
				w.Go(fmt.Sprint("p", i), func(p *sim.Process) {
					for range 10 {
						p.Sleep(time.Duration(p.Rand().IntN(50)) * ms)
						p.Send(c, "hi")
						p.Go("more", func(p *sim.Process) { p.Rand().IntN(50) })
					}
				})
			}
			b := w.Server("b", serve(func(_ *sim.Server, r sim.Request) {
				got = append(got, fmt.Sprint(w.Now(), r.Body))
			}))
			w.Go("a", func(p *sim.Process) {
				for range 20 {
					p.Send(b, p.Rand().IntN(1000))
					p.Sleep(20 * ms)
				}
			})
		})
		return got
	}
	require.Equal(t, ab(1, 0), ab(1, 5))
	require.NotEqual(t, ab(1, 0), ab(2, 0))
}
