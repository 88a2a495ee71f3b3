package redis

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

var _ faults.Bounded = (*Node)(nil)

// faults puts a schedule into the run.
func (s *stage) faults(schedule string) {
	s.t.Helper()
	require.NoError(s.t, faults.MustParse(schedule).Apply(s.w))
}

// H9: what goes when the memory is full, and what is still served then. The key of a
// lock has an expiry, that of a lock without a term and the counter of its tokens have
// none.
func TestEviction(t *testing.T) {
	const never = 0
	tests := []struct {
		name   string
		policy Eviction
		ttl    time.Duration
		gone   []string
		why    string
		again  error // of a SET while the memory is full
	}{
		{"H9 noeviction", NoEviction, ttl, nil, "takes no more", oom},
		{"H9 allkeys-lru", AllKeys, ttl, []string{"counter", "lock"}, "evicted 2 keys", nil},
		{"H9 volatile-lru", Volatile, ttl, []string{"lock"}, "evicted 1 key", nil},
		{"H9 allkeys-lru, without a term", AllKeys, never, []string{"counter", "lock"}, "evicted 2 keys", nil},
		{"H9 volatile-lru, without a term", Volatile, never, nil, "takes no more", oom},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			freed := onNode(t, Config{Eviction: test.policy}, func(p *sim.Process, s *sim.Server) {
				node := s.Handler().(*Node)
				ask[Status](p, s, &Set{"lock", "mine", test.ttl})
				ask[Integer](p, s, &Incr{"counter"})
				why, drain := node.Fill(s)
				require.Equal(t, test.why, why)
				for _, key := range []string{"lock", "counter"} {
					found := ask[Bulk](p, s, &Get{key}).Found
					require.Equal(t, slices.Contains(test.gone, key), !found, key)
				}
				for _, command := range []any{&Set{"other", "theirs", ttl}, &Put{"other", "theirs", ttl}, &SetIncr{"one", "theirs", ttl, "more"}, &ExpireOrSet{"two", "theirs", ttl}, &Incr{"more"}} {
					_, err := call[any](p, s, command, time.Second)
					require.Equal(t, test.again, err, "%T", command)
				}
				if !slices.Contains(test.gone, "lock") { // the script comes to a PEXPIRE
					_, err := call[any](p, s, &ExpireOrSet{"lock", "mine", ttl}, time.Second)
					require.NoError(t, err)
				}
				for _, command := range []any{&PExpire{"lock", ttl}, &ExpireIfEqual{"lock", "mine", ttl}, &PTTL{"lock"}, &DelIfEqual{"lock", "other"}, &EvalDelIfEqual{"lock", "other"}, &Del{"nothing"}} {
					_, err := call[any](p, s, command, time.Second)
					require.NoError(t, err, "%T", command)
				}
				require.Equal(t, test.again != nil, drain != nil)
				if drain != nil {
					drain()
				}
				require.Equal(t, Status(true), ask[Status](p, s, &Set{"after", "theirs", ttl}))
			})
			if !slices.Contains(test.gone, "lock") {
				require.Empty(t, freed)
				return
			}
			require.Equal(t, []history.Event{{Kind: history.Freed, Who: "r1", Lock: "lock", Value: "mine", Why: history.FreedEvicted}}, freed)
		})
	}
}

// A key whose time is over is not evicted: it had expired.
func TestEvictionOfTheExpired(t *testing.T) {
	freed := onNode(t, Config{Eviction: AllKeys}, func(p *sim.Process, s *sim.Server) {
		ask[Status](p, s, &Set{"lock", "mine", ttl})
		p.Sleep(ttl + hop)
		why, _ := s.Handler().(*Node).Fill(s)
		require.Equal(t, "evicted others' data", why)
	})
	require.Len(t, freed, 1)
	require.Equal(t, history.FreedExpired, freed[0].Why)
}

// Two shortages that overlap: there is room when both are over.
func TestFills(t *testing.T) {
	s := newStage(t, SetNX{})
	s.faults("at 0s  fill r1 300ms\nat 100ms  fill r1 100ms")
	during, between, after := s.acquire("a", 150*hop), s.acquire("b", 250*hop), s.acquire("c", 300*hop)
	s.run()
	for _, refused := range []*attempt{during, between} {
		require.ErrorIs(t, refused.err, models.ErrHeld, "definite: nothing was done")
		require.EqualError(t, refused.err, string(oom))
	}
	require.NoError(t, after.err)
}

// A replica's own memory is no matter; what its primary drops, it drops.
func TestEvictionAndReplicas(t *testing.T) {
	s := newStage(t, SetNX{Eviction: Volatile, Replicas: 1})
	s.faults("at 100ms  fill r2 1s\nat 200ms  fill r1 1s")
	s.acquire("a", 0)
	var before, after Bulk
	s.client("b", 150*hop, func(p *sim.Process) {
		before = ask[Bulk](p, s.server("r2"), &Get{"k"})
		p.Sleep(100 * hop)
		after = ask[Bulk](p, s.server("r2"), &Get{"k"})
	})
	freed := s.run()
	require.True(t, before.Found)
	require.False(t, after.Found)
	require.Len(t, freed, 1)
	require.Equal(t, "r1", freed[0].Who)
}

// What was evicted stays away when the append-only file is loaded.
func TestEvictionIsWritten(t *testing.T) {
	s := newStage(t, SetNX{Eviction: AllKeys, Persistence: Always})
	s.faults("at 100ms  fill r1\nat 200ms  restart r1 power-loss")
	s.acquire("a", 0)
	b := s.acquire("b", 300*hop)
	s.run()
	require.NoError(t, b.err)
}
