package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// replicated is a stage on which a key "k" comes to the primary at 1 ms and to the
// replica at 2 ms.
func replicated(t *testing.T, system SetNX) (*stage, *attempt) {
	t.Helper()
	system.Replicas = 1
	s := newStage(t, system)
	return s, s.acquire("a", 0)
}

// set lets r1 take in a key at true instant at.
func (s *stage) set(at time.Duration, key string) {
	s.client("set "+key, at, func(p *sim.Process) { ask[Status](p, s.server("r1"), &Set{key, "v", time.Hour}) })
}

// restart takes a node down and brings it back, as the fault does.
func (s *stage) restart(name string, at, down time.Duration) {
	what := faults.Restart{Server: name, How: faults.PowerLoss, For: down}
	require.NoError(s.t, faults.Schedule{{Anchor: faults.At(at), Action: what}}.Apply(s.w))
}

func (s *stage) sent(label string) int {
	n := 0
	for _, e := range s.w.History().Events {
		if e.Kind == history.Send && e.Value == label {
			n++
		}
	}
	return n
}

// R6: a replica keeps a key until its primary deletes it, and shows it to nobody
// after its time, by its own clock.
func TestReplicaReads(t *testing.T) {
	for _, test := range []struct {
		name string
		at   time.Duration
		step time.Duration // of the replica's clock
		want bool
	}{
		{"R6 before it came", 2*hop - 1, 0, false},
		{"R6 when it came", 2*hop + 1, 0, true},
		{"R6 at its end", hop + ttl, 0, true},
		{"R6 after its end", hop + ttl + hop, 0, false},
		{"R6 a clock that is ahead", time.Second, ttl, false},
		{"R6 a clock that is behind", hop + ttl + hop, -hop, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, a := replicated(t, SetNX{})
			r2 := s.server("r2")
			s.w.At(test.at, func() { r2.Machine().StepClock(test.step) })
			s.client("b", test.at-hop, func(p *sim.Process) {
				got := ask[Bulk](p, r2, &Get{"k"})
				require.Equal(t, test.want, got.Found)
				require.Equal(t, test.want, got.Value == a.grant.Value)
			})
			freed := s.run()
			require.Empty(t, freed)
			require.Len(t, s.node("r2").keys, 1, "it is there all the same")
		})
	}
	t.Run("S19 no writes", func(t *testing.T) {
		s, _ := replicated(t, SetNX{})
		s.client("b", time.Second, func(p *sim.Process) {
			require.EqualError(t, ask[error](p, s.server("r2"), &Del{"k"}), "redis: r2 is a read only replica")
		})
		s.run()
		require.Len(t, s.node("r2").keys, 1)
	})
}

// Whatever happens to single messages, the replica is right again with the next
// one.
func TestResync(t *testing.T) {
	for _, test := range []struct {
		name, schedule string
		full           int // snapshots sent
	}{
		{"nothing", "", 0},
		{"lost", "at 5ms  drop r1>r2", 1},
		{"late", "at 5ms  delay r1>r2 50ms", 1},
		{"twice", "at 5ms  duplicate r1>r2 50ms", 0},
		{"cut off", "at 5ms  partition r1|r2 10ms", 1},
		{"the snapshot is lost too", "at 5ms  drop r1>r2\nat 22ms  drop r1>r2", 2},
		{"the request is lost too", "at 5ms  drop r1>r2\nat 22ms  drop r2>r1", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := replicated(t, SetNX{Persistence: Always})
			for i, key := range []string{"x", "y", "z"} { // at r1 at 11, 21 and 31 ms
				s.set(time.Duration(i+1)*10*hop, key)
			}
			require.NoError(t, faults.MustParse(test.schedule).Apply(s.w))
			s.run()
			require.Equal(t, test.full, s.sent("FULLRESYNC"))
			require.Equal(t, s.node("r1").keys, s.node("r2").keys)
			require.Len(t, s.node("r2").keys, 4)
			require.Len(t, s.node("r2").journal, 4)
		})
	}
}

