package consul

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/models/raft"
	"locksim/sim"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// prompt is a group whose messages and disks take no time, and of which n2 succeeds
// n1 1.2 s after it has last heard of it.
var prompt = raft.Config{NoFsync: true, Timeouts: []time.Duration{sec, 1200 * ms, 1400 * ms}}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Lock
		says    string
	}{
		{Lock{TTL: 9999 * ms}, "consul: ttl 9.999s: want 10s to 24h"},
		{Lock{TTL: 24*time.Hour + 1}, "consul: ttl 24h0m0.000000001s: want 10s to 24h"},
		{Lock{Delay: 61 * sec}, "consul: delay 1m1s: want 0s to 60s"},
		{Lock{Delay: -1}, "consul: delay -1ns: want 0s to 60s"},
		{Lock{Delay: sec, NoDelay: true}, "consul: delay 1s and no-delay: want one of them"},
		{Lock{Token: 9}, "consul: token 9: there is none"},
		{Lock{Config: raft.Config{Nodes: 10}}, "consul: raft: nodes 10: want 1 to 9"},
	} {
		w := sim.New()
		w.Reset(sim.Config{})
		_, err := c.options.Open(w)
		require.EqualError(t, err, c.says)
		w.Close()
	}
	o := Lock{}
	require.NoError(t, o.complete())
	require.Equal(t, []time.Duration{15 * sec, 15 * sec}, []time.Duration{o.TTL, o.Delay}, "a delay of 0 is the default (consul#4508)")
	var token Token
	require.EqualError(t, token.UnmarshalText([]byte("index")), `no token "index": want one of none, modify-index, lock-index`)
}

// play lets a client do something to a Consul of which every message takes hop.
func play(t *testing.T, options Lock, hop time.Duration, schedule string, body func(p *sim.Process, l *lock)) {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{Horizon: 10 * time.Minute, Latency: sim.Every(hop)})
	l, err := options.Open(w)
	require.NoError(t, err)
	ended := false
	w.Go("c", func(p *sim.Process) {
		body(p, l.(*lock))
		ended = true
	})
	require.NoError(t, faults.MustParse(schedule).Apply(w))
	require.NoError(t, w.Run())
	require.True(t, ended)
}

// must asks, and fails the test where there is no answer.
func must[R any](t *testing.T, p *sim.Process, l *lock, request any) R {
	r, err := ask[R](p, l, request)
	require.NoError(t, err)
	return r
}

// look is the key called k as it is now.
func look(t *testing.T, p *sim.Process, l *lock) entry {
	return must[entry](t, p, l, get{key: "k", consistent: true})
}

// TestIndexes: a key's LockIndex and ModifyIndex, as real servers have them: acquire
// by the same session is re-entrant, and a plain PUT takes the LockIndex to 0 while
// the key is held (Consul 1.14).
func TestIndexes(t *testing.T) {
	t.Parallel()
	play(t, Lock{}, ms, "", func(p *sim.Process, l *lock) {
		for _, s := range []string{"s1", "s2"} {
			must[bool](t, p, l, create{s, "c", 10 * sec, 0})
		}
		modify := int64(0)
		for i, c := range []struct {
			command put
			came    outcome
			session string
			lock    int64
			changes bool
		}{
			{put{"k", "a", "s1", "c", acquire}, done, "s1", 1, true},
			{put{"k", "a", "s1", "c", acquire}, done, "s1", 1, false},
			{put{"k", "b", "s1", "c", acquire}, done, "s1", 1, true},
			{put{"k", "b", "s2", "c", acquire}, refused, "s1", 1, false},
			{put{"k", "b", "s2", "c", release}, refused, "s1", 1, false},
			{put{"k", "b", "s3", "c", acquire}, invalid, "s1", 1, false},
			{put{"k", "b", "s1", "c", release}, done, "", 1, true},
			{put{"k", "b", "s2", "c", acquire}, done, "s2", 2, true},
			{put{"k", "x", "", "c", plain}, done, "s2", 0, true},
			{put{"k", "x", "s2", "c", release}, done, "", 0, true},
			{put{"k", "x", "s1", "c", acquire}, done, "s1", 1, true},
		} {
			require.Equal(t, c.came, must[outcome](t, p, l, c.command), i)
			k := look(t, p, l)
			require.Equal(t, c.session, k.session, i)
			require.Equal(t, c.lock, k.lock, i)
			require.Equal(t, c.changes, k.modify > modify, i)
			modify = k.modify
		}
	})
}

