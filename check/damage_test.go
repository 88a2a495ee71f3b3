package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// woundsOf are the events of the damage verdict.
func woundsOf(tp *tape) []Wound { return Verdict(&tp.h).Damage.Events }

// passed is a lock that goes from c1, promised until 11, to c2 at 11.5; both
// write blindly, c2 at 12 and c1 at 16, with tokens t1 and t2.
func passed(t1, t2 int64, extra func(tp *tape)) *tape {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	extra(tp)
	tp.granted(11.4, 11.5, "c2", 2, 21.4)
	tp.wrote(12, "c2", 2, 1, -1, t2)
	tp.wrote(16, "c1", 1, 2, -1, t1)
	return tp
}

func TestStaleWrite(t *testing.T) {
	none := func(*tape) {}
	const did = "c1 wrote row at 16.000 under its grant of 1.010, after c2's write at 12.000 under the newer grant of 11.500; "
	for _, c := range []struct {
		name   string
		t1, t2 int64
		extra  func(*tape)
		cause  string
		blame  Blame
		who    string
	}{
		{"pause", 0, 0, func(tp *tape) { tp.fault(2, "c1", "pause c1 gc 14s", "") },
			"c1's term ended at 11.000; c1 was paused (gc) from 2.000 on", Holder, "c1"},
		{"no pause", 0, 0, none, "c1's term ended at 11.000 and nothing checked it at the resource", Recipe, "c1"},
		{"the resource accepted a lesser token", 33, 34, none, "db accepted token 33 after 34", Resource, "db"},
		{"the tokens are the wrong way round", 2, 1, none, "the older grant has the greater token, 2 against 1", Recipe, "c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := passed(c.t1, c.t2, c.extra)
			require.Equal(t, []Wound{{
				Kind: StaleWrite, Class: Correctness, Client: "c1", At: sec(16), Cause: did + c.cause, Blame: c.blame, Who: c.who,
			}}, woundsOf(tp))
			require.Equal(t, Damaged, Verdict(&tp.h).Damage.Status)
		})
	}
}

func TestStaleWriteAfterABrokenPromise(t *testing.T) {
	tp := crossed(func(tp *tape) { tp.freed(.5, "r3", "v1", history.FreedRestart, "") })
	tp.wrote(3, "c2", 2, 1, -1, 0)
	tp.wrote(4, "c1", 1, 2, -1, 0)
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, Service, w[0].Blame)
	require.Equal(t, "r3", w[0].Who)
	require.Contains(t, w[0].Cause, "; r3 restarted empty at 0.500")
}

func TestWritesThatDoNoDamage(t *testing.T) {
	for name, write := range map[string]func(tp *tape){
		"in the order of the grants": func(tp *tape) {
			tp.wrote(12, "c1", 1, 1, -1, 0)
			tp.wrote(13, "c2", 2, 2, -1, 0)
		},
		"twice under one grant": func(tp *tape) {
			tp.wrote(12, "c2", 2, 1, -1, 0)
			tp.wrote(13, "c2", 2, 2, -1, 0)
		},
		"without a lock": func(tp *tape) {
			tp.wrote(12, "c2", 2, 1, -1, 0)
			tp.wrote(13, "c3", 0, 2, -1, 0)
		},
		"refused": func(tp *tape) {
			tp.wrote(12, "c2", 2, 1, -1, 0)
			tp.wrote(13, "c1", 1, 2, -1, 0)
			tp.h.Events[len(tp.h.Events)-1].Outcome = history.Refused
		},
		"after a refused one": func(tp *tape) {
			tp.wrote(12, "c2", 2, 1, -1, 0)
			tp.h.Events[len(tp.h.Events)-1].Outcome = history.Refused
			tp.wrote(13, "c1", 1, 1, -1, 0)
		},
		"to another object": func(tp *tape) {
			tp.wrote(12, "c2", 2, 1, -1, 0)
			tp.wrote(13, "c1", 1, 1, -1, 0)
			tp.h.Events[len(tp.h.Events)-1].Lock = "other"
		},
		"from the version just before": func(tp *tape) {
			tp.wrote(12, "c2", 2, 8, 7, 0)
			tp.wrote(13, "c1", 1, 9, 8, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(1, 1.01, "c1", 1, 11)
			tp.granted(11.4, 11.5, "c2", 2, 21.4)
			write(tp)
			require.Equal(t, Damage{Status: None, Events: []Wound{}}, Verdict(&tp.h).Damage)
		})
	}
}

