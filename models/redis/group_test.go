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

// schedule applies what goes wrong, in the words of a schedule.
func (s *stage) schedule(lines string) {
	s.t.Helper()
	require.NoError(s.t, faults.MustParse(lines).Apply(s.w))
}

// Any replica can take over; the others follow it and have what it has, no more.
func TestPromotionOfOneOfSeveral(t *testing.T) {
	for _, test := range []struct {
		name, schedule string
		want           int           // keys of both in the end: a's, and one that is set at 200 ms
		asks           time.Duration // when the other replica asks for everything
	}{
		{"S20 r2", "at 100ms  failover r1>r2", 2, 100 * hop},
		{"S20 r3", "at 100ms  failover r1>r3", 2, 100 * hop},
		{"S20 r3, which never had the key", "at 0s  partition r1|r3\nat 100ms  failover r1>r3", 1, 100 * hop},
		{"r3 is paused when r2 takes over", "at 90ms  pause r3 gc 60ms\nat 100ms  failover r1>r2", 2, 150 * hop},
		{"r3 is down when r2 takes over", "at 90ms  restart r3 kill 60ms\nat 100ms  failover r1>r2", 2, 150 * hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Replicas: 2})
			s.schedule(test.schedule)
			s.acquire("a", 0)
			s.client("b", 200*hop, func(p *sim.Process) {
				primary := s.lock.(*setNX).group.primary
				ask[Status](p, primary, &Set{"x", "v", time.Hour})
			})
			s.run()
			g := s.lock.(*setNX).group
			require.Equal(t, 1, s.sent("FULLRESYNC"))
			i := slices.IndexFunc(s.w.History().Events, func(e history.Event) bool { return e.Value == "PSYNC" })
			require.Equal(t, test.asks, s.w.History().Events[i].At)
			require.Len(t, s.node(g.primary.Name()).keys, test.want)
			for _, r := range g.replicas {
				require.Equal(t, s.node(g.primary.Name()).keys, s.node(r.server.Name()).keys, r.server.Name())
			}
		})
	}
}

// A replica of a replica that was promoted can be promoted in its turn.
func TestPromotionTwice(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 2})
	r1, r2, r3 := s.server("r1"), s.server("r2"), s.server("r3")
	require.Equal(t, []string{"r2", "r3"}, r1.Handler().(member).Replicas(r1))
	a := s.acquire("a", 0)
	s.failOver(100 * hop)
	s.w.At(200*hop, func() {
		require.Empty(t, r1.Handler().(member).Replicas(r1))
		require.Equal(t, []string{"r3"}, r2.Handler().(member).Replicas(r2))
		r2.Crash(false)
		require.Equal(t, "was promoted with every key of r2", r2.Handler().(member).Promote(r2, r3))
		require.Empty(t, r3.Handler().(member).Replicas(r3))
	})
	b := s.acquire("b", 300*hop)
	s.run()
	require.NoError(t, a.err)
	require.ErrorIs(t, b.err, models.ErrHeld)
	require.Equal(t, a.grant.Value, s.value("r3"))
}

// What an old primary had under way to a replica does not outlive the snapshot of
// the new one.
func TestOldChangesAfterPromotion(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 2})
	s.schedule("at 0s  delay r1>r2 50ms\nat 0s  delay r1>r3 50ms\nat 20ms  failover r1>r2")
	s.acquire("a", 0) // at r1 at 1 ms, on the replicas at 52 ms
	s.run()
	require.Empty(t, s.node("r2").keys)
	require.Empty(t, s.node("r3").keys)
}

// R7, S21: WAIT counts the replicas that have the write.
func TestWaitForSeveral(t *testing.T) {
	for _, test := range []struct {
		name     string
		wait     int
		schedule string
		why      string
		done     time.Duration
	}{
		{"S21 all", 2, "", "", 6 * hop},
		// GETACK is at r3 at 4 ms, PSYNC at r1 at 5, the snapshot at r3 at 6, ACK at r1 at 7.
		{"S21 all, one has to be sent a snapshot", 2, "at 0s  delay r1>r3 50ms", "", 8 * hop},
		{"S21 all, one cut off", 2, "at 0s  partition r1|r3", "1 of 2 replicas acknowledged", 106 * hop},
		{"S21 all, both cut off", 2, "at 0s  partition r1|r2,r3", "0 of 2 replicas acknowledged", 106 * hop},
		{"S21 majority, one cut off", 1, "at 0s  partition r1|r3", "", 6 * hop},
		{"S21 majority, one down", 1, "at 0s  restart r2 power-loss 1h", "", 6 * hop},
		{"S21 majority, both cut off", 1, "at 0s  partition r1|r2,r3", "0 of 1 replicas acknowledged", 106 * hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Replicas: 2, Wait: test.wait})
			s.schedule(test.schedule)
			a := s.acquire("a", 0)
			s.run()
			require.Equal(t, test.done, a.done)
			if test.why == "" {
				require.NoError(t, a.err)
				return
			}
			require.EqualError(t, a.err, test.why)
			require.ErrorIs(t, a.err, models.ErrHeld)
			require.Empty(t, s.node("r1").keys, "it gives the key back")
		})
	}
}

