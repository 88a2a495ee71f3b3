package redis

import (
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

func TestOptionErrors(t *testing.T) {
	tests := []struct {
		system models.System
		want   string
	}{
		{SetNX{TTL: time.Microsecond}, "setnx: ttl 1µs: want whole milliseconds, at least 1ms"},
		{SetNX{TTL: 1500 * time.Microsecond}, "setnx: ttl 1.5ms: want whole milliseconds, at least 1ms"},
		{SetNX{TTL: -time.Second}, "setnx: ttl -1s: want whole milliseconds, at least 1ms"},
		{SetNX{Timeout: -1}, "setnx: timeout -1ns: want more than 0"},
		{SetNX{Release: 9}, `setnx: release 9: want one of compare, get-then-del, del, lua`},
		{SetNX{Extend: 9}, `setnx: extend 9: want one of compare, pexpire`},
		{SetNX{Extend: PlainPExpire, NoTTL: true}, "setnx: extend pexpire and no-ttl: want one of them"},
		{SetNX{Value: 9}, `setnx: value 9: want one of own, shared`},
		{SetNX{Persistence: 9}, `setnx: persistence 9: want one of none, everysec, always`},
		{SetNX{Eviction: 9}, `setnx: eviction 9: want one of noeviction, allkeys-lru, volatile-lru`},
		{SetNX{Clock: 9}, `setnx: clock 9: want one of wall, monotonic`},
		{SetNX{ClientClock: 9}, `setnx: client-clock 9: want one of monotonic, boottime, wall`},
		{Redlock{ClientClock: 9}, `redlock: client-clock 9: want one of monotonic, boottime, wall`},
		{SetNX{Lag: time.Second}, "setnx: lag 1s: want 0 or more, and only with replicas"},
		{SetNX{Lag: -time.Second, Replicas: 1}, "setnx: lag -1s: want 0 or more, and only with replicas"},
		{SetNX{TTL: time.Second, NoTTL: true}, "setnx: ttl 1s and no-ttl: want one of them"},
		{SetNX{TTLs: map[string]time.Duration{"a": time.Second, "b": 0}}, "setnx: ttl of b 0s: want whole milliseconds, at least 1ms"},
		{SetNX{TTLs: map[string]time.Duration{"a": time.Second}, NoTTL: true}, "setnx: ttls and no-ttl: want one of them"},
		{SetNX{Expire: Separate, NoTTL: true}, "setnx: expire separate and no-ttl: want one of them"},
		{SetNX{Deadline: true, NoTTL: true}, "setnx: deadline and no-ttl: want one of them"},
		{SetNX{Expire: 9}, `setnx: expire 9: want one of atomic, separate`},
		{SetNX{Token: 9}, `setnx: token 9: want one of none, incr, script`},
		{SetNX{Token: ScriptIncr, Expire: Separate}, "setnx: token script: want it without expire separate and without check replica"},
		{SetNX{Token: ScriptIncr, Check: CheckReplica, Replicas: 1}, "setnx: token script: want it without expire separate and without check replica"},
		{SetNX{Check: 9}, `setnx: check 9: want one of none, replica`},
		{SetNX{Check: CheckReplica}, "setnx: check replica: want a replica"},
		{SetNX{Wait: 1}, "setnx: wait 1: want 0 to 0, the number of replicas"},
		{SetNX{Wait: 2, Replicas: 1}, "setnx: wait 2: want 0 to 1, the number of replicas"},
		{SetNX{Wait: -1, Replicas: 1}, "setnx: wait -1: want 0 to 1, the number of replicas"},
		{SetNX{Replicas: -1}, "setnx: replicas -1: want 0 to 98"},
		{SetNX{Replicas: 99}, "setnx: replicas 99: want 0 to 98"},
		{SetNX{MinReplicas: 3, Replicas: 2}, "setnx: min-replicas 3: want 0 to 2, the number of replicas"},
		{SetNX{MinReplicas: -1}, "setnx: min-replicas -1: want 0 to 0, the number of replicas"},
		{SetNX{WaitTimeout: time.Second}, "setnx: wait-timeout 1s: want it only with wait"},
		{SetNX{Wait: 1, Replicas: 1, WaitTimeout: time.Microsecond}, "setnx: wait-timeout 1µs: want whole milliseconds, at least 1ms"},
		{SetNX{Wait: 1, Replicas: 1, WaitTimeout: -1}, "setnx: wait-timeout -1ns: want whole milliseconds, at least 1ms"},
		{Redlock{Token: 9}, `redlock: token 9: want one of none, max, sum, min`},
		{Redlock{TTL: time.Microsecond}, "redlock: ttl 1µs: want whole milliseconds, at least 1ms"},
		{Redlock{Sends: 9}, `redlock: sends 9: want one of one-by-one, parallel`},
		{Redlock{Persistence: 9}, `redlock: persistence 9: want one of none, everysec, always`},
		{Redlock{Nodes: -1}, "redlock: nodes -1: want 1 to 99"},
		{Redlock{Nodes: 100}, "redlock: nodes 100: want 1 to 99"},
		{Redlock{Quorum: 6}, "redlock: quorum 6: want 1 to 5, the number of nodes"},
		{Redlock{Drift: 10 * time.Second}, "redlock: drift 10s: want 0 or more and less than the ttl, 10s"},
		{Redlock{Drift: -1}, "redlock: drift -1ns: want 0 or more and less than the ttl, 10s"},
		{Redlock{Drift: time.Second, NoDrift: true}, "redlock: drift 1s and no-drift: want one of them"},
		{Redlock{Retries: -1}, "redlock: retries -1: want 0 or more"},
		{Redlock{Retries: 1, RetryDelay: -1}, "redlock: retry-delay -1ns: want 0 or more"},
		{Redlock{RetryDelay: time.Second}, "redlock: retry-delay 1s: want it only with retries"},
		{Redlock{FromFirst: true}, "redlock: from-first: want it only with retries"},
		{Redlock{Retries: 1, FromFirst: true, SkipValidity: true}, "redlock: from-first and skip-validity: want one of them"},
		{Redlock{Timeout: time.Second, NoTimeout: true}, "redlock: timeout 1s and no-timeout: want one of them"},
		{Redlock{Order: map[string][]string{"c1": {"r1", "r2", "r9"}}}, `redlock: order of c1: no node "r9": want r1 to r5`},
		{Redlock{Order: map[string][]string{"c1": {"r1", "r2", "r1"}}}, "redlock: order of c1: r1 is there twice"},
		{Redlock{Order: map[string][]string{"c1": {"r1", "r2"}}}, "redlock: order of c1: 2 nodes: want at least the quorum, 3"},
	}
	w := sim.New()
	defer w.Close()
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			w.Reset(sim.Config{})
			l, err := test.system.Open(w)
			require.EqualError(t, err, test.want)
			require.Nil(t, l)
		})
	}
	_, err := Open(w, "mine", Config{Clock: 9})
	require.EqualError(t, err, `redis: clock 9: want one of wall, monotonic`)
}

