package service_test

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
	"locksim/models/raft"
	"locksim/models/resource"
	"locksim/models/service"
	"locksim/sim"
	"locksim/trial"
)

const (
	ms    = time.Millisecond
	sec   = time.Second
	hop   = ms
	fsync = 2 * ms
)

// inTurn are timeouts with which n2 succeeds n1.
var inTurn = raft.Config{Timeouts: []time.Duration{sec, sec, 1400 * ms}}

func run(t *testing.T, system service.Lock, schedule string, scripts ...string) trial.Result {
	t.Helper()
	spec := trial.Spec{
		System: system, Latency: sim.Every(hop), Horizon: 40 * sec, Schedule: faults.MustParse(schedule),
		Cast: trial.Cast{Resources: []models.Resource{resource.Fenced("doc")}},
	}
	for i, s := range scripts {
		spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript(s)})
	}
	return trial.Test(t, spec)
}

// returns are the outcomes of the operations of a kind, as "c1 6ms ok 2".
func returns(r *trial.Result, verb history.Verb) (list []string) {
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb == verb {
			list = append(list, strings.TrimSuffix(fmt.Sprint(e.Who, " ", e.At, " ", e.Outcome, " ", e.Token), " 0"))
		}
	}
	return list
}

// TestGrant: there, to the others with their disks and back, back; the token is
// the place in the log, behind the entry with which n1 began its term.
func TestGrant(t *testing.T) {
	t.Parallel()
	r := run(t, service.Lock{}, "", "until 1s; acquire; work 1s; release", "until 3s; acquire; release")
	require.Equal(t, []string{"c1 1.006s ok 2", "c2 3.006s ok 4"}, returns(&r, history.Acquire))
	require.Equal(t, []string{"c1 2.012s ok", "c2 3.012s ok"}, returns(&r, history.Release))
	require.Equal(t, check.Kept, r.Promise.Status)
}

// TestPush is S70: when the lock is given back, the next in the queue gets one
// message. Where all are woken, each gets one, and asks again.
func TestPush(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wake    service.Wake
		waiters int
		want    int
		second  time.Duration
	}{
		{service.Next, 1, 1, 4*hop + fsync},
		{service.Next, 3, 1, 4*hop + fsync},
		{service.Next, 5, 1, 4*hop + fsync},
		{service.All, 1, 1 + 1, 8*hop + 2*fsync},
		{service.All, 3, 3 + 1, 8*hop + 2*fsync},
		{service.All, 5, 5 + 1, 8*hop + 2*fsync},
	} {
		scripts := []string{"until 1s; acquire; work 3s; release"}
		for i := range c.waiters {
			scripts = append(scripts, fmt.Sprintf("until %dms; acquire; work 5s", 2000+100*i))
		}
		r := run(t, service.Lock{TTL: time.Minute, Wake: c.wake}, "", scripts...)
		released := 1*sec + 4*hop + fsync + 3*sec
		sent := 0
		for _, e := range r.History.Events {
			if e.Kind == history.Send && e.Verb == history.Reply && e.Peer != "c1" && e.At >= released && e.At < 5*sec {
				sent++
			}
		}
		require.Equal(t, c.want, sent, "%v, %d wait", c.wake, c.waiters)
		require.Equal(t, fmt.Sprintf("c2 %v ok", released+c.second), returns(&r, history.Acquire)[1][:len("c2 4.012s ok")])
	}
}

// TestFailover: who holds the lock keeps it under the next leader, who waits
// keeps the place, and what is released at the old leader's death is released.
func TestFailover(t *testing.T) {
	t.Parallel()
	r := run(t, service.Lock{Config: inTurn}, "at 2550ms restart n1 power-loss 20s",
		"until 1s; acquire; work 7s; release", "until 2s; acquire; work 1s; release", "until 2100ms; acquire; work 1s; release")
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.Equal(t, check.OK, r.Progress.Status)
	var who []string
	for _, line := range returns(&r, history.Acquire) {
		who = append(who, line[:2])
	}
	require.Equal(t, []string{"c1", "c2", "c3"}, who)
}

// TestSilence is S69: of a session that is silent nothing is known, and when that
// has lasted for the TTL since the leader heard of it last, the next holds the
// lock. One that is heard of lasts.
func TestSilence(t *testing.T) {
	t.Parallel()
	r := run(t, service.Lock{}, "at 2s kill c1", "until 1s; acquire; work 30s; release", "until 3s; acquire; work 15s; release")
	freed := sec + 3*hop + fsync + 10*sec + 2*hop + fsync
	require.Equal(t, fmt.Sprintf("c2 %v ok 3", freed+hop), returns(&r, history.Acquire)[1])
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Len(t, returns(&r, history.Extend), 4, "a heartbeat each 3.333 s for 15 s")
}

