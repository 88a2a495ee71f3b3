package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/models/etcd"
	"locksim/models/raft"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// client is a client with a script.
func client(name, script string) trial.Client {
	return trial.Client{Name: name, Script: trial.MustScript(script)}
}

// run runs clients on a system for 60 s, a hop of 1 ms between any two.
func run(t *testing.T, system etcd.Etcd, schedule string, clients ...trial.Client) trial.Result {
	t.Helper()
	r := trial.Test(t, trial.Spec{
		System: system, Cast: trial.Cast{Clients: clients}, Schedule: faults.MustParse(schedule),
		Latency: sim.Every(ms), Horizon: 60 * sec,
	})
	require.Empty(t, r.Missed)
	return r
}

// grants are the grants that clients were told of, in order.
func grants(r *trial.Result) (list []history.Event) {
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb == history.Acquire && e.Outcome == history.OK {
			list = append(list, e)
		}
	}
	return list
}

// TestE3 is the least TTL of a lease: 1.5 election timeouts in whole seconds.
func TestE3(t *testing.T) {
	t.Parallel()
	for election, want := range map[time.Duration]time.Duration{
		500 * ms: sec, 600 * ms: sec, 700 * ms: 2 * sec, sec: 2 * sec, 1400 * ms: 3 * sec, 2 * sec: 3 * sec, 4 * sec: 6 * sec,
	} {
		require.Equal(t, want, etcd.LeastTTL(raft.Config{Election: election}), election)
	}
	r := run(t, etcd.Etcd{}, "", client("c1", "acquire; release"))
	require.Equal(t, time.Minute, grants(&r)[0].Term, "a session's default")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system etcd.Etcd
		says   string
	}{
		{etcd.Etcd{TTL: 1500 * ms}, "etcd: ttl 1.5s: want whole seconds, at least 1s"},
		{etcd.Etcd{TTL: -sec}, "etcd: ttl -1s: want whole seconds, at least 1s"},
		{etcd.Etcd{Timeout: -1}, "etcd: timeout -1ns: want 1ms or more"},
		{etcd.Etcd{Wait: 7}, "etcd: wait 7: want one of predecessor, anything"},
		{etcd.Etcd{Counts: 7}, "etcd: counts 7: want one of monotonic, wall-queue, wall"},
		{etcd.Etcd{Config: raft.Config{Nodes: 10}}, "etcd: nodes 10: want 1 to 9"},
		{etcd.Etcd{Order: map[string][]string{"c1": {"n1", "n4"}}}, `etcd: order of c1: no node "n4": want n1 to n3`},
		{etcd.Etcd{Order: map[string][]string{"c1": {}}}, "etcd: order of c1: want at least one node"},
	} {
		w := sim.New()
		defer w.Close()
		w.Reset(sim.Config{})
		_, err := c.system.Open(w)
		require.EqualError(t, err, c.says)
	}
	var counts etcd.Counts
	require.EqualError(t, counts.UnmarshalText([]byte("3.0")), `no counts "3.0": want one of monotonic, wall-queue, wall`)
	var wait etcd.Wait
	require.EqualError(t, wait.UnmarshalText([]byte("any")), `no wait "any": want one of predecessor, anything`)
}

// TestKeysNeedEtcd: etcd's own keys are not to be had of another system.
func TestKeysNeedEtcd(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	_, err := etcd.Keys{Called: "doc"}.Open(w)
	require.EqualError(t, err, "keys of etcd: want etcd as the system")
}

// TestKeepalives are sent when a session begins and at the first look, every 500ms,
// after a third of the TTL since the last answer; a follower hands them on.
func TestKeepalives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ttl  time.Duration
		node string
		want []time.Duration // after the session's begin
	}{
		{2 * sec, "n1", []time.Duration{0, sec, 2 * sec, 3 * sec}},
		{3 * sec, "n1", []time.Duration{0, 1500 * ms, 3 * sec, 4500 * ms}},
		{10 * sec, "n1", []time.Duration{0, 3500 * ms, 7 * sec, 10500 * ms}},
		{10 * sec, "n2", []time.Duration{0, 3500 * ms, 7 * sec, 10500 * ms}},
	} {
		system := etcd.Etcd{TTL: c.ttl, Order: map[string][]string{"c1": {c.node}}}
		r := run(t, system, "", client("c1", "acquire; work 30s; release"))
		var sent []time.Duration
		for _, e := range r.History.Events {
			if e.Kind == history.Send && e.Value == "keepalive" {
				sent = append(sent, e.At)
			}
		}
		for i := range c.want {
			require.Equal(t, c.want[i], sent[i]-sent[0], "ttl %v, keepalive %d by %s", c.ttl, i, c.node)
		}
		require.Equal(t, check.Exclusive, r.Belief.Status)
		require.NotContains(t, freed(&r), history.FreedExpired)
	}
}