func TestOptionsAsText(t *testing.T) {
	redlock := Redlock{
		Nodes: 3, TTL: 30 * time.Second, Drift: time.Second, Sends: Parallel, Timeout: 5 * time.Millisecond, Quorum: 2,
		ClientClock: clock.Boottime, Clock: Monotonic, Persistence: EverySec, SkipValidity: true, Cleanup: OnGranted, NoTimeout: true, SetOnExtend: true, Token: SumOfCounters,
		Retries: 3, RetryDelay: time.Second, FromFirst: true,
		Order: map[string][]string{"c2": {"r3", "r2", "r1"}},
	}
	text, err := yaml.Marshal(redlock)
	require.NoError(t, err)
	var again Redlock
	require.NoError(t, yaml.Unmarshal(text, &again), "%s", text)
	require.Equal(t, redlock, again, "%s", text)

	text, err = yaml.Marshal(SetNX{Release: PlainDel})
	require.NoError(t, err)
	require.Equal(t, "release: del\n", string(text))

	ttls := SetNX{TTLs: map[string]time.Duration{"c1": 300 * time.Millisecond}}
	text, err = yaml.Marshal(ttls)
	require.NoError(t, err)
	var s SetNX
	require.NoError(t, yaml.Unmarshal(text, &s), "%s", text)
	require.Equal(t, ttls, s, "%s", text)

	s = SetNX{}
	require.NoError(t, yaml.Unmarshal([]byte("{ttl: 30s, release: get-then-del, persistence: always, replicas: 1, lag: 100ms}"), &s))
	require.Equal(t, SetNX{TTL: 30 * time.Second, Release: GetThenDel, Persistence: Always, Replicas: 1, Lag: 100 * time.Millisecond}, s)
	require.ErrorContains(t, yaml.Unmarshal([]byte("release: eval"), &s), `no way to release "eval": want one of compare, get-then-del, del, lua`)
	require.Equal(t, "(no such option: 9)", Release(9).String())

	more := SetNX{
		NoTTL: true, Expire: Separate, Token: SeparateIncr, Check: CheckReplica, Replicas: 3,
		MinReplicas: 2, Wait: 1, WaitTimeout: 20 * time.Millisecond, Eviction: Volatile, Value: SharedValue, Extend: PlainPExpire,
	}
	text, err = yaml.Marshal(more)
	require.NoError(t, err)
	for _, line := range []string{"no-ttl: true", "expire: separate", "token: incr", "check: replica", "replicas: 3", "min-replicas: 2", "wait: 1", "wait-timeout: 20ms", "eviction: volatile-lru", "value: shared", "extend: pexpire"} {
		require.Contains(t, string(text), line+"\n")
	}
	s = SetNX{}
	require.NoError(t, yaml.Unmarshal(text, &s), "%s", text)
	require.Equal(t, more, s)
	require.ErrorContains(t, yaml.Unmarshal([]byte("expire: lua"), &s), `no way to expire "lua": want one of atomic, separate`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("token: max"), &s), `no token "max": want one of none, incr, script`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("check: all"), &s), `no check "all": want one of none, replica`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("eviction: lru"), &s), `no eviction "lru": want one of noeviction, allkeys-lru, volatile-lru`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("extend: set"), &s), `no way to extend "set": want one of compare, pexpire`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("value: local"), &s), `no value "local": want one of own, shared`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("token: incr"), &again), `no token "incr": want one of none, max, sum, min`)

	for _, zero := range []any{SetNX{}, Redlock{}} {
		text, err := yaml.Marshal(zero)
		require.NoError(t, err)
		require.Equal(t, "{}\n", string(text))
	}
}
