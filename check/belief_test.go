package check

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/history"
)

// held is one stretch of belief of a client, in a lock.
type held struct{ client, lock, from, to int }

// beliefs makes a history of hs, each under a grant of its own.
func beliefs(hs []held) *history.History {
	h := &history.History{Stopped: history.Quiet}
	for i, s := range hs {
		e := history.Event{Who: fmt.Sprintf("c%d", s.client), Lock: fmt.Sprintf("lock%d", s.lock), Grant: int32(i) + 1}
		e.Kind, e.At = history.Believe, time.Duration(s.from)
		h.Add(e)
		e.Kind, e.At = history.Doubt, time.Duration(s.to)
		h.Add(e)
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return int(a.At - b.At) })
	h.End = 100
	return h
}

// instants finds the windows of one lock by asking at every instant.
func instants(hs []held, lock int) (ws []Window, total time.Duration) {
	for t := range 30 {
		var names []string
		for _, s := range hs {
			if c := fmt.Sprintf("c%d", s.client); s.lock == lock && s.from <= t && t < s.to && !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
		if len(names) < 2 {
			continue
		}
		slices.Sort(names)
		total++
		w := Window{Lock: fmt.Sprintf("lock%d", lock), Holders: names, From: time.Duration(t), To: time.Duration(t) + 1}
		if n := len(ws); n > 0 && ws[n-1].To == w.From && slices.Equal(ws[n-1].Holders, names) {
			ws[n-1].To = w.To
			continue
		}
		ws = append(ws, w)
	}
	return ws, total
}

func TestBeliefAgreesWithAskingAtEveryInstant(t *testing.T) {
	var j Judge
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(0, 9)
		hs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) held {
			from := small.Draw(t, "from")
			return held{rapid.IntRange(1, 3).Draw(t, "client"), rapid.IntRange(0, 1).Draw(t, "lock"), from, from + small.Draw(t, "for")}
		}), 1, 8).Draw(t, "held")
		h := beliefs(hs)
		got := j.Verdicts(h).Belief
		var want []Window
		var total time.Duration
		j.rec.read(h)
		for _, name := range j.rec.locks.keys { // in the order of first appearance
			ws, n := instants(hs, int(name[len("lock")]-'0'))
			want, total = append(want, ws...), total+n
		}
		require.Equal(t, total, got.Total)
		require.Len(t, got.Windows, len(want))
		for i, w := range got.Windows {
			w.Cause, w.Blame, w.Who = "", "", ""
			require.Equal(t, want[i], w)
		}
	})
}

func TestBeliefKeepsLocksApart(t *testing.T) {
	hs := []held{{1, 0, 0, 5}, {2, 1, 5, 9}, {3, 1, 5, 9}}
	w := Verdict(beliefs(hs)).Belief.Windows
	require.Len(t, w, 1)
	require.Equal(t, "lock1", w[0].Lock)
	require.Equal(t, []string{"c2", "c3"}, w[0].Holders)
}

func TestBeliefEnds(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.granted(11, 11.5, "c2", 2, 21)
	tp.end(12, "c1", history.DoubtDeath)
	tp.granted(13, 14, "c3", 3, 23)
	tp.end(15, "c2", "") // the script is over, the belief is not
	tp.end(20, "c3", "")
	b := Verdict(&tp.h).Belief
	require.Equal(t, Overlapping, b.Status)
	require.Equal(t, sec(.5+6), b.Total)
	require.Equal(t, []string{"c1", "c2"}, b.Windows[0].Holders)
	require.Equal(t, sec(20), b.Windows[1].To)
}

func TestBeliefStatus(t *testing.T) {
	empty := &history.History{Stopped: history.Quiet}
	require.Equal(t, None, Verdict(empty).Belief.Status)
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	require.Equal(t, Exclusive, Verdict(&tp.h).Belief.Status)
}

// lasting is a kept promise whose holder c1, promised until 11, believes until
// 16 while c2 holds the lock from 11.5 on; extra happens at the start.
func lasting(extra func(tp *tape), why string) *tape {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11)
	extra(tp)
	tp.granted(11.4, 11.5, "c2", 2, 21.4)
	if why != "" {
		tp.doubt(16, "c1", 1, why)
	}
	tp.doubt(18, "c2", 2, history.DoubtRelease)
	return tp
}