// A replica that missed something says so before it acknowledges anything.
func TestResyncBeforeAck(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Wait: 1})
	require.NoError(t, faults.MustParse("at 0s  drop r1>r2").Apply(s.w))
	a := s.acquire("a", 0)
	s.run()
	require.NoError(t, a.err)
	require.Equal(t, 1, s.sent("FULLRESYNC"))
	require.Equal(t, 1, s.sent("REPLCONF ACK"))
	require.Equal(t, 8*hop, a.done, "GETACK at 4 ms, PSYNC at 5, the snapshot at 6, ACK at 7")
	require.Contains(t, s.node("r2").keys, "k")
}

// A restarted replica gets everything, without and with a file of its own; a
// primary that comes back empty empties its replica.
func TestRestartResyncs(t *testing.T) {
	for _, test := range []struct {
		name, node  string
		persistence Persistence
		want        int // keys, of both
	}{
		{"replica", "r2", None, 1},
		{"replica with a file", "r2", Always, 1},
		{"primary", "r1", None, 0},
		{"primary with a file", "r1", Always, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := replicated(t, SetNX{Persistence: test.persistence})
			s.restart(test.node, 100*hop, 50*hop)
			s.run()
			require.Len(t, s.node("r1").keys, test.want)
			require.Equal(t, s.node("r1").keys, s.node("r2").keys)
			require.Equal(t, 1, s.sent("FULLRESYNC"))
		})
	}
	t.Run("a change that a restarted replica missed", func(t *testing.T) {
		s, _ := replicated(t, SetNX{})
		s.restart("r2", 100*hop, 50*hop)
		s.set(120*hop, "x")
		s.set(200*hop, "y")
		s.run()
		require.Equal(t, s.node("r1").keys, s.node("r2").keys)
		require.Len(t, s.node("r2").keys, 3)
		require.Equal(t, 1, s.sent("FULLRESYNC"))
	})
	t.Run("both, the replica first", func(t *testing.T) {
		s, _ := replicated(t, SetNX{Persistence: Always})
		s.restart("r1", 100*hop, 50*hop)
		s.restart("r2", 101*hop, 10*hop)
		s.run()
		require.Equal(t, s.node("r1").keys, s.node("r2").keys)
		require.Equal(t, 1, s.sent("FULLRESYNC"))
	})
	t.Run("a replica that is down while its primary comes back", func(t *testing.T) {
		s, _ := replicated(t, SetNX{})
		s.restart("r2", 100*hop, 50*hop)
		s.restart("r1", 110*hop, 10*hop)
		s.run()
		require.Empty(t, s.node("r2").keys)
		require.Equal(t, 1, s.sent("PSYNC"))
	})
}

// A snapshot is in the replica's file, and synced with it: expiries as dates,
// counters as counters.
func TestSnapshotSurvives(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Persistence: EverySec, Token: ScriptIncr})
	a := s.acquire("a", 0)
	s.restart("r2", 100*hop, 50*hop) // the snapshot is there at 152 ms
	s.w.At(200*hop, func() {
		r2 := s.server("r2")
		require.Equal(t, "restarted with everything", r2.Handler().(member).Crash(r2, faults.PowerLoss))
		require.Equal(t, s.node("r1").keys, s.node("r2").keys)
		require.Equal(t, 1, synced(r2))
	})
	s.run()
	require.NoError(t, a.err)
	require.True(t, s.node("r2").keys["k:fence"].counter)
}

// S20: a WAIT of an earlier life of the primary counts for nothing in the next.
func TestWaitAfterRestart(t *testing.T) {
	s := newStage(t, SetNX{Replicas: 1, Lag: 20 * hop, Wait: 1})
	a := s.acquire("a", 0) // its WAIT is open from 3 ms to 24 ms
	s.restart("r1", 10*hop, 0)
	b := s.acquire("b", 20*hop)
	s.run()
	require.Error(t, a.err)
	require.NoError(t, b.err)
	require.Equal(t, b.grant.Value, s.value("r2"))
}