// freed says why keys of locks were freed, in order.
func freed(r *trial.Result) (why []string) {
	for _, e := range r.History.Events {
		if e.Kind == history.Freed {
			why = append(why, e.Why)
		}
	}
	return why
}

// freedAt says when.
func freedAt(r *trial.Result) (at []time.Duration) {
	for _, e := range r.History.Events {
		if e.Kind == history.Freed {
			at = append(at, e.At)
		}
	}
	return at
}

// TestNewLeaderExtends: a new leader gives a lease its TTL and an election timeout
// from when it leads. c1 dies, and its keepalive of 0.006 would keep its lease until
// 5.007.
func TestNewLeaderExtends(t *testing.T) {
	t.Parallel()
	system := etcd.Etcd{TTL: 5 * sec, Config: raft.Config{Timeouts: []time.Duration{3 * sec, sec, 2 * sec}}}
	r := run(t, system, "at 100ms kill c1\nat 2450ms restart n1 kill 1h",
		client("c1", "acquire; work 1h; release"), client("c2", "until 8s; acquire; release"))
	// n2 heard of n1 at 2.401; it stands at 3.401 and leads after a vote and a pre-vote
	// with their syncs, 8 ms, and its first entry, 4 ms: 3.413 + 5 + 1, looked at at 9.5.
	require.Equal(t, []string{history.FreedExpired, history.FreedDeleted}, freed(&r))
	for _, e := range r.History.Events {
		if e.Kind == history.Freed && e.Why == history.FreedExpired {
			require.Equal(t, 9504*ms, e.At)
		}
	}
}

// TestCounts is what a step of the leader's wall clock does to the lease of a client
// that is dead. Without one it is over at 10.007, which n1 sees at 10.5.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		counts etcd.Counts
		step   string
		want   time.Duration
	}{
		{"E3 monotonic", etcd.MonotonicClock, "+300s", 10504 * ms},
		{"E3 monotonic", etcd.MonotonicClock, "-20s", 10504 * ms},
		{"etcd#6700 wall", etcd.WallClock, "+1ms", 10504 * ms},
		{"etcd#6700 wall", etcd.WallClock, "+300s", 2504 * ms},
		{"etcd#6700 wall", etcd.WallClock, "-20s", 30504 * ms},
		{"etcd#12291 wall-queue", etcd.WallQueue, "+1ms", 10504 * ms},
		{"etcd#12291 wall-queue", etcd.WallQueue, "+300s", 11504 * ms}, // it looked at 2.5, 5.5 and 8.5
		{"etcd#12291 wall-queue", etcd.WallQueue, "-20s", 30504 * ms},
	} {
		t.Run(c.name+" "+c.step, func(t *testing.T) {
			r := run(t, etcd.Etcd{TTL: 10 * sec, Counts: c.counts}, "at 100ms kill c1\nat 2100ms clock-step n1 "+c.step,
				client("c1", "acquire; work 1h; release"))
			require.Equal(t, []time.Duration{c.want}, freedAt(&r))
		})
	}
}

// TestRenewedInTheQueue: a keepalive, that of 3.506 here, puts off the lease's date in the
// queue. Were that still 10.007, the leader would look at 10.5, 13.5 and 16.5.
func TestRenewedInTheQueue(t *testing.T) {
	t.Parallel()
	r := run(t, etcd.Etcd{TTL: 10 * sec, Counts: etcd.WallQueue}, "at 5s kill c1", client("c1", "acquire; work 1h; release"))
	require.Equal(t, []time.Duration{14004 * ms}, freedAt(&r))
}

// TestNewLeaderCounts: the date of a lease in a queue is its leader's. n2, whose clock
// is 100 s ahead, leads from 3.413 on, as above.
func TestNewLeaderCounts(t *testing.T) {
	t.Parallel()
	system := etcd.Etcd{TTL: 5 * sec, Counts: etcd.WallQueue, Config: raft.Config{Timeouts: []time.Duration{3 * sec, sec, 2 * sec}}}
	r := run(t, system, "at 100ms kill c1\nat 1s clock-step n2 -100s\nat 2450ms restart n1 kill 1h", client("c1", "acquire; work 1h; release"))
	require.Equal(t, []time.Duration{9504 * ms}, freedAt(&r))
}

