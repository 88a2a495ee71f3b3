package redis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// judge runs two clients on a lock and returns the verdicts.
func judge(t *testing.T, system models.System, store resource.Store, c1, c2, schedule string) trial.Result {
	t.Helper()
	return trial.Test(t, trial.Spec{
		System: system,
		Cast: trial.Cast{
			Resources: []models.Resource{store},
			Clients:   []trial.Client{{Name: "c1", Script: trial.MustScript(c1)}, {Name: "c2", Script: trial.MustScript(c2)}},
		},
		Schedule: faults.MustParse(schedule),
		Latency:  sim.Every(time.Millisecond),
		Horizon:  time.Minute,
	})
}

// T12, T14, S54: with a separate INCR the stale holder gets the greater token, and
// the fence lets it through: the recipe is to blame. A token out of the granting
// script stops it.
func TestVerdictOnTokens(t *testing.T) {
	run := func(token redis.Token) trial.Result {
		return judge(t, redis.SetNX{TTL: 300 * time.Millisecond, Token: token, Timeout: time.Second}, resource.Fenced("doc"),
			"try; write doc; release", "until 350ms; try; write doc; work 1s; release",
			"after c1.receive#1  pause c1 gc 600ms")
	}
	r := run(redis.SeparateIncr)
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Len(t, r.Promise.Breaches, 1)
	require.Equal(t, check.TokenOrder, r.Promise.Breaches[0].Kind)
	require.Equal(t, check.Recipe, r.Promise.Breaches[0].Blame)
	require.Contains(t, r.Promise.Breaches[0].Cause, "c1 fetched its token with INCR at 0.602, after its grant")
	require.Len(t, r.Damage.Events, 1)
	require.Equal(t, check.StaleWrite, r.Damage.Events[0].Kind)

	r = run(redis.ScriptIncr)
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Empty(t, r.Damage.Events)
	require.Equal(t, check.Overlapping, r.Belief.Status, "a token lowers the damage, not the overlap")
}

// K8: tokens that are made of the nodes' counters break their order, by nobody's
// fault but the service's.
func TestVerdictOnRedlockTokens(t *testing.T) {
	system := redis.Redlock{Token: redis.MinOfCounters, Order: map[string][]string{
		"c1": {"r1", "r2", "r3"}, "c2": {"r3", "r4", "r5"},
	}}
	r := judge(t, system, resource.Fenced("doc"), "try; release", "until 1s; try; release", "")
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Equal(t, check.TokenOrder, r.Promise.Breaches[0].Kind)
	require.Equal(t, check.Service, r.Promise.Breaches[0].Blame)
	system.Token = redis.MaxOfCounters
	r = judge(t, system, resource.Fenced("doc"), "try; release", "until 1s; try; release", "")
	require.Equal(t, check.Kept, r.Promise.Status)
}

// S19: who decides by a replica takes a lock that is held.
func TestVerdictOnReplicaRead(t *testing.T) {
	run := func(way redis.Check) trial.Result {
		return judge(t, redis.SetNX{Replicas: 1, Lag: 100 * time.Millisecond, Check: way}, resource.Plain("doc"),
			"try; work 1s; write doc; release", "until 50ms; try; work 500ms; write doc; work 1s; release", "")
	}
	r := run(redis.CheckReplica)
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Equal(t, check.DoubleGrant, r.Promise.Breaches[0].Kind)
	require.Contains(t, r.Promise.Breaches[0].Cause, "c2's SET at 0.053 overwrote c1's key on r1")
	require.Equal(t, check.Overlapping, r.Belief.Status)
	require.Equal(t, check.Kept, run(redis.NoCheck).Promise.Status)
}

// T4, H8: a crash between SETNX and PEXPIRE, and everybody waits for ever.
func TestVerdictOnSeparateExpire(t *testing.T) {
	run := func(way redis.Expire) trial.Result {
		return judge(t, redis.SetNX{Expire: way}, resource.Plain("doc"),
			"try; work 1s; release", "until 1s; acquire; release", "before c1.send#2  kill c1")
	}
	require.Equal(t, check.Stalled, run(redis.Separate).Progress.Status)
	require.Equal(t, check.OK, run(redis.Atomic).Progress.Status)
}

// H5, S20: without WAIT a failover gives a held lock away.
func TestVerdictOnWait(t *testing.T) {
	run := func(wait int) trial.Result {
		return judge(t, redis.SetNX{Replicas: 1, Lag: 200 * time.Millisecond, Wait: wait}, resource.Plain("doc"),
			"try; work 9s; release", "until 5100ms; try; work 1s; release", "at 100ms  failover r1>r2 4900ms")
	}
	r := run(0)
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Contains(t, r.Promise.Breaches[0].Cause, "r2 was promoted without 1 key of r1 at 5.000")
	require.Equal(t, check.Kept, run(1).Promise.Status)
}

// K11: a restart that is delayed past the TTL is safe while the delay is counted
// by a clock that does not jump.
func TestVerdictOnDelayedRestart(t *testing.T) {
	run := func(schedule string) trial.Result {
		system := redis.Redlock{Order: map[string][]string{"c1": {"r1", "r2", "r3"}, "c2": {"r5", "r4", "r3"}}}
		return judge(t, system, resource.Plain("doc"), "try; work 1m; release", "until 2s; try; work 1m; release", schedule)
	}
	const jump = "at 1s  clock-step r3 +12s"
	require.Equal(t, check.Kept, run("at 500ms  restart r3 kill 12s wall").Promise.Status)
	require.Equal(t, check.Kept, run("at 500ms  restart r3 kill 12s\n"+jump).Promise.Status)
	r := run("at 500ms  restart r3 kill 12s wall\n" + jump)
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Contains(t, r.Promise.Breaches[0].Cause, "r3 restarted empty at 0.500")
}
