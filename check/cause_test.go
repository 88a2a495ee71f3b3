package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// crossed is the plain double grant: c1 holds r1, r2, r3 until 9.898, and c2 is
// granted the lock on r3, r4, r5 at 2.01; between happens in between.
func crossed(between func(t *tape)) *tape {
	t := newTape()
	t.granted(0, .01, "c1", 1, 9.898, value("v1"), standing("r1,r2,r3"))
	between(t)
	t.granted(2, 2.01, "c2", 2, 11.898, value("v2"), standing("r3,r4,r5"))
	return t
}

func TestCauseOfDoubleGrant(t *testing.T) {
	const tail = "; c2's grant at 2.010 needed it; c1's term ran to 9.898"
	for _, c := range []struct {
		name    string
		between func(t *tape)
		cause   string
		blame   Blame
		who     string
	}{
		{"nothing known", func(*tape) {}, "c2 was granted the lock at 2.010 while c1's term ran to 9.898", Service, ""},
		{"restart", func(t *tape) {
			t.fault(.5, "r3", "restart r3", "restarted empty")
			t.freed(.5, "r3", "v1", history.FreedRestart, "")
		}, "r3 restarted empty at 0.500" + tail, Service, "r3"},
		{"restart without a fault", func(t *tape) { t.freed(.5, "r3", "v1", history.FreedRestart, "") },
			"r3 restarted empty at 0.500" + tail, Service, "r3"},
		{"clock", func(t *tape) {
			t.fault(.5, "r3", "clock-step r3 +11s", "stepped +11s")
			t.freed(.75, "r3", "v1", history.FreedExpired, "")
		}, "r3's clock stepped +11s at 0.500 and it freed c1's key" + tail, Service, "r3"},
		{"expired by itself", func(t *tape) { t.freed(.75, "r3", "v1", history.FreedExpired, "") },
			"r3 freed c1's key at 0.750" + tail, Service, "r3"},
		{"failover", func(t *tape) {
			t.fault(.5, "r2", "failover r2>r3", "")
			t.freed(.5, "r3", "v1", history.FreedFailover, "")
		}, "r3 was promoted without it at 0.500" + tail, Service, "r3"},
		{"failover in the fault's own words", func(t *tape) {
			t.fault(.5, "r3", "failover r2>r3", "took over with an empty log")
			t.freed(.5, "r3", "v1", history.FreedFailover, "")
		}, "r3 took over with an empty log at 0.500" + tail, Service, "r3"},
		{"evicted", func(t *tape) { t.freed(.5, "r3", "v1", history.FreedEvicted, "") },
			"r3 evicted c1's key at 0.500" + tail, Service, "r3"},
		{"outdated", func(t *tape) { t.freed(.5, "r3", "v1", history.FreedOutdated, "c3") },
			"r3 dropped c1's write at 0.500: c3's bears a greater timestamp" + tail, Service, "r3"},
		{"deleted", func(t *tape) {
			t.sent(1, "c3", "r3", "DEL")
			t.freed(1.001, "r3", "v1", history.FreedDeleted, "c3")
		}, "c3's DEL at 1.001 deleted c1's key on r3" + tail, Holder, "c3"},
		{"overwritten", func(t *tape) {
			t.sent(1, "c2", "r3", "SET")
			t.freed(1.001, "r3", "v1", history.FreedOverwritten, "c2")
		}, "c2's SET at 1.001 overwrote c1's key on r3" + tail, Recipe, "c2"},
		{"deleted by a request without a name", func(t *tape) { t.freed(1, "r3", "v1", history.FreedDeleted, "c3") },
			"c3's request at 1.000 deleted c1's key on r3" + tail, Holder, "c3"},
		{"the node that both stand on is preferred", func(t *tape) {
			t.freed(.4, "r1", "v1", history.FreedEvicted, "")
			t.freed(.5, "r3", "v1", history.FreedRestart, "")
			t.freed(.6, "r4", "v1", history.FreedEvicted, "")
		}, "r3 restarted empty at 0.500" + tail, Service, "r3"},
		{"any node will do", func(t *tape) { t.freed(.4, "r1", "v1", history.FreedEvicted, "") },
			"r1 evicted c1's key at 0.400; c2's grant at 2.010 followed; c1's term ran to 9.898", Service, "r1"},
		{"another's key is not it", func(t *tape) { t.freed(.4, "r3", "v9", history.FreedEvicted, "") },
			"c2 was granted the lock at 2.010 while c1's term ran to 9.898", Service, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Verdict(&crossed(c.between).h).Promise
			require.Equal(t, Broken, p.Status)
			require.Equal(t, []Breach{{
				Kind: DoubleGrant, Lock: "doc", At: sec(2.01), Early: sec(7.888), Cause: c.cause, Blame: c.blame, Who: c.who,
			}}, p.Breaches)
		})
	}
}

