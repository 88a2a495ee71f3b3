package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

var (
	_ models.Extender   = (*setNX)(nil)
	_ models.Inspector  = (*setNX)(nil)
	_ faults.Restarter  = member{}
	_ faults.Replicated = member{}
)

const ttl = 10 * time.Second

func TestSetNX(t *testing.T) {
	t.Run("S25 S26", func(t *testing.T) {
		s := newStage(t, SetNX{TTL: 30 * time.Second})
		a := s.acquire("a", 0)
		early := s.acquire("b", 30*time.Second)
		late := s.acquire("c", 30*time.Second+hop)
		s.run()

		require.NoError(t, a.err)
		require.Regexp(t, `^a-[0-9a-f]{8}$`, a.grant.Value)
		require.Equal(t, models.Grant{
			Term: 30 * time.Second, Allowance: 16 * hop, Value: a.grant.Value, Votes: []string{"r1"},
		}, a.grant)
		require.Equal(t, 2*hop, a.done)
		require.ErrorIs(t, early.err, models.ErrHeld)
		require.NoError(t, late.err)
		require.NotEqual(t, a.grant.Value, late.grant.Value)
	})
	t.Run("no answer is unknown", func(t *testing.T) {
		s := newStage(t, SetNX{Timeout: 20 * hop})
		s.w.AddRule("lost", func(m sim.Message) sim.Ruling {
			if m.Reply {
				return sim.Lose()
			}
			return sim.Pass()
		})
		a := s.acquire("a", 0)
		s.run()
		require.ErrorIs(t, a.err, sim.ErrTimeout)
		require.NotErrorIs(t, a.err, models.ErrHeld)
		require.Equal(t, 20*hop, a.done)
		require.Len(t, s.node("r1").keys, 1, "and it was taken")
	})
}

// T12: each client has a TTL of its own, in the key, in the promise, in an
// extension, and by its own measure.
func TestTTLs(t *testing.T) {
	s := newStage(t, SetNX{Deadline: true, TTLs: map[string]time.Duration{"a": 300 * hop}})
	pttl := func(p *sim.Process) Integer { return ask[Integer](p, s.server("r1"), &PTTL{"k"}) }
	s.client("a", 0, func(p *sim.Process) {
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		require.Equal(t, models.Deadline{Reading: 300 * hop}, *g.Deadline)
		require.Equal(t, Integer(298), pttl(p), "two hops later")
		p.Sleep(100 * hop)
		longer, err := s.lock.(models.Extender).Extend(p, "k", g)
		require.NoError(t, err)
		require.Equal(t, 300*hop, longer.Term)
		require.Equal(t, 1150*time.Microsecond, longer.Allowance)
		require.Equal(t, Integer(298), pttl(p))
	})
	b := s.acquire("b", time.Second)
	s.run()
	require.NoError(t, b.err)
	require.Equal(t, ttl, b.grant.Term)
}

// Each way to release, by the owner of a key that has expired and been taken by
// another: before the release, or between its GET and its DEL.
func TestReleaseAfterExpiry(t *testing.T) {
	tests := []struct {
		name    string
		release Release
		at      time.Duration // of the release
		want    error
		steals  bool // it deletes the other's key
	}{
		{"S26 del", PlainDel, 11 * time.Second, nil, true},
		{"S27 compare", Compare, 11 * time.Second, models.ErrNotHeld, false},
		{"S27 get-then-del, expired before", GetThenDel, 11 * time.Second, models.ErrNotHeld, false},
		{"S27 get-then-del, expired between", GetThenDel, 9900 * hop, nil, true},
		{"S27 compare, not expired", Compare, 9900 * hop, nil, false},
		{"S27 lua", Lua, 11 * time.Second, models.ErrNotHeld, false},
		{"S27 lua, not expired", Lua, 9900 * hop, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Release: test.release, Timeout: 5 * time.Second})
			// The owner pauses when it has read the answer to its GET, of which it has
			// sent two messages by then: SET and GET.
			s.w.Before("a", "send", 3, func() { s.w.Machine("a").Pause(sim.GC, 2*time.Second) })
			a := &attempt{}
			var released *attempt
			s.client("a", 0, func(p *sim.Process) {
				s.acquireNow(p, a)
				p.Sleep(test.at - 2*hop)
				released = s.release(p, a)
			})
			b := s.acquire("b", 10*time.Second+hop)
			freed := s.run()

			require.Equal(t, test.want, released.err)
			require.NoError(t, b.err)
			stolen := 0
			for _, e := range freed {
				if e.Why == history.FreedDeleted && e.Value == b.grant.Value {
					require.Equal(t, "a", e.Peer)
					stolen++
				}
			}
			require.Equal(t, test.steals, stolen == 1)
		})
	}
}

func TestSetNXReleaseOfNothing(t *testing.T) {
	for _, way := range []Release{Compare, GetThenDel, PlainDel} {
		t.Run(way.String(), func(t *testing.T) {
			s := newStage(t, SetNX{Release: way})
			s.client("a", 0, func(p *sim.Process) {
				require.ErrorIs(t, s.lock.Release(p, "k", models.Grant{Value: "a-0"}), models.ErrNotHeld)
			})
			s.run()
		})
	}
}

func TestSetNXExtendAndHolder(t *testing.T) {
	s := newStage(t, SetNX{Deadline: true})
	s.client("a", 0, func(p *sim.Process) {
		l := s.lock.(interface {
			models.Extender
			models.Inspector
		})
		holder, err := l.Holder(p, "k")
		require.NoError(t, err)
		require.Empty(t, holder)

		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		p.Sleep(6 * time.Second)
		start := s.w.Now()
		longer, err := l.Extend(p, "k", g)
		require.NoError(t, err)
		require.Equal(t, start+ttl, longer.Deadline.Reading)
		require.Equal(t, ttl, longer.Term)
		require.Equal(t, g.Value, longer.Value)

		p.Sleep(9 * time.Second)
		holder, err = l.Holder(p, "k")
		require.NoError(t, err)
		require.Equal(t, g.Value, holder)

		p.Sleep(time.Second)
		_, err = l.Extend(p, "k", longer)
		require.ErrorIs(t, err, models.ErrNotHeld)
	})
	s.run()
}

// A client with a deadline of its own refuses a grant that comes too late (S40),
// one without takes it.
func TestSetNXDeadline(t *testing.T) {
	for _, deadline := range []bool{true, false} {
		s := newStage(t, SetNX{Deadline: deadline, Timeout: time.Minute})
		s.w.Before("a", "receive", 1, func() { s.w.Machine("a").Pause(sim.GC, 14*time.Second) })
		a := s.acquire("a", 0)
		s.run()
		if deadline {
			require.ErrorIs(t, a.err, models.ErrHeld)
			require.Empty(t, s.node("r1").keys, "it gives back what it cannot use")
			continue
		}
		require.NoError(t, a.err)
		require.Nil(t, a.grant.Deadline)
	}
}
