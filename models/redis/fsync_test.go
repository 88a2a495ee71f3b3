package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// synced is how often s has synced its file so far.
func synced(s *sim.Server) int {
	n := 0
	for _, e := range s.World().History().Events {
		if e.Kind == history.Fsync && e.Who == s.Name() {
			n++
		}
	}
	return n
}

// S35: what a file that is synced always costs, and one that is synced every
// second.
func TestFsyncs(t *testing.T) {
	for _, test := range []struct {
		name        string
		persistence Persistence
		changes     int // after two SETs and a script that count, and a GET and a refused SET that do not
		second      int // at the next whole second
		later       int // after 0.5 s without changes, one change, and 3 s
		crashed     int // after one change more and a loss of power
	}{
		{"S35 none", None, 0, 0, 0, 0},
		{"S34 everysec", EverySec, 0, 1, 2, 2},
		{"S35 always", Always, 3, 3, 4, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			onNode(t, Config{Persistence: test.persistence}, func(p *sim.Process, s *sim.Server) {
				ask[Status](p, s, &Set{"k", "a", ttl})
				ask[Status](p, s, &Set{"k", "b", ttl})
				ask[Status](p, s, &Set{"l", "b", ttl})
				ask[Integer](p, s, &SetIncr{"m", "b", ttl, "n"})
				ask[Bulk](p, s, &Get{"k"})
				require.Equal(t, test.changes, synced(s))
				p.Sleep(time.Second - 1)
				require.Equal(t, test.changes, synced(s))
				p.Sleep(1)
				require.Equal(t, test.second, synced(s))
				p.Sleep(500 * time.Millisecond)
				ask[Integer](p, s, &Del{"k"})
				p.Sleep(3 * time.Second)
				require.Equal(t, test.later, synced(s))
				ask[Integer](p, s, &Del{"l"})
				s.Handler().(*Node).Crash(s, faults.PowerLoss)
				p.Sleep(3 * time.Second)
				require.Equal(t, test.crashed, synced(s), "what was not synced never was")
			})
		})
	}
}

// Two seconds with changes are two syncs, though nobody asks in between.
func TestFsyncsOfEachSecond(t *testing.T) {
	onNode(t, Config{Persistence: EverySec}, func(p *sim.Process, s *sim.Server) {
		for range 6 {
			ask[Integer](p, s, &Incr{"n"})
			p.Sleep(500 * time.Millisecond)
		}
		require.Equal(t, 3, synced(s))
	})
}