// breachOf is the only breach of t.
func breachOf(t *testing.T, tp *tape) Breach {
	t.Helper()
	p := Verdict(&tp.h).Promise
	require.Len(t, p.Breaches, 1)
	return p.Breaches[0]
}

func TestCauseOfDoubleGrantWithoutATerm(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 0)
	tp.h.Events[1].Until, tp.h.Events[1].Delay = history.Forever, sec(1)
	tp.granted(2, 3, "c2", 2, 12)
	tp.end(9, "c2", "")
	b := breachOf(t, tp)
	require.Equal(t, "c2 was granted the lock at 3.000 while c1's term had no end", b.Cause)
	require.Zero(t, b.Early, "there is no end to count from")
}

func TestCauseOfDoubleGrantWithinTheLockDelay(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10, func(e *history.Event) { e.Delay = sec(15) })
	tp.granted(12, 12.5, "c2", 2, 22)
	b := breachOf(t, tp)
	require.Equal(t, "c2 was granted the lock at 12.500 while c1's lock-delay ran to 25.000", b.Cause)
	require.Equal(t, sec(12.5), b.Early)
}

func TestCauseOfConfirmedAfterLoss(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10)
	tp.call(9.99, "c1", history.Extend, 1)
	tp.granted(10.001, 10.002, "c2", 2, 20)
	tp.call(10.005, "c1", history.Release, 1)
	tp.ret(10.006, "c1", history.OK)
	b := breachOf(t, tp)
	require.Equal(t, ConfirmedAfterLoss, b.Kind)
	require.Equal(t, "c1's release was confirmed at 10.006, after its loss: its term had ended at 10.000 and c2 was granted the lock at 10.002", b.Cause)
	require.Equal(t, sec(10.006), b.At)
	require.Zero(t, b.Early)
	require.Equal(t, Service, b.Blame)
}

// A release whose outcome nobody knows may have let the other in: nothing was
// granted early, and the second release is what cannot be.
func TestCauseOfConfirmedAfterAnUnknownRelease(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10)
	tp.call(3, "c1", history.Release, 1)
	tp.ret(3.5, "c1", history.Unknown)
	tp.granted(5, 5.01, "c2", 2, 15)
	tp.call(7, "c1", history.Release, 1)
	tp.ret(7.01, "c1", history.OK)
	b := breachOf(t, tp)
	require.Equal(t, ConfirmedAfterLoss, b.Kind)
	require.Equal(t, "c1's release was confirmed at 7.010, after its loss: its lock had been given up or cut off at 3.000 and c2 was granted the lock at 5.010", b.Cause)
	require.Zero(t, b.Early)
}

func TestCauseOfAGrantSqueezedIn(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 20)
	tp.granted(2, 14, "c2", 2, 10)
	b := breachOf(t, tp)
	require.Equal(t, "c2 was told at 14.000 that it holds the lock, which was never free since it asked: c1 was granted it at 1.000", b.Cause)
}