// min-replicas-to-write: a primary goes on for ten seconds after it has heard of a
// replica last. Reports are sent at whole seconds and are there 1 ms later; seconds
// are counted whole.
func TestMinReplicas(t *testing.T) {
	const refused = "NOREPLICAS Not enough good replicas to write."
	for _, test := range []struct {
		name     string
		least    int
		schedule string
		at       time.Duration // when a's SET is at r1
		why      string
	}{
		{"all well", 2, "", time.Minute, ""},
		{"none wanted", 0, "at 500ms  partition r1|r2,r3", time.Minute, ""},
		{"both cut off, 10 s ago", 1, "at 500ms  partition r1|r2,r3", 11*time.Second - hop, ""},
		{"both cut off, 11 s ago", 1, "at 500ms  partition r1|r2,r3", 11 * time.Second, refused},
		{"both cut off later, 10 s ago", 1, "at 1500ms  partition r1|r2,r3", 12*time.Second - hop, ""},
		{"both cut off later, 11 s ago", 1, "at 1500ms  partition r1|r2,r3", 12 * time.Second, refused},
		{"one cut off, one wanted", 1, "at 500ms  partition r1|r3", time.Minute, ""},
		{"one cut off, two wanted", 2, "at 500ms  partition r1|r3", time.Minute, refused},
		{"one without power, at once", 2, "at 500ms  restart r3 power-loss 1h", time.Second, ""},
		{"one without power, later", 2, "at 500ms  restart r3 power-loss 1h", 11 * time.Second, refused},
		{"one whose process is dead, at once", 2, "at 500ms  restart r3 kill 1h", time.Second, refused},
		{"one that was killed and is back", 2, "at 500ms  restart r3 kill 100ms", time.Second, ""},
		{"and still is, a minute later", 2, "at 500ms  restart r3 kill 100ms", time.Minute, ""},
		{"one that was cut off and is back", 2, "at 500ms  partition r1|r3 20s", 22 * time.Second, ""},
		{"the primary's clock is stepped", 1, "at 500ms  clock-step r1 +11s", 600 * hop, refused},
		{"and hears of them again", 1, "at 500ms  clock-step r1 +11s", time.Second + 2*hop, ""},
		// Its snapshot is on the replicas at 501 ms, and their answers there at 502.
		{"the primary restarts", 2, "at 500ms  restart r1 kill", 501*hop + hop/2, refused},
		{"and has its replicas again", 2, "at 500ms  restart r1 kill", 502*hop + hop/2, ""},
		{"one of two has taken over", 1, "at 500ms  failover r1>r2", time.Second, ""},
		{"and its snapshot is lost", 1, "at 500ms  failover r1>r2\nat 500ms  drop r2>r3", 900 * hop, refused},
		{"until the other reports", 1, "at 500ms  failover r1>r2\nat 500ms  drop r2>r3", 1100 * hop, ""},
		{"and its second snapshot is lost too", 1, "at 500ms  failover r1>r2\nat 500ms  drop r2>r3\nat 1001ms  drop r2>r3", 1500 * hop, refused},
		{"one of two has taken over, two wanted", 2, "at 500ms  failover r1>r2", time.Second, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Replicas: 2, MinReplicas: test.least})
			s.schedule(test.schedule)
			a := s.acquire("a", test.at-hop)
			s.run()
			if test.why == "" {
				require.NoError(t, a.err)
				return
			}
			require.EqualError(t, a.err, test.why)
			require.ErrorIs(t, a.err, models.ErrHeld, "it did nothing")
		})
	}
}

// Reads go on, and so does nothing else: a release is not confirmed.
func TestMinReplicasReads(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, MinReplicas: 1})
	s.schedule("at 500ms  partition r1|r2")
	s.client("a", 0, func(p *sim.Process) {
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		p.Sleep(11 * time.Second)
		_, err = s.lock.(models.Extender).Extend(p, "k", g)
		require.Equal(t, noReplicas, err)
		require.Equal(t, noReplicas, s.lock.Release(p, "k", g))
		_, err = s.lock.(models.Inspector).Holder(p, "k")
		require.NoError(t, err)
		require.Equal(t, Integer(-2), ask[Integer](p, s.server("r1"), &PTTL{"k"}))
	})
	s.run()
	require.Equal(t, 2, s.sent("NOREPLICAS"))
}