func TestCauseOfWindow(t *testing.T) {
	none := func(*tape) {}
	for _, c := range []struct {
		name  string
		extra func(*tape)
		why   string
		to    float64
		cause string
		blame Blame
	}{
		{"pause", func(tp *tape) { tp.fault(2, "c1", "pause c1 gc 14s", "") }, history.DoubtRelease, 16,
			"c1's term ended at 11.000; c1 was paused (gc) from 2.000 on and went on believing until 16.000", Holder},
		{"a pause that was over in time", func(tp *tape) {
			tp.fault(2, "c1", "pause c1 gc 1s", "")
			tp.heal(3, "c1", "pause c1 gc 1s")
		}, history.DoubtRelease, 16,
			"c1's term ended at 11.000; c1 has no deadline of its own and went on believing until 16.000", Recipe},
		{"another's pause", func(tp *tape) { tp.fault(2, "c3", "pause c3 gc 14s", "") }, history.DoubtRelease, 16,
			"c1's term ended at 11.000; c1 has no deadline of its own and went on believing until 16.000", Recipe},
		{"clock", func(tp *tape) { tp.fault(2, "c1", "clock-rate c1 -10%", "ran -10%") }, history.DoubtDeadline, 16,
			"c1's term ended at 11.000; c1 had a clock that ran -10% at 2.000 and went on believing until 16.000", Holder},
		{"no deadline", none, "", 18,
			"c1's term ended at 11.000; c1 has no deadline of its own and went on believing until 18.000", Recipe},
		{"deadline", none, history.DoubtDeadline, 16, "c1's term ended at 11.000; c1 noticed its deadline only at 16.000", Recipe},
		{"lost", none, history.DoubtLost, 16, "c1's term ended at 11.000; c1 learned of the loss only at 16.000", Recipe},
		{"cut", func(tp *tape) { tp.call(3, "c1", history.Release, 1) }, history.DoubtLost, 16,
			"c1's lock was given up or cut off at 3.000; c1 learned of the loss only at 16.000", Recipe},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Verdict(&lasting(c.extra, c.why).h)
			require.Equal(t, Kept, v.Promise.Status)
			require.Equal(t, []Window{{
				Lock: "doc", Holders: []string{"c1", "c2"}, From: sec(11.5), To: sec(c.to), Cause: c.cause, Blame: c.blame, Who: "c1",
			}}, v.Belief.Windows)
		})
	}
}

func TestCauseOfWindowNamesThePauseToItsEnd(t *testing.T) {
	tp := lasting(func(tp *tape) { tp.fault(2, "c1", "pause c1 gc 14s", "") }, "")
	tp.heal(18, "c1", "pause c1 gc 14s")
	require.Equal(t, "c1's term ended at 11.000; c1 was paused (gc) from 2.000 to 18.000 and went on believing until 18.000",
		Verdict(&tp.h).Belief.Windows[0].Cause)
}

func TestCauseOfWindowIsTheBreachWhereThereIsOne(t *testing.T) {
	tp := crossed(func(tp *tape) { tp.freed(.5, "r3", "v1", history.FreedRestart, "") })
	tp.end(5, "c1", "")
	v := Verdict(&tp.h)
	require.Equal(t, v.Promise.Breaches[0].Cause, v.Belief.Windows[0].Cause)
	require.Equal(t, Service, v.Belief.Windows[0].Blame)
	require.Equal(t, "r3", v.Belief.Windows[0].Who)
}

// H10: what the service has confirmed in the middle of a window is not why it began.
func TestCauseOfWindowIsNoLaterBreach(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.granted(10.5, 11, "c2", 2, 30)
	tp.call(13, "c1", history.Extend, 1)
	tp.ret(13.5, "c1", history.OK, promise(23))
	tp.end(20, "c1", "")
	v := Verdict(&tp.h)
	require.Equal(t, ConfirmedAfterLoss, v.Promise.Breaches[0].Kind)
	require.Equal(t, "c1's term ended at 10.000; c1 has no deadline of its own and went on believing until 20.000", v.Belief.Windows[0].Cause)
	require.Equal(t, Recipe, v.Belief.Windows[0].Blame)
}

func TestCauseOfWindowWithoutAGrant(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.call(2, "c2", history.Acquire, 2)
	tp.ret(3, "c2", history.Unknown)
	tp.on(3, history.Event{Kind: history.Believe, Who: "c2", Grant: 2, Lock: "doc"})
	tp.end(4, "c1", "")
	w := Verdict(&tp.h).Belief.Windows
	require.Len(t, w, 1)
	require.Equal(t, "c2 believed from 3.000 on without having been granted the lock", w[0].Cause)
	require.Equal(t, Recipe, w[0].Blame)
}

