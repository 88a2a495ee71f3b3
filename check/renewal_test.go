package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// renewed is an extension by c1, whose key has expired: with its PEXPIRE c2's key gets a
// new term, twice, and c1 is told that it has one.
func renewed(whose string) *tape {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
	tp.call(13, "c1", history.Extend, 1)
	for range 2 {
		tp.on(13.001, history.Event{Kind: history.Prolonged, Who: "r1", Lock: "doc", Value: whose, Peer: "c1", Why: "PEXPIRE"})
	}
	tp.ret(13.002, "c1", history.OK, promise(23), value("v1"))
	return tp
}

// H10: the key that c1 prolonged was c2's. That counts once, and it is c1 who asked for
// it.
func TestWrongRenewal(t *testing.T) {
	require.Equal(t, []Wound{{
		Kind: WrongRenewal, Class: Correctness, Client: "c1", At: sec(13.001), Blame: Holder, Who: "c1",
		Cause: "c1's PEXPIRE at 13.001 gave c2's key on r1 a new term",
	}}, woundsOf(renewed("v2")))
	require.Empty(t, woundsOf(renewed("v1")), "its own")
	require.Empty(t, woundsOf(renewed("v9")), "nobody's")

	both := renewed("v2")
	both.call(14, "c1", history.Release, 1)
	both.freed(14.001, "r1", "v2", history.FreedDeleted, "c1")
	require.Len(t, woundsOf(both), 2, "to release it besides is another matter")
}

// H10: what comes of such an extension is not the service's fault.
func TestCauseAfterAWrongRenewal(t *testing.T) {
	const renewal = "c1's PEXPIRE at 13.001 gave c2's key on r1 a new term; "
	confirmed := breachOf(t, renewed("v2"))
	require.Equal(t, ConfirmedAfterLoss, confirmed.Kind)
	require.Equal(t, Holder, confirmed.Blame)
	require.Equal(t, "c1", confirmed.Who)
	require.Equal(t, Service, breachOf(t, renewed("v1")).Blame, "its own key stood, though another had been granted the lock")

	for _, c := range []struct {
		name, whose string
		blame       Blame
		lost, grant string // the causes
	}{
		{"another's", "v2", Holder,
			renewal + "c1 was told at 18.002 that it does not hold the lock; c1's term ran to 23.000",
			renewal + "c3 was granted the lock at 22.020; c1's term ran to 23.000"},
		{"its own", "v1", Service,
			"c1 was told at 18.002 that it does not hold the lock; c1's term ran to 23.000",
			"c3 was granted the lock at 22.020 while c1's term ran to 23.000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := renewed(c.whose)
			tp.call(18, "c1", history.Release, 1)
			tp.ret(18.002, "c1", history.NotHeld)
			tp.granted(22, 22.02, "c3", 3, 32, value("v3"))
			b := Verdict(&tp.h).Promise.Breaches
			require.Len(t, b, 3)
			require.Equal(t, LostLease, b[1].Kind)
			require.Equal(t, c.lost, b[1].Cause)
			require.Equal(t, c.blame, b[1].Blame)
			require.Equal(t, DoubleGrant, b[2].Kind)
			require.Equal(t, c.grant, b[2].Cause)
			require.Equal(t, c.blame, b[2].Blame)
		})
	}
}

// prolonged gives the key of value v a new term by who's PEXPIRE.
func (t *tape) prolonged(s float64, lock, v, who string) {
	t.on(s, history.Event{Kind: history.Prolonged, Who: "r1", Lock: lock, Value: v, Peer: who, Why: "PEXPIRE"})
}

