package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

func progressOf(tp *tape) Progress { return Verdict(&tp.h).Progress }

func TestWaitRunsThroughRefusalsToTheGrant(t *testing.T) {
	tp := newTape()
	for s := 3.0; s < 9; s++ {
		tp.call(s, "c2", history.Acquire, int32(s))
		tp.ret(s+.5, "c2", history.Refused)
	}
	tp.granted(9, 10, "c2", 9, 19)
	require.Equal(t, Progress{Status: OK, Longest: sec(7)}, progressOf(tp))
}

func TestWhoGivesUpAndComesBackWaitsAnew(t *testing.T) {
	tp := newTape()
	tp.call(3, "c2", history.Acquire, 1)
	tp.ret(5, "c2", history.Refused)
	tp.on(8, history.Event{Kind: history.Step, Who: "c2"})
	tp.granted(9, 10, "c2", 9, 19)
	require.Equal(t, Progress{Status: OK, Longest: sec(2)}, progressOf(tp))
}

// A run that ends between a loss and the next attempt shows no stall, nor does one
// that ends while the promise to a dead client stands.
func TestWhatTheEndOfTheRunCutsIsNoStall(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.call(2, "c2", history.Acquire, 2)
	tp.ret(3, "c2", history.Refused)
	tp.end(4, "c1", "")
	tp.h.End = sec(20)
	require.Equal(t, OK, progressOf(tp).Status)

	tp = newTape()
	tp.granted(0, 1, "c1", 1, 30)
	tp.end(1, "c1", history.DoubtDeath)
	tp.call(2, "c2", history.Acquire, 2)
	tp.ret(3, "c2", history.Refused)
	tp.h.End = sec(20)
	require.Equal(t, OK, progressOf(tp).Status)
}

func TestWaitEndsWhereTheClientGaveUp(t *testing.T) {
	tp := newTape()
	tp.call(1, "c2", history.Acquire, 1)
	tp.ret(3, "c2", history.Refused)
	tp.end(9, "c2", "")
	require.Equal(t, Progress{Status: OK, Longest: sec(2)}, progressOf(tp))
}

func TestWaitEndsWithTheClient(t *testing.T) {
	tp := newTape()
	tp.call(1, "c2", history.Acquire, 1)
	tp.end(4, "c2", history.DoubtDeath)
	tp.end(9, "c1", "")
	require.Equal(t, Progress{Status: OK, Longest: sec(3)}, progressOf(tp))
}

func TestWaitingForALiveHolderIsOK(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.call(2, "c2", history.Acquire, 2)
	tp.h.End = sec(8)
	require.Equal(t, Progress{Status: OK, Longest: sec(6)}, progressOf(tp))
}

func TestStalled(t *testing.T) {
	for name, dies := range map[string]string{"crashed": history.DoubtDeath, "ended without releasing": ""} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(0, 1, "c1", 1, 10)
			tp.end(1, "c1", dies)
			tp.call(2, "c2", history.Acquire, 2)
			tp.ret(3, "c2", history.Refused)
			tp.h.End = sec(3600)
			require.Equal(t, Progress{
				Status: Stalled, Longest: sec(3598), Cause: "c2 waited for doc from 2.000 to the end at 3600.000, and nobody held it",
			}, progressOf(tp))
		})
	}
}

// locked is c1 holding a and c2 holding b, each waiting for the other's.
func locked() *tape {
	tp := newTape()
	for i, c := range []string{"c1", "c2"} {
		lock := string("ab"[i])
		tp.callOn(0, c, history.Acquire, int32(i)+1, lock)
		tp.ret(1, c, history.OK, promise(40))
		tp.on(1, history.Event{Kind: history.Believe, Who: c, Grant: int32(i) + 1, Lock: lock})
	}
	tp.callOn(2, "c1", history.Acquire, 3, "b")
	return tp
}

func TestDeadlocked(t *testing.T) {
	tp := locked()
	tp.callOn(3, "c3", history.Acquire, 5, "a") // waits for the cycle, and is no part of it
	tp.callOn(4, "c2", history.Acquire, 4, "a")
	tp.h.End = sec(60)
	require.Equal(t, Progress{
		Status: Deadlocked, Longest: sec(58), Cause: "c1 waits for b, which c2 holds; c2 waits for a, which c1 holds",
	}, progressOf(tp))
}

