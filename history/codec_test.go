package history

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyEvent draws an event at instant at, every field of it.
func anyEvent(t *rapid.T, at time.Duration) Event {
	text := rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{"c1", "r3", "<&>", "\"\\\x00", "é\u2028"}), rapid.String())
	str := func(name string) string { return strings.ToValidUTF8(text.Draw(t, name), "?") }
	ns := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Just(Forever), rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) }))
	id := rapid.Int32Range(0, 1<<31-1)
	return Event{
		At:      at,
		Kind:    Kind(rapid.IntRange(1, len(words[Kind]())).Draw(t, "kind")),
		Verb:    Verb(rapid.IntRange(0, len(words[Verb]())).Draw(t, "verb")),
		Outcome: Outcome(rapid.IntRange(0, len(words[Outcome]())).Draw(t, "outcome")),
		Op:      id.Draw(t, "op"), Grant: id.Draw(t, "grant"), Decided: id.Draw(t, "decided"),
		Who: str("who"), Peer: str("peer"), Lock: str("lock"), Value: str("value"), Why: str("why"), Votes: str("votes"),
		Anchor: ns.Draw(t, "anchor"), Term: ns.Draw(t, "term"), Until: ns.Draw(t, "until"), Delay: ns.Draw(t, "delay"),
		Token: rapid.Int64().Draw(t, "token"), Version: rapid.Int64().Draw(t, "version"), Base: rapid.Int64().Draw(t, "base"),
	}
}

func anyHistory(t *rapid.T) *History {
	h := &History{
		End:     time.Duration(rapid.Int64().Draw(t, "end")),
		Stopped: Stop(rapid.IntRange(0, len(words[Stop]())).Draw(t, "stopped")),
	}
	ats := rapid.SliceOfN(rapid.Int64Range(0, 1<<62), 0, 8).Draw(t, "at")
	slices.Sort(ats)
	for _, at := range ats {
		h.Add(anyEvent(t, time.Duration(at)))
	}
	return h
}

func write(t require.TestingT, h *History) string {
	var b strings.Builder
	require.NoError(t, Encode(&b, h))
	return b.String()
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHistory(t)
		text := write(t, h)
		back, err := Decode(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, h, back)
		require.Equal(t, text, write(t, back))
	})
}

func TestEventsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t, 0)
		want, err := json.Marshal(e)
		require.NoError(t, err)
		got, err := appendEvent(nil, &e)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}

