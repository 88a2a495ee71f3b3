package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

var _ faults.Restarter = (*Node)(nil)

// What is left after a crash, by persistence, kind of crash, and when after a SET
// at the start of a second. Measured on Redis 7.0.15: kill -9 loses the lock
// without an append-only file only; a loss of power also with everysec, never
// with always.
func TestCrash(t *testing.T) {
	const everything, empty, less = "restarted with everything", "restarted empty", "restarted without the last 1 key"
	const ms = time.Millisecond
	tests := []struct {
		name        string
		persistence Persistence
		how         faults.Crash
		set, crash  time.Duration
		want        string
	}{
		{"S33 none, kill", None, faults.Kill, 0, 5 * time.Second, empty},
		{"S33 none, power loss", None, faults.PowerLoss, 0, 5 * time.Second, empty},
		{"S34 everysec, kill", EverySec, faults.Kill, 0, 1 * ms, everything},
		{"S34 everysec, power loss 0.3s after", EverySec, faults.PowerLoss, 0, 300 * ms, less},
		{"S34 everysec, power loss 0.3s after, a sync between", EverySec, faults.PowerLoss, 800 * ms, 1100 * ms, everything},
		{"S34 everysec, power loss before the sync", EverySec, faults.PowerLoss, 0, time.Second - 1, less},
		{"S34 everysec, power loss at the sync", EverySec, faults.PowerLoss, 0, time.Second, everything},
		{"S34 everysec, power loss 1.2s after", EverySec, faults.PowerLoss, 0, 1200 * ms, everything},
		{"S34 everysec, set at the instant of the sync", EverySec, faults.PowerLoss, time.Second, 1999 * ms, less},
		{"S35 always, kill", Always, faults.Kill, 0, 1 * ms, everything},
		{"S35 always, power loss", Always, faults.PowerLoss, 0, 1 * ms, everything},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kept := test.want == everything
			freed := onNode(t, Config{Persistence: test.persistence}, func(p *sim.Process, s *sim.Server) {
				p.Sleep(test.set)
				ask[Status](p, s, &Set{"k", "mine", 10 * time.Second})
				p.Sleep(test.crash - test.set)
				require.Equal(t, test.want, s.Handler().(*Node).Crash(s, test.how))
				require.Equal(t, !kept, bool(ask[Status](p, s, &Set{"k", "theirs", 10 * time.Second})))
				if kept {
					left := 10*time.Second + test.set - test.crash
					require.Equal(t, Integer(left.Milliseconds()), ask[Integer](p, s, &PTTL{"k"}), "keeps its date")
				}
			})
			if kept {
				require.Empty(t, freed)
				return
			}
			require.Equal(t, []history.Event{{
				At: test.crash, Kind: history.Freed, Who: "r1", Lock: "k", Value: "mine", Why: history.FreedRestart,
			}}, freed)
		})
	}
}

// The file is of commands: losing its end brings back what the lost commands had
// replaced.
func TestCrashUndoesChanges(t *testing.T) {
	freed := onNode(t, Config{Persistence: EverySec}, func(p *sim.Process, s *sim.Server) {
		ask[Status](p, s, &Set{"a", "a1", time.Minute})
		ask[Status](p, s, &Set{"b", "b1", time.Minute})
		ask[Status](p, s, &Set{"c", "c1", time.Minute})
		p.Sleep(1500 * time.Millisecond)
		ask[Integer](p, s, &DelIfEqual{"a", "a1"})
		ask[Integer](p, s, &Del{"b"})
		ask[Status](p, s, &Set{"b", "b2", time.Minute})
		ask[Integer](p, s, &ExpireIfEqual{"c", "c1", time.Hour})
		ask[Status](p, s, &Set{"d", "d1", time.Minute})
		require.Equal(t, "restarted without the last 2 keys", s.Handler().(*Node).Crash(s, faults.PowerLoss))
		require.Equal(t, Bulk{"a1", true}, ask[Bulk](p, s, &Get{"a"}))
		require.Equal(t, Bulk{"b1", true}, ask[Bulk](p, s, &Get{"b"}))
		require.Equal(t, Integer(58500), ask[Integer](p, s, &PTTL{"c"}))
		require.Equal(t, Bulk{}, ask[Bulk](p, s, &Get{"d"}))

		p.Sleep(time.Second)
		require.Equal(t, "restarted with everything", s.Handler().(*Node).Crash(s, faults.PowerLoss), "the end is gone from the file too")
		require.Equal(t, Bulk{"b1", true}, ask[Bulk](p, s, &Get{"b"}))
	})
	var lost []string
	for _, e := range freed {
		if e.Why == history.FreedRestart {
			lost = append(lost, e.Value)
		}
	}
	require.Equal(t, []string{"b2", "d1"}, lost)
}