// Three grants at once are two breaches, each with the first of them; the other
// two are the service's doing as well.
func TestCauseBetweenTheLaterOfThreeGrants(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 20)
	tp.doubt(2, "c1", 1, history.DoubtAbort)
	tp.granted(2, 3, "c2", 2, 12)
	tp.granted(4, 5, "c3", 3, 15)
	tp.end(8, "c3", history.DoubtDeath)
	v := Verdict(&tp.h)
	require.Len(t, v.Promise.Breaches, 2)
	require.Equal(t, Service, v.Belief.Windows[0].Blame)
	require.Equal(t, "c3 was granted the lock at 5.000 while c2's term ran to 12.000", v.Belief.Windows[0].Cause)
}

func TestStrayEventsAreIgnored(t *testing.T) {
	tp := newTape()
	tp.on(0, history.Event{Kind: history.Return, Op: 1, Outcome: history.OK})
	tp.on(0, history.Event{Kind: history.Return, Op: 9, Outcome: history.OK})
	tp.doubt(0, "c1", 1, history.DoubtLost)
	tp.ops = 1
	tp.granted(0, 1, "c1", 1, 10)
	tp.on(1, history.Event{Kind: history.Believe, Who: "c1", Grant: 1, Lock: "doc"})
	tp.end(9, "c1", "")
	v := Verdict(&tp.h)
	require.Equal(t, []Status{Kept, Exclusive, None, OK},
		[]Status{v.Promise.Status, v.Belief.Status, v.Damage.Status, v.Progress.Status})
}

// A client's clock matters only to one that goes by it, and only when it is behind.
func TestCauseOfWindowIsTheClockOnlyOfWhoGoesByIt(t *testing.T) {
	for _, c := range []struct{ line, why, cause string }{
		{"clock-step c1 -5s", history.DoubtRelease, "c1 has no deadline of its own and went on believing until 16.000"},
		{"clock-step c1 +5s", history.DoubtDeadline, "c1 noticed its deadline only at 16.000"},
		{"clock-step c1 -5s", history.DoubtDeadline, "c1 had a clock that did it at 2.000 and went on believing until 16.000"},
		{"partition clock1|c1", history.DoubtDeadline, "c1 noticed its deadline only at 16.000"},
		{"partition c1|pause", history.DoubtRelease, "c1 has no deadline of its own and went on believing until 16.000"},
	} {
		tp := lasting(func(tp *tape) { tp.fault(2, "c1", c.line, "did it") }, c.why)
		require.Equal(t, "c1's term ended at 11.000; "+c.cause, Verdict(&tp.h).Belief.Windows[0].Cause, c.line)
	}
}

// Of several who believe too long, the one whose term ended first is blamed: here
// neither the first to believe nor the last.
func TestCauseOfWindowIsWhoseTermEndedFirst(t *testing.T) {
	tp := newTape()
	tp.call(1, "c1", history.Acquire, 1)
	decided := tp.on(1.001, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1"})
	tp.granted(11.4, 11.5, "c2", 2, 21)
	tp.ret(15, "c1", history.OK, promise(11), func(e *history.Event) { e.Decided = int32(decided) })
	tp.on(15, history.Event{Kind: history.Believe, Who: "c1", Grant: 1, Lock: "doc"})
	tp.granted(22, 22.5, "c3", 3, 24)
	tp.end(25, "c4", "")
	v := Verdict(&tp.h)
	require.Equal(t, Kept, v.Promise.Status)
	require.Len(t, v.Belief.Windows, 2)
	require.Equal(t, []string{"c1", "c2", "c3"}, v.Belief.Windows[1].Holders)
	require.Equal(t, "c1", v.Belief.Windows[1].Who)
}

// Whoever dies believes in nothing any more.
func TestDeathEndsEveryBelief(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 3)
	tp.granted(3, 4, "c1", 2, 6)
	tp.doubt(5, "c1", 2, history.DoubtAbort)
	tp.end(6, "c1", history.DoubtDeath)
	tp.granted(7, 8, "c2", 3, 18)
	tp.end(9, "c2", "")
	require.Equal(t, Exclusive, Verdict(&tp.h).Belief.Status)
}
