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
