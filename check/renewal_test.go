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
