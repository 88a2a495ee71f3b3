package chubby_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models/chubby"
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
		options chubby.Lock
		says    string
	}{
		{chubby.Lock{Lease: 999 * ms}, "chubby: lease 999ms: want 1s or more"},
		{chubby.Lock{Grace: -1}, "chubby: grace -1ns: want more than 0"},
		{chubby.Lock{Delay: 61 * sec}, "chubby: delay 1m1s: want 0s to 1m"},
		{chubby.Lock{Config: raft.Config{Nodes: 10}}, "chubby: raft: nodes 10: want 1 to 9"},
	} {
		w := sim.New()
		w.Reset(sim.Config{})
		_, err := c.options.Open(w)
		require.EqualError(t, err, c.says)
		w.Close()
	}
}

// run lets c1 hold the lock for 30 s, and c2 ask for it every second from 1.5 s on.
// No message and no disk takes any time; n2 succeeds n1 after 1.2 s.
func run(t *testing.T, options chubby.Lock, schedule string) trial.Result {
	options.Config = raft.Config{NoFsync: true, Timeouts: []time.Duration{sec, 1200 * ms, 2 * sec, 2 * sec, 2 * sec}}
	return trial.Test(t, trial.Spec{
		System: options,
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire; look; work 30s; release")},
			{Name: "c2", Script: trial.MustScript("until 1500ms; acquire every 1s; work 1s; release")},
		}},
		Schedule: faults.MustParse(schedule),
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

// TestSessions: c1 sends a KeepAlive every 4 s; its own lease is 11.88 s.
func TestSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		options  chubby.Lock
		schedule string
		want     []string
		promise  check.Status
	}{
		{"all is well", chubby.Lock{Delay: time.Minute}, "", []string{
			"c1 from 0s", "c1 to 30s: release", "c2 from 30.5s", "c2 to 31.5s: release"}, check.Kept},
		// The last KeepAlive is at 4 s; the lease ends at 16 s, the lock-delay at 26.5 s,
		// when the lock can be acquired.
		{"the holder dies", chubby.Lock{Delay: 10500 * ms}, "at 5s  kill c1", []string{
			"c1 from 0s", "c2 from 26.5s", "c2 to 27.5s: release"}, check.Kept},
		{"a lock-delay that is a little longer", chubby.Lock{Delay: 10501 * ms}, "at 5s  kill c1", []string{
			"c1 from 0s", "c2 from 27.5s", "c2 to 28.5s: release"}, check.Kept},
		// n1 is heard of at 16.0 s for the last time: n2 is the master from 17.2 s on, and
		// keeps up the lock-delay.
		{"and the master after it", chubby.Lock{Delay: 10500 * ms}, "at 5s  kill c1\nat 16050ms  restart n1 kill 1m", []string{
			"c1 from 0s", "c2 from 26.5s"}, check.Kept},
		// n2 is the master from 16.1 s on, and extends the lease to 28.1 s.
		{"and the master before", chubby.Lock{}, "at 5s  kill c1\nat 15s  restart n1 kill 1m", []string{
			"c1 from 0s", "c2 from 28.5s"}, check.Kept},
		// c1 looks for a master from 9.1 on, every 1.1 s: that of 16.8 is answered.
		{"jeopardy, and safe", chubby.Lock{}, "at 5s  cut n1>c1 11500ms", []string{
			"c1 from 0s", "c1 to 15.88s: jeopardy", "c1 from 16.8s", "c1 to 30s: release"}, check.Kept},
		{"expired", chubby.Lock{Grace: 5 * sec}, "at 5s  partition c1|n1,n2,n3,n4,n5", []string{
			"c1 from 0s", "c1 to 15.88s: jeopardy", "c2 from 16.5s", "c2 to 17.5s: release"}, check.Kept},
		{"expired, and nobody heeded the jeopardy", chubby.Lock{Grace: 5 * sec, IgnoreJeopardy: true}, "at 5s  partition c1|n1,n2,n3,n4,n5", []string{
			"c1 from 0s", "c2 from 16.5s", "c2 to 17.5s: release", "c1 to 20.88s: abort"}, check.Kept},
		{"back too late", chubby.Lock{}, "at 5s  partition c1|n1,n2,n3,n4,n5 12s", []string{
			"c1 from 0s", "c1 to 15.88s: jeopardy", "c2 from 16.5s", "c2 to 17.5s: release"}, check.Kept},
		// The master counts 12 s in 11.881 s, to 15.881.
		{"a master 1 % fast", chubby.Lock{}, "at 0s  clock-rate n1 +1%\nat 5s  partition c1|n1,n2,n3,n4,n5", []string{
			"c1 from 0s", "c1 to 15.88s: jeopardy", "c2 from 16.5s", "c2 to 17.5s: release"}, check.Kept},
		// It counts them in 10: its end is at 14 s, before c1's.
		{"a master 20 % fast", chubby.Lock{}, "at 0s  clock-rate n1 +20%\nat 5s  partition c1|n1,n2,n3,n4,n5", []string{
			"c1 from 0s", "c2 from 14.5s", "c2 to 15.5s: release", "c1 to 15.88s: jeopardy"}, check.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.options, c.schedule)
			got := spells(r)
			require.Equal(t, c.want, got[:min(len(got), len(c.want))])
			require.Equal(t, c.promise, r.Promise.Status)
			for _, e := range r.History.Events {
				if e.Kind == history.Return && e.Verb == history.Acquire && e.Outcome == history.OK {
					require.Equal(t, c.options.Delay, e.Delay)
				}
			}
		})
	}
}