// The order of grants is that in which they were decided, not that in which the
// clients were told.
func TestStaleWriteGoesByTheDecision(t *testing.T) {
	tp := newTape()
	tp.call(0, "c1", history.Acquire, 1)
	decided := tp.on(.001, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1"})
	tp.granted(11, 11.5, "c2", 2, 21)
	tp.ret(14, "c1", history.OK, promise(10), func(e *history.Event) { e.Decided = int32(decided) })
	tp.wrote(15, "c2", 2, 1, -1, 0)
	tp.wrote(16, "c1", 1, 2, -1, 0)
	require.Len(t, woundsOf(tp), 1)
}

func TestLostUpdate(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.fault(2, "c1", "pause c1 gc 14s", "")
	tp.granted(11.4, 11.5, "c2", 2, 21.4)
	tp.wrote(12, "c2", 2, 6, 5, 0)
	tp.wrote(16, "c1", 1, 7, 5, 0)
	require.Equal(t, []Wound{{
		Kind: LostUpdate, Class: Correctness, Client: "c1", At: sec(16), Blame: Holder, Who: "c1",
		Cause: "c1 wrote row at 16.000 from version 5, which had become 6 by c2's write at 12.000; " +
			"c1's term ended at 11.000; c1 was paused (gc) from 2.000 on",
	}}, woundsOf(tp))
}

func TestLostUpdateWithoutALock(t *testing.T) {
	tp := newTape()
	tp.wrote(16, "c1", 0, 7, 5, 0)
	require.Equal(t, "c1 wrote row at 16.000 from version 5, which had become 6; c1 held no lock", woundsOf(tp)[0].Cause)
	tp = crossed(func(*tape) {})
	tp.wrote(3, "c2", 2, 1, 0, 0)
	tp.wrote(4, "c1", 1, 2, 0, 0)
	require.Equal(t, Service, woundsOf(tp)[0].Blame)
}

// What was changed and changed back passes for unchanged.
func TestLostUpdateInSpiteOfACondition(t *testing.T) {
	tp := newTape()
	tp.wrote(2, "c2", 0, 2, 1, 0)
	tp.wrote(3, "c2", 0, 3, 2, 0)
	tp.wrote(4, "c1", 0, 4, 1, 0)
	tp.h.Events[2].Why = "If-Match"
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, []any{Recipe, ""}, []any{w[0].Blame, w[0].Who})
	require.Equal(t, "c1 wrote row at 4.000 from version 1, which had become 3 by c2's write at 3.000; "+
		"its condition, If-Match, held: what db compares was as before", w[0].Cause)
}

func TestLostUpdateWithinThePromise(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.wrote(2, "c2", 0, 6, -1, 0)
	tp.wrote(3, "c1", 1, 7, 5, 0)
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, []any{Recipe, "c2"}, []any{w[0].Blame, w[0].Who})
	require.Contains(t, w[0].Cause, "; c2 held no lock")
}

// Who updates from what it had read, under the lock, did nothing wrong when a client
// whose term was over slipped in between.
func TestLostUpdateOfWhoCameTooLate(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.fault(2, "c1", "pause c1 gc 9.5s", "")
	tp.granted(11.1, 11.2, "c2", 2, 21)
	tp.wrote(11.5, "c1", 1, 6, 5, 0)
	tp.wrote(12, "c2", 2, 7, 5, 0)
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, "c2", w[0].Client)
	require.Equal(t, []any{Holder, "c1"}, []any{w[0].Blame, w[0].Who})
	require.Contains(t, w[0].Cause, "by c1's write at 11.500; c1's term ended at 11.000")
}

// Two locks keep nobody off what both stand for.
func TestLostUpdateUnderTwoLocks(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.callOn(2, "c2", history.Acquire, 2, "other")
	tp.ret(2.01, "c2", history.OK, promise(12))
	tp.wrote(3, "c1", 1, 6, 5, 0)
	tp.wrote(4, "c2", 2, 7, 5, 0)
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, []any{"c2", Recipe, ""}, []any{w[0].Client, w[0].Blame, w[0].Who})
	require.Contains(t, w[0].Cause, "by c1's write at 3.000; each was promised a lock of its own")
}

