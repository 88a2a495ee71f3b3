package raft_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models/raft"
	"locksim/sim"
)

// unrest lets many elections happen: the leaders are cut off and crash in turn, on
// links of many delays.
const unrest = `
	at 1s restart n1 power-loss 2s
	at 4s partition n2|n1,n3 3s
	at 8s partition n3|n1,n2 3s
	at 12s pause n1 gc 3s
	at 16s restart n2 kill 1s
	at 16s restart n3 kill 1s
	at 20s partition n1|n2,n3 4s`

func restless(t *testing.T, w *sim.World, seed uint64) string {
	c := sim.Config{Seed: seed, Horizon: 30 * sec, Latency: sim.Latency{Default: []time.Duration{ms, 3 * ms, 7 * ms}}}
	h := play(t, w, c, raft.Config{}, unrest, func(g *raft.Group) {
		for i, n := range g.Nodes() {
			w.Go("c"+n.Name(), func(p *sim.Process) {
				for range 20 {
					_, _ = sim.Call[int](p, n.Server(), add{i + 1}, sec)
					p.Sleep(300 * ms)
				}
			})
		}
	})
	require.GreaterOrEqual(t, len(leaders(h)), 4)
	return hash(t, h)
}

// TestDeterminism: a run is the same in a world of its own and in one that had
// others, 50 times, though the library draws from crypto/rand at each change of
// its state. The hash below was written down by another process.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	kept := sim.New()
	t.Cleanup(kept.Close)
	seen := map[string]bool{}
	for seed := range uint64(50) {
		fresh := sim.New()
		first := restless(t, fresh, seed)
		fresh.Close()
		require.Equal(t, first, restless(t, kept, seed), "seed %d", seed)
		seen[first] = true
		require.Equal(t, restless(t, kept, 0), restless(t, kept, 0))
	}
	require.Len(t, seen, 50, "each seed makes a run of its own")
	require.Equal(t, "f4ff46c074fbd869", restless(t, kept, 0))
}

// TestGroupsOfAllSizesShareAWorld: what a larger group leaves behind is of no matter to
// a smaller one.
func TestGroupsOfAllSizesShareAWorld(t *testing.T) {
	t.Parallel()
	kept := sim.New()
	t.Cleanup(kept.Close)
	for _, n := range []int{9, 1, 5, 3, 9, 1} {
		one := func(w *sim.World) string {
			return hash(t, play(t, w, sim.Config{Seed: 4}, raft.Config{Nodes: n}, "at 2s restart n1 power-loss 3s", func(g *raft.Group) {
				ask(w, g, "c1", "n1", sec, add{1}, func(int, time.Duration) {})
			}))
		}
		fresh := sim.New()
		require.Equal(t, one(fresh), one(kept))
		fresh.Close()
	}
}

// TestNothingIsLeftOver: what waited for an answer at the end of a run is of no
// matter to the next: a command by the same number is answered.
func TestNothingIsLeftOver(t *testing.T) {
	t.Parallel()
	kept := sim.New()
	t.Cleanup(kept.Close)
	var answers []int
	for _, schedule := range []string{"at 100ms partition n1|n2,n3", ""} {
		play(t, kept, sim.Config{}, raft.Config{}, schedule, func(g *raft.Group) {
			ask(kept, g, "c1", "n1", sec, add{1}, func(a int, _ time.Duration) { answers = append(answers, a) })
			ask(kept, g, "c2", "n1", 2*sec, read{linearizable: true}, func(a int, _ time.Duration) { answers = append(answers, a) })
		})
	}
	require.Equal(t, []int{-1, -1, 1, 1}, answers)
}
