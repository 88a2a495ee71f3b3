package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// elected makes who the leader at s.
func (t *tape) elected(s float64, who, why string) {
	t.on(s, history.Event{Kind: history.Elected, Who: who, Why: why})
}

// TestCauseIsALeaderThatLacksSomething: elected between the two grants, it is what
// the second hung on. One that lacks nothing, or came later, is no cause.
func TestCauseIsALeaderThatLacksSomething(t *testing.T) {
	const lacks, tail = "without 1 committed entry", "c2 was granted the lock at 2.010 while c1's term ran to 9.898"
	for _, c := range []struct {
		name       string
		between    func(t *tape)
		cause, who string
	}{
		{"lacks an entry", func(t *tape) { t.elected(1, "n2", lacks) }, "n2 became the leader at 1.000 without 1 committed entry; " + tail, "n2"},
		{"after its log was cut off", func(t *tape) {
			t.fault(.5, "n2", "restart n2 power-loss", "restarted without the last 1 entry of its log")
			t.elected(1, "n2", lacks)
		}, "n2 restarted without the last 1 entry of its log; n2 became the leader at 1.000 without 1 committed entry; " + tail, "n2"},
		{"after another's was", func(t *tape) {
			t.fault(.5, "n3", "restart n3 power-loss", "restarted without the last 1 entry of its log")
			t.elected(1, "n2", lacks)
		}, "n2 became the leader at 1.000 without 1 committed entry; " + tail, "n2"},
		{"lacks nothing", func(t *tape) { t.elected(1, "n2", "") }, tail, ""},
	} {
		b := breachOf(t, crossed(c.between))
		require.Equal(t, c.cause, b.Cause, c.name)
		require.Equal(t, Service, b.Blame, c.name)
		require.Equal(t, c.who, b.Who, c.name)
	}
	tp := crossed(func(*tape) {})
	tp.elected(3, "n2", lacks)
	require.Equal(t, tail, breachOf(t, tp).Cause)
}

// TestStaleReadOfAFormerLeader: who answered a read had a successor by then.
func TestStaleReadOfAFormerLeader(t *testing.T) {
	const stale = "c3's read at 7.000 found no holder, though c1 held the lock from 1.000 on"
	for _, c := range []struct {
		name       string
		leader     string
		cause, who string
	}{
		{"another leads", "n2", stale + "; n1 answered, and n2 had become the leader at 5.000", "n1"},
		{"it leads itself", "n1", stale, ""},
	} {
		tp := newTape()
		tp.granted(0, 1, "c1", 1, 10)
		tp.elected(2, "n1", "")
		tp.elected(5, c.leader, "")
		tp.call(6, "c3", history.Read, 0)
		left := tp.on(6.5, history.Event{Kind: history.Send, Verb: history.Reply, Who: "n1", Peer: "c3"})
		tp.elected(6.6, "n3", "")
		tp.ret(7, "c3", history.OK, func(e *history.Event) { e.Decided = int32(left) })
		b := breachOf(t, tp)
		require.Equal(t, c.cause, b.Cause, c.name)
		require.Equal(t, c.who, b.Who, c.name)
	}
}
