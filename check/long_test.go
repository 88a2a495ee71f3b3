package check

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// polling is a history in which one client polls n times for a lock that another
// holds, each attempt with a value of its own.
func polling(n int) *history.History {
	tp := newTape()
	tp.granted(0, .001, "c1", 1, 4e6, value("v1"))
	for k := range n {
		s := .01 + float64(k)*.002
		tp.call(s, "c2", history.Acquire, int32(k)+2)
		tp.sent(s, "c2", "r1", "SET")
		decided := tp.on(s+.001, history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c2"})
		tp.ret(s+.002, "c2", history.Refused, value(fmt.Sprint("v", k+2)), func(e *history.Event) { e.Decided = int32(decided) })
		tp.on(s+.002, history.Event{Kind: history.Step, Who: "c2", Value: "acquire"})
	}
	return &tp.h
}

// trouble is a history in which n things go wrong in each of many ways: grants that
// nobody could have made, windows, stale writes, keys deleted by others, reads that
// find nobody, and releases with an unknown outcome.
func trouble(n int) *history.History {
	tp := newTape()
	tp.fault(0, "c1", "pause c1 gc 1s", "paused (gc)")
	for k := range int32(n) {
		s, g := float64(k)*10, 3*k
		v1, v2 := fmt.Sprint("v", g+1), fmt.Sprint("v", g+2)
		tp.granted(s, s+.1, "c1", g+1, s+9, value(v1))
		tp.call(s+.2, "c3", history.Read, 0)
		tp.ret(s+.3, "c3", history.OK)
		tp.sent(s+.4, "c2", "r1", "DEL")
		tp.freed(s+.5, "r1", v1, history.FreedDeleted, "c2")
		tp.granted(s+.6, s+.7, "c2", g+2, s+9, value(v2), token(int64(n)-int64(k)))
		tp.wrote(s+1, "c2", g+2, 1, -1, 0)
		tp.wrote(s+2, "c1", g+1, 2, -1, 0)
		tp.doubt(s+3, "c1", g+1, history.DoubtRelease)
		tp.call(s+3, "c1", history.Release, g+1)
		tp.ret(s+3.1, "c1", history.Unknown)
		tp.call(s+4, "c1", history.Extend, g+1)
		tp.ret(s+4.1, "c1", history.NotHeld)
		tp.doubt(s+5, "c2", g+2, history.DoubtAbort)
		tp.call(s+6, "c4", history.Acquire, g+3)
		tp.ret(s+6.1, "c4", history.Refused)
	}
	return &tp.h
}

func TestTroubleIsAllFound(t *testing.T) {
	v := Verdict(trouble(100))
	require.Greater(t, len(v.Promise.Breaches), 100)
	require.GreaterOrEqual(t, len(v.Belief.Windows), 100)
	require.GreaterOrEqual(t, len(v.Damage.Events), 200)
}

func BenchmarkJudgePolling(b *testing.B) { benchmark(b, polling(200_000)) }
func BenchmarkJudgeTrouble(b *testing.B) { benchmark(b, trouble(20_000)) }

func benchmark(b *testing.B, h *history.History) {
	var j Judge
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		j.Verdicts(h)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(h.Events)), "ns/event")
}
