package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// R7, H5: a client that waits for the replica has the lock there too, or has not
// got it. The SET is at r2 a lag and 2 ms after it was sent, its acknowledgement
// at r1 another 1 ms later.
func TestWait(t *testing.T) {
	tests := []struct {
		name    string
		lag     time.Duration
		timeout time.Duration
		cut     bool
		done    time.Duration
		why     string // "": granted
	}{
		{"R7 acknowledged", 0, 0, false, 6 * hop, ""},
		{"R7 acknowledged after the lag", 50 * hop, 0, false, 56 * hop, ""},
		{"R7 in time to the millisecond", 50 * hop, 53 * hop, false, 56 * hop, ""},
		{"R7 a millisecond late", 50 * hop, 51 * hop, false, 57 * hop, "0 of 1 replicas acknowledged"},
		{"H5 too late", 200 * hop, 0, false, 106 * hop, "0 of 1 replicas acknowledged"},
		{"H5 replica cut off", 0, 20 * hop, true, 26 * hop, "0 of 1 replicas acknowledged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Replicas: 1, Lag: test.lag, Wait: 1, WaitTimeout: test.timeout})
			if test.cut {
				s.cut("r2")
			}
			a := s.acquire("a", 0)
			s.run()
			require.Equal(t, test.done, a.done)
			if test.why == "" {
				require.NoError(t, a.err)
				require.Equal(t, 1, s.sent("1"), "WAIT is answered once")
				require.Equal(t, 0, s.sent("0"))
				return
			}
			require.EqualError(t, a.err, test.why)
			require.ErrorIs(t, a.err, models.ErrHeld)
			require.NotEmpty(t, a.grant.Value)
			require.Empty(t, s.node("r1").keys, "it gives the key back")
		})
	}
}

// H5, S20: with WAIT the loss of the primary before the write got there is a
// refusal; without, a second holder.
func TestWaitFailover(t *testing.T) {
	for _, wait := range []int{0, 1} {
		s := newStage(t, SetNX{Replicas: 1, Lag: 200 * hop, Wait: wait, WaitTimeout: time.Duration(wait) * time.Second})
		a := s.acquire("a", 0)
		s.failOver(100 * hop)
		b := s.acquire("b", 5*time.Second)
		s.run()
		if wait == 0 {
			require.NoError(t, a.err)
			require.NoError(t, b.err, "a's term runs to 10 s")
			continue
		}
		require.EqualError(t, a.err, "WAIT: r1: connection reset")
		require.ErrorIs(t, a.err, models.ErrHeld)
		require.EqualError(t, b.err, "0 of 1 replicas acknowledged", "and while there is no replica there is no lock")
	}
}

// R7: WAIT is no consensus. A replica whose clock is ahead frees the key all the
// same (measured on Redis 7.0.15: it grants although WAIT had returned 1).
func TestWaitIsNoConsensus(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Wait: 1})
	a := s.acquire("a", 0)
	s.w.At(50*hop, func() { s.w.Machine("r2").StepClock(time.Minute) })
	s.failOver(100 * hop)
	b := s.acquire("b", time.Second)
	freed := s.run()
	require.NoError(t, a.err)
	require.EqualError(t, b.err, "0 of 1 replicas acknowledged", "r2 has no replica of its own")
	require.Equal(t, history.FreedExpired, freed[0].Why, "but the key was free")
	require.Equal(t, a.grant.Value, freed[0].Value)
}

// WAIT asks about what was written on the same connection. Another's is answered
// at once, as by real Redis.
func TestWaitOnAnotherConnection(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Lag: 50 * hop})
	wait := func(p *sim.Process) (Integer, time.Duration) {
		start := p.Now(clock.Monotonic)
		n := ask[Integer](p, s.server("r1"), &Wait{1, 20 * hop})
		return n, p.Now(clock.Monotonic) - start
	}
	s.client("a", 0, func(p *sim.Process) {
		ask[Status](p, s.server("r1"), &Set{"k", "a", ttl})
		n, took := wait(p)
		require.Equal(t, Integer(0), n)
		require.Equal(t, 22*hop, took)
		p.Sleep(100 * hop)
		n, took = wait(p)
		require.Equal(t, Integer(1), n, "the answer to the first has come since")
		require.Equal(t, 2*hop, took)
	})
	s.client("b", 2*hop, func(p *sim.Process) {
		n, took := wait(p)
		require.Equal(t, Integer(1), n)
		require.Equal(t, 2*hop, took)
	})
	s.run()
}

func TestWaitWithoutReplica(t *testing.T) {
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		ask[Status](p, s, &Set{"k", "a", ttl})
		require.Equal(t, Integer(0), ask[Integer](p, s, &Wait{1, 20 * hop}))
		require.Equal(t, 20*hop, p.Now(clock.Monotonic))
	})
}
