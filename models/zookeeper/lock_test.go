package zookeeper_test

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
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// spec is clients on a lock, by their scripts, and what goes wrong.
func spec(system zookeeper.Mutex, schedule string, scripts ...string) trial.Spec {
	s := trial.Spec{System: system, Schedule: faults.MustParse(schedule), Latency: sim.Every(ms), Horizon: 90 * sec}
	s.Cast.Resources = []models.Resource{resource.Plain("doc")}
	for i, script := range scripts {
		s.Cast.Clients = append(s.Cast.Clients, trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript(script)})
	}
	return s
}

// returns are the returns of a client's operations of one kind.
func returns(r *trial.Result, who string, verb history.Verb) (list []history.Event) {
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Who == who && e.Verb == verb {
			list = append(list, e)
		}
	}
	return list
}

// granted is when a client got the lock first.
func granted(r *trial.Result, who string) history.Event {
	for _, e := range returns(r, who, history.Acquire) {
		if e.Outcome == history.OK {
			return e
		}
	}
	return history.Event{}
}

// TestRealHolderStopped: with a session of 1 s and ticks of 200 ms, on a real ensemble
// the waiter had the lock 0.94 to 1.00 s after the holder was stopped. By the rules it
// is the rest of the timeout since the last ping, rounded up to a tick: 0.667 to 1.2
// s, and 7 ms until the waiter knows.
func TestRealHolderStopped(t *testing.T) {
	t.Parallel()
	measured := 0
	for stopped := 5 * sec; stopped < 5400*ms; stopped += 10 * ms {
		r, err := trial.Run(spec(zookeeper.Mutex{Tick: 200 * ms, Session: sec}, "at "+stopped.String()+"  pause c1 gc 10s",
			"acquire; work 20s; release", "until 2s; acquire; release"))
		require.NoError(t, err)
		after := returns(&r, "c2", history.Acquire)[0].At - stopped
		require.Greater(t, after, 667*ms)
		require.LessOrEqual(t, after, 1207*ms)
		if 940*ms <= after && after <= 1000*ms {
			measured++
		}
	}
	require.Positive(t, measured)
}

// TestRealHolderComesBack: the client learns that its session has expired, and has
// silently another; its writes succeed, its release finds no node.
func TestRealHolderComesBack(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{Tick: 200 * ms, Session: sec, Recipe: zookeeper.GoZookeeper}, "at 5s  pause c1 gc 10s",
		"acquire; work 12s; write doc; work 1s; release; acquire; write doc; release", "until 2s; acquire; work 1s; write doc; release"))
	require.Equal(t, history.NotHeld, returns(&r, "c1", history.Release)[0].Outcome)
	require.Equal(t, history.OK, returns(&r, "c1", history.Release)[1].Outcome)
	var accepted []string
	for _, e := range r.History.Events {
		if e.Kind == history.Write && e.Outcome == history.OK {
			accepted = append(accepted, e.Peer)
		}
	}
	require.Equal(t, []string{"c2", "c1", "c1"}, accepted)
	require.Equal(t, check.Kept, r.Promise.Status)
}

// TestRealLeaderKilled: same session, lock kept, zxids rise from holder to holder.
// Writes were back after 1 s; here after 1 to 2 s, since nobody notices the kill but
// by the leader's silence.
func TestRealLeaderKilled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := spec(zookeeper.Mutex{}, "at 5s  restart n1 kill 10s", "acquire; work 20s; release", "until 5010ms; acquire; release", "until 5020ms; acquire; release")
		s.Seed = seed
		r, err := trial.Run(s)
		require.NoError(t, err)
		require.Equal(t, check.Kept, r.Promise.Status)
		require.Equal(t, check.Exclusive, r.Belief.Status)
		require.Equal(t, history.OK, returns(&r, "c1", history.Release)[0].Outcome)
		first, second, third := granted(&r, "c1"), granted(&r, "c2"), granted(&r, "c3")
		require.Greater(t, second.At, 20*sec)
		require.Greater(t, second.Token, first.Token)
		require.Greater(t, third.Token, second.Token)
		require.Equal(t, check.OK, r.Progress.Status)
	}
}

