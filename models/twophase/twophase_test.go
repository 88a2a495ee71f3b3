package twophase_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models/twophase"
	"locksim/sim"
	"locksim/trial"
)

const ms = time.Millisecond

func run(t *testing.T, system twophase.Lock, schedule string) trial.Result {
	t.Helper()
	return trial.Test(t, trial.Spec{
		System: system, Schedule: faults.MustParse(schedule), Latency: sim.Every(ms), Horizon: 20 * time.Second,
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; release")},
			{Name: "c2", Script: trial.MustScript("until 1001ms; acquire every 500ms; work 1s; release")},
		}},
	})
}

// TestTwoPhases: a hop there, the others and their disks and back, the decision on
// the coordinator's disk, a hop back. Meanwhile, and while it is held, the lock is
// refused.
func TestTwoPhases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes int
		want  time.Duration
	}{{1, 2*ms + 2*2*ms}, {3, 4*ms + 2*2*ms}, {9, 4*ms + 2*2*ms}} {
		r := run(t, twophase.Lock{Nodes: c.nodes}, "")
		require.Equal(t, check.Kept, r.Promise.Status)
		require.Equal(t, check.OK, r.Progress.Status)
		var granted []time.Duration
		refused := 0
		for _, e := range r.History.Events {
			switch {
			case e.Kind != history.Return || e.Verb != history.Acquire:
			case e.Outcome == history.OK:
				granted = append(granted, e.At)
			default:
				refused++
			}
		}
		require.Equal(t, time.Second+c.want, granted[0])
		require.Len(t, granted, 2)
		require.Equal(t, 3, refused, "at 1.001, 1.503 and 2.005")
	}
}

// TestOneNodeDown is S72: any node that is down, and nothing is decided until the
// end.
func TestOneNodeDown(t *testing.T) {
	t.Parallel()
	for _, node := range []string{"n2", "n3"} {
		r := run(t, twophase.Lock{}, "at 500ms restart "+node+" power-loss 5s")
		require.Equal(t, check.Stalled, r.Progress.Status)
		require.Zero(t, r.Belief.Total)
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []twophase.Lock{{Nodes: 10}, {Nodes: -1}, {Fsync: -1}} {
		_, err := o.Open(sim.New())
		require.ErrorContains(t, err, "want 1 to 9, and more than 0")
	}
}
