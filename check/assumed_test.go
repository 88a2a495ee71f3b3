package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// assumed is c1, which holds the lock, and c2, which was never granted it and believes
// all the same (H11).
func assumed() *tape {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 11)
	tp.call(2, "c2", history.Acquire, 2)
	tp.ret(2.05, "c2", history.Unknown)
	tp.on(2.05, history.Event{Kind: history.Believe, Who: "c2", Grant: 2, Lock: "doc"})
	return tp
}

// What c1 replaced, or did again, is c2's fault, and c2 had no term that could be over.
func TestDamageWithoutAGrant(t *testing.T) {
	update := assumed()
	update.wrote(3, "c2", 2, 1, 0, 0)
	update.wrote(5, "c1", 1, 2, 0, 0)
	require.Equal(t, []Wound{{
		Kind: LostUpdate, Class: Correctness, Client: "c1", At: sec(5), Blame: Recipe, Who: "c2",
		Cause: "c1 wrote row at 5.000 from version 0, which had become 1 by c2's write at 3.000; c2 had not been granted the lock",
	}}, woundsOf(update))

	for _, order := range [][2]string{{"c1", "c2"}, {"c2", "c1"}} {
		effect := assumed()
		for i, who := range order {
			grant := int32(1)
			if who == "c2" {
				grant = 2
			}
			effect.on(3+float64(i), history.Event{Kind: history.Effect, Who: "mailer", Peer: who, Lock: "mail-1", Grant: grant})
		}
		w := woundsOf(effect)
		require.Len(t, w, 1)
		require.Equal(t, Recipe, w[0].Blame)
		require.Equal(t, "c2", w[0].Who)
		require.Contains(t, w[0].Cause, "; c2 had not been granted the lock")
	}
}

// What is confirmed to it later, as by a sign of life of its connection, is no promise
// where it was refused, and is one where it may have been granted.
func TestConfirmedButNotGranted(t *testing.T) {
	for _, c := range []struct {
		outcome       history.Outcome
		belief, twice string // the causes
		who           string
	}{
		{history.Refused, "c2 believed from 2.050 on without having been granted the lock",
			"c2 did mail-1 at 15.000, which c1 had done at 4.000; c2 had not been granted the lock", "c2"},
		{history.Unknown, "c1's term ended at 4.000; c1 has no deadline of its own and went on believing until 5.000",
			"c2 did mail-1 at 15.000, which c1 had done at 4.000; each held the lock, and nothing recorded that it was done", ""},
	} {
		tp := newTape()
		tp.call(2, "c2", history.Acquire, 2)
		tp.ret(2.05, "c2", c.outcome)
		tp.on(2.05, history.Event{Kind: history.Believe, Who: "c2", Grant: 2, Lock: "doc"})
		tp.granted(1, 3, "c1", 1, 4)
		tp.on(4, history.Event{Kind: history.Effect, Who: "mailer", Peer: "c1", Lock: "mail-1", Grant: 1})
		tp.doubt(5, "c1", 1, history.DoubtAbort)
		tp.call(6, "c2", history.Extend, 2)
		tp.ret(6.01, "c2", history.OK, promise(16))
		tp.on(15, history.Event{Kind: history.Effect, Who: "mailer", Peer: "c2", Lock: "mail-1", Grant: 2})
		tp.doubt(15.5, "c2", 2, history.DoubtAbort)
		v := Verdict(&tp.h)
		require.Len(t, v.Belief.Windows, 1)
		require.Equal(t, c.belief, v.Belief.Windows[0].Cause)
		require.Len(t, v.Damage.Events, 1)
		require.Equal(t, c.twice, v.Damage.Events[0].Cause)
		require.Equal(t, []any{Recipe, c.who}, []any{v.Damage.Events[0].Blame, v.Damage.Events[0].Who})
	}
}