// TestRealClockJump: no session expires when the wall clocks of all servers jump, nor
// does one last longer for that.
func TestRealClockJump(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{}, "at 5s  clock-step n1 +1h\nat 5s  clock-step n2 +1h\nat 5s  clock-step n3 +1h",
		"acquire; work 30s; release", "until 2s; acquire; release"))
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.Greater(t, granted(&r, "c2").At, 30*sec)
	r = trial.Test(t, spec(zookeeper.Mutex{}, "at 1s  clock-step n1 +1h\nat 5s  pause c1 gc 1m", "acquire; work 30s; release", "until 2s; acquire; release"))
	require.Equal(t, 14007*ms, granted(&r, "c2").At, "c1 pinged at 3.345")
}

// TestStop: what a holder does that is cut off from all servers at 5 s. It asked last
// at 0.012 and pinged at 3.345, and has heard last at 3.347: it takes the connection
// for lost at 10.013, and the session, by Curator's estimate, at 20.013. The leader has
// heard of it at 3.346 and ends the session at 14 s.
func TestStop(t *testing.T) {
	t.Parallel()
	for stop, want := range map[zookeeper.Stop]time.Duration{zookeeper.Never: 60 * sec, zookeeper.Suspended: 10013 * ms, zookeeper.Lost: 20013 * ms} {
		r := trial.Test(t, spec(zookeeper.Mutex{Stop: stop}, "at 5s  partition c1|n1,n2,n3", "acquire; work 59986ms; release", "until 2s; acquire; release"))
		var ends []time.Duration
		for _, e := range r.History.Events {
			if e.Kind == history.Doubt && e.Who == "c1" {
				ends = append(ends, e.At)
			}
		}
		require.Equal(t, []time.Duration{want}, ends)
		require.Equal(t, check.Kept, r.Promise.Status)
		require.Equal(t, 14007*ms, granted(&r, "c2").At)
	}
}

// TestToldOfTheLoss: a client that listens is told when it is back, and by then it is
// true.
func TestToldOfTheLoss(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{Stop: zookeeper.Lost}, "at 5s  pause c1 gc 20s", "acquire; work 1h; release", "until 2s; acquire; work 1h; release"))
	require.Equal(t, check.Kept, r.Promise.Status)
	notice := returns(&r, "c1", history.Extend)
	last := notice[len(notice)-1]
	require.Equal(t, history.NotHeld, last.Outcome)
	require.Equal(t, 25004*ms, last.At, "it connects to n2 when it goes on, which asks the leader")
}

// TestClosing: a session whose end has been proposed is not let in any more. c1 has
// pinged at 3.345, the leader ends its session at 14.000 and is asked by n2 at 14.001,
// three milliseconds before that is committed.
func TestClosing(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{Stop: zookeeper.Lost}, "at 5s  pause c1 gc 8999ms", "acquire; work 1h; release"))
	notice := returns(&r, "c1", history.Extend)
	require.Equal(t, 14003*ms, notice[len(notice)-1].At)
	require.Equal(t, history.NotHeld, notice[len(notice)-1].Outcome)
}

// TestUnreadyLeader: who has been elected, and has not yet committed an entry of its
// own, does not know all sessions: it says nothing, and is asked again. n2 is elected
// at 5.998 and leads at 6.002; n3 asks it at 6.000, and at 7.000.
func TestUnreadyLeader(t *testing.T) {
	t.Parallel()
	system := zookeeper.Mutex{
		Config: raft.Config{Timeouts: []time.Duration{sec, 1089 * ms, 3 * sec}}, Stop: zookeeper.Lost,
		Servers: map[string][]string{"c1": {"n1", "n3"}},
	}
	r := trial.Test(t, spec(system, "at 5s  restart n1 kill 1h", "acquire; work 20s; release"))
	require.Equal(t, history.OK, returns(&r, "c1", history.Release)[0].Outcome)
	var told []time.Duration
	for _, e := range r.History.Events {
		if e.Kind == history.Elected && e.Who == "n2" {
			require.Equal(t, 5998*ms, e.At)
		}
		if e.Kind == history.Send && e.Verb == history.Reply && e.Who == "n3" {
			told = append(told, e.At)
		}
	}
	require.Equal(t, 7002*ms, told[0])
}