func TestCauseOfMisconfirmation(t *testing.T) {
	never, early, twice := newTape(), newTape(), newTape()
	never.call(0, "c1", history.Acquire, 1)
	never.ret(1, "c1", history.Refused)
	never.call(2, "c1", history.Release, 1)
	never.ret(3, "c1", history.OK)
	early.call(0, "c1", history.Extend, 1)
	early.ret(1, "c1", history.OK, promise(9))
	early.granted(2, 3, "c1", 1, 12)
	twice.granted(0, 1, "c1", 1, 12)
	for range 2 {
		twice.call(2, "c1", history.Release, 1)
		twice.ret(3, "c1", history.OK)
	}
	twice.h.Events[5].At = sec(3)
	require.Equal(t, "c1's release was confirmed at 3.000, though it had never been granted", breachOf(t, never).Cause)
	require.Equal(t, "c1's extension was confirmed at 1.000, though it had not yet asked for the lock", breachOf(t, early).Cause)
	require.Equal(t, "c1's release was confirmed at 3.000, though it had released the lock already", breachOf(t, twice).Cause)
}

func TestCauseOfLostLease(t *testing.T) {
	lost := func(between func(*tape)) *tape {
		tp := newTape()
		tp.granted(0, .01, "c1", 1, 10, value("v1"))
		between(tp)
		tp.call(6, "c1", history.Extend, 1)
		tp.ret(6.5, "c1", history.NotHeld)
		return tp
	}
	b := breachOf(t, lost(func(tp *tape) { tp.freed(5, "r1", "v1", history.FreedRestart, "") }))
	require.Equal(t, Breach{
		Kind: LostLease, Lock: "doc", At: sec(6.5), Early: sec(3.5), Blame: Service, Who: "r1",
		Cause: "r1 restarted empty at 5.000; c1 was told at 6.500 that it does not hold the lock; c1's term ran to 10.000",
	}, b)
	b = breachOf(t, lost(func(*tape) {}))
	require.Equal(t, "c1 was told at 6.500 that it does not hold the lock; c1's term ran to 10.000", b.Cause)
	require.Equal(t, Service, b.Blame)
}

// H13: a client that takes its lock for lost, and has not heard of anybody since it was
// granted, has that from its own library.
func TestALossThatNobodyToldBlamesTheRecipe(t *testing.T) {
	const own = "c1 told itself at 6.000 that it does not hold the lock, when no message had reached it since its grant; c1's term ran to 10.000"
	const told = "c1 was told at 6.000 that it does not hold the lock; c1's term ran to 10.000"
	for _, c := range []struct {
		name     string
		arrivals []float64
		to       string
		cause    string
		blame    Blame
		who      string
	}{
		{"with the grant", []float64{1}, "c1", own, Recipe, "c1"},
		{"with the grant, and later than the loss", []float64{1, 7}, "c1", own, Recipe, "c1"},
		{"since the grant", []float64{1, 5}, "c1", told, Service, ""},
		{"at the loss", []float64{1, 6}, "c1", told, Service, ""},
		{"to another", []float64{1}, "c2", told, Service, ""},
		{"none at all", nil, "", told, Service, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := newTape()
			tp.call(0, "c1", history.Acquire, 1)
			for _, at := range c.arrivals {
				tp.on(.5, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: c.to, Until: sec(at)})
			}
			tp.ret(1, "c1", history.OK, promise(10))
			tp.call(6, "c1", history.Extend, 1)
			tp.ret(6, "c1", history.NotHeld)
			b := breachOf(t, tp)
			require.Equal(t, []any{LostLease, c.cause, c.blame, c.who}, []any{b.Kind, b.Cause, b.Blame, b.Who})
		})
	}
}

// H13: the same, where an extension has told it since that it holds the lock.
func TestALossThatNobodyToldSinceAnExtension(t *testing.T) {
	for _, c := range []struct {
		arrives float64
		blame   Blame
	}{{5, Recipe}, {5.5, Service}, {6, Service}, {6.5, Recipe}} {
		tp := newTape()
		tp.granted(0, 1, "c1", 1, 10)
		tp.call(4, "c1", history.Extend, 1)
		for _, at := range []float64{5, c.arrives} {
			tp.on(4.5, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1", Until: sec(at)})
		}
		tp.ret(5, "c1", history.OK, promise(14))
		tp.call(6, "c1", history.Extend, 1)
		tp.ret(6, "c1", history.NotHeld)
		b := breachOf(t, tp)
		require.Equal(t, c.blame, b.Blame, c.arrives)
		if c.blame == Recipe {
			require.Contains(t, b.Cause, "when no message had reached it since its extension; c1's term ran to 14.000")
		}
	}
}

func TestCauseOfTokenOrder(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10, token(34))
	tp.granted(11, 11.01, "c2", 2, 21, token(33))
	b := breachOf(t, tp)
	require.Equal(t, "c2's grant at 11.010 has token 33, not greater than the 34 of c1's earlier grant at 0.010", b.Cause)
	require.Equal(t, Service, b.Blame)
}