// H10, H11: who went on without knowing, and was then told of another's key that it is
// its own, has not been given the lock: whatever that contradicts is its own doing.
func TestAnothersKeyProvesNothing(t *testing.T) {
	tp := newTape()
	tp.granted(.5, .6, "c1", 1, 11, value("v1"))
	tp.call(2, "c2", history.Acquire, 2)
	tp.ret(2.05, "c2", history.Unknown, value("v2"))
	tp.call(4, "c2", history.Release, 2)
	tp.freed(4.001, "r1", "v1", history.FreedDeleted, "c2")
	tp.ret(4.002, "c2", history.OK)
	b := breachOf(t, tp)
	require.Equal(t, []any{DoubleGrant, Holder, "c2"}, []any{b.Kind, b.Blame, b.Who})
	require.Equal(t, "c2's request at 4.001 deleted c1's key on r1; c2 was told at 4.002 that it holds the lock, "+
		"which was never free since it asked: c1 was granted it at 0.600", b.Cause)

	// Where the lock was free for some time since it asked.
	tp = newTape()
	tp.call(0, "c2", history.Acquire, 2)
	tp.ret(.05, "c2", history.Unknown, value("v2"))
	tp.granted(.5, .6, "c1", 1, 11, value("v1"))
	tp.call(4, "c2", history.Extend, 2)
	tp.prolonged(4.001, "doc", "v1", "c2")
	tp.ret(4.002, "c2", history.OK, promise(14), value("v2"))
	b = breachOf(t, tp)
	require.Equal(t, []any{DoubleGrant, Holder, "c2"}, []any{b.Kind, b.Blame, b.Who})
	require.Equal(t, "c2's PEXPIRE at 4.001 gave c1's key on r1 a new term; c2 was told at 4.002 that it holds the lock while c1's term ran to 11.000", b.Cause)
}

// What the client does meanwhile to the key of another lock is no matter of this one.
func TestAnotherLocksKey(t *testing.T) {
	for _, c := range []struct {
		lock  string
		blame Blame
	}{{"doc", Holder}, {"other", Service}} {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
		tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
		tp.call(13, "c1", history.Extend, 1)
		tp.prolonged(13.001, c.lock, "v2", "c1")
		tp.ret(13.002, "c1", history.OK, promise(23), value("v1"))
		require.Equal(t, c.blame, breachOf(t, tp).Blame, c.lock)
	}
}

// H10: a client that gives another's key a new term may give it a shorter one.
func TestARenewalThatCutsAnothersTermShort(t *testing.T) {
	cut := func(between func(*tape)) Breach {
		tp := newTape()
		tp.granted(1, 1.01, "c2", 2, 21, value("v2"), standing("r1"))
		between(tp)
		tp.freed(9, "r1", "v2", history.FreedExpired, "")
		tp.granted(9.5, 9.6, "c3", 3, 19, value("v3"), standing("r1"))
		return breachOf(t, tp)
	}
	clock := func(s float64) func(*tape) {
		return func(tp *tape) { tp.fault(s, "r1", "clock-step r1 +9s", "stepped +9s") }
	}
	b := cut(func(tp *tape) { tp.prolonged(7, "doc", "v2", "c1") })
	require.Equal(t, []any{DoubleGrant, Holder, "c1"}, []any{b.Kind, b.Blame, b.Who})
	require.Equal(t, "c1's PEXPIRE at 7.000 gave c2's key on r1 a new term, which was over at 9.000; c3's grant at 9.600 needed it; c2's term ran to 21.000", b.Cause)
	b = cut(func(tp *tape) { clock(6)(tp); tp.prolonged(7, "doc", "v2", "c1") })
	require.Equal(t, "c1", b.Who, "the term began after the step")
	for name, between := range map[string]func(*tape){
		"a step after it": func(tp *tape) { tp.prolonged(7, "doc", "v2", "c1"); clock(8)(tp) },
		"its own":         func(tp *tape) { tp.prolonged(7, "doc", "v2", "c2") },
		"another lock":    func(tp *tape) { tp.prolonged(7, "other", "v2", "c1") },
		"another's key":   func(tp *tape) { tp.prolonged(7, "doc", "v9", "c1") },
		"before its last": func(tp *tape) {
			tp.prolonged(7, "doc", "v2", "c1")
			tp.call(8, "c2", history.Extend, 2)
			tp.ret(8.01, "c2", history.OK, promise(28), value("v2"), standing("r1"))
		},
	} {
		b = cut(between)
		require.Equal(t, []any{Service, "r1"}, []any{b.Blame, b.Who}, name)
	}
}