// TestEventTwice: the event is late, and comes first with the answer to a ping.
func TestEventTwice(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{}, "at 2018ms  delay n1>c2 5s", "acquire; work 2s; release", "until 1s; acquire; work 20s; release"))
	require.Equal(t, 4351*ms, granted(&r, "c2").At, "it listed at 1.014, and pinged at 4.347")
	require.Equal(t, history.OK, returns(&r, "c2", history.Release)[0].Outcome)
}

// TestGuaranteedDelete: all servers are down when the holder releases, and its session
// outlives that. Curator gives up after three more attempts and deletes the node once
// it is connected again; in go-zookeeper it stays for as long as the session.
func TestGuaranteedDelete(t *testing.T) {
	t.Parallel()
	for recipe, want := range map[zookeeper.Recipe]check.Status{zookeeper.Curator: check.OK, zookeeper.GoZookeeper: check.Stalled} {
		r := trial.Test(t, spec(zookeeper.Mutex{Recipe: recipe}, "at 3s  restart n1 kill 5s\nat 3s  restart n2 kill 5s\nat 3s  restart n3 kill 5s",
			"acquire; work 3500ms; release; work 1h", "until 12s; acquire; release"))
		released := returns(&r, "c1", history.Release)[0]
		require.Equal(t, history.Unknown, released.Outcome)
		require.Less(t, released.At, 8*sec)
		require.Equal(t, want, r.Progress.Status)
	}
}

// TestLostReplyToRelease: the node is deleted, and the answer is lost. That it is gone,
// when Curator asks again, does not say that it was lost before.
func TestLostReplyToRelease(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{}, "before c1.release#1  cut n1>c1", "acquire; work 1s; release", "until 500ms; acquire; release"))
	require.Equal(t, history.Unknown, returns(&r, "c1", history.Release)[0].Outcome)
	require.Less(t, granted(&r, "c2").At, 1100*ms)
	require.Equal(t, check.Kept, r.Promise.Status)
}

// TestLatePing: a ping that is overtaken by the release of the lock renews nothing.
func TestLatePing(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, spec(zookeeper.Mutex{}, "before c1/zookeeper.send#2  delay c1>n1 50ms", "acquire; work 3340ms; release; work 1s", "until 1s; acquire; release"))
	require.Equal(t, history.Unknown, returns(&r, "c1", history.Extend)[0].Outcome)
	require.Equal(t, check.Kept, r.Promise.Status)
}

// TestHerd is S45: a hundred waiters that came one after another. Each release wakes
// the next one alone; or with a watch on the lock's node all that still wait, as each
// arrival did before: 5050, and 4950.
func TestHerd(t *testing.T) {
	t.Parallel()
	for watch, want := range map[zookeeper.Watch]int{zookeeper.Predecessor: 100, zookeeper.Parent: 5050 + 4950} {
		scripts := []string{"acquire; work 15s; release"}
		for i := range 100 {
			scripts = append(scripts, fmt.Sprintf("until %dms; acquire; work 50ms; release", 100*(i+1)))
		}
		r, err := trial.Run(spec(zookeeper.Mutex{Watch: watch, Session: 40 * sec}, "", scripts...))
		require.NoError(t, err)
		woken, before := 0, 0
		for _, e := range r.History.Events {
			if e.Kind == history.Send && e.Verb == history.Reply && e.Value == "event" {
				woken++
				if e.At < 15*sec {
					before++
				}
			}
		}
		require.Equal(t, want, woken)
		if watch == zookeeper.Parent {
			require.Equal(t, 4950, before)
		}
		require.Equal(t, check.OK, r.Progress.Status)
	}
}