// A key whose term was over is not lost by the restart, though nobody had
// noticed; and its deletion, once noticed, is in the file like any other.
func TestCrashAfterExpiry(t *testing.T) {
	t.Run("unnoticed", func(t *testing.T) {
		freed := onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
			ask[Status](p, s, &Set{"k", "mine", time.Second})
			p.Sleep(2 * time.Second)
			require.Equal(t, "restarted empty", s.Handler().(*Node).Crash(s, faults.Kill))
		})
		require.Len(t, freed, 1)
		require.Equal(t, history.FreedExpired, freed[0].Why)
	})
	t.Run("noticed, then the clock is set back", func(t *testing.T) {
		onNode(t, Config{Persistence: Always}, func(p *sim.Process, s *sim.Server) {
			ask[Status](p, s, &Set{"k", "mine", time.Second})
			p.Sleep(2 * time.Second)
			require.Equal(t, Bulk{}, ask[Bulk](p, s, &Get{"k"}))
			s.Machine().StepClock(-time.Minute)
			require.Equal(t, "restarted with everything", s.Handler().(*Node).Crash(s, faults.Kill))
			require.Equal(t, Bulk{}, ask[Bulk](p, s, &Get{"k"}))
		})
	})
}

// A node that expires by its monotonic clock does not notice a step, unless it
// restarts: the file has dates.
func TestCrashMonotonicClock(t *testing.T) {
	for _, step := range []time.Duration{time.Second, -time.Second} {
		onNode(t, Config{Clock: Monotonic, Persistence: Always}, func(p *sim.Process, s *sim.Server) {
			s.Machine().StepClock(time.Hour) // before the SET: no matter
			ask[Status](p, s, &Set{"k", "mine", 10 * time.Second})
			s.Machine().StepClock(step)
			require.Equal(t, Integer(10000), ask[Integer](p, s, &PTTL{"k"}))
			s.Handler().(*Node).Crash(s, faults.Kill)
			require.Equal(t, Integer(10000-step.Milliseconds()), ask[Integer](p, s, &PTTL{"k"}))
		})
	}
}

// The seconds at which everysec syncs are not the date's.
func TestCrashSyncsByMonotonicClock(t *testing.T) {
	onNode(t, Config{Persistence: EverySec}, func(p *sim.Process, s *sim.Server) {
		s.Machine().StepClock(-500 * time.Millisecond)
		p.Sleep(1200 * time.Millisecond)
		ask[Status](p, s, &Set{"k", "mine", ttl})
		p.Sleep(500 * time.Millisecond)
		require.Equal(t, "restarted without the last 1 key", s.Handler().(*Node).Crash(s, faults.PowerLoss))
	})
}

// A node that expires by its monotonic clock reads the dates of its file when it
// is back, not when it went down.
func TestRestartedMonotonicClock(t *testing.T) {
	for _, test := range []struct {
		name  string
		clock Expiry
		step  time.Duration // while it is down for a second
		left  Integer
	}{
		{"K11 monotonic, no step", Monotonic, 0, 9000},
		{"K11 monotonic, stepped forward", Monotonic, 5 * time.Second, 4000},
		{"K11 monotonic, stepped forward by more than is left", Monotonic, time.Minute, -2},
		{"K11 monotonic, stepped back", Monotonic, -5 * time.Second, 14000},
		{"K11 wall, stepped forward", Wall, 5 * time.Second, 4000},
		{"K11 wall, stepped back", Wall, -5 * time.Second, 14000},
	} {
		t.Run(test.name, func(t *testing.T) {
			onNode(t, Config{Clock: test.clock, Persistence: Always}, func(p *sim.Process, s *sim.Server) {
				n := s.Handler().(*Node)
				ask[Status](p, s, &Set{"k", "mine", 10 * time.Second})
				ask[Status](p, s, &Set{"for ever", "mine", 0})
				require.Equal(t, "restarted with everything", n.Crash(s, faults.PowerLoss))
				p.Sleep(time.Second)
				s.Machine().StepClock(test.step)
				require.Equal(t, "back up with 2 keys", n.Restarted(s))
				require.Equal(t, test.left, ask[Integer](p, s, &PTTL{"k"}))
				require.Equal(t, Integer(-1), ask[Integer](p, s, &PTTL{"for ever"}))
			})
		})
	}
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		n := s.Handler().(*Node)
		ask[Status](p, s, &Set{"k", "mine", 10 * time.Second})
		n.Crash(s, faults.Kill)
		require.Equal(t, "back up", n.Restarted(s))
	})
}

// T14: a counter is as safe as the node that has it.
func TestCounterRestarts(t *testing.T) {
	for _, test := range []struct {
		name        string
		persistence Persistence
		want        string
		next        Integer
	}{
		{"T14 none", None, "restarted empty", 1},
		{"T14 everysec", EverySec, "restarted without the last 2 keys", 2},
		{"T14 always", Always, "restarted with everything", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			freed := onNode(t, Config{Persistence: test.persistence}, func(p *sim.Process, s *sim.Server) {
				n := s.Handler().(*Node)
				ask[Integer](p, s, &Incr{"n"})
				p.Sleep(time.Second)
				ask[Integer](p, s, &Incr{"n"})
				ask[Integer](p, s, &SetIncr{"k", "mine", ttl, "n"})
				require.Equal(t, test.want, n.Crash(s, faults.PowerLoss))
				n.Restarted(s)
				require.Equal(t, test.next, ask[Integer](p, s, &Incr{"n"}))
			})
			if test.persistence == Always {
				require.Empty(t, freed)
				return
			}
			require.Len(t, freed, 1, "of the lock's key alone")
			require.Equal(t, "k", freed[0].Lock)
		})
	}
}