// H10: who is told rightly that its lock is gone, and later that it has it, because the
// key is another's, has itself to blame for the contradiction.
func TestGainsaidByAnothersKey(t *testing.T) {
	const renewal = "c1's PEXPIRE at 13.001 gave c2's key on r1 a new term; "
	const lost = "c1 was told at 12.010 that it does not hold the lock, though its extension was confirmed at 13.002"
	const read = "c3's read at 12.210 found no holder, though c1 held the lock from 1.010 on: its extension was confirmed at 13.002"
	for _, c := range []struct {
		key, before string
		blame       Blame
		who         string
	}{{"v2", renewal, Holder, "c1"}, {"v1", "", Service, ""}} {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
		tp.call(12, "c1", history.Extend, 1)
		tp.ret(12.01, "c1", history.NotHeld)
		tp.callOn(12.2, "c3", history.Read, 0, "doc")
		tp.ret(12.21, "c3", history.OK)
		tp.granted(12.4, 12.5, "c2", 2, 22.4, value("v2"))
		tp.call(13, "c1", history.Extend, 1)
		tp.prolonged(13.001, "doc", c.key, "c1")
		tp.ret(13.002, "c1", history.OK, promise(23), value("v1"))
		kinds := map[string]string{}
		for _, b := range Verdict(&tp.h).Promise.Breaches {
			require.Equal(t, []any{c.blame, c.who}, []any{b.Blame, b.Who}, b.Kind)
			kinds[b.Kind] = b.Cause
		}
		require.Equal(t, c.before+lost, kinds[LostLease])
		require.Equal(t, c.before+read, kinds[StaleRead])
		require.Contains(t, kinds, ConfirmedAfterLoss)
	}
}

// H11: what confirms a grant that was refused is no promise of the service, where the
// client had gone on all the same. Without that, the service says two things.
func TestConfirmedWithoutAGrant(t *testing.T) {
	refused := func(believes bool, key string) Breach {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
		tp.call(2, "c2", history.Acquire, 2)
		tp.ret(2.01, "c2", history.Refused, value("v2"))
		if believes {
			tp.on(2.01, history.Event{Kind: history.Believe, Who: "c2", Grant: 2, Lock: "doc"})
		}
		tp.call(13, "c2", history.Release, 2)
		if key != "" {
			tp.freed(13.001, "r1", key, history.FreedDeleted, "c2")
		}
		tp.ret(13.002, "c2", history.OK)
		return breachOf(t, tp)
	}
	b := refused(true, "")
	require.Equal(t, []any{Recipe, "c2"}, []any{b.Blame, b.Who})
	require.Equal(t, "c2's release was confirmed at 13.002, though it had never been granted, and it had gone on without", b.Cause)
	require.Equal(t, Service, refused(false, "").Blame)
	b = refused(true, "v1")
	require.Equal(t, []any{Holder, "c2"}, []any{b.Blame, b.Who})
	require.Contains(t, b.Cause, "deleted c1's key on r1; c2's release was confirmed at 13.002, though it had never been granted")
}

// H7, H10: what a client is told of another's key makes nothing good that it did after
// its own term was over.
func TestAnothersKeyIsNoPromise(t *testing.T) {
	tp := newTape()
	tp.granted(1, 1.01, "c1", 1, 11, value("v1"))
	tp.granted(11.4, 11.5, "c2", 2, 21.4, value("v2"))
	for i, who := range []string{"c1", "c2"} {
		tp.on(12, history.Event{Kind: history.Effect, Who: "mailer", Peer: who, Lock: "mail-1", Grant: int32(i + 1)})
	}
	tp.doubt(12.5, "c2", 2, history.DoubtAbort)
	tp.call(13, "c1", history.Extend, 1)
	tp.prolonged(13.001, "doc", "v2", "c1")
	tp.ret(13.002, "c1", history.OK, promise(23), value("v1"))
	tp.doubt(14, "c1", 1, history.DoubtRelease)
	tp.call(14, "c1", history.Release, 1)
	tp.freed(14.001, "r1", "v2", history.FreedDeleted, "c1")
	tp.ret(14.002, "c1", history.OK)
	v := Verdict(&tp.h)
	require.Len(t, v.Belief.Windows, 1)
	w := v.Belief.Windows[0]
	require.Equal(t, []any{Recipe, "c1"}, []any{w.Blame, w.Who})
	require.Equal(t, "c1's term ended at 11.000; c1 has no deadline of its own and went on believing until 14.000", w.Cause)
	require.Equal(t, DuplicateEffect, v.Damage.Events[0].Kind)
	require.Equal(t, []any{Recipe, "c1"}, []any{v.Damage.Events[0].Blame, v.Damage.Events[0].Who})
}
