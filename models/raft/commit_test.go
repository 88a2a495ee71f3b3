package raft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/models/raft"
	"locksim/sim"
)

// TestMajorities is S24 and E5: of n nodes, a group goes on without the minority
// that its size allows, and with one less node it commits nothing.
func TestMajorities(t *testing.T) {
	t.Parallel()
	tolerated := []int{1: 0, 0, 1, 1, 2, 2, 3, 3, 4}
	for n := 1; n <= 9; n++ {
		require.Equal(t, tolerated[n], n-raft.Majority(n), "n = %d", n)
		for down := range n + 1 {
			// The last are down, or the first, so that others must be elected.
			for _, first := range []int{1, n - down + 1} {
				answer := commitWithout(t, n, first, down)
				require.Equal(t, down <= tolerated[n], answer == 7, "%d of %d nodes are down, from n%d on", down, n, first)
			}
		}
	}
}

// commitWithout is the answer to an addition of 7 to a group of n, of which down
// nodes lose power 9 s before, from the first-th on.
func commitWithout(t *testing.T, n, first, down int) (answer int) {
	t.Helper()
	var schedule []string
	asked := "n1"
	for i := range down {
		schedule = append(schedule, fmt.Sprintf("at 1050ms restart n%d power-loss 1h", first+i))
	}
	if first == 1 && down > 0 && down < n {
		asked = fmt.Sprintf("n%d", down+1)
	}
	run(t, sim.Config{}, raft.Config{Nodes: n}, strings.Join(schedule, "\n"), func(w *sim.World, g *raft.Group) {
		ask(w, g, "c1", asked, 10*sec, add{7}, func(a int, _ time.Duration) { answer = a })
	})
	return answer
}

// TestCommitLatency is S71: the leader answers when its own disk has done, and
// the fastest others that make a majority with it have acknowledged.
func TestCommitLatency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "nodes")
		us := rapid.Map(rapid.Int64Range(1, 20_000), func(n int64) time.Duration { return time.Duration(n) * time.Microsecond })
		disk := us.Draw(t, "fsync")
		latency := sim.Latency{Links: map[string][]time.Duration{}}
		link := func(from, to string) time.Duration {
			d := us.Draw(t, from+">"+to)
			latency.Links[from+">"+to] = []time.Duration{d}
			return d
		}
		there, back := link("c1", "n1"), link("n1", "c1")
		var acks []time.Duration
		for i := 2; i <= n; i++ {
			other := fmt.Sprintf("n%d", i)
			acks = append(acks, link("n1", other)+disk+link(other, "n1"))
		}
		slices.Sort(acks)
		commit := disk
		if k := raft.Majority(n) - 1; k > 0 {
			commit = max(disk, acks[k-1])
		}
		w := sim.New()
		defer w.Close()
		var took time.Duration
		play(t, w, sim.Config{Latency: latency}, raft.Config{Nodes: n, Fsync: disk}, "", func(g *raft.Group) {
			ask(w, g, "c1", "n1", 150*ms, add{1}, func(_ int, at time.Duration) { took = at - 150*ms })
		})
		require.Equal(t, there+commit+back, took)
	})
}

// TestWhereAClientAsks: each figure counts the hops, of a millisecond each, and the
// disk of the node that acknowledges, 2 ms.
func TestWhereAClientAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, node string
		what       any
		want       time.Duration
	}{
		{"a command, of the leader: there, to the others and back, back", "n1", add{1}, 4*hop + fsync},
		{"of another: it passes it on, and hears of the commitment", "n2", add{1}, 6*hop + fsync},
		{"a linearizable read, of the leader: it asks the others", "n1", read{linearizable: true}, 4 * hop},
		{"of another: it asks the leader", "n2", read{linearizable: true}, 6 * hop},
		{"any other read", "n2", read{}, 2 * hop},
	} {
		var took time.Duration
		run(t, sim.Config{}, raft.Config{}, "", func(w *sim.World, g *raft.Group) {
			ask(w, g, "c1", c.node, 150*ms, c.what, func(_ int, at time.Duration) { took = at - 150*ms })
		})
		require.Equal(t, c.want, took, c.name)
	}
}

// TestNoLeader: what is asked of a node that knows of no leader waits for one; what
// was passed on to one that is dead is lost. n2 leads from 2.2 s on.
func TestNoLeader(t *testing.T) {
	t.Parallel()
	answers := map[string]int{}
	note := func(client string) func(int, time.Duration) {
		return func(a int, _ time.Duration) { answers[client] = a }
	}
	group := raft.Config{Timeouts: []time.Duration{sec, 1200 * ms, 1900 * ms}}
	run(t, sim.Config{}, group, "at 1050ms restart n1 kill 2s\nat 1100ms restart n3 kill", func(w *sim.World, g *raft.Group) {
		// n3 has forgotten who led, n2 has not.
		ask(w, g, "c1", "n3", 1200*ms, add{1}, note("c1"))
		ask(w, g, "c2", "n2", 1200*ms, add{10}, note("c2"))
		ask(w, g, "c3", "n2", 1200*ms, read{linearizable: true}, note("c3"))
		// Nothing was added before this read began, and all that was is answered 1.
		ask(w, g, "c4", "n3", 1200*ms, read{linearizable: true}, note("c4"))
		ask(w, g, "c5", "n3", 3*sec, read{linearizable: true}, note("c5"))
	})
	require.Equal(t, map[string]int{"c1": 1, "c2": -1, "c3": -1, "c4": 0, "c5": 1}, answers)
}