// TestWatchIsResumed: n3 goes down with c2's watch on c1's key, and is back before anything
// is sent to it. After a kill its machine resets the connection, and c2 watches at n1.
// After a loss of power nobody tells c2; what finds the connection broken is its next
// keepalive, sent at 4.508 and answered at 4.512, and then two reads take 6 ms each.
func TestWatchIsResumed(t *testing.T) {
	t.Parallel()
	for crash, want := range map[string]time.Duration{"kill": 2816 * ms, "power-loss": 4524 * ms} {
		system := etcd.Etcd{TTL: 10 * sec, Order: map[string][]string{"c2": {"n3", "n1"}}}
		r := run(t, system, "at 2s restart n3 "+crash+" 200ms",
			client("c1", "acquire; until 2800ms; release"), client("c2", "until 1s; acquire; release"))
		require.Len(t, grants(&r), 2, crash)
		require.Equal(t, want, grants(&r)[1].At, crash)
	}
}

// TestWatchIsLate is the exception of E2: a watch tells of what its node has heard. n3 is
// cut off from 1.2 to 4, and so c2 waits there for a key that is gone at 2, as n1 knows.
func TestWatchIsLate(t *testing.T) {
	t.Parallel()
	system := etcd.Etcd{TTL: 10 * sec, Order: map[string][]string{"c2": {"n3"}}}
	r := run(t, system, "at 1200ms partition n3|n1,n2 2800ms",
		client("c1", "acquire; until 2s; release"), client("c2", "until 1s; acquire; release"))
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, 2005*ms, freedAt(&r)[0], "a hop, and the majority's disks")
	require.Len(t, grants(&r), 2)
	require.Greater(t, grants(&r)[1].At, 4*sec)
}

// Test15247 is etcd#15247: a leader that has stood still, and been replaced without
// knowing it, does not answer keepalives from what it remembers. When n1 is back at
// 9.8, it has a keepalive of 9.506 and a lease until 10.007, and hears nothing of n2,
// which revokes that lease at 14.
func Test15247(t *testing.T) {
	t.Parallel()
	system := etcd.Etcd{
		TTL:    10 * sec,
		Order:  map[string][]string{"c1": {"n1"}, "c2": {"n2"}},
		Config: raft.Config{Timeouts: []time.Duration{sec, 1800 * ms, 1900 * ms}},
	}
	r := run(t, system, "at 1s partition n1|n2,n3 9s\nat 1s pause n1 gc 8800ms\nat 9900ms partition c1|n1,n2,n3",
		client("c1", "acquire; work 40s; release"), client("c2", "until 5s; acquire; work 30s; release"))
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Len(t, grants(&r), 2)
}

// TestOverIsNotProlonged: n1 sees at 10.5 that c1's lease is over since 10.007, and has
// revoked it 4 ms later. c1's keepalive comes in between, at 10.502; its answer waits,
// and then c1 releases, so that the disk is busy when c2 reads.
func TestOverIsNotProlonged(t *testing.T) {
	t.Parallel()
	r := run(t, etcd.Etcd{TTL: 10 * sec}, "at 1s pause c1 gc 9501ms",
		client("c1", "acquire; work 30s; release"), client("c2", "until 5s; acquire; work 5s; release"))
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, 10504*ms+9*ms+2*ms, grants(&r)[1].At)
}

// TestRevokedInTheEnd: n1 proposes to revoke a lease while it is cut off, which comes to
// nothing; when it leads again, it does so again. c1 is dead.
func TestRevokedInTheEnd(t *testing.T) {
	t.Parallel()
	system := etcd.Etcd{TTL: 5 * sec, Config: raft.Config{Timeouts: []time.Duration{sec, 1200 * ms, 1900 * ms}}}
	r := run(t, system, "at 100ms kill c1\nat 5400ms partition n1|n2,n3 2600ms\nat 9s restart n2 kill 1h",
		client("c1", "acquire; work 1h; release"), client("c2", "until 11s; acquire; release"))
	var leaders []string
	for _, e := range r.History.Events {
		if e.Kind == history.Elected {
			leaders = append(leaders, e.Who)
		}
	}
	require.Equal(t, []string{"n1", "n2", "n1"}, leaders)
	require.Equal(t, []string{history.FreedExpired, history.FreedDeleted}, freed(&r))
	require.Len(t, grants(&r), 2)
}

