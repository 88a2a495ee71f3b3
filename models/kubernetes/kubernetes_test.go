package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models/kubernetes"
	"locksim/models/raft"
	"locksim/sim"
	"locksim/trial"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options kubernetes.LeaderElection
		says    string
	}{
		{kubernetes.LeaderElection{LeaseDuration: 10 * sec}, "kubernetes: lease-duration 10s: want more than the renew-deadline 10s"},
		{kubernetes.LeaderElection{RenewDeadline: 2400 * ms}, "kubernetes: renew-deadline 2.4s: want more than 1.2 times the retry-period 2s"},
		{kubernetes.LeaderElection{RetryPeriod: -1}, "kubernetes: retry-period -1ns: want more than 0"},
		{kubernetes.LeaderElection{Expiry: 7}, "kubernetes: expiry 7: there is none"},
		{kubernetes.LeaderElection{Config: raft.Config{Nodes: 10}}, "kubernetes: raft: nodes 10: want 1 to 9"},
	} {
		w := sim.New()
		w.Reset(sim.Config{})
		_, err := c.options.Open(w)
		require.EqualError(t, err, c.says)
		w.Close()
	}
	var e kubernetes.Expiry
	require.EqualError(t, e.UnmarshalText([]byte("wall")), `no expiry "wall": want one of observed, renew-time`)
}

// run lets two candidates want a lease, at 1 ms a hop: c1 from the start on, for as
// long as it says, c2 from 1 s on.
func run(t *testing.T, options kubernetes.LeaderElection, works, schedule string) trial.Result {
	return trial.Test(t, trial.Spec{
		System: options,
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire every 2s; work " + works + "; release")},
			{Name: "c2", Script: trial.MustScript("until 1s; acquire every 2s; work 1s; release")},
		}},
		Schedule: faults.MustParse(schedule),
		Latency:  sim.Every(ms),
		Horizon:  2 * time.Minute,
	})
}

// spells are when c1 and c2 began and ceased to believe, and why.
func spells(r trial.Result) (list []string) {
	for _, e := range r.History.Events {
		switch e.Kind {
		case history.Believe:
			list = append(list, fmt.Sprintf("%s from %v", e.Who, e.At))
		case history.Doubt:
			list = append(list, fmt.Sprintf("%s to %v: %s", e.Who, e.At, e.Why))
		}
	}
	return list
}

// TestCandidates: a leader's deadline, and when another takes over. A get takes 4 ms
// and an update, with the disk, 6 ms: c1 leads from 0.010 and renews at once, by
// 0.016, and then every 2.006 s.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, works, schedule string
		options               kubernetes.LeaderElection
		want                  []string
	}{
		// c1 takes its name out at 5.010 + 5 ms. c2 looks every 2.004 s, but that of 5.008
		// is answered 2 ms late, since c1's update is being synced: its next is at 7.014.
		{"released", "5s", "", kubernetes.LeaderElection{ReleaseOnCancel: true}, []string{
			"c1 from 10ms", "c1 to 5.01s: release", "c2 from 7.024s", "c2 to 8.024s: release"}},
		// c1's last renewal is at 4.022 - 4.028; c2 has seen it at 5.012, so that its
		// first attempt from 20.012 on is at 21.040.
		{"not released", "5s", "", kubernetes.LeaderElection{}, []string{
			"c1 from 10ms", "c1 to 5.01s: release", "c2 from 21.05s", "c2 to 22.05s: release"}},
		// The same, with a leader that is cut off: it stops 12 s after that renewal.
		{"cut off", "1h", "at 5s  partition c1|n1,n2,n3", kubernetes.LeaderElection{}, []string{
			"c1 from 10ms", "c1 to 16.028s: deadline", "c2 from 21.05s", "c2 to 22.05s: release"}},
		// It is cut off from its answers before it could renew once: 10 s.
		{"cut off at once", "1h", "at 10ms  cut n1,n2,n3>c1", kubernetes.LeaderElection{}, []string{
			"c1 from 10ms", "c1 to 10.01s: deadline", "c2 from 17.042s", "c2 to 18.042s: release"}},
		// A pause of 20 s: c1 goes on at 26 s, and its own timer is the first it sees.
		{"paused", "1h", "at 5s  pause c1 gc 21s", kubernetes.LeaderElection{}, []string{
			"c1 from 10ms", "c2 from 21.05s", "c2 to 22.05s: release", "c1 to 26s: deadline"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.options, c.works, c.schedule)
			require.Equal(t, c.want, spells(r))
			require.Equal(t, check.Kept, r.Promise.Status)
		})
	}
}

