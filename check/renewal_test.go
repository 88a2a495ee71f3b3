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