// TestS14: a hundred grants through ten crashes of nodes, some of them leaders: no
// token falls.
func TestS14(t *testing.T) {
	t.Parallel()
	const each = 25
	script := "acquire; work 100ms; release" + strings.Repeat("; acquire; work 100ms; release", each-1)
	var schedule strings.Builder
	for i := range 10 {
		crash := []string{"kill", "power-loss"}[i%2]
		fmt.Fprintf(&schedule, "at %dms restart n%d %s 2s\n", 1000+5000*i, 1+i%3, crash)
	}
	r := trial.Test(t, trial.Spec{
		System:   etcd.Etcd{TTL: 5 * sec, Timeout: sec},
		Cast:     trial.Cast{Clients: []trial.Client{client("c1", script), client("c2", script), client("c3", script), client("c4", script)}},
		Schedule: faults.MustParse(schedule.String()),
		Latency:  sim.Every(ms), Horizon: 10 * time.Minute,
	})
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	list := grants(&r)
	require.GreaterOrEqual(t, len(list), 100)
	for i := 1; i < len(list); i++ {
		require.Greater(t, list[i].Token, list[i-1].Token)
	}
	leaders := 0
	for _, e := range r.History.Events {
		if e.Kind == history.Elected {
			leaders++
		}
	}
	require.Greater(t, leaders, 3)
}

// TestPromiseKept: whatever happens to nodes and clients, but for disks that lie and
// clocks beyond the allowance, the promise is kept and a program that listens to Done
// overlaps with the next for less than the second that its session may take to look.
func TestPromiseKept(t *testing.T) {
	t.Parallel()
	runner := trial.NewRunner()
	defer runner.Close()
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			lines = append(lines, anyFault(t))
		}
		schedule := strings.Join(lines, "\n")
		spec := trial.Spec{
			System: etcd.Etcd{
				TTL: time.Duration(rapid.IntRange(2, 6).Draw(t, "ttl")) * sec, Timeout: sec,
				Counts: rapid.SampledFrom([]etcd.Counts{etcd.MonotonicClock, etcd.WallQueue}).Draw(t, "counts"),
			},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Fenced("doc")},
				Clients: []trial.Client{
					client("c1", "acquire; work 7s; write doc; release; acquire; work 3s; write doc; release"),
					client("c2", "until 1s; acquire; work 4s; write doc; release; acquire; work 1s; write doc; release"),
					client("c3", "until 2s; acquire; work 500ms; write doc; release; acquire; look; release"),
				},
			},
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Latency{Default: []time.Duration{ms, ms, 3 * ms, 20 * ms}},
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Horizon:  80 * sec,
		}
		r, err := runner.Run(&spec)
		require.NoError(t, err)
		require.Equal(t, check.Kept, r.Promise.Status, "%s\n%v", schedule, r.Promise.Breaches)
		require.Empty(t, r.Damage.Events, schedule)
	})
}

// anyFault is a line of a schedule.
func anyFault(t *rapid.T) string {
	n := rapid.IntRange(1, 3).Draw(t, "node")
	node, next := fmt.Sprintf("n%d", n), fmt.Sprintf("n%d", n%3+1)
	who := fmt.Sprintf("c%d", rapid.IntRange(1, 3).Draw(t, "client"))
	at := rapid.IntRange(0, 20_000).Draw(t, "at")
	size := fmt.Sprintf("%dms", rapid.IntRange(1, 8000).Draw(t, "for"))
	what := rapid.SampledFrom([]string{
		"restart " + node + " kill " + size,
		"restart " + node + " power-loss " + size,
		"pause " + node + " gc " + size,
		"pause " + who + " gc " + size,
		"pause " + who + " thread " + size,
		"pause " + who + " loop " + size,
		"partition " + node + "|" + who + " " + size,
		"partition " + node + "|" + next + " " + size,
		"cut " + node + ">" + who + " " + size,
		"clock-step " + node + " +1h",
		"clock-step " + node + " -300s",
		"clock-rate " + node + " +400ppm",
		"clock-rate " + who + " -20%",
		"kill " + who,
		"lose-reply " + node + ">" + who,
		"duplicate " + who + ">" + node + " 30ms",
	}).Draw(t, "kind")
	return fmt.Sprintf("at %dms %s", at, what)
}