// Nor is it the two locks where one of them was over, or where there was but one.
func TestLostUpdateWithOneLock(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.wrote(3, "c1", 1, 6, 5, 0)
	tp.wrote(4, "c1", 1, 7, 5, 0)
	require.Contains(t, woundsOf(tp)[0].Cause, "by c1's write at 3.000; c1's grant was still promised to it")

	tp = newTape()
	tp.granted(1, 1.01, "c1", 1, 2)
	tp.callOn(2, "c2", history.Acquire, 2, "other")
	tp.ret(2.01, "c2", history.OK, promise(12))
	tp.wrote(3, "c2", 2, 6, 5, 0)
	tp.wrote(4, "c1", 1, 7, 5, 0)
	require.Contains(t, woundsOf(tp)[0].Cause, "by c2's write at 3.000; c1's term ended at 2.000")
}

// A resource whose check is not one step with its write has itself to blame, where
// the other write came between the two.
func TestCheckNotAtomicWithTheWrite(t *testing.T) {
	checked := func(tp *tape, back int, at float64) { tp.h.Events[len(tp.h.Events)-back].Anchor = sec(at) }
	for _, c := range []struct {
		at    float64
		blame Blame
		cause string
	}{
		{11.9, Resource, "; db had checked it at 11.900, and looked no second time"},
		{12.1, Recipe, "; c1's term ended at 11.000 and nothing checked it at the resource"},
	} {
		tp := passed(0, 0, func(*tape) {})
		checked(tp, 1, c.at)
		w := woundsOf(tp)
		require.Len(t, w, 1)
		require.Equal(t, c.blame, w[0].Blame)
		require.Contains(t, w[0].Cause, c.cause)
	}
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.granted(11.1, 11.2, "c2", 2, 21)
	tp.wrote(11.5, "c1", 1, 6, 5, 0)
	checked(tp, 1, 10.9)
	tp.wrote(12, "c2", 2, 7, 5, 0)
	w := woundsOf(tp)
	require.Equal(t, []any{Resource, "db"}, []any{w[0].Blame, w[0].Who})
	require.Contains(t, w[0].Cause, "; db wrote then what it had checked at 10.900")
}

func TestDuplicateEffect(t *testing.T) {
	done := func(tp *tape) *tape {
		for _, e := range []history.Event{
			{At: sec(12), Peer: "c2", Grant: 2, Lock: "mail-1"},
			{At: sec(13), Peer: "c2", Grant: 2, Lock: "mail-2"},
			{At: sec(16), Peer: "c1", Grant: 1, Lock: "mail-1"},
		} {
			e.Kind, e.Who = history.Effect, "mailer"
			tp.h.Add(e)
		}
		return tp
	}
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	tp.fault(2, "c1", "pause c1 gc 14s", "")
	tp.granted(11.4, 11.5, "c2", 2, 21.4)
	require.Equal(t, []Wound{{
		Kind: DuplicateEffect, Class: Efficiency, Client: "c1", At: sec(16), Blame: Holder, Who: "c1",
		Cause: "c1 did mail-1 at 16.000, which c2 had done at 12.000; c1's term ended at 11.000; c1 was paused (gc) from 2.000 on",
	}}, woundsOf(done(tp)))
	require.Equal(t, Service, woundsOf(done(crossed(func(*tape) {})))[0].Blame)
	w := woundsOf(done(newTape()))
	require.Equal(t, Recipe, w[0].Blame)
}

// stolen is a plain DEL by c1, whose key has expired, that takes c2's.
func stolen() *tape {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
	tp.call(12, "c1", history.Release, 1)
	for _, node := range []string{"r1", "r2"} {
		tp.sent(12, "c1", node, "DEL")
		tp.freed(12.002, node, "v2", history.FreedDeleted, "c1")
	}
	return tp
}

func TestWrongRelease(t *testing.T) {
	tp := stolen()
	tp.ret(12.003, "c1", history.OK)
	want := []Wound{{
		Kind: WrongRelease, Class: Correctness, Client: "c1", At: sec(12.002), Blame: Holder, Who: "c1",
		Cause: "c1's DEL at 12.002 deleted c2's key on r1, while it was releasing its own grant of 1.010",
	}}
	require.Equal(t, want, woundsOf(tp))
	tp = stolen()
	tp.granted(12.01, 12.02, "c3", 3, 22)
	b := Verdict(&tp.h).Promise.Breaches
	require.Len(t, b, 1)
	require.Equal(t, Holder, b[0].Blame)
	require.Equal(t, "c1's DEL at 12.002 deleted c2's key on r1; c3's grant at 12.020 needed it; c2's term ran to 21.400", b[0].Cause)
}

