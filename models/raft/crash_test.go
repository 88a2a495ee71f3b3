package raft_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// faultsOf is what the faults of h did, each after its node's name.
func faultsOf(h *history.History) (list []string) {
	for _, e := range h.Events {
		if e.Kind == history.Fault || e.Kind == history.Elected && e.Why != "" {
			list = append(list, e.Who+" "+e.Why)
		}
	}
	return list
}

// TestCrash asks n1 for an addition at 150 ms and crashes n2, or all nodes, in the
// middle of it: its entry reaches n2 at 152 ms and is on its disk at 154 ms.
func TestCrash(t *testing.T) {
	t.Parallel()
	whole, torn := "restarted with everything", "restarted without the last 1 entry of its log"
	all := func(crash string) string {
		return "at 1s restart n1 " + crash + "\nat 1s restart n2 " + crash + "\nat 1s restart n3 " + crash
	}
	for _, c := range []struct {
		name     string
		config   raft.Config
		schedule string
		want     []string
		value    int
	}{
		{"killed before it is synced: the kernel has it", raft.Config{}, "at 153ms restart n2 kill", []string{"n2 " + whole}, 7},
		{"no power before it is synced", raft.Config{}, "at 153ms restart n2 power-loss", []string{"n2 " + torn}, 7},
		{"no power after it is synced", raft.Config{}, "at 155ms restart n2 power-loss", []string{"n2 " + whole}, 7},
		{"no power anywhere", raft.Config{}, all("power-loss"), []string{"n1 " + whole, "n2 " + whole, "n3 " + whole}, 7},
		{"never synced, killed everywhere", raft.Config{NoFsync: true}, all("kill"), []string{"n1 " + whole, "n2 " + whole, "n3 " + whole}, 7},
		{
			"never synced, no power anywhere: what was answered is lost", raft.Config{NoFsync: true}, all("power-loss"),
			[]string{"n1 " + torn, "n2 " + torn, "n3 " + torn, "n2 without 1 committed entry"}, 0,
		},
	} {
		c.config.Timeouts = []time.Duration{1900 * ms, sec, 1400 * ms}
		var answer, left int
		h := run(t, sim.Config{}, c.config, c.schedule, func(w *sim.World, g *raft.Group) {
			ask(w, g, "c1", "n1", 150*ms, add{7}, func(a int, _ time.Duration) { answer = a })
			w.At(10*sec, func() { left = value(g.Node("n3")) })
		})
		require.Equal(t, 7, answer, c.name)
		require.Equal(t, c.want, faultsOf(h), c.name)
		require.Equal(t, c.value, left, c.name)
	}
}

// TestLostLog: a node that was acknowledged for has lost its log. Its library
// notices when the leader says that it has all, and ends in a panic, as etcd does
// ("Was the raft log corrupted, truncated, or lost?").
func TestLostLog(t *testing.T) {
	t.Parallel()
	h := run(t, sim.Config{}, raft.Config{NoFsync: true}, "at 1050ms restart n2 power-loss 1s", func(w *sim.World, g *raft.Group) {
		ask(w, g, "c1", "n1", 150*ms, add{7}, func(int, time.Duration) {})
		w.At(10*sec, func() { require.True(t, g.Node("n2").Server().Down()) })
	})
	require.Equal(t, []string{
		"n2 restarted without the last 1 entry of its log",
		"n2 panics: tocommit(2) is out of range [lastIndex(1)]. Was the raft log corrupted, truncated, or lost?",
	}, faultsOf(h))
}

// TestLeaderDiesAfterCommit is S23: what a client was told is there under the next
// leader; and what was not committed is never confirmed.
func TestLeaderDiesAfterCommit(t *testing.T) {
	t.Parallel()
	group := raft.Config{Timeouts: inTurn}
	for _, c := range []struct {
		name, schedule string
		answer, left   int
	}{
		{"at once after the answer", "at 156100us restart n1 power-loss 1h", 7, 7},
		// The entry has reached the others by then: the next leader commits it.
		{"before the answer", "at 153ms restart n1 power-loss 1h", -1, 7},
		{"before anybody else has it", "at 150ms cut n1>n2,n3 20ms\nat 160ms restart n1 power-loss 1h", -1, 0},
	} {
		var answer, left int
		run(t, sim.Config{}, group, c.schedule, func(w *sim.World, g *raft.Group) {
			ask(w, g, "c1", "n1", 150*ms, add{7}, func(a int, _ time.Duration) { answer = a })
			ask(w, g, "c2", "n2", 5*sec, read{linearizable: true}, func(a int, _ time.Duration) { left = a })
		})
		require.Equal(t, c.answer, answer, c.name)
		require.Equal(t, c.left, left, c.name)
	}
}