// TestPingOfASessionThatEnds: c1 is back at 4.667 with a ping to send at 5.999. It
// arrives at 6, when the leader has just begun to end the session: it is not answered, or
// c1 would have its word until 9.997.
func TestPingOfASessionThatEnds(t *testing.T) {
	t.Parallel()
	system := zookeeper.Mutex{Session: 4 * sec, Servers: map[string][]string{"c1": {"n1"}, "c2": {"n1"}, "c3": {"n1"}}}
	s := spec(system, "at 0ms pause c1 thread 1ms\nat 13ms pause c1 suspend 4654ms", loops...)
	r := trial.Test(t, s)
	require.Equal(t, check.Kept, r.Promise.Status, r.Promise.Breaches)
}

// clean is what goes wrong with clients, and with servers that the clients are not
// connected to.
func clean(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 4).Draw(t, "faults") {
		c := rapid.SampledFrom([]string{"c1", "c2", "c3"}).Draw(t, "client")
		n := rapid.SampledFrom([]string{"n2", "n3"}).Draw(t, "server")
		at, size := rapid.IntRange(0, 30_000).Draw(t, "at"), rapid.IntRange(1, 20_000).Draw(t, "for")
		fmt.Fprintf(&b, "at %dms %s %dms\n", at, rapid.SampledFrom([]string{
			"pause " + c + " gc", "pause " + c + " thread", "pause " + c + " suspend", "pause " + c + " loop",
			"partition " + c + "|n1", "cut " + c + ">n1", "cut n1>" + c, "restart " + n + " power-loss", "partition " + n + "|n1", "pause " + n + " gc",
		}).Draw(t, "what"), size)
	}
	return b.String()
}

var loops = []string{
	"acquire; work 3s; write doc; release; acquire; work 1s; write doc; release",
	"until 1s; acquire; work 2s; write doc; release; acquire; work 5s; write doc; release",
	"until 2s; acquire; work 1s; write doc; release; acquire; work 1s; write doc; release",
}

// TestPromiseIsKept whatever happens to clients and followers, as long as the clients
// are connected to the leader, and it leads: two pauses of followers or partitions at
// once may end that.
func TestPromiseIsKept(t *testing.T) {
	t.Parallel()
	runner := trial.NewRunner()
	defer runner.Close()
	rapid.Check(t, func(t *rapid.T) {
		system := zookeeper.Mutex{
			Session: 4 * sec,
			Stop:    rapid.SampledFrom([]zookeeper.Stop{zookeeper.Never, zookeeper.Lost, zookeeper.Suspended}).Draw(t, "stop"),
			Servers: map[string][]string{"c1": {"n1"}, "c2": {"n1"}, "c3": {"n1"}},
			Recipe:  rapid.SampledFrom([]zookeeper.Recipe{zookeeper.Curator, zookeeper.GoZookeeper, zookeeper.WithoutGUID}).Draw(t, "recipe"),
			Watch:   rapid.SampledFrom([]zookeeper.Watch{zookeeper.Predecessor, zookeeper.Parent}).Draw(t, "watch"),
		}
		s := spec(system, clean(t), loops...)
		r, err := runner.Run(&s)
		require.NoError(t, err)
		for _, e := range r.History.Events {
			if e.Kind == history.SteppedDown {
				return
			}
		}
		require.Equal(t, check.Kept, r.Promise.Status, "%+v", r.Promise.Breaches)
	})
}