func TestWrongReleaseThatArrivesLate(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.call(2, "c1", history.Release, 1)
	tp.ret(3, "c1", history.Unknown)
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
	tp.freed(12, "r1", "v2", history.FreedDeleted, "c1")
	require.Len(t, woundsOf(tp), 1)
}

// Of one value that every grant goes by, the key is the last one's that had it.
func TestWrongReleaseWithAReusedValue(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.call(1.1, "c2", history.Acquire, 3)
	tp.ret(1.2, "c2", history.Refused, value("v1"))
	tp.freed(1.3, "r1", "v1", history.FreedDeleted, "c1") // its own, whoever has asked since or gets it later
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v1"))
	tp.call(12, "c1", history.Release, 1)
	tp.freed(12, "r1", "v1", history.FreedDeleted, "c1")
	tp.call(13, "c2", history.Release, 2)
	tp.freed(13, "r1", "v1", history.FreedDeleted, "c2")
	require.Len(t, woundsOf(tp), 1)
	require.Contains(t, woundsOf(tp)[0].Cause, "c1's request at 12.000 deleted c2's key")
}

// A client's own keys are its own, whatever came of the acquire that set them: of
// Redlock, a minority may keep one that was refused.
func TestReleaseOfAKeyOfAnAcquireThatFailed(t *testing.T) {
	for _, outcome := range []history.Outcome{history.Refused, history.Unknown, history.OK} {
		tp := newTape()
		tp.granted(.1, .11, "c1", 1, 10, value("v1"))
		tp.call(.12, "c1", history.Release, 1)
		tp.ret(.13, "c1", history.Unknown)
		tp.call(.14, "c1", history.Acquire, 2)
		tp.freed(.163, "r1", "v2", history.FreedDeleted, "c1")
		tp.ret(.17, "c1", outcome, value("v2"))
		require.Empty(t, woundsOf(tp), "%d", outcome)
	}
}

// A second copy of a plain DEL takes the next holder's key, long after the first
// one was confirmed.
func TestWrongReleaseByADuplicate(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.on(2, history.Event{Kind: history.Fault, Who: "c1", Peer: "r1", Value: "duplicate c1>r1 5s"})
	tp.call(2, "c1", history.Release, 1)
	del := tp.sent(2, "c1", "r1", "DEL")
	tp.h.Events[del].Until = sec(2.001)
	tp.freed(2.001, "r1", "v1", history.FreedDeleted, "c1")
	tp.ret(2.002, "c1", history.OK)
	tp.granted(3, 3.01, "c2", 2, 13, value("v2"))
	tp.call(4, "c1", history.Acquire, 3)
	tp.sent(4, "c1", "r1", "SET")
	tp.ret(4.01, "c1", history.Refused, value("v3"))
	tp.freed(7.001, "r1", "v2", history.FreedDeleted, "c1")
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Equal(t, "c1's duplicated DEL at 7.001 deleted c2's key on r1, after the release of its own grant of 1.010", w[0].Cause)
	require.Equal(t, Holder, w[0].Blame)
}

func TestDeletionsThatAreRight(t *testing.T) {
	for name, free := range map[string]func(tp *tape){
		"its own key": func(tp *tape) {
			tp.call(2, "c1", history.Release, 1)
			tp.freed(2, "r1", "v1", history.FreedDeleted, "c1")
		},
		"another's, overwritten": func(tp *tape) {
			tp.call(2, "c2", history.Acquire, 2)
			tp.freed(2, "r1", "v1", history.FreedOverwritten, "c2")
		},
		"an unknown owner": func(tp *tape) {
			tp.call(2, "c1", history.Release, 1)
			tp.freed(2, "r1", "", history.FreedDeleted, "c1")
		},
		"expired": func(tp *tape) {
			tp.call(2, "c1", history.Release, 1)
			tp.freed(2, "r1", "v2", history.FreedExpired, "")
		},
		"while releasing nothing": func(tp *tape) { tp.freed(2, "r1", "v9", history.FreedDeleted, "c1") },
		"after the release was confirmed": func(tp *tape) {
			tp.call(2, "c1", history.Release, 1)
			tp.ret(2, "c1", history.OK)
			tp.freed(3, "r1", "v9", history.FreedDeleted, "c1")
		},
		"the clean-up of an acquire whose value is not known": func(tp *tape) {
			tp.call(20, "c3", history.Acquire, 7)
			tp.ret(21, "c3", history.Unknown)
			tp.call(22, "c3", history.Release, 7)
			tp.freed(22, "r1", "v7", history.FreedDeleted, "c3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
			free(tp)
			require.Empty(t, woundsOf(tp))
		})
	}
}

