package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// forever is the promise of a lock that lasts as long as its session.
func forever(e *history.Event) { e.Until = history.Forever }

// session is a lock without a term: c1 gets it at 1, its session ends at 2 unless it
// never does, and c2 gets it at 3. c1 writes at 5 and releases.
func session(ends bool) *tape {
	t := newTape()
	t.granted(0, 1, "c1", 1, 0, value("s1"))
	t.h.Events[1].Until = history.Forever
	if ends {
		t.freed(2, "db", "s1", history.FreedSession, "")
	}
	t.call(2.5, "c2", history.Acquire, 2)
	t.ret(3, "c2", history.OK, forever, value("s2"))
	t.on(3, history.Event{Kind: history.Believe, Who: "c2", Grant: 2, Lock: "doc"})
	t.wrote(4, "c2", 2, 1, -1, 0)
	t.wrote(5, "c1", 1, 2, -1, 0)
	t.doubt(5, "c1", 1, history.DoubtRelease)
	t.call(5, "c1", history.Release, 1)
	t.ret(5.5, "c1", history.NotHeld)
	t.doubt(6, "c2", 2, history.DoubtRelease)
	return t
}

// TestASessionEndsThePromise: a lock without a term is promised until the service
// records that its session has ended; who believes on, believes too long.
func TestASessionEndsThePromise(t *testing.T) {
	v := Verdict(&session(true).h)
	require.Equal(t, Kept, v.Promise.Status)
	require.Equal(t, sec(2), v.Belief.Total)
	w := v.Belief.Windows[0]
	require.Equal(t, "c1's session on db ended at 2.000; c1 was not told and went on believing until 5.000", w.Cause)
	require.Equal(t, Recipe, w.Blame)
	require.Equal(t, "c1", w.Who)
	require.Len(t, v.Damage.Events, 1)
	require.Equal(t, "c1 wrote row at 5.000 under its grant of 1.000, after c2's write at 4.000 under the newer grant of 3.000; "+
		"c1's session on db ended at 2.000 and nothing checked it at the resource", v.Damage.Events[0].Cause)

	v = Verdict(&session(false).h)
	require.Equal(t, Broken, v.Promise.Status)
	require.Equal(t, "c2 was granted the lock at 3.000 while c1's term had no end", v.Promise.Breaches[0].Cause)
}

// TestAGrantIsNotOlderThanTheEndOfItsSession: etcd#11456, H14: B, whose session
// had ended while it queued, is told that it holds the lock when A gives it back,
// and so is C. It is so whether the service promises its locks for a term or for as
// long as the session lasts.
func TestAGrantIsNotOlderThanTheEndOfItsSession(t *testing.T) {
	for _, c := range []struct {
		why  string
		told bool
	}{{history.FreedSession, true}, {history.FreedSession, false}, {history.FreedExpired, true}, {history.FreedExpired, false}} {
		told := c.told
		tp := newTape()
		tp.granted(0, .01, "A", 1, 100, value("a"))
		tp.call(1, "B", history.Acquire, 2)
		tp.freed(3, "etcd", "b", c.why, "")
		tp.call(5, "A", history.Release, 1)
		tp.ret(5.01, "A", history.OK)
		if told {
			tp.ret(5.02, "B", history.OK, promise(5.015), value("b"))
		} else {
			tp.ret(5.02, "B", history.Refused)
		}
		p := Verdict(&tp.h).Promise
		require.Equal(t, told, p.Status == Broken, p.Breaches)
		if told && c.why == history.FreedExpired {
			b := p.Breaches[0]
			require.Equal(t, "B was told at 5.020 that it holds the lock, though its own key had expired on etcd at 3.000", b.Cause)
			require.Equal(t, []any{DoubleGrant, Recipe, "B"}, []any{b.Kind, b.Blame, b.Who})
		}
	}
}

// Of a lock that several nodes vote on, the key of one may go while the others are
// still asked.
func TestAGrantOfSeveralNodesIsNotOneNodes(t *testing.T) {
	for votes, want := range map[string]Status{"r1,r2,r3": Kept, "": Broken} {
		tp := newTape()
		tp.granted(0, .01, "A", 1, 100, value("a"))
		tp.call(1, "B", history.Acquire, 2)
		tp.freed(1.5, "r1", "b", history.FreedExpired, "")
		tp.call(1.6, "A", history.Release, 1)
		tp.ret(1.7, "A", history.OK)
		tp.ret(2, "B", history.OK, promise(10), value("b"), func(e *history.Event) { e.Votes = votes })
		require.Equal(t, want, Verdict(&tp.h).Promise.Status, votes)
	}
}

// TestStrayedRequests: a lock that goes with a session, used as if it went with a
// client, is the recipe's fault.
func TestStrayedRequests(t *testing.T) {
	strayed := func(tp *tape, s float64, who, why string) {
		tp.on(s, history.Event{Kind: history.Strayed, Who: "db", Peer: who, Lock: "doc", Value: "s1", Why: why})
	}
	enter := session(false)
	enter.h.Events = enter.h.Events[:4]
	strayed(enter, 2.75, "c2", history.StrayedEnter)
	enter.ret(3, "c2", history.OK, forever, value("s2"))
	b := breachOf(t, enter)
	require.Equal(t, "db let c2 in at 2.750 on the session that held c1's lock; c1's term had no end", b.Cause)
	require.Equal(t, Recipe, b.Blame)
	require.Equal(t, "c2", b.Who)

	release := newTape()
	release.granted(0, 1, "c1", 1, 9, value("s1"))
	release.call(2, "c1", history.Release, 1)
	strayed(release, 2.5, "c1", history.StrayedRelease)
	release.ret(3, "c1", history.NotHeld)
	b = breachOf(t, release)
	require.Equal(t, LostLease, b.Kind)
	require.Equal(t, "c1's release reached db at 2.500 on another session than its lock's, which holds on; "+
		"c1 was told at 3.000 that it does not hold the lock; c1's term ran to 9.000", b.Cause)
	require.Equal(t, Recipe, b.Blame)
}

// TestANestedAcquireIsAnExtension of the grant that its client holds, and opens
// none.
func TestANestedAcquireIsAnExtension(t *testing.T) {
	for _, c := range []struct {
		name  string
		again func(tp *tape)
		want  Status
	}{
		{"counted", func(tp *tape) {
			tp.ret(3, "c1", history.OK, forever, func(e *history.Event) { e.Verb, e.Grant, e.Why = history.Extend, 1, history.ExtendAgain })
		}, Kept},
		{"a second grant", func(tp *tape) { tp.ret(3, "c1", history.OK, forever) }, Broken},
	} {
		tp := newTape()
		tp.call(0, "c1", history.Acquire, 1)
		tp.ret(1, "c1", history.OK, forever)
		tp.on(1, history.Event{Kind: history.Believe, Who: "c1", Grant: 1, Lock: "doc"})
		tp.call(2, "c1", history.Acquire, 2)
		c.again(tp)
		tp.call(4, "c1", history.Release, 1)
		tp.ret(5, "c1", history.OK)
		v := Verdict(&tp.h)
		require.Equal(t, c.want, v.Promise.Status, c.name)
		require.Equal(t, sec(1), v.Progress.Longest, c.name)
		require.Equal(t, v.Promise.Status, Porcupine(&tp.h, steps), c.name)
	}
}
