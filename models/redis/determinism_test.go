package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/sim"
)

// A run is a function of its configuration: the same trace in a fresh world, in a
// world that has kept its engines, and after a run of something else.
func TestDeterminism(t *testing.T) {
	systems := []models.System{
		SetNX{},
		SetNX{Replicas: 1, Lag: 3 * hop, Persistence: Always, Release: GetThenDel},
		SetNX{Replicas: 1, Lag: 3 * hop, Wait: 1, Expire: Separate, Token: SeparateIncr},
		SetNX{Replicas: 1, Lag: 30 * hop, Check: CheckReplica, Persistence: EverySec},
		SetNX{Token: ScriptIncr, Persistence: EverySec},
		SetNX{Release: Lua},
		SetNX{Replicas: 3, Wait: 2, MinReplicas: 1, Persistence: Always},
		Redlock{},
		Redlock{Token: SumOfCounters},
		Redlock{Sends: Parallel, Persistence: EverySec, Clock: Monotonic, ClientClock: clock.Boottime},
	}
	kept := sim.New()
	defer kept.Close()
	for i, system := range systems {
		t.Run(fmt.Sprintf("%T %d", system, i), func(t *testing.T) {
			fresh := sim.New()
			defer fresh.Close()
			want := trace(t, fresh, system)
			require.Greater(t, len(want), 10_000)
			require.Equal(t, want, trace(t, kept, system))
			require.Equal(t, want, trace(t, kept, system))
			require.Equal(t, want, trace(t, fresh, system))
		})
	}
}

// trace is the history of a busy run: three clients, random delays, messages
// lost, a node that restarts and a clock that jumps.
func trace(t *testing.T, w *sim.World, system models.System) string {
	t.Helper()
	w.Reset(sim.Config{Seed: 7, Horizon: time.Minute, Latency: sim.Latency{Default: []time.Duration{hop, 2 * hop, 5 * hop}}})
	l, err := system.Open(w)
	require.NoError(t, err)
	sent := 0
	w.AddRule("lost", func(sim.Message) sim.Ruling {
		if sent++; sent%17 == 0 {
			return sim.Lose()
		}
		return sim.Pass()
	})
	for _, name := range []string{"c1", "c2", "c3"} {
		w.Go(name, func(p *sim.Process) {
			for range 10 {
				if g, err := l.Acquire(p, "k"); err == nil {
					p.Sleep(50 * hop)
					_ = l.Release(p, "k", g)
				}
				p.Sleep(time.Duration(p.Rand().IntN(100)) * hop)
			}
		})
	}
	w.At(200*hop, func() {
		s := w.Machine("r1").Server()
		r := s.Handler().(faults.Restarter)
		r.Crash(s, faults.PowerLoss)
		r.Restarted(s)
	})
	w.At(300*hop, func() { w.Machine("r1").StepClock(time.Minute) })
	require.NoError(t, w.Run())
	return fmt.Sprintf("%+v", *w.History())
}
