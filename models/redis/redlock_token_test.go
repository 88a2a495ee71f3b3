package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models"
	"locksim/sim"
)

// majorities are the ten sets of three of five nodes.
func majorities() [][]string {
	var sets [][]string
	for i := range 5 {
		for j := i + 1; j < 5; j++ {
			for k := j + 1; k < 5; k++ {
				sets = append(sets, []string{nodeName(i), nodeName(j), nodeName(k)})
			}
		}
	}
	return sets
}

// tokens lets one client after another take and release the lock, each on a
// majority of its own, and returns their tokens.
func tokens(t *testing.T, w *sim.World, way Tokens, lists ...[]string) []int64 {
	t.Helper()
	order := map[string][]string{}
	for i, list := range lists {
		order[fmt.Sprintf("c%d", i+1)] = list
	}
	w.Reset(sim.Config{})
	l, err := Redlock{Token: way, Order: order}.Open(w)
	require.NoError(t, err)
	got := make([]int64, len(lists))
	for i := range lists {
		w.Go(fmt.Sprintf("c%d", i+1), func(p *sim.Process) {
			p.Sleep(time.Duration(i) * hop)
			g, err := l.Acquire(p, "k")
			require.NoError(t, err)
			require.NoError(t, l.Release(p, "k", g))
			got[i] = g.Token
		})
	}
	require.NoError(t, w.Run())
	return got
}

// K8: the counterexamples, node A being r1.
func TestRedlockTokens(t *testing.T) {
	w := sim.New()
	defer w.Close()
	abc, abd := []string{"r1", "r2", "r3"}, []string{"r1", "r2", "r4"}
	cde, ade := []string{"r3", "r4", "r5"}, []string{"r1", "r4", "r5"}
	require.Equal(t, []int64{1, 2, 2}, tokens(t, w, MaxOfCounters, abc, abd, cde))
	require.Equal(t, []int64{3, 6, 5}, tokens(t, w, SumOfCounters, abc, abc, ade))
	require.Equal(t, []int64{1, 1}, tokens(t, w, MinOfCounters, abc, abd))
	require.Equal(t, []int64{1, 2}, tokens(t, w, MinOfCounters, abc, abc))
	require.Equal(t, []int64{0, 0}, tokens(t, w, NoTokens, abc, abc))
}

// K8, exhaustively: in how many of all schedules of that many grants the token of
// the last one is the first not to be greater than the one before it.
func TestRedlockTokensHaveNoOrder(t *testing.T) {
	w := sim.New()
	defer w.Close()
	for _, test := range []struct {
		way    Tokens
		grants int
		want   int
	}{
		{MaxOfCounters, 2, 0}, {MaxOfCounters, 3, 180},
		{SumOfCounters, 2, 0}, {SumOfCounters, 3, 90},
		{MinOfCounters, 2, 90},
	} {
		t.Run(fmt.Sprintf("K8 %s of %d grants", test.way, test.grants), func(t *testing.T) {
			wrong := 0
			schedules(test.grants, nil, func(lists [][]string) {
				got := tokens(t, w, test.way, lists...)
				for i := 1; i < len(got); i++ {
					if got[i] <= got[i-1] {
						if i == len(got)-1 {
							wrong++
						}
						break
					}
				}
			})
			require.Equal(t, test.want, wrong)
		})
	}
}

// schedules calls f with each list of n majorities that begins with lists.
func schedules(n int, lists [][]string, f func([][]string)) {
	if n == 0 {
		f(lists)
		return
	}
	for _, m := range majorities() {
		schedules(n-1, append(lists, m), f)
	}
}

// A majority is the first three nodes whose OK the client reads: the others count
// too, but not into the token. So do those of an attempt that fails.
func TestRedlockTokenOfAllNodes(t *testing.T) {
	s := newStage(t, Redlock{Token: SumOfCounters, Order: map[string][]string{
		"c2": {"r5", "r4", "r3", "r2", "r1"}, "c3": {"r5", "r4", "r3"},
	}})
	for range 3 {
		s.node("r5").incr(s.server("r5"), &Incr{"k:fence"})
	}
	a := &attempt{}
	s.client("c1", 0, func(p *sim.Process) {
		s.acquireNow(p, a)
		require.NoError(t, s.release(p, a).err)
	})
	b := s.acquire("c2", 100*hop)
	c := s.acquire("c3", 200*hop)
	s.run()
	require.EqualValues(t, 1+1+1, a.grant.Token, "of r1, r2 and r3")
	require.EqualValues(t, 5+2+2, b.grant.Token, "of r5, r4 and r3")
	require.ErrorIs(t, c.err, models.ErrHeld)
	require.Equal(t, "5", s.node("r5").keys["k:fence"].value, "a refusal does not count")
}

func TestRedlockExtensionKeepsToken(t *testing.T) {
	s := newStage(t, Redlock{Token: MaxOfCounters, Sends: Parallel})
	s.client("c1", 0, func(p *sim.Process) {
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		longer, err := s.lock.(models.Extender).Extend(p, "k", g)
		require.NoError(t, err)
		require.EqualValues(t, 1, longer.Token)
	})
	s.run()
}