// A counter that is lost with the lock: the token comes again, and both are facts.
func TestATokenThatComesAgainWithTheLock(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10, token(1), value("v1"))
	tp.freed(1, "r1", "v1", history.FreedRestart, "")
	tp.granted(2, 2.01, "c2", 2, 12, token(1), value("v2"))
	p := Verdict(&tp.h).Promise
	require.Equal(t, []string{DoubleGrant, TokenOrder}, kinds(p))
	require.Equal(t, Breach{
		Kind: TokenOrder, Lock: "doc", At: sec(2.01), Blame: Service, Who: "r1",
		Cause: "r1 restarted empty at 1.000; c2's grant at 2.010 has token 1, not greater than the 1 of c1's earlier grant at 0.010",
	}, p.Breaches[1])
}

// SET NX, a pause, and then a separate INCR: the token's order is the recipe's.
func TestTokenFetchedApartBlamesTheRecipe(t *testing.T) {
	tp := newTape()
	tp.call(0, "c1", history.Acquire, 1)
	tp.sent(0, "c1", "r1", "SET")
	decided := tp.on(.001, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1"})
	tp.granted(.35, .351, "c2", 2, .65, token(1))
	tp.sent(.6, "c1", "r1", "INCR")
	tp.ret(.601, "c1", history.OK, promise(.3), token(2), func(e *history.Event) { e.Decided = int32(decided) })
	b := breachOf(t, tp)
	require.Equal(t, TokenOrder, b.Kind)
	require.Equal(t, "c2's grant at 0.351 has token 1, not greater than the 2 of c1's earlier grant at 0.001; "+
		"c1 fetched its token with INCR at 0.600, after its grant", b.Cause)
	require.Equal(t, Recipe, b.Blame)
	require.Equal(t, "c1", b.Who)
}

func TestCauseOfStaleRead(t *testing.T) {
	read := func(named int32) *tape {
		tp := newTape()
		tp.granted(0, 1, "c1", 1, 10)
		if named != 0 {
			tp.call(2, "c1", history.Release, 1)
			tp.ret(3, "c1", history.OK)
			tp.granted(4, 5, "c2", 2, 14)
		}
		tp.call(6, "c3", history.Read, 0)
		tp.ret(7, "c3", history.OK, func(e *history.Event) { e.Grant = named })
		return tp
	}
	b := breachOf(t, read(0))
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c3's read at 7.000 found no holder, though c1 held the lock from 1.000 on", b.Cause)
	b = breachOf(t, read(1))
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c3's read at 7.000 named c1 as the holder, by its grant of 1.000, which it had released already", b.Cause)
}

// What a read does not find was ended by somebody: that is who is to blame.
func TestStaleReadBlamesWhatEndedTheLease(t *testing.T) {
	const tail = "; c3's read at 7.000 found no holder, though c1 held the lock from 1.000 on"
	for name, c := range map[string]struct {
		strike func(*tape)
		cause  string
		blame  Blame
		who    string
	}{
		"deleted": {func(tp *tape) {
			tp.sent(4, "c2", "r1", "DEL")
			tp.freed(5, "r1", "v1", history.FreedDeleted, "c2")
		}, "c2's DEL at 5.000 deleted c1's key on r1" + tail, Holder, "c2"},
		"restart":  {func(tp *tape) { tp.freed(5, "r1", "v1", history.FreedRestart, "") }, "r1 restarted empty at 5.000" + tail, Service, "r1"},
		"failover": {func(tp *tape) { tp.freed(5, "r1", "v1", history.FreedFailover, "") }, "r1 was promoted without it at 5.000" + tail, Service, "r1"},
		"overwritten": {func(tp *tape) {
			tp.sent(4, "c2", "r1", "SET")
			tp.freed(5, "r1", "v1", history.FreedOverwritten, "c2")
		}, "c2's SET at 5.000 overwrote c1's key on r1" + tail, Recipe, "c2"},
		"another's": {func(tp *tape) { tp.freed(5, "r1", "v9", history.FreedDeleted, "c2") }, tail[2:], Service, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(0, 1, "c1", 1, 10, value("v1"), standing("r1"))
			c.strike(tp)
			tp.call(6, "c3", history.Read, 0)
			tp.ret(7, "c3", history.OK)
			b := breachOf(t, tp)
			require.Equal(t, StaleRead, b.Kind)
			require.Equal(t, c.cause, b.Cause)
			require.Equal(t, []any{c.blame, c.who}, []any{b.Blame, b.Who})
		})
	}

	tp := newTape() // what ended only after the answer had left is no reason for it
	tp.granted(0, 1, "c1", 1, 10, value("v1"), standing("r1"))
	tp.call(6, "c3", history.Read, 0)
	decided := tp.on(6.4, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c3"})
	tp.freed(6.5, "r1", "v1", history.FreedDeleted, "c2")
	tp.ret(7, "c3", history.OK, func(e *history.Event) { e.Decided = int32(decided) })
	require.Equal(t, tail[2:], breachOf(t, tp).Cause)
}

// A deletion that is lost in a restart brings the key back.
func TestMisreadBlamesTheRestart(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.call(2, "c1", history.Release, 1)
	tp.ret(3, "c1", history.OK)
	tp.fault(4, "r2", "restart r2 kill", "restarted empty")
	tp.fault(5, "r1", "restart r1 kill", "restarted without the last 1 key")
	tp.call(6, "c3", history.Read, 0)
	decided := tp.on(6.5, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c3"})
	tp.fault(6.6, "r1", "restart r1 kill", "restarted empty")
	tp.ret(7, "c3", history.OK, func(e *history.Event) { e.Grant, e.Decided = 1, int32(decided) })
	b := breachOf(t, tp)
	require.Equal(t, "r1 restarted without the last 1 key at 5.000; c3's read at 7.000 named c1 as the holder, by its grant of 1.000, which it had released already", b.Cause)
	require.Equal(t, []any{Service, "r1"}, []any{b.Blame, b.Who})
}

func TestMisreadNamesWhoElseHeldTheLock(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 3)
	tp.granted(4, 5, "c2", 2, 14)
	tp.call(6, "c3", history.Read, 0)
	tp.ret(7, "c3", history.OK, func(e *history.Event) { e.Grant = 1 })
	b := breachOf(t, tp)
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c3's read at 7.000 named c1 as the holder, though c2 was granted the lock at 5.000", b.Cause)
}

func TestSecondsAreExact(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0.000": 0, "9.898": 9898 * time.Millisecond, "9.8985": 9898500 * time.Microsecond,
		"0.000000001": 1, "3600.000": time.Hour, "-1.500": -1500 * time.Millisecond,
	} {
		require.Equal(t, want, seconds(d))
	}
}

