package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// S6, T2: a key without a TTL outlives its owner; with one, it is free after it.
func TestNoTTL(t *testing.T) {
	for _, test := range []struct {
		name  string
		noTTL bool
		free  bool
	}{
		{"S6 no TTL", true, false},
		{"S6 TTL", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{NoTTL: test.noTTL})
			a := s.acquire("a", 0)
			s.w.At(time.Second, func() { s.w.Machine("a").Kill() })
			b := s.acquire("b", time.Hour)
			s.run()
			require.NoError(t, a.err)
			require.Equal(t, test.noTTL, a.grant.Term == 0 && a.grant.Allowance == 0)
			require.Equal(t, test.free, b.err == nil)
		})
	}
}

// A lock without a TTL is extended by looking whether it is still there.
func TestNoTTLExtend(t *testing.T) {
	s := newStage(t, SetNX{NoTTL: true})
	s.client("a", 0, func(p *sim.Process) {
		extend := s.lock.(models.Extender).Extend
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		longer, err := extend(p, "k", g)
		require.NoError(t, err)
		require.Equal(t, g, longer)
		require.Equal(t, Integer(-1), ask[Integer](p, s.server("r1"), &PTTL{"k"}))
		require.NoError(t, s.lock.Release(p, "k", g))
		_, err = extend(p, "k", g)
		require.ErrorIs(t, err, models.ErrNotHeld)
	})
	s.run()
}

// T4, H8: whoever dies between SETNX and PEXPIRE leaves a key for ever.
func TestSeparateExpire(t *testing.T) {
	for _, test := range []struct {
		name string
		way  Expire
		free bool
	}{
		{"T4 H8 separate", Separate, false},
		{"T4 atomic", Atomic, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Expire: test.way})
			s.w.After("a", "receive", 1, func() { s.w.Machine("a").Kill() })
			s.client("a", 0, func(p *sim.Process) {
				_, _ = s.lock.Acquire(p, "k")
				p.Step("dead by now")
			})
			b := s.acquire("b", time.Hour)
			s.run()
			require.Equal(t, test.free, b.err == nil)
		})
	}
	t.Run("nobody dies", func(t *testing.T) {
		s := newStage(t, SetNX{Expire: Separate})
		a := s.acquire("a", 0)
		early, late := s.acquire("b", ttl+2*hop), s.acquire("c", ttl+3*hop)
		s.run()
		require.NoError(t, a.err)
		require.Equal(t, 4*hop, a.done)
		require.Equal(t, 2*hop, a.grant.Anchor, "the term starts with PEXPIRE")
		require.ErrorIs(t, early.err, models.ErrHeld)
		require.NoError(t, late.err)
	})
	t.Run("no answer to PEXPIRE is unknown, and the key stays", func(t *testing.T) {
		s := newStage(t, SetNX{Expire: Separate})
		s.w.Before("a", "send", 2, func() {
			lost := s.w.AddRule("", func(sim.Message) sim.Ruling { return sim.Lose() })
			s.w.After("a", "send", 1, func() { s.w.RemoveRule(lost) }) // a DELEX would arrive
		})
		a := s.acquire("a", 0)
		s.run()
		require.EqualError(t, a.err, "PEXPIRE: r1: no reply in time")
		require.NotErrorIs(t, a.err, models.ErrHeld)
		require.EqualValues(t, never, s.node("r1").keys["k"].when)
	})
	t.Run("the key is gone before PEXPIRE", func(t *testing.T) {
		s := newStage(t, SetNX{Expire: Separate})
		s.w.Before("a", "send", 2, func() { s.node("r1").del(s.server("r1"), &Del{"k"}, "b") })
		a := s.acquire("a", 0)
		s.run()
		require.EqualError(t, a.err, "the key was gone before it had an expiry")
		require.ErrorIs(t, a.err, models.ErrHeld)
	})
}

// T12, T14, S54: A pauses between its SET and its INCR, B comes in between. With
// both in one step there is no between.
func TestToken(t *testing.T) {
	const short = 300 * time.Millisecond
	tests := []struct {
		name   string
		token  Token
		a, b   int64
		counts string // in the end
	}{
		{"T12 incr: the older grant has the greater token", SeparateIncr, 2, 1, "2"},
		{"T12 script: in the order of the grants", ScriptIncr, 1, 2, "2"},
		{"T12 none", NoToken, 0, 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{TTL: short, Token: test.token, Timeout: time.Second})
			s.w.After("a", "receive", 1, func() { s.w.Machine("a").Pause(sim.GC, 2*short) })
			a, b := &attempt{}, s.acquire("b", short+50*hop)
			s.client("a", 0, func(p *sim.Process) {
				s.acquireNow(p, a)
				p.Step("after the pause")
			})
			s.run()
			require.NoError(t, a.err)
			require.NoError(t, b.err)
			require.Equal(t, test.a, a.grant.Token)
			require.Equal(t, test.b, b.grant.Token)
			require.Equal(t, test.counts, s.node("r1").keys["k:fence"].value)
			if test.token == SeparateIncr {
				events := s.w.History().Events
				require.Equal(t, "OK", events[a.grant.Decided].Value, "the reply to the SET")
				require.Equal(t, hop, events[a.grant.Decided].At)
			}
		})
	}
	t.Run("a refused script does not count", func(t *testing.T) {
		s := newStage(t, SetNX{Token: ScriptIncr})
		s.acquire("a", 0)
		b := s.acquire("b", time.Second)
		s.run()
		require.Equal(t, models.ErrHeld, b.err)
		require.Equal(t, "1", s.node("r1").keys["k:fence"].value)
	})
	t.Run("an extension keeps the token", func(t *testing.T) {
		s := newStage(t, SetNX{Token: ScriptIncr})
		s.client("a", 0, func(p *sim.Process) {
			g, err := s.lock.Acquire(p, "k")
			require.NoError(t, err)
			longer, err := s.lock.(models.Extender).Extend(p, "k", g)
			require.NoError(t, err)
			require.EqualValues(t, 1, longer.Token)
		})
		s.run()
	})
	t.Run("without a token the key is given back", func(t *testing.T) {
		s := newStage(t, SetNX{Token: SeparateIncr})
		s.w.Before("a", "send", 2, func() {
			lost := s.w.AddRule("", func(sim.Message) sim.Ruling { return sim.Lose() })
			s.w.After("a", "receive", 1, func() { s.w.RemoveRule(lost) })
		})
		a := s.acquire("a", 0)
		s.run()
		require.EqualError(t, a.err, "INCR: r1: no reply in time")
		require.ErrorIs(t, a.err, models.ErrHeld)
		require.Empty(t, s.node("r1").keys)
	})
}

