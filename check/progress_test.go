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
		tp.ret(1, c, history.OK, promise(1000))
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