// TestConflict: of two that update the same version one gets a conflict.
func TestConflict(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: kubernetes.LeaderElection{},
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("try; look; work 1s; release")},
			{Name: "c2", Script: trial.MustScript("try; work 1s; release")},
		}},
		Latency: sim.Every(ms),
		Horizon: 30 * sec,
	})
	require.Equal(t, []string{"c1 from 10ms", "c1 to 1.014s: release"}, spells(r))
	require.Equal(t, check.Kept, r.Promise.Status)
}

// TestAgain: a client that comes back under its name before its lease is over leads
// at once.
func TestAgain(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: kubernetes.LeaderElection{},
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire; work 1s; release; acquire; release")},
		}},
		Latency: sim.Every(ms),
		Horizon: 30 * sec,
	})
	require.Equal(t, []string{"c1 from 10ms", "c1 to 1.01s: release", "c1 from 1.016s", "c1 to 1.016s: release"}, spells(r))
}

// TestReleaseThatIsRefused: n1 is down from 8.04 to 9.012, so that nobody takes c1's
// release at 9. c1 has stopped, and a second later it takes again what bears its name:
// that is no second grant beside the first.
func TestReleaseThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, release := range []bool{true, false} {
		r := trial.Test(t, trial.Spec{
			System:   kubernetes.LeaderElection{ReleaseOnCancel: release},
			Cast:     trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("acquire; work 9s; release; work 1s; acquire; work 1s; release")}}},
			Schedule: faults.MustParse("at 8040ms  restart n1 kill 972ms"),
			Latency:  sim.Every(ms),
			Horizon:  30 * time.Second,
		})
		require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
		require.Equal(t, check.OK, r.Progress.Status)
	}
}

// TestAnyFaults: what happens to servers costs nobody its exclusiveness.
func TestAnyFaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var schedule string
		for range rapid.IntRange(1, 3).Draw(t, "faults") {
			node := rapid.IntRange(1, 3).Draw(t, "node")
			at := rapid.IntRange(0, 50_000).Draw(t, "at")
			size := rapid.IntRange(1, 20_000).Draw(t, "for")
			what := rapid.SampledFrom([]string{
				"restart n%d kill", "restart n%d power-loss", "pause n%d gc", "pause n%d suspend", "partition c1|n%d", "cut n%d>c2",
			}).Draw(t, "what")
			schedule += fmt.Sprintf("at %dms  "+what+" %dms\n", at, node, size)
		}
		system := kubernetes.LeaderElection{ReleaseOnCancel: rapid.Bool().Draw(t, "release"), StopAtOnce: rapid.Bool().Draw(t, "at once")}
		script := trial.MustScript("acquire every 2s jitter 2400ms; work 9s; release; work 1s; acquire every 2s jitter 2400ms; work 9s; release")
		r, err := trial.Run(trial.Spec{
			System:   system,
			Cast:     trial.Cast{Clients: []trial.Client{{Name: "c1", Script: script}, {Name: "c2", Script: script}}},
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Every(ms),
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Horizon:  2 * time.Minute,
		})
		require.NoError(t, err)
		require.Equal(t, check.Kept, r.Promise.Status, "%s%v", schedule, r.Promise.Breaches)
		require.NotEqual(t, check.Overlapping, r.Belief.Status, schedule)
	})
}