// A lock whose servers say nothing of their keys is still explained by what struck
// them.
func TestCauseWithoutTheServersWord(t *testing.T) {
	for name, c := range map[string]struct {
		fault history.Event
		cause string
		who   string
	}{
		"clock": {
			history.Event{Who: "db", Value: "clock-step db +11s", Why: "stepped +11s"},
			"db's clock stepped +11s at 2.000; c2 was granted the lock at 3.000 while c1's term ran to 11.000", "db",
		},
		"restart": {
			history.Event{Who: "db", Value: "restart db kill", Why: "restarted empty"},
			"db restarted empty at 2.000; c2 was granted the lock at 3.000 while c1's term ran to 11.000", "db",
		},
		"a cut link takes no key away": {
			history.Event{Who: "c1,c2", Peer: "db", Value: "partition c1,c2|db", Why: "cut off"},
			"c2 was granted the lock at 3.000 while c1's term ran to 11.000", "",
		},
		"nor does a client's clock": {
			history.Event{Who: "c1", Value: "clock-step c1 +11s", Why: "stepped +11s"},
			"c2 was granted the lock at 3.000 while c1's term ran to 11.000", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(1, 1, "c1", 1, 11)
			c.fault.Kind = history.Fault
			tp.on(2, c.fault)
			tp.granted(3, 3, "c2", 2, 13)
			breach := Verdict(&tp.h).Promise.Breaches[0]
			require.Equal(t, c.cause, breach.Cause)
			require.Equal(t, Service, breach.Blame)
			require.Equal(t, c.who, breach.Who)
		})
	}
}