// S19: a's key is on the primary at 3 ms and, 100 ms later, on the replica.
func TestCheckReplica(t *testing.T) {
	tests := []struct {
		name  string
		check Check
		at    time.Duration
		twice bool
	}{
		{"S19 before the replica has it", CheckReplica, 50 * hop, true},
		{"S19 at the last instant", CheckReplica, 102 * hop, true},
		{"S19 when it has it", CheckReplica, 102*hop + 1, false},
		{"S19 SET NX on the primary", NoCheck, 50 * hop, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Check: test.check, Replicas: 1, Lag: 99 * hop})
			a, b := s.acquire("a", 0), s.acquire("b", test.at)
			freed := s.run()
			if test.check == CheckReplica {
				require.Equal(t, 4*hop, a.done, "GET and SET")
			}
			require.NoError(t, a.err)
			if !test.twice {
				require.Equal(t, models.ErrHeld, b.err)
				require.Empty(t, freed)
				return
			}
			require.NoError(t, b.err)
			require.Len(t, freed, 1, "b's SET ends a's key")
			require.Equal(t, a.grant.Value, freed[0].Value)
			require.Equal(t, "b", freed[0].Peer)
		})
	}
	t.Run("a silent replica: definitely nothing was done", func(t *testing.T) {
		s := newStage(t, SetNX{Check: CheckReplica, Replicas: 1})
		s.cut("r2")
		a := s.acquire("a", 0)
		s.run()
		require.EqualError(t, a.err, "GET: r2: no reply in time")
		require.ErrorIs(t, a.err, models.ErrHeld)
		require.Empty(t, s.node("r1").keys)
	})
}

// H7: a is late, b has the lock by now, and both go by the value that was told last.
// After a's release the object has none, and b's sends nothing.
func TestSharedValue(t *testing.T) {
	tests := []struct {
		name     string
		value    Value
		a, b     error // of their releases
		key      bool  // still there when a has released
		messages int   // of b's
		refused  bool  // a third is, before a releases: that changes no value
	}{
		{"H7 own", OwnValue, models.ErrNotHeld, nil, true, 2, false},
		{"H7 shared", SharedValue, nil, models.ErrNotHeld, false, 0, false},
		{"H7 shared, after a refusal", SharedValue, nil, models.ErrNotHeld, false, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{TTL: 5 * time.Second, Value: test.value})
			a := s.acquire("a", 0)
			if test.refused {
				s.acquire("c", 5500*hop)
			}
			b := &attempt{}
			s.client("b", 5100*hop, func(p *sim.Process) {
				s.acquireNow(p, b)
				p.Sleep(3 * time.Second)
				before := sends(s.w)
				require.Equal(t, test.b, s.release(p, b).err)
				require.Equal(t, test.messages, sends(s.w)-before)
			})
			s.client("a2", 6*time.Second, func(p *sim.Process) {
				require.Equal(t, test.a, s.release(p, a).err)
				_, key := s.node("r1").keys["k"]
				require.Equal(t, test.key, key)
			})
			s.run()
			require.NoError(t, b.err)
		})
	}
	t.Run("while a holds it, its own value is the last", func(t *testing.T) {
		s := newStage(t, SetNX{Value: SharedValue})
		a, b := s.acquire("a", 0), s.acquire("b", time.Second)
		s.client("a2", 2*time.Second, func(p *sim.Process) {
			_, err := s.lock.(models.Extender).Extend(p, "k", a.grant)
			require.NoError(t, err)
			require.NoError(t, s.release(p, a).err)
			_, err = s.lock.(models.Extender).Extend(p, "k", a.grant)
			require.Equal(t, models.ErrNotHeld, err)
		})
		s.run()
		require.Equal(t, models.ErrHeld, b.err)
	})
	t.Run("each lock has its own", func(t *testing.T) {
		s := newStage(t, SetNX{Value: SharedValue})
		s.client("a", 0, func(p *sim.Process) {
			for _, key := range []string{"k", "other"} {
				_, err := s.lock.Acquire(p, key)
				require.NoError(t, err)
			}
			require.NoError(t, s.lock.Release(p, "k", models.Grant{}))
			require.NoError(t, s.lock.Release(p, "other", models.Grant{}))
		})
		s.run()
	})
}

// sends is how many messages have been sent.
func sends(w *sim.World) int {
	n := 0
	for _, e := range w.History().Events {
		if e.Kind == history.Send {
			n++
		}
	}
	return n
}