// TestSessionEnd: a session ends twice its TTL after it was made or renewed last,
// and its key can be acquired when the lock-delay is over, at the instant itself.
func TestSessionEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		renewed, leader time.Duration // when the session is renewed, and who leads from when
		schedule        string
		ends            time.Duration
	}{
		{"never renewed", 0, 0, "", 20 * sec},
		{"renewed", 13 * sec, 0, "", 33 * sec},
		{"a new leader, at 1.9 s + 1.2 s", 0, 0, "at 2s  restart n1 kill 5s", 1900*ms + 1200*ms + 20*sec},
		{"a new leader while the lock-delay is on", 0, 0, "at 21050ms  restart n1 kill 1m", 20 * sec},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, Lock{Config: prompt}, 0, c.schedule, func(p *sim.Process, l *lock) {
				must[bool](t, p, l, create{"s1", "c", 10 * sec, 3 * sec})
				must[outcome](t, p, l, put{"k", "a", "s1", "c", acquire})
				if c.renewed > 0 {
					p.Sleep(c.renewed)
					require.True(t, must[bool](t, p, l, renew{"s1"}))
				}
				k := look(t, p, l)
				k = must[entry](t, p, l, get{key: "k", index: k.modify, wait: time.Hour})
				require.Equal(t, c.ends, p.World().Now())
				require.Empty(t, k.session)
				require.False(t, must[bool](t, p, l, renew{"s1"}))
				must[bool](t, p, l, create{"s2", "c", 10 * sec, 3 * sec})
				p.Sleep(3*sec - 1)
				if _, came := p.World().Now(), must[outcome](t, p, l, put{"k", "a", "s2", "c", acquire}); p.World().Now() < c.ends+3*sec {
					require.Equal(t, refused, came)
				}
				p.Sleep(1)
				require.Equal(t, done, must[outcome](t, p, l, put{"k", "a", "s2", "c", acquire}))
			})
		})
	}
}

// TestNoDelayAfterARelease: a lock-delay is for sessions that end.
func TestNoDelayAfterARelease(t *testing.T) {
	t.Parallel()
	play(t, Lock{}, ms, "", func(p *sim.Process, l *lock) {
		must[bool](t, p, l, create{"s1", "c", 10 * sec, 60 * sec})
		must[bool](t, p, l, create{"s2", "c", 10 * sec, 60 * sec})
		require.Equal(t, done, must[outcome](t, p, l, put{"k", "a", "s1", "c", acquire}))
		require.Equal(t, done, must[outcome](t, p, l, put{"k", "a", "s1", "c", release}))
		require.Equal(t, done, must[outcome](t, p, l, put{"k", "a", "s2", "c", acquire}))
		require.True(t, must[bool](t, p, l, destroy{session: "s2", client: "c"}), "a session that is destroyed is one that ends")
		must[bool](t, p, l, create{"s3", "c", 10 * sec, 0})
		require.Equal(t, refused, must[outcome](t, p, l, put{"k", "a", "s3", "c", acquire}))
	})
}

// TestBlockingQuery: it is answered when the key changes, or when its wait is over,
// or at once where the key has changed before.
func TestBlockingQuery(t *testing.T) {
	t.Parallel()
	play(t, Lock{}, 0, "", func(p *sim.Process, l *lock) {
		must[outcome](t, p, l, put{"k", "a", "", "c", plain})
		k, begun := look(t, p, l), p.World().Now()
		require.Equal(t, k, must[entry](t, p, l, get{key: "k", index: k.modify, wait: 4 * sec}))
		require.Equal(t, begun+4*sec, p.World().Now())
		p.Go("writer", func(q *sim.Process) {
			q.Sleep(sec)
			_, _ = ask[outcome](q, l, put{"k", "b", "", "c", plain})
		})
		next := must[entry](t, p, l, get{key: "k", index: k.modify, wait: time.Hour})
		require.Greater(t, next.modify, k.modify)
		require.Equal(t, begun+5*sec+2*ms, p.World().Now(), "the write, and its fsync")
		must[entry](t, p, l, get{key: "k", index: k.modify, wait: time.Hour})
		require.Equal(t, begun+5*sec+2*ms, p.World().Now())
	})
}

// TestFollowerRedirects: a client that asks a server that does not lead is sent on.
func TestFollowerRedirects(t *testing.T) {
	t.Parallel()
	play(t, Lock{}, ms, "", func(p *sim.Process, l *lock) {
		l.agent("c").at = 2
		must[entry](t, p, l, get{key: "k"})
		require.Equal(t, 4*ms, p.World().Now())
		require.Equal(t, 0, l.agent("c").at)
	})
}

// TestMonitor: the holder of a key whose session somebody ends is told a hop after
// that, long before its next renewal.
func TestMonitor(t *testing.T) {
	t.Parallel()
	play(t, Lock{}, ms, "", func(p *sim.Process, l *lock) {
		g, err := l.Acquire(p, "k")
		require.NoError(t, err)
		told := time.Duration(0)
		g.Session.OnLost = func(p *sim.Process) { told = p.World().Now() }
		p.Sleep(sec)
		must[bool](t, p, l, destroy{session: g.Value, client: "c"})
		require.Equal(t, p.World().Now(), told, "both answers leave the leader when it has applied the command")
	})
}