// inLock moves the last n events of tp to another lock.
func inLock(tp *tape, n int, lock string) {
	for i := len(tp.h.Events) - n; i < len(tp.h.Events); i++ {
		tp.h.Events[i].Lock = lock
	}
}

// Grants of two locks have no order that a write could break, and a client cannot
// be stale against itself.
func TestStaleWriteKeepsLocksAndClientsApart(t *testing.T) {
	for name, c := range map[string]struct{ who, lock string }{
		"one client, two locks":  {"c1", "b"},
		"two clients, two locks": {"c2", "b"},
		"one client, one lock":   {"c1", "doc"},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(1, 1.01, "c1", 1, 11)
			tp.granted(2, 2.01, c.who, 2, 12)
			inLock(tp, 3, c.lock)
			tp.wrote(3, c.who, 2, 1, -1, 0)
			tp.wrote(4, "c1", 1, 2, -1, 0)
			require.Empty(t, woundsOf(tp))
		})
	}
}

// A stale write is held against the newest grant, not against the last write, and
// never against its own client's.
func TestStaleWriteIsHeldAgainstTheNewestGrant(t *testing.T) {
	tp := newTape()
	for n, c := range []string{"c1", "c2", "c3", "c3"} {
		tp.granted(float64(n), float64(n)+.01, c, int32(n)+1, float64(n)+.5)
	}
	tp.wrote(20, "c3", 4, 1, -1, 0)
	tp.wrote(21, "c1", 1, 2, -1, 0) // stale
	tp.wrote(22, "c2", 2, 3, -1, 0) // stale: the last write is older, the newest is not
	tp.wrote(23, "c3", 3, 4, -1, 0) // only its own client has a newer grant
	w := woundsOf(tp)
	require.Len(t, w, 2)
	require.Contains(t, w[1].Cause, "c2 wrote row at 22.000 under its grant of 1.010, after c3's write at 20.000 under the newer grant of 3.010")
}

// The newest of another client counts where the newest of all is one's own.
func TestStaleWriteAgainstTheSecondNewest(t *testing.T) {
	tp := newTape()
	for n, c := range []string{"c1", "c2", "c1"} {
		tp.granted(float64(n), float64(n)+.01, c, int32(n)+1, float64(n)+.5)
	}
	tp.wrote(20, "c1", 3, 1, -1, 0)
	tp.wrote(21, "c2", 2, 2, -1, 0) // stale
	tp.wrote(22, "c1", 1, 3, -1, 0) // stale
	tp.wrote(23, "c2", 2, 4, -1, 0) // stale: c1's last write is older, its newest is not
	w := woundsOf(tp)
	require.Len(t, w, 3)
	require.Contains(t, w[1].Cause, "after c2's write at 21.000 under the newer grant of 1.010")
}