func TestDeadlockedWithItself(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 100)
	tp.h.Events[1].Until = history.Forever
	tp.call(2, "c1", history.Acquire, 2)
	require.Equal(t, Deadlocked, progressOf(tp).Status)
	require.Equal(t, "c1 waits for doc, which c1 holds", progressOf(tp).Cause)
}

func TestAChainOfWaitsIsNoDeadlock(t *testing.T) {
	tp := locked()
	tp.callOn(3, "c3", history.Acquire, 5, "a")
	tp.callOn(3, "c4", history.Acquire, 6, "a")
	require.Equal(t, OK, progressOf(tp).Status)
}

// cyclic is c1 and c2 waiting for each other's lock from 2 s and 4 s on, to the end
// at 60 s; both locks are promised until until.
func cyclic(until float64) *tape {
	tp := locked()
	for i := range tp.h.Events {
		if e := &tp.h.Events[i]; e.Until != 0 {
			e.Until = sec(until)
		}
	}
	tp.callOn(4, "c2", history.Acquire, 4, "a")
	tp.h.End = sec(60)
	return tp
}

// A cycle that a lease would have undone soon after the end is no deadlock, unless
// somebody goes on extending it.
func TestACycleThatALeaseUndoesIsNoDeadlock(t *testing.T) {
	require.Equal(t, Deadlocked, progressOf(cyclic(60)).Status)
	require.Equal(t, OK, progressOf(cyclic(61)).Status)
	extended := func(from float64) *tape {
		tp := newTape()
		tp.h = history.History{Stopped: history.Quiet}
		for _, e := range cyclic(61).h.Events {
			if e.Kind == history.Call && e.At == sec(4) && from < 4 {
				extendBoth(tp, from)
			}
			tp.h.Add(e)
		}
		if from > 4 {
			extendBoth(tp, from)
		}
		tp.h.End = sec(60)
		return tp
	}
	require.Equal(t, Deadlocked, progressOf(extended(50)).Status)
	require.Equal(t, OK, progressOf(extended(3)).Status, "c2 extended its lock before it began to wait")
}

func extendBoth(tp *tape, s float64) {
	tp.ops = 10
	for i, c := range []string{"c1", "c2"} {
		tp.callOn(s, c, history.Extend, int32(i)+1, string("ab"[i]))
		tp.ret(s, c, history.OK, promise(70))
	}
}

// After a confirmed release no promise stands, however long its term would have
// been: a waiter that was never woken is stalled.
func TestALostWakeUpIsAStall(t *testing.T) {
	for out, want := range map[history.Outcome]Status{history.OK: Stalled, history.Unknown: OK} {
		tp := newTape()
		tp.granted(0, 1, "c1", 1, 7200)
		tp.call(2, "c2", history.Acquire, 2)
		tp.doubt(3, "c1", 1, history.DoubtRelease)
		tp.call(3, "c1", history.Release, 1)
		tp.ret(4, "c1", out)
		tp.h.End = sec(3600)
		require.Equal(t, want, progressOf(tp).Status)
	}
}

// A grant that is on its way to its client, or waits for it to wake up, is held.
func TestAGrantThatWasNotTakenInIsNoStall(t *testing.T) {
	for _, c := range []struct {
		name             string
		arrives, frozen  float64
		thawed, returned bool
		want             Status
	}{
		{"under way at the end", 61, 0, false, false, OK},
		{"came during a pause", 3, 2.5, false, false, OK},
		{"came before the pause", 3, 5, false, false, Stalled},
		{"came during a pause that was over", 3, 2.5, true, false, Stalled},
		{"came, and was a refusal", 3, 0, false, false, Stalled},
		{"a refusal that was taken in", 61, 0, false, true, Stalled},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := newTape()
			tp.call(2, "c2", history.Acquire, 2)
			i := tp.on(2, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c2"})
			tp.h.Events[i].Until = sec(c.arrives)
			if c.returned {
				tp.ret(2.1, "c2", history.Refused)
			}
			if c.frozen != 0 {
				tp.fault(c.frozen, "c2", "pause c2 gc 2h", "paused (gc)")
			}
			if c.thawed {
				tp.heal(10, "c2", "pause c2 gc 2h")
			}
			tp.h.End = sec(60)
			require.Equal(t, c.want, progressOf(tp).Status)
		})
	}
}
