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

// failOver kills r1 and promotes r2 at true instant at.
func (s *stage) failOver(at time.Duration) *string {
	what := new(string)
	s.w.At(at, func() {
		r1 := s.server("r1")
		r1.Crash(false)
		*what = r1.Handler().(member).Promote(r1, s.server("r2"))
	})
	return what
}

// The SET reaches r1 at 1 ms and, at 1 ms a hop and a lag of 100 ms, r2 at 102 ms.
func TestFailover(t *testing.T) {
	tests := []struct {
		name string
		at   time.Duration
		step time.Duration // of the replica's clock
		want string
		lost string // why the key ended
		held bool   // for the next client
	}{
		{"S20 S28 before the write got there", 101 * hop, 0, "was promoted without 1 key of r1", history.FreedFailover, false},
		{"S28 after it", 103 * hop, 0, "was promoted with every key of r1", "", true},
		{"S28 after it, the replica's clock set forward", 103 * hop, time.Minute, "was promoted with every key of r1", history.FreedExpired, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Replicas: 1, Lag: 100 * hop})
			a := s.acquire("a", 0)
			s.w.At(test.at, func() { s.w.Machine("r2").StepClock(test.step) })
			what := s.failOver(test.at)
			b := s.acquire("b", 200*hop)
			freed := s.run()

			require.NoError(t, a.err)
			require.Equal(t, []string{"r1"}, a.grant.Votes)
			require.Equal(t, test.want, *what)
			if test.held {
				require.ErrorIs(t, b.err, models.ErrHeld)
			} else {
				require.NoError(t, b.err)
				require.Equal(t, []string{"r2"}, b.grant.Votes)
			}
			if test.lost == "" {
				require.Empty(t, freed)
				return
			}
			require.Len(t, freed, 1)
			require.Equal(t, test.lost, freed[0].Why)
			require.Equal(t, a.grant.Value, freed[0].Value)
			require.Equal(t, "r2", freed[0].Who)
		})
	}
}

// What the dead primary had still under way does not touch what the promoted
// replica has granted since.
func TestFailoverDropsWhatIsUnderWay(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1})
	require.NoError(t, faults.MustParse("at 0s  delay r1>r2 100ms").Apply(s.w))
	a := s.acquire("a", 0)
	s.failOver(20 * hop)
	b := s.acquire("b", 30*hop) // at r2 at 31 ms, a's SET at 102 ms
	s.run()
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	require.Equal(t, b.grant.Value, s.node("r2").keys["k"].value)
}

// H5: what waits in the primary's buffer dies with it, however late the replica is
// promoted; what was sent before arrives.
func TestFailoverLater(t *testing.T) {
	for _, test := range []struct {
		dies time.Duration
		want string
	}{
		{hop + 100*hop - 1, "was promoted without 1 key of r1"},
		{hop + 100*hop + 1, "was promoted with every key of r1"},
	} {
		s := newStage(t, SetNX{Replicas: 1, Lag: 100 * hop})
		s.acquire("a", 0)
		s.w.At(test.dies, func() { s.server("r1").Crash(true) })
		what := s.failOver(5 * time.Second)
		s.run()
		require.Equal(t, test.want, *what)
	}
}

// A replica has the keys of its primary, with their dates, a lag later; and an
// expiry that the primary noticed.
func TestReplication(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Lag: 100 * hop, Persistence: Always})
	held := func() map[string]item { return s.node("r2").keys }
	s.client("a", 0, func(p *sim.Process) {
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		p.Sleep(101*hop - 2*hop)
		require.Empty(t, held())
		p.Sleep(2 * hop)
		require.Equal(t, s.node("r1").keys, held())

		_, err = s.lock.(models.Extender).Extend(p, "k", g)
		require.NoError(t, err)
		p.Sleep(101 * hop)
		require.Equal(t, s.node("r1").keys, held())

		require.NoError(t, s.lock.Release(p, "k", g))
		require.Len(t, held(), 1)
		p.Sleep(101 * hop)
		require.Empty(t, held())

		_, err = s.lock.Acquire(p, "k")
		require.NoError(t, err)
		p.Sleep(ttl + time.Second)
		require.Len(t, held(), 1, "nobody has noticed the expiry")
		_, err = s.lock.(models.Inspector).Holder(p, "k")
		require.NoError(t, err)
		p.Sleep(101 * hop)
		require.Empty(t, held())
	})
	freed := s.run()
	require.Len(t, freed, 2)
	for _, e := range freed {
		require.Equal(t, "r1", e.Who, "a replica records nothing: the lock did not end with it")
	}
	require.Len(t, s.node("r2").journal, 5, "SET, PEXPIREAT, DEL, SET, DEL")
}

// A replica that restarts empty loses a copy, not the lock; and it is not there
// when it is needed.
func TestReplicaRestarts(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1})
	a := s.acquire("a", 0)
	s.w.At(10*hop, func() {
		r2 := s.server("r2")
		require.Equal(t, "restarted empty", r2.Handler().(member).Crash(r2, faults.Kill))
		require.Empty(t, freed(s.w))
	})
	what := s.failOver(20 * hop)
	events := s.run()
	require.NoError(t, a.err)
	require.Equal(t, "was promoted without 1 key of r1", *what)
	require.Len(t, events, 1)
}

// A client that is waiting for the dead primary does not hear from the new one.
func TestFailoverSilent(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1})
	a := s.acquire("a", 10*hop)
	s.w.At(10*hop+hop/2, func() { // its SET is under way
		r1 := s.server("r1")
		r1.Crash(true)
		r1.Handler().(member).Promote(r1, s.server("r2"))
	})
	b := s.acquire("b", 20*hop)
	s.run()
	require.ErrorIs(t, a.err, sim.ErrTimeout)
	require.NoError(t, b.err)
}

func TestReplicas(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1})
	r1, r2 := s.server("r1"), s.server("r2")
	other := s.w.Server("other", &Node{})
	primary, replica := r1.Handler().(member), r2.Handler().(member)
	require.Equal(t, []string{"r2"}, primary.Replicas(r1))
	require.Empty(t, replica.Replicas(r2))
	require.Equal(t, "was not promoted: it is no replica of r1", primary.Promote(r1, other))
	require.Equal(t, "was not promoted: it is no replica of r2", replica.Promote(r2, r1))

	require.Equal(t, "was promoted with every key of r1", primary.Promote(r1, r2))
	require.Empty(t, primary.Replicas(r1))
	require.Empty(t, replica.Replicas(r2))
	require.Equal(t, "was not promoted: it is no replica of r1", primary.Promote(r1, r2))
}
