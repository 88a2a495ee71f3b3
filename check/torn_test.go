package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// half is a write of who's to object, one of a and b that belong together in its
// change number unit.
func (t *tape) half(s float64, who string, grant, unit int32, object string, version int64, out history.Outcome) {
	t.on(s, history.Event{
		Kind: history.Write, Who: object, Lock: object, Peer: who, Grant: grant, Op: unit, Votes: "a,b", Outcome: out,
		Version: version, Base: version - 1,
	})
}

func TestTornWrite(t *testing.T) {
	tp := newTape()
	tp.half(12, "c2", 2, 1, "a", 1, history.OK)
	tp.half(12.1, "c2", 2, 1, "b", 0, history.Refused)
	tp.half(12.5, "c1", 1, 1, "a", 1, history.Refused)
	tp.half(12.6, "c1", 1, 1, "b", 1, history.OK)
	require.Equal(t, []Wound{
		{Kind: TornWrite, Class: Correctness, Client: "c2", At: sec(12.1), Blame: Recipe, Who: "c2",
			Cause: "c2's write of a at 12.000 stands, and that of b, which belongs to it, was rejected at 12.100; no one step does both"},
		{Kind: TornWrite, Class: Correctness, Client: "c1", At: sec(12.5), Blame: Recipe, Who: "c1",
			Cause: "c1's write of b at 12.600 stands, and that of a, which belongs to it, was rejected at 12.500; no one step does both"},
	}, woundsOf(tp))
}

// What was done once does not make up for what is half done later.
func TestTornWriteOfTheSecondChange(t *testing.T) {
	tp := newTape()
	tp.half(12, "c1", 1, 1, "a", 1, history.OK)
	tp.half(12, "c1", 1, 1, "b", 1, history.OK)
	tp.half(13, "c1", 1, 2, "a", 2, history.OK)
	tp.half(13, "c1", 1, 2, "b", 1, history.Refused)
	w := woundsOf(tp)
	require.Len(t, w, 1)
	require.Contains(t, w[0].Cause, "c1's write of a at 13.000 stands, and that of b")
}

func TestTornWriteOfAClientThatIsGone(t *testing.T) {
	for why, how := range map[string]string{"": "its script ended", history.DoubtDeath: "it died"} {
		tp := newTape()
		tp.granted(1, 1.01, "c1", 1, 11)
		tp.half(2, "c1", 1, 1, "a", 1, history.OK)
		require.Empty(t, woundsOf(tp), "it may still write b")
		tp.end(3, "c1", why)
		w := woundsOf(tp)
		require.Len(t, w, 1)
		require.Equal(t, "c1's write of a at 2.000 stands, and that of b, which belongs to it, never came: "+how+" at 3.000; no one step does both", w[0].Cause)
		require.Equal(t, sec(3), w[0].At)
		tp.half(4, "c1", 1, 1, "b", 1, history.OK) // it was only late
		require.Empty(t, woundsOf(tp))
	}
}

func TestWritesThatAreNotTorn(t *testing.T) {
	for name, write := range map[string]func(tp *tape){
		"both accepted": func(tp *tape) {
			tp.half(12, "c1", 1, 1, "a", 1, history.OK)
			tp.half(12, "c1", 1, 1, "b", 1, history.OK)
		},
		"accepted, and written over": func(tp *tape) {
			tp.half(12, "c1", 1, 1, "a", 1, history.OK)
			tp.half(12, "c1", 1, 1, "b", 1, history.OK)
			tp.half(13, "c2", 2, 1, "a", 2, history.OK)
			tp.half(13, "c2", 2, 1, "b", 2, history.OK)
		},
		"both rejected": func(tp *tape) {
			tp.half(12, "c1", 1, 1, "a", 0, history.Refused)
			tp.half(12, "c1", 1, 1, "b", 0, history.Refused)
		},
		"half done, and written over": func(tp *tape) {
			tp.half(12, "c1", 1, 1, "a", 1, history.OK)
			tp.half(13, "c2", 2, 1, "a", 2, history.OK)
			tp.half(13, "c2", 2, 1, "b", 1, history.OK)
			tp.half(14, "c1", 1, 1, "b", 1, history.Refused)
		},
		"another change of the same client": func(tp *tape) {
			tp.half(12, "c1", 1, 1, "a", 0, history.Refused)
			tp.half(12, "c1", 1, 1, "b", 0, history.Refused)
			tp.half(13, "c1", 1, 2, "a", 1, history.OK)
			tp.half(13, "c1", 1, 2, "b", 1, history.OK)
		},
		"alone": func(tp *tape) {
			tp.wrote(12, "c1", 1, 1, 0, 0)
			tp.half(13, "c1", 1, 1, "b", 0, history.Refused)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tp := newTape()
			tp.granted(1, 1.01, "c1", 1, 11)
			write(tp)
			tp.end(20, "c1", "")
			require.Equal(t, Damage{Status: None, Events: []Wound{}}, Verdict(&tp.h).Damage)
		})
	}
}