// What a grant stands on is what its last extension was told: r1 fell out of it.
func TestCauseGoesByTheVotesOfTheLastExtension(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10, value("v1"), standing("r1,r2,r3"))
	tp.freed(1, "r1", "v1", history.FreedEvicted, "")
	tp.call(2, "c1", history.Extend, 1)
	tp.ret(2.01, "c1", history.OK, promise(12), value("v1"), standing("r2,r3,r4"))
	tp.freed(3, "r3", "v1", history.FreedRestart, "")
	tp.granted(4, 4.01, "c2", 2, 14, value("v2"), standing("r1,r3,r5"))
	require.Equal(t, "r3 restarted empty at 3.000; c2's grant at 4.010 needed it; c1's term ran to 12.000", breachOf(t, tp).Cause)
}

// A backward step frees no key, nor does a step before the key was set, nor a
// fault whose machine only has such a name.
func TestCauseNamesTheClockThatFreedTheKey(t *testing.T) {
	type turn struct {
		at        float64
		line, did string
	}
	const freed = "; c2's grant at 2.010 needed it; c1's term ran to 9.898"
	stepped := func(how string) string { return "r3's clock " + how + " and it freed c1's key" + freed }
	forward, back := turn{.5, "clock-step r3 +11s", "stepped +11s"}, turn{.6, "clock-step r3 -1ms", "stepped -1ms"}
	early, fast := turn{-1, "clock-step r3 +11s", "stepped +11s"}, turn{-1, "clock-rate r3 +10%", "ran at +10%"}
	for name, c := range map[string]struct {
		turns []turn
		cause string
	}{
		"forward, then back":       {[]turn{forward, back}, stepped("stepped +11s at 0.500")},
		"forward twice":            {[]turn{forward, {.6, "clock-step r3 +9s", "stepped +9s"}}, stepped("stepped +9s at 0.600")},
		"back":                     {[]turn{back}, "r3 freed c1's key at 0.750" + freed},
		"before the grant":         {[]turn{early}, "r3 freed c1's key at 0.750" + freed},
		"fast before the grant":    {[]turn{fast}, stepped("ran at +10% at 0.000")},
		"fast, and right in time":  {[]turn{fast, {-1, "clock-rate r3 +0%", "ran at +0%"}}, "r3 freed c1's key at 0.750" + freed},
		"slow":                     {[]turn{{.5, "clock-rate r3 -10%", "ran at -10%"}}, "r3 freed c1's key at 0.750" + freed},
		"a partition of clock1":    {[]turn{{.5, "partition clock1|r3", "cut off"}}, "r3 freed c1's key at 0.750" + freed},
		"a restart is no failover": {[]turn{{.5, "restart r3 kill", "restarted"}}, "r3 freed c1's key at 0.750" + freed},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			strike := func(early bool) {
				for _, f := range c.turns {
					if (f.at < 0) == early {
						tp.on(max(0, f.at), history.Event{Kind: history.Fault, Who: "r3", Peer: "clock1", Value: f.line, Why: f.did})
					}
				}
			}
			strike(true)
			tp.granted(0, .01, "c1", 1, 9.898, value("v1"), standing("r1,r2,r3"))
			strike(false)
			tp.freed(.75, "r3", "v1", history.FreedExpired, "")
			tp.granted(2, 2.01, "c2", 2, 11.898, value("v2"), standing("r3,r4,r5"))
			require.Equal(t, c.cause, breachOf(t, tp).Cause)
		})
	}
}