// A grant that was delivered late is older all the same, and the sentence says so.
func TestStaleWriteNamesWhenALateGrantWasDecided(t *testing.T) {
	tp := newTape()
	tp.call(0, "c1", history.Acquire, 1)
	decided := tp.on(.001, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1"})
	tp.granted(10.06, 10.07, "c2", 2, 20)
	tp.ret(12.002, "c1", history.OK, promise(10), func(e *history.Event) { e.Decided = int32(decided) })
	tp.wrote(12.1, "c2", 2, 1, -1, 0)
	tp.wrote(12.2, "c1", 1, 2, -1, 0)
	require.Contains(t, woundsOf(tp)[0].Cause, "under its grant of 0.001, after c2's write at 12.100 under the newer grant of 10.070")
}

// effects are mail-1 done under grant g1 at s1 and again under g2 at s2.
func effects(tp *tape, c1 string, g1 int32, s1 float64, c2 string, g2 int32, s2 float64) *tape {
	for _, e := range []history.Event{{At: sec(s1), Peer: c1, Grant: g1}, {At: sec(s2), Peer: c2, Grant: g2}} {
		e.Kind, e.Who, e.Lock = history.Effect, "mailer", "mail-1"
		tp.h.Add(e)
	}
	return tp
}

func TestDuplicateEffectBlamesWhoeverDidItWrongly(t *testing.T) {
	const did = "c2 did mail-1 at 12.000, which c1 had done at 5.000; "
	grants := func(until float64) *tape {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, until)
		tp.fault(4, "c1", "pause c1 gc 14s", "paused (gc)")
		tp.granted(11.4, 11.5, "c2", 2, 21.4)
		return tp
	}
	// Both held it, one after the other: that c1 was paused later is nothing to it.
	w := woundsOf(effects(grants(11), "c1", 1, 5, "c2", 2, 12))[0]
	require.Equal(t, did+"each held the lock, and nothing recorded that it was done", w.Cause)
	require.Equal(t, []any{Recipe, ""}, []any{w.Blame, w.Who})
	// Each held a lock of another name.
	apart := newTape()
	apart.granted(1, 1.01, "c1", 1, 11)
	apart.callOn(11.4, "c2", history.Acquire, 2, "other")
	apart.ret(11.5, "c2", history.OK, promise(21.4))
	w = woundsOf(effects(apart, "c1", 1, 5, "c2", 2, 12))[0]
	require.Equal(t, did+"each held a lock of its own, and nothing recorded that it was done", w.Cause)
	require.Equal(t, []any{Recipe, ""}, []any{w.Blame, w.Who})
	// The first was late, the second was not.
	w = woundsOf(effects(grants(4.5), "c1", 1, 5, "c2", 2, 12))[0]
	require.Equal(t, did+"c1's term ended at 4.500; c1 was paused (gc) from 4.000 on", w.Cause)
	require.Equal(t, []any{Holder, "c1"}, []any{w.Blame, w.Who})
	// The second holds nothing.
	w = woundsOf(effects(grants(11), "c1", 1, 5, "c2", 0, 12))[0]
	require.Equal(t, did+"c2 held no lock", w.Cause)
	// One client, no lock, two requests.
	w = woundsOf(effects(grants(11), "c1", 0, 5, "c1", 0, 6))[0]
	require.Equal(t, "c1 did mail-1 at 6.000, which c1 had done at 5.000; it asked again, and nothing recorded that it was done", w.Cause)
	// One client, two grants, one after the other.
	twice := newTape()
	twice.granted(1, 1.01, "c1", 1, 11)
	twice.granted(11.4, 11.5, "c1", 2, 21.4)
	w = woundsOf(effects(twice, "c1", 1, 5, "c1", 2, 12))[0]
	require.Equal(t, "c1 did mail-1 at 12.000, which c1 had done at 5.000; it held the lock both times, and nothing recorded that it was done", w.Cause)
	// One client, one grant, two requests.
	w = woundsOf(effects(grants(11), "c1", 1, 5, "c1", 1, 6))[0]
	require.Equal(t, "c1 did mail-1 at 6.000, which c1 had done at 5.000; it held the lock both times, and nothing recorded that it was done", w.Cause)
}

func TestDuplicateEffectOfADuplicatedRequest(t *testing.T) {
	sent := func(line string) *tape {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, 11)
		tp.on(4, history.Event{Kind: history.Fault, Who: "c1", Peer: "mailer", Value: line})
		tp.sent(4.5, "c1", "r1", "PEXPIRE")
		i := tp.sent(4.999, "c1", "mailer", "do")
		tp.h.Events[i].Until = sec(5)
		return effects(tp, "c1", 1, 5, "c1", 1, 6)
	}
	w := woundsOf(sent("duplicate c1>mailer 1s"))[0]
	require.Equal(t, "c1 did mail-1 at 6.000, which c1 had done at 5.000; the network delivered one request twice, and mailer did it again", w.Cause)
	require.Equal(t, []any{Resource, "mailer"}, []any{w.Blame, w.Who})
	for _, line := range []string{"delay c1>mailer 1s", "duplicate c1>mailer 2s", "duplicate c1>mailer"} {
		require.Equal(t, Recipe, woundsOf(sent(line))[0].Blame, line)
	}
}