// answered is a run in which what matters is when a KeepAlive is answered, and by
// whom. c2 asks every 50 ms.
func answered(t *testing.T, c1, schedule string) trial.Result {
	return trial.Test(t, trial.Spec{
		System: chubby.Lock{Config: raft.Config{Timeouts: []time.Duration{sec, 1200 * ms, 2 * sec, 2 * sec, 2 * sec}}},
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript(c1)},
			{Name: "c2", Script: trial.MustScript("until 11s; acquire every 50ms; work 1s; release")},
		}},
		Schedule: faults.MustParse(schedule),
		Latency:  sim.Every(ms),
		Horizon:  time.Minute,
	})
}

// TestKeepAliveTooLate: the lease begins at 0.005 and ends at 12.005, and the
// replicas agree on that by 12.009. A KeepAlive that comes between is refused.
func TestKeepAliveTooLate(t *testing.T) {
	t.Parallel()
	r := answered(t, "acquire; work 1h; release", "at 1s  pause c1 gc 11005ms")
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, []string{"c1 from 6ms", "c1 to 12.005s: jeopardy"}, spells(r)[:2])
	require.Len(t, spells(r), 4, "and c2")
}

// TestOldMaster: n2 is the master from about 8.7 s on; n1, which is alone with c1,
// learns of it at 9 s: when c1's KeepAlive comes at 8.985 it asks the others first.
func TestOldMaster(t *testing.T) {
	t.Parallel()
	r := answered(t, "until 974ms; acquire; work 1h; release", "at 7550ms  partition n1,c1|n2,n3,n4,n5,c2")
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.Len(t, spells(r), 4)
}

// TestMasterIsDeposedInAnAnswer: n1 stands still from 0.801 to 4.006, and then writes
// c2's question to its disk, so that it hears of another leader at 4.008. It asks the
// replicas for the keepalive of 4.007 as their master, and is none when they have
// answered: it does not know c1's session then, and must not say that there is none.
func TestMasterIsDeposedInAnAnswer(t *testing.T) {
	t.Parallel()
	r, err := trial.Run(trial.Spec{
		System: chubby.Lock{Config: raft.Config{Nodes: 3}},
		Cast: trial.Cast{Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire; work 9s; release")},
			{Name: "c2", Script: trial.MustScript("until 1770ms; try")},
		}},
		Schedule: faults.MustParse("at 801ms  pause n1 gc 3205ms"),
		Latency:  sim.Every(ms),
		Horizon:  20 * sec,
	})
	require.NoError(t, err)
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, []string{"c1 from 6ms", "c1 to 9.006s: release"}, spells(r))
}

// TestAnyFaults: who heeds the jeopardy is exclusive, whatever happens to replicas
// and to what they say.
func TestAnyFaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var schedule string
		for range rapid.IntRange(1, 3).Draw(t, "faults") {
			node := rapid.IntRange(1, 3).Draw(t, "node")
			at := rapid.IntRange(0, 40_000).Draw(t, "at")
			size := rapid.IntRange(1, 20_000).Draw(t, "for")
			what := rapid.SampledFrom([]string{
				"restart n%d kill", "restart n%d power-loss", "pause n%d gc", "pause n%d suspend", "partition c1|n%d", "cut n%d>c2", "cut n1,n2,n3>c%d",
			}).Draw(t, "what")
			if what == "cut n1,n2,n3>c%d" {
				node = min(node, 2)
			}
			schedule += fmt.Sprintf("at %dms  "+what+" %dms\n", at, node, size)
		}
		script := trial.MustScript("acquire every 1s jitter 1s; work 9s; release; work 1s; acquire every 1s jitter 1s; work 9s; release")
		r, err := trial.Run(trial.Spec{
			System:   chubby.Lock{Config: raft.Config{Nodes: 3}, Delay: 3 * sec},
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