// TestCutOffLeader: what it is asked is answered by nobody, from its memory it
// answers what is no longer true, and once it is back it gives way.
func TestCutOffLeader(t *testing.T) {
	t.Parallel()
	answers := map[string]int{}
	note := func(client string) func(int, time.Duration) {
		return func(a int, _ time.Duration) { answers[client] = a }
	}
	run(t, sim.Config{}, raft.Config{Timeouts: inTurn}, "at 2550ms partition n1|n2,n3 10s", func(w *sim.World, g *raft.Group) {
		ask(w, g, "c1", "n1", 3600*ms, add{1}, note("isolated add"))
		ask(w, g, "c2", "n2", 3600*ms, add{10}, note("add"))
		ask(w, g, "c3", "n1", 3800*ms, read{}, note("memory"))
		ask(w, g, "c4", "n1", 3800*ms, read{linearizable: true}, note("isolated read"))
		ask(w, g, "c5", "n3", 3800*ms, read{linearizable: true}, note("read"))
		w.At(3900*ms, func() { require.True(t, g.Node("n1").Leads()) })
		w.At(19*sec, func() {
			for _, n := range g.Nodes() {
				require.Equal(t, 10, value(n), n.Name())
			}
		})
	})
	require.Equal(t, map[string]int{"isolated add": -1, "add": 10, "memory": 0, "isolated read": -1, "read": 10}, answers)
}

// TestVoteRule is S73. n1 leads in term 1 and is cut off, with n5, from the rest:
// three commands stay with the two. n2 leads in term 2 since 1.545, and its command
// of 1.530, behind the first entry of its term, is with n4 by 1.550 and with n3 by
// 1.589: committed. n4 does not hear of that, and n2 and n3 die. Of those that are
// left n1 and n5 have the longer log, of the older term, and n4 the shorter one
// with what was committed.
func TestVoteRule(t *testing.T) {
	t.Parallel()
	group := raft.Config{Nodes: 5, Timeouts: []time.Duration{1900 * ms, sec, 1700 * ms, 1800 * ms, 1600 * ms}}
	latency := sim.Latency{Default: []time.Duration{hop}, Links: map[string][]time.Duration{"n2>n3": {10 * ms}, "n3>n2": {10 * ms}}}
	schedule := `
		at 550ms partition n1,n5|n2,n3,n4 1150ms
		at 1560ms cut n2>n4
		at 1600ms restart n2 power-loss 1h
		at 1600ms restart n3 power-loss 1h`
	for _, blind := range []bool{false, true} {
		group.VoteByLength = blind
		var answer int
		var answered time.Duration
		var left []int
		h := run(t, sim.Config{Latency: latency}, group, schedule, func(w *sim.World, g *raft.Group) {
			for i, client := range []string{"a1", "a2", "a3"} {
				ask(w, g, client, "n1", 600*ms+time.Duration(i)*10*ms, add{100}, func(int, time.Duration) {})
			}
			ask(w, g, "c1", "n2", 1530*ms, add{7}, func(a int, at time.Duration) { answer, answered = a, at })
			w.At(19*sec, func() {
				for _, i := range []int{0, 3, 4} {
					left = append(left, value(g.Nodes()[i]))
				}
			})
		})
		require.Equal(t, 7, answer)
		require.Equal(t, 1590*ms, answered)
		if blind {
			require.Equal(t, []int{300, 300, 300}, left)
			// n1 hears of term 2 at 1.702 and stands at 3.602; n5 has had to learn the term
			// from a refusal first.
			all := faultsOf(h)
			require.Equal(t, "n1 without 2 committed entries", all[len(all)-1])
		} else {
			require.Equal(t, []int{7, 7, 7}, left)
			require.Contains(t, leaders(h)[len(leaders(h))-1], "n4")
		}
	}
}
