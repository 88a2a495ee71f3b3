package consul_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models/consul"
	"locksim/models/raft"
	"locksim/sim"
	"locksim/trial"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// run is a run in which c1 works for a minute under the lock, and c2 wants it from
// 3 s on.
func run(t *testing.T, options consul.Lock, schedule string) trial.Result {
	return trial.Test(t, trial.Spec{
		System: options,
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire; work 1m; release")},
			{Name: "c2", Script: trial.MustScript("until 3s; acquire; work 1s; release")},
		}},
		Schedule: faults.MustParse(schedule),
		Latency:  sim.Every(ms),
		Horizon:  3 * time.Minute,
	})
}

// believes are the stretches in which c1 and c2 believe, with why they end.
func believes(r trial.Result) (list []string) {
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

// TestClient: what the client of the lock does in good and in bad days. Each command
// takes 6 ms: four hops and the disk; a query 2 ms, or 4 ms where it is consistent.
func TestClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schedule string
		want           []string
	}{
		// The release leaves at 60.014, the key is free 5 ms later; c2's query is answered
		// in 1 ms and its acquire in 6 ms.
		{"all is well", "", []string{
			"c1 from 14ms", "c1 to 1m0.014s: release", "c2 from 1m0.026s", "c2 to 1m1.026s: release"}},
		// n1 leads no more, but answers c1's query when the key changes. c1 renews when
		// there is a leader again.
		{"no majority for 5 s", "at 20s  restart n2 kill 5s\nat 20s  restart n3 kill 5s", []string{
			"c1 from 14ms", "c1 to 1m0.014s: release", "c2 from 1m0.026s", "c2 to 1m1.026s: release"}},
		// The monitor's query is cut off at 20.001. It tries every 102 ms, and gives up at
		// the first failure after 7 s: the 69th, after 7.038 s.
		{"no server for 30 s", "at 20s  restart n1 kill 30s\nat 20s  restart n2 kill 30s\nat 20s  restart n3 kill 30s", []string{
			"c1 from 14ms", "c1 to 27.039s: abort"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, consul.Lock{TTL: 10 * sec}, c.schedule)
			require.Equal(t, c.want, believes(r)[:len(c.want)])
			require.Equal(t, check.Kept, r.Promise.Status)
			require.Equal(t, check.Exclusive, r.Belief.Status)
		})
	}
}

// TestAnyFaults: two faults of servers, each over within 8 s, cost a holder that
// renews nothing, and nobody else gets the lock.
func TestAnyFaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schedule := ""
		for range 2 {
			node := rapid.IntRange(1, 3).Draw(t, "node")
			at := rapid.IntRange(0, 40_000).Draw(t, "at")
			size := rapid.IntRange(1, 8_000).Draw(t, "for")
			what := rapid.SampledFrom([]string{"restart n%d kill", "restart n%d power-loss", "pause n%d gc", "pause n%d suspend"}).Draw(t, "what")
			schedule += fmt.Sprintf("at %dms  "+what+" %dms\n", at, node, size)
		}
		r, err := trial.Run(trial.Spec{
			System: consul.Lock{TTL: 10 * sec},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 30s; release")},
				{Name: "c2", Script: trial.MustScript("until 3s; acquire; work 1s; release")},
			}},
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Every(ms),
			Horizon:  2 * time.Minute,
		})
		require.NoError(t, err)
		require.Equal(t, check.Kept, r.Promise.Status, "%s%v", schedule, r.Promise.Breaches)
		require.NotEqual(t, check.Overlapping, r.Belief.Status, schedule)
	})
}

// TestRenewalDuringRelease: what keeps the session alive while the key is being
// released says nothing of the lock.
func TestRenewalDuringRelease(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: consul.Lock{TTL: 10 * sec},
		Cast: trial.Cast{Clients: []trial.Client{
			// The session is made in 6 ms, and renewed 5.006 s after the start.
			{Name: "c1", Script: trial.MustScript("acquire; until 5s; release")},
		}},
		Latency: sim.Every(ms),
		Horizon: 30 * sec,
	})
	require.Equal(t, check.Kept, r.Promise.Status)
	var renewals []time.Duration
	for _, e := range r.History.Events {
		if e.Kind == history.Send && e.Value == "session renew" {
			renewals = append(renewals, e.At)
		}
	}
	require.Equal(t, []time.Duration{5006 * ms}, renewals, "the release takes from 5.000 to 5.006")
}

// TestRenewalDuringTheEnd: a leader acknowledges a renewal that comes while the
// servers agree on the end of the session (session_ttl.go: the timer is reset as long
// as the session is there), and what it has promised by that it breaks. c1's session
// is timed from 0.005 on, and ended from 20.005 to 20.009; its monitor hears of that a
// hop later.
func TestRenewalDuringTheEnd(t *testing.T) {
	t.Parallel()
	r := run(t, consul.Lock{TTL: 10 * sec}, "at 1s  pause c1 gc 19005ms")
	require.Equal(t, []string{"c1 from 14ms", "c1 to 20.01s: lost"}, believes(r)[:2])
	var kinds []string
	for _, b := range r.Promise.Breaches {
		kinds = append(kinds, b.Kind)
	}
	require.Equal(t, []string{check.LostLease, check.LostLease, check.DoubleGrant}, kinds, "the notice, the answer to the release, and c2's grant")
	require.Equal(t, check.Exclusive, r.Belief.Status)
}

// TestNextServer: an agent whose server does not answer waits for a minute, and asks
// another the next time (agent/consul/client.go: "Move off to another server").
func TestNextServer(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:   consul.Lock{TTL: 10 * sec, Config: raft.Config{Timeouts: []time.Duration{sec, 1200 * ms, 1400 * ms}}},
		Cast:     trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("until 3s; acquire; work 1s; release")}}},
		Schedule: faults.MustParse("at 500ms  restart n1 power-loss 1h"),
		Latency:  sim.Every(ms),
		Horizon:  2 * time.Minute,
	})
	require.Equal(t, []string{"c1 from 1m3.114s", "c1 to 1m4.114s: release"}, believes(r))
}