// TestTokensRise whatever happens, in the order of the grants: by the zxid, and by the
// sequence number as long as the lock's node stays.
func TestTokensRise(t *testing.T) {
	t.Parallel()
	runner := trial.NewRunner()
	defer runner.Close()
	rapid.Check(t, func(t *rapid.T) {
		system := zookeeper.Mutex{
			Session: 4 * sec, Plain: true,
			Token:  rapid.SampledFrom([]zookeeper.Token{zookeeper.Zxid, zookeeper.Sequence}).Draw(t, "token"),
			Recipe: rapid.SampledFrom([]zookeeper.Recipe{zookeeper.Curator, zookeeper.GoZookeeper, zookeeper.WithoutGUID}).Draw(t, "recipe"),
		}
		lines := clean(t)
		for range rapid.IntRange(0, 2).Draw(t, "crashes") {
			lines += fmt.Sprintf("at %dms restart n1 power-loss %dms\n", rapid.IntRange(0, 30_000).Draw(t, "at"), rapid.IntRange(1, 10_000).Draw(t, "for"))
		}
		s := spec(system, lines, loops...)
		s.Seed = rapid.Uint64().Draw(t, "seed")
		r, err := runner.Run(&s)
		require.NoError(t, err)
		tokens := map[int64]bool{}
		for _, b := range r.Promise.Breaches {
			require.NotEqual(t, check.TokenOrder, b.Kind, b.Cause)
		}
		for _, e := range r.History.Events {
			if e.Kind == history.Return && e.Verb == history.Acquire && e.Outcome == history.OK {
				require.False(t, tokens[e.Token], "token %d twice", e.Token)
				tokens[e.Token] = true
			}
		}
	})
}

// TestHundredGrants is S14: a hundred grants while one leader after another crashes, and
// no token is less than the one before.
func TestHundredGrants(t *testing.T) {
	t.Parallel()
	script := strings.TrimSuffix(strings.Repeat("acquire; work 200ms; release; ", 10), "; ")
	var scripts []string
	for range 10 {
		scripts = append(scripts, script)
	}
	for _, token := range []zookeeper.Token{zookeeper.Zxid, zookeeper.Sequence} {
		r := trial.Test(t, spec(zookeeper.Mutex{Token: token}, "at 4s restart n1 power-loss 3s\nat 12s restart n2 kill 3s\nat 20s restart n3 kill 3s\nat 28s restart n1 kill 3s", scripts...))
		last, grants := int64(0), 0
		for _, e := range r.History.Events {
			if e.Kind == history.Return && e.Verb == history.Acquire && e.Outcome == history.OK {
				require.Greater(t, e.Token, last)
				last = e.Token
				grants++
			}
		}
		require.Equal(t, 100, grants)
		require.Equal(t, check.Kept, r.Promise.Status)
	}
}

// TestSameRunAgain, with everything going wrong, in a world of its own and in one that
// had others.
func TestSameRunAgain(t *testing.T) {
	t.Parallel()
	kept := trial.NewRunner()
	defer kept.Close()
	for seed := range uint64(10) {
		s := spec(zookeeper.Mutex{Session: 4 * sec, Stop: zookeeper.Lost},
			"at 3s restart n1 kill 5s\nat 4s pause c1 gc 9s\nat 12s partition n2|n1,n3 6s\nat 20s cut c2>n1,n2,n3 5s\nat 21s pause n3 suspend 4s", loops...)
		s.Seed, s.Latency.Default = seed, []time.Duration{ms, 3 * ms, 7 * ms}
		a := trial.Test(t, s)
		b, err := kept.Run(&s)
		require.NoError(t, err)
		require.Equal(t, a.TraceSHA256(), b.TraceSHA256())
	}
}

// TestOptions says what is wrong with them.
func TestOptions(t *testing.T) {
	t.Parallel()
	for says, o := range map[string]zookeeper.Mutex{
		"tick 3ms: want a multiple of 2ms, from 2ms to 1h":          {Tick: 3 * ms},
		"session 1ns: want whole milliseconds, at least 1ms":        {Session: 1},
		"recipe 9: want one of curator, go-zookeeper, without-guid": {Recipe: 9},
		"watch 9: want one of predecessor, parent":                  {Watch: 9},
		"stop 9: want one of never, lost, suspended":                {Stop: 9},
		"token 9: want one of zxid, sequence, random":               {Token: 9},
		"servers of c1: there is none":                              {Servers: map[string][]string{"c1": {}}},
		`servers of c1: no server "n4": want n1 to n3`:              {Servers: map[string][]string{"c1": {"n4"}}},
		"nodes 10: want 1 to 9":                                     {Config: raft.Config{Nodes: 10}},
	} {
		_, err := trial.Run(spec(o, "", "acquire; release"))
		require.ErrorContains(t, err, "zookeeper: "+says)
	}
}