func TestFormat(t *testing.T) {
	h := &History{End: 2 * time.Second, Stopped: Horizon}
	h.Add(Event{At: time.Second, Kind: Call, Verb: Acquire, Op: 1, Grant: 1, Who: "c1", Lock: "doc"})
	h.Add(Event{At: time.Second, Kind: Return, Verb: Acquire, Outcome: NotHeld, Op: 1, Until: Forever, Base: -1})
	require.Equal(t, `{"format":"locksim history","version":1,"stopped":"horizon","end_ns":2000000000}
{"at_ns":1000000000,"kind":"call","verb":"acquire","op":1,"grant":1,"who":"c1","lock":"doc"}
{"at_ns":1000000000,"kind":"return","verb":"acquire","outcome":"not-held","op":1,"until_ns":9223372036854775807,"base":-1}
`, write(t, h))
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	const head = `{"format":"locksim history","version":1,"end_ns":9}` + "\n"
	for name, c := range map[string]struct{ in, want string }{
		"empty":           {"", "line 1: no header: the file is empty"},
		"other format":    {`{"format":"x","version":1}`, `line 1: format "x" version 1: want "locksim history" version 1`},
		"other version":   {`{"format":"locksim history","version":2}`, `version 2: want`},
		"unknown stop":    {`{"format":"locksim history","version":1,"stopped":"bored"}`, `line 1: want one JSON object: stop "bored": want one of ["quiet" "horizon" "bound"]`},
		"not JSON":        {head + "x\n", "line 2: want one JSON object: invalid character"},
		"blank line":      {head + "\n", "line 2: want one JSON object"},
		"two objects":     {head + `{"at_ns":1,"kind":"end"} {}`, `nothing after it: " {}"`},
		"unknown field":   {head + `{"at_ns":1,"kind":"end","colour":1}`, `unknown field "colour"`},
		"unknown kind":    {head + `{"at_ns":1,"kind":"party"}`, `kind "party": want one of ["call"`},
		"empty kind":      {head + `{"at_ns":1,"kind":""}`, `kind "": want one of ["call"`},
		"no kind":         {head + `{"at_ns":1}`, `no kind: want one of ["call"`},
		"unknown verb":    {head + `{"at_ns":1,"kind":"end","verb":"grab"}`, `verb "grab": want one of ["acquire"`},
		"unknown outcome": {head + `{"at_ns":1,"kind":"end","outcome":"fine"}`, `outcome "fine": want one of ["ok"`},
		"before":          {head + `{"at_ns":2,"kind":"end"}` + "\n" + `{"at_ns":1,"kind":"end"}`, "line 3: at_ns 1: want 2 or more"},
		"before all":      {head + `{"at_ns":-1,"kind":"end"}`, "line 2: at_ns -1: want 0 or more"},
		"negative op":     {head + `{"at_ns":1,"kind":"call","op":-1}`, "op -1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(strings.NewReader(c.in))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDecodeTakesALastLineWithoutItsEnd(t *testing.T) {
	h := &History{End: 1}
	h.Add(Event{Kind: End, Who: "c1"})
	back, err := Decode(strings.NewReader(strings.TrimSuffix(write(t, h), "\n")))
	require.NoError(t, err)
	require.Equal(t, h, back)
}

func TestDecodePassesOnWhatFailed(t *testing.T) {
	_, err := Decode(io.MultiReader(strings.NewReader(`{"for`), broken{}))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestEncodeRefusesWhatHasNoWord(t *testing.T) {
	for name, e := range map[string]Event{
		"event 0: kind 0 has no word":     {},
		"event 0: kind 99 has no word":    {Kind: 99},
		"event 0: verb 99 has no word":    {Kind: End, Verb: 99},
		"event 0: outcome 99 has no word": {Kind: End, Outcome: 99},
	} {
		h := &History{}
		h.Add(e)
		require.ErrorContains(t, Encode(io.Discard, h), name)
	}
	require.ErrorContains(t, Encode(io.Discard, &History{Stopped: 9}), "stop 9 has no word")
}

func TestEncodePassesOnWhatFailed(t *testing.T) {
	h := &History{}
	for range 2000 {
		h.Add(Event{Kind: End, Who: "c1"})
	}
	require.ErrorIs(t, Encode(broken{}, h), io.ErrClosedPipe)
	require.ErrorIs(t, Encode(broken{}, &History{}), io.ErrClosedPipe)
}

// broken is a pipe that fails both ways.
type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, io.ErrClosedPipe }
func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWordsArePrinted(t *testing.T) {
	require.Equal(t, "freed release not-held bound", Freed.String()+" "+Release.String()+" "+NotHeld.String()+" "+Bound.String())
	require.Equal(t, "kind(0) outcome(99)", Kind(0).String()+" "+Outcome(99).String())
}

func TestResetKeepsTheMemory(t *testing.T) {
	h := &History{End: 1, Stopped: Quiet}
	require.Equal(t, 0, h.Add(Event{Kind: End}))
	require.Equal(t, 1, h.Add(Event{Kind: End}))
	h.Reset()
	require.Empty(t, h.Events)
	require.Positive(t, cap(h.Events))
	require.Zero(t, h.End)
	require.Zero(t, h.Stopped)
}

func BenchmarkEncode(b *testing.B) {
	h := &History{}
	for range 250 {
		h.Add(Event{At: time.Second, Kind: Send, Verb: Request, Who: "c1", Peer: "r1", Value: "SET", Until: time.Second})
	}
	var buf bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		buf.Reset()
		if err := Encode(&buf, h); err != nil {
			b.Fatal(err)
		}
	}
}