// Without the server's word either, only a clock that went fast is suspected.
func TestSuspicionIsOfAClockThatWentFast(t *testing.T) {
	for line, cause := range map[string]string{
		"clock-step db -1ms": "c2 was granted the lock at 3.000 while c1's term ran to 11.000",
		"clock-step db +5s":  "db's clock did it at 0.500; c2 was granted the lock at 3.000 while c1's term ran to 11.000",
		"clock-rate db +5%":  "db's clock did it at 0.500; c2 was granted the lock at 3.000 while c1's term ran to 11.000",
	} {
		tp := newTape()
		if line == "clock-rate db +5%" { // it counts from before the grant on
			tp.fault(.5, "db", line, "did it")
		}
		tp.fault(.6, "db", "restart db kill", "restarted before the grant")
		tp.on(.6, history.Event{Kind: history.Fault, Who: "db", Peer: "restart1", Value: "partition db|restart1", Why: "cut off"})
		tp.h.Events[0].At = sec(.5)
		tp.call(0.7, "c1", history.Acquire, 1)
		if line != "clock-rate db +5%" {
			tp.fault(.7, "db", line, "did it")
			cause = strings.Replace(cause, "0.500", "0.700", 1)
		}
		tp.ret(1, "c1", history.OK, promise(11))
		tp.granted(3, 3, "c2", 2, 13)
		require.Equal(t, cause, breachOf(t, tp).Cause, line)
	}
}

// A key that ended when its term was over is not why it was lost, nor is one that
// ended after the holder had been told.
func TestCauseIsNoKeyThatEndedTooLate(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10, value("v1"))
	tp.call(1, "c2", history.Acquire, 2)
	decided := tp.on(2, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c2"})
	tp.freed(10, "r1", "v1", history.FreedExpired, "")
	tp.ret(14, "c2", history.OK, promise(11), func(e *history.Event) { e.Decided = int32(decided) })
	require.Equal(t, "c2 was granted the lock at 2.000 while c1's term ran to 10.000", breachOf(t, tp).Cause)

	tp = newTape()
	tp.granted(0, .01, "c1", 1, 10, value("v1"))
	tp.call(6, "c1", history.Extend, 1)
	tp.ret(6.5, "c1", history.NotHeld)
	tp.freed(7, "r1", "v1", history.FreedRestart, "")
	require.Equal(t, "c1 was told at 6.500 that it does not hold the lock; c1's term ran to 10.000", breachOf(t, tp).Cause)
}

// The promise was over, so that "not held" was no lie but for what came later.
func TestCauseNamesTheLaterConfirmation(t *testing.T) {
	told := func(out history.Outcome) *tape {
		tp := newTape()
		tp.granted(0, .01, "c1", 1, .999)
		if out == history.NotHeld {
			tp.call(3, "c1", history.Extend, 1)
		} else {
			tp.call(3, "c3", history.Read, 0)
		}
		who := map[history.Outcome]string{history.NotHeld: "c1", history.OK: "c3"}[out]
		tp.ret(3.004, who, out)
		return tp
	}
	released := func(tp *tape) *tape {
		tp.call(4, "c1", history.Release, 1)
		tp.ret(4.01, "c1", history.OK)
		return tp
	}
	named := func(tp *tape) *tape {
		tp.call(4, "c3", history.Read, 0)
		tp.ret(4.01, "c3", history.OK, func(e *history.Event) { e.Grant = 1 })
		return tp
	}
	b := breachOf(t, released(told(history.NotHeld)))
	require.Equal(t, LostLease, b.Kind)
	require.Equal(t, "c1 was told at 3.004 that it does not hold the lock, though its release was confirmed at 4.010", b.Cause)
	b = breachOf(t, released(told(history.OK)))
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c3's read at 3.004 found no holder, though c1 held the lock from 0.010 on: its release was confirmed at 4.010", b.Cause)
	b = breachOf(t, named(told(history.OK)))
	require.Equal(t, "c3's read at 3.004 found no holder, though c1 held the lock from 0.010 on: c3's read at 4.010 named it as the holder", b.Cause)
	b = breachOf(t, named(told(history.NotHeld)))
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c3's read at 4.010 named c1 as the holder, which had been told at 3.004 that it does not hold the lock", b.Cause)
}

