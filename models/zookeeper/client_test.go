package zookeeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models/raft"
	"locksim/sim"
)

// TestNegotiation: a session lasts from 2 to 20 ticks ("Programmer's Guide").
func TestNegotiation(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{sec: 4 * sec, 10 * sec: 10 * sec, 60 * sec: 40 * sec} {
		s := newStage(t, Mutex{Session: asked})
		s.client("c1", 0, func(p *sim.Process, c *client) {
			s.must(p, c, func(o on) any { return getData{o, "/", false} })
			require.Equal(t, want, c.timeout)
		})
		s.run("")
	}
}

// TestPings follow a third of the timeout after the last message to the server. They
// keep a session for as long as its process runs, paused in its first thread or not.
func TestPings(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{})
	session := int64(0)
	s.client("c1", sec, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return getData{o, "/", false} }) // sent at 1.006
		p.Sleep(2 * sec)
		s.must(p, c, func(o on) any { return getData{o, "/", false} }) // sent at 3.008
		session = c.session
	})
	s.run("at 10s  pause c1 thread 50s")
	pings := s.sends("c1", "ping")
	require.Equal(t, []time.Duration{6341 * ms, 9674 * ms, 13007 * ms}, pings[:3])
	require.Len(t, pings, 59, "every 3.333 s to the end, at 200 s")
	require.NotNil(t, s.server("n1").tree.session(session))
}

// TestPauseEndsTheSession: the pings stand still with the process.
func TestPauseEndsTheSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{})
	var first, second int64
	s.client("c1", sec, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return getData{o, "/", false} })
		first = c.session
		p.Sleep(60 * sec)
		s.must(p, c, func(o on) any { return getData{o, "/", false} })
		second = c.session
	})
	s.run("at 5s  pause c1 gc 20s")
	require.Nil(t, s.server("n1").tree.session(first))
	require.NotNil(t, s.server("n1").tree.session(second), "a new one, of which nobody was told")
	require.NotEqual(t, first, second)
}

// TestNextServer: who hears nothing for two thirds of the timeout goes to the next
// server with its session; one that refuses is passed over at once.
func TestNextServer(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{})
	var before, after int64
	s.client("c1", 0, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return getData{o, "/", false} })
		before = c.session
		p.Sleep(20 * sec)
		s.must(p, c, func(o on) any { return getData{o, "/", false} })
		after = c.session
		require.Equal(t, "n3", c.servers[c.at].Name())
	})
	// The pong to its ping of 6.672 came at 6.674. The ping of 10.005 is not answered.
	s.run("at 8s  partition c1|n1\nat 9s  restart n2 kill 1h")
	require.Equal(t, before, after)
	require.Equal(t, []time.Duration{0, 13340 * ms, 13342 * ms}, s.sends("c1", "connect"), "0, 6.674 + 6.666, and when n2 has refused")
}

// TestKilledServer is noticed at once: its machine resets the connections.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{Servers: map[string][]string{"c1": {"n3", "n1"}}})
	s.client("c1", 0, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return getData{o, "/", false} })
		p.Sleep(10 * sec)
		require.Equal(t, "n1", c.servers[c.at].Name())
	})
	s.run("at 5s  restart n3 kill 1s")
	require.Equal(t, 5001*ms, s.sends("c1", "connect")[1])
}

// TestFollowerTellsTheLeader twice a tick of whom it has heard.
func TestFollowerTellsTheLeader(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{Servers: map[string][]string{"c1": {"n2"}}})
	var ends []time.Duration
	look := func() { ends = append(ends, s.server("n1").tracker.expiries[0].at) }
	s.client("c1", 0, func(p *sim.Process, c *client) { s.must(p, c, func(o on) any { return getData{o, "/", false} }) })
	s.w.At(900*ms, look)   // created at 0.006: 12 s
	s.w.At(3900*ms, look)  // told at 1 s of its getData: 12 s
	s.w.At(4000*ms, look)  // pinged at 3.341, told at 4 s
	s.w.At(4002*ms, look)  // 4.001 + 10 s: 16 s
	s.w.At(7500*ms, look)  // pinged at 6.674
	s.w.At(11990*ms, look) // told at 7 and 11 s: 22 s
	s.run("")
	require.Equal(t, []time.Duration{12 * sec, 12 * sec, 12 * sec, 16 * sec, 18 * sec, 22 * sec}, ends)
}

// TestListenKeepsNoSession: it stands for what a real server sends unasked.
func TestListenKeepsNoSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{Session: 11 * sec, Servers: map[string][]string{"c1": {"n2"}}})
	s.client("c1", 0, func(*sim.Process, *client) {})
	var end time.Duration
	s.w.At(3*sec, func() { end = s.server("n1").tracker.expiries[0].at })
	s.run("")
	require.Equal(t, 12*sec, end, "created at 0.006; had the leader been told at 1.001, it were 14 s")
}