// TestStaleLeaderDoesNotExtend: a leader that is cut off from the others, but not
// from a holder, must not let it believe: its successor knows nothing of that.
func TestStaleLeaderDoesNotExtend(t *testing.T) {
	t.Parallel()
	// c1's first heartbeat comes to n1 at 4.34, which is cut off since 4.30; n2 and n3
	// are out of c1's reach.
	r := run(t, service.Lock{Config: inTurn}, "at 4300ms partition n1,c1|n2,n3,c2 30s",
		"until 1s; acquire; work 30s; release", "until 8s; acquire; release")
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.NotContains(t, strings.Join(returns(&r, history.Extend), "\n"), "ok")
	require.Equal(t, check.OK, r.Progress.Status, "c2 gets the lock when c1's session is over")
}

// TestDeposedLeaderSaysNothing of a session: n1's disk is at work on c2's command
// from 3.751 to 3.851; meanwhile, at 3.806, its library hears of n2, which leads
// since 3.705, and c1's heartbeat comes at 3.820 and is passed on to n2.
func TestDeposedLeaderSaysNothing(t *testing.T) {
	t.Parallel()
	system := service.Lock{Config: inTurn, Beat: 1415 * ms}
	system.Fsync = 100 * ms
	r := run(t, system, "at 2550ms partition n1|n2,n3 1250ms", "until 2300ms; acquire; work 3s; release", "until 3750ms; acquire; release")
	require.Equal(t, check.Kept, r.Promise.Status, "%v", r.Promise.Breaches)
	require.Contains(t, returns(&r, history.Extend)[0], "ok")
}

// TestReads is S67: see also the scenario stale-leader.
func TestReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read service.Read
		want check.Status
	}{{service.ReadIndex, check.Kept}, {service.Memory, check.Broken}} {
		system := service.Lock{Config: inTurn, Read: c.read, Home: map[string]string{"c1": "n2"}}
		r := run(t, system, "at 2550ms partition n1|n2,n3 20s", "until 3600ms; acquire; work 10s; release", "until 3800ms; look")
		require.Equal(t, c.want, r.Promise.Status, "%v", c.read)
	}
}

// TestPromiseUnderFaults: whatever befalls nodes, clients and network, the promise
// is kept, reads are linearizable and tokens rise.
func TestPromiseUnderFaults(t *testing.T) {
	t.Parallel()
	runner := trial.NewRunner()
	defer runner.Close()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{3, 5}).Draw(t, "nodes")
		line := rapid.Custom(func(t *rapid.T) string { return anyFault(t, n) })
		spec := trial.Spec{
			System:   service.Lock{Config: raft.Config{Nodes: n}, TTL: 4 * sec, Wake: rapid.SampledFrom([]service.Wake{service.Next, service.All}).Draw(t, "wake")},
			Schedule: faults.MustParse(strings.Join(rapid.SliceOfN(line, 1, 8).Draw(t, "schedule"), "\n")),
			Latency:  sim.Latency{Default: []time.Duration{ms, 2 * ms, 30 * ms}},
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Horizon:  60 * sec,
		}
		for i := range 4 {
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{
				Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript(strings.Repeat("acquire; work 900ms; look; release; work 200ms; ", 5) + "work 1s"),
			})
		}
		r, err := runner.Run(&spec)
		require.NoError(t, err)
		require.Equal(t, check.Kept, r.Promise.Status, "%v", r.Promise.Breaches)
	})
}

// anyFault is a line of a schedule for n nodes and four clients.
func anyFault(t *rapid.T, n int) string {
	at := rapid.IntRange(0, 20_000).Draw(t, "at")
	size := fmt.Sprintf("%dms", rapid.IntRange(1, 8_000).Draw(t, "for"))
	node := fmt.Sprintf("n%d", rapid.IntRange(1, n).Draw(t, "node"))
	other := rapid.SampledFrom([]string{"n1", "n2", "n3", "c1", "c2"}).Draw(t, "other")
	if other == node {
		other = "c3"
	}
	any := rapid.SampledFrom([]string{node, "c1", "c2"}).Draw(t, "any")
	return fmt.Sprintf("at %dms %s", at, rapid.SampledFrom([]string{
		"restart " + node + " kill " + size,
		"restart " + node + " power-loss " + size,
		"pause " + any + " gc " + size,
		"pause " + any + " suspend " + size,
		"partition " + node + "|" + other + " " + size,
		"cut " + node + ">" + other + " " + size,
		"cut " + other + ">" + node + " " + size,
	}).Draw(t, "fault"))
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system service.Lock
		want   string
	}{
		{service.Lock{TTL: ms}, "lock service: ttl 1ms: want 10ms or more"},
		{service.Lock{Beat: 10 * sec}, "lock service: beat 10s: want more than 0, and less than the ttl 10s"},
		{service.Lock{Timeout: -1}, "lock service: timeout -1ns: want more than 0"},
		{service.Lock{Read: 2}, "lock service: read 2: there is none"},
		{service.Lock{Token: 2}, "lock service: token 2: there is none"},
		{service.Lock{Wake: 2}, "lock service: wake 2: there is none"},
		{service.Lock{Config: raft.Config{Nodes: 12}}, "lock service: nodes 12: want 1 to 9"},
		{service.Lock{Home: map[string]string{"c1": "n4"}}, `lock service: home of c1: no node "n4"`},
	} {
		w := sim.New()
		w.Reset(sim.Config{})
		_, err := c.system.Open(w)
		require.EqualError(t, err, c.want)
		w.Close()
	}
}