// A read that finds nobody while a release is under way is wrong only where a later
// one finds the holder again.
func TestNobodyAndThenTheHolder(t *testing.T) {
	run := func(again int32) *tape {
		tp := newTape()
		tp.granted(0, .01, "c1", 1, 10)
		tp.call(1, "c1", history.Release, 1)
		for i, grant := range []int32{0, again} {
			at := 1.1 + .2*float64(i)
			who := []string{"c2", "c3"}[i]
			tp.call(at, who, history.Read, 0)
			tp.ret(at+.1, who, history.OK, func(e *history.Event) { e.Grant = grant })
		}
		tp.ret(2, "c1", history.OK)
		return tp
	}
	b := breachOf(t, run(1))
	require.Equal(t, StaleRead, b.Kind)
	require.Equal(t, "c2's read at 1.200 found no holder, though c1 held the lock from 0.010 on: c3's read at 1.400 named it as the holder", b.Cause)
	require.Equal(t, Kept, Verdict(&run(0).h).Promise.Status)
}

// A lock-delay keeps others from the lock; nobody holds it meanwhile.
func TestAReadWithinTheLockDelayFindsNobody(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10, func(e *history.Event) { e.Delay = sec(15) })
	tp.call(12, "c3", history.Read, 0)
	tp.ret(12.5, "c3", history.OK)
	require.Equal(t, Kept, Verdict(&tp.h).Promise.Status)
	require.Equal(t, Kept, Porcupine(&tp.h, steps))
}

// A plain DEL, sent after a pause and confirmed, is no grant given twice: what the
// two believed is the paused holder's doing.
func TestAPlainReleaseConfirmedAfterTheLoss(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.fault(2, "c1", "pause c1 gc 14s", "paused (gc)")
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
	tp.heal(16, "c1", "pause c1 gc 14s")
	tp.doubt(16, "c1", 1, history.DoubtRelease)
	tp.call(16, "c1", history.Release, 1)
	tp.sent(16, "c1", "r1", "DEL")
	tp.freed(16.001, "r1", "v2", history.FreedDeleted, "c1")
	tp.ret(16.002, "c1", history.OK)
	v := Verdict(&tp.h)
	require.Equal(t, []any{Holder, "c1"}, []any{v.Promise.Breaches[0].Blame, v.Promise.Breaches[0].Who})
	require.Len(t, v.Belief.Windows, 1)
	require.Equal(t, "c1's term ended at 11.000; c1 was paused (gc) from 2.000 to 16.000 and went on believing until 16.000",
		v.Belief.Windows[0].Cause)
	require.Equal(t, []any{Holder, "c1"}, []any{v.Belief.Windows[0].Blame, v.Belief.Windows[0].Who})
	require.Len(t, v.Damage.Events, 1)
}

// A key that was set again by the extension ended before it to no effect.
func TestCauseIsTheLossAfterTheLastExtension(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10, value("v1"), standing("r1"))
	tp.freed(1, "r1", "v1", history.FreedEvicted, "")
	tp.call(2, "c1", history.Extend, 1)
	tp.ret(2.01, "c1", history.OK, promise(12), value("v1"), standing("r1"))
	tp.freed(3, "r1", "v1", history.FreedRestart, "")
	tp.granted(4, 4.01, "c2", 2, 14, value("v2"), standing("r1"))
	require.Equal(t, "r1 restarted empty at 3.000; c2's grant at 4.010 needed it; c1's term ran to 12.000", breachOf(t, tp).Cause)
}

// A release whose outcome nobody knows ends the promise as well.
func TestCauseNamesTheConfirmationAfterAnUnknownRelease(t *testing.T) {
	tp := newTape()
	tp.granted(0, .01, "c1", 1, 10)
	tp.call(2, "c1", history.Release, 1)
	tp.ret(2.5, "c1", history.Unknown)
	tp.call(3, "c1", history.Extend, 1)
	tp.ret(3.004, "c1", history.NotHeld)
	tp.call(4, "c1", history.Release, 1)
	tp.ret(4.01, "c1", history.OK)
	require.Equal(t, "c1 was told at 3.004 that it does not hold the lock, though its release was confirmed at 4.010", breachOf(t, tp).Cause)
}