// TestWatches fire once, on the server where they were set, and are set anew on the
// next one, which tells what was missed.
func TestWatches(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{Servers: map[string][]string{"c1": {"n1"}, "c2": {"n2", "n3"}}})
	put := func(o on, data string) any { return setData{o, "/a", data, -1} }
	s.client("c1", 0, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return create{on: o, Path: "/a"} })
		p.SleepUntil(0, 5*sec)
		s.must(p, c, func(o on) any { return put(o, "1") })
		s.must(p, c, func(o on) any { return put(o, "2") })
		p.SleepUntil(0, 10500*ms)
		s.must(p, c, func(o on) any { return put(o, "3") })
	})
	var fired []time.Duration
	s.client("c2", 3*sec, func(p *sim.Process, c *client) {
		for range 2 {
			r := s.must(p, c, func(o on) any { return getData{o, "/a", true} })
			p.Wait(&c.watch(watch{data, r.Path}).fired, forever)
			fired = append(fired, s.w.Now())
			p.Sleep(2 * sec)
		}
	})
	// c2's second watch is on n2 since 7 s. n2 is killed, and its first connect to n3 is
	// lost.
	s.run("at 9900ms  partition c2|n3 2s\nat 10s  restart n2 kill 1h")
	require.Len(t, fired, 2)
	require.Equal(t, 5007*ms, fired[0], "sent at 5.000, applied on n1 at 5.005 and on n2 at 5.006")
	require.Equal(t, 16009*ms, fired[1], "half the timeout for n3, a second, 2 hops until n2 has refused, 4 to be let in by n3, 2 for the event")
}

// TestBehind: a server that has not seen what the client has sends it away.
func TestBehind(t *testing.T) {
	t.Parallel()
	s := newSlowStage(t, Mutex{Servers: map[string][]string{"c1": {"n2", "n3", "n1"}}}, map[string][]time.Duration{"n1>n3": {800 * ms}})
	s.client("c1", 0, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return create{on: o, Path: "/a"} })
		p.Sleep(sec)
		require.Equal(t, "n1", c.servers[c.at].Name())
	})
	s.run("at 100ms  restart n2 kill 1h")
	require.Equal(t, []time.Duration{0, 101 * ms, 103 * ms}, s.sends("c1", "connect"), "n3 will know of the node at 0.8 s")
}

// TestSync waits until the server has what was committed; a read without it does not.
func TestSync(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		s := newSlowStage(t, Mutex{Servers: map[string][]string{"c2": {"n3"}}}, map[string][]time.Duration{"n1>n3": {400 * ms}})
		s.client("c1", sec, func(p *sim.Process, c *client) {
			s.must(p, c, func(o on) any { return create{on: o, Path: "/a"} })
		})
		s.client("c2", 0, func(p *sim.Process, c *client) {
			s.must(p, c, func(o on) any { return getData{o, "/", false} })
			p.SleepUntil(0, 1100*ms)
			if first {
				s.must(p, c, func(o on) any { return sync{o} })
			}
			r := s.must(p, c, func(o on) any { return exists{o, "/a", false} })
			require.Equal(t, first, r.Code == ok)
		})
		s.run("")
	}
}

// TestExists leaves a watch for a node that is not there, getData does not.
func TestExists(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{})
	s.client("c1", 0, func(p *sim.Process, c *client) {
		require.Equal(t, noNode, s.must(p, c, func(o on) any { return getData{o, "/a", true} }).Code)
		require.Equal(t, noNode, s.must(p, c, func(o on) any { return exists{o, "/b", true} }).Code)
		w := c.watch(watch{presence, "/b"})
		require.Equal(t, []set{{c.session, watch{presence, "/b"}}}, s.server("n1").watches)
		p.Wait(&w.fired, forever)
		require.Empty(t, s.server("n1").watches)
	})
	s.client("c2", sec, func(p *sim.Process, c *client) {
		s.must(p, c, func(o on) any { return create{on: o, Path: "/b"} })
	})
	s.run("")
}

// TestContainer is deleted at the leader's next look, a minute after the last, and its
// sequence begins anew; a plain node stays.
func TestContainer(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		s := newStage(t, Mutex{Plain: plain})
		s.client("c1", sec, func(p *sim.Process, c *client) {
			names := map[time.Duration]string{}
			for _, at := range []time.Duration{10 * sec, 59 * sec, 61 * sec} {
				p.SleepUntil(0, at)
				r := s.must(p, c, func(o on) any {
					return create{on: o, Path: "/job/lock-", Ephemeral: true, Sequential: true, Parent: true, Container: !plain}
				})
				names[at] = number(r.Path)
				s.must(p, c, func(o on) any { return remove{o, r.Path, -1} })
			}
			last := map[bool]string{false: "0000000000", true: "0000000002"}[plain]
			require.Equal(t, map[time.Duration]string{10 * sec: "0000000000", 59 * sec: "0000000001", 61 * sec: last}, names)
		})
		s.run("")
	}
}

// TestNewLeader lets all sessions begin anew, whatever was left of them.
func TestNewLeader(t *testing.T) {
	t.Parallel()
	s := newStage(t, Mutex{Config: raft.Config{Timeouts: []time.Duration{sec, sec, 3 * sec}}})
	s.client("c1", 0, func(p *sim.Process, c *client) { s.must(p, c, func(o on) any { return getData{o, "/", false} }) })
	var ends time.Duration
	s.w.At(19*sec, func() { ends = s.server("n2").tracker.expiries[0].at })
	s.run("at 1s  pause c1 gc 1h\nat 11500ms  restart n1 kill 1h")
	require.Equal(t, 24*sec, ends, "n2 leads since about 12.5 s: 10 s more, rounded up; with n1 it would have been 12 s")
	require.Empty(t, s.server("n2").tree.sessions)
}
