package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// TestSessions: what becomes of a lock that goes with a session.
func TestSessions(t *testing.T) {
	var s script
	s.op = 1
	at := func(n time.Duration) time.Duration { return n * time.Second }
	grant := history.Event{Kind: history.Return, Verb: history.Acquire, Op: 1, Grant: 1, Who: "c1", Lock: "job", Value: "s1", Until: history.Forever, Outcome: history.OK}
	s.add(at(1), history.Event{Kind: history.Call, Verb: history.Acquire, Op: 1, Grant: 1, Who: "c1", Lock: "job"})
	s.add(at(1), grant)
	s.add(at(1), history.Event{Kind: history.Believe, Grant: 1, Who: "c1", Lock: "job"})
	again := grant
	again.Verb, again.Op = history.Extend, 2
	for i, why := range []string{history.ExtendAgain, history.ExtendInner} {
		again.Why = why
		s.add(at(2+time.Duration(i)), again)
	}
	s.add(at(4), history.Event{Kind: history.Strayed, Who: "db", Peer: "c2", Lock: "job", Value: "s1", Why: history.StrayedEnter})
	s.add(at(5), history.Event{Kind: history.Strayed, Who: "db", Peer: "c1", Lock: "job", Value: "s1", Why: history.StrayedRelease})
	s.add(at(6), history.Event{Kind: history.Freed, Who: "db", Lock: "job", Value: "s1", Why: history.FreedSession})
	s.add(at(7), history.Event{Kind: history.Freed, Who: "db", Lock: "job", Value: "s9", Why: history.FreedSession})
	s.add(at(8), history.Event{Kind: history.Doubt, Who: "c1", Grant: 1, Lock: "job", Why: history.DoubtAbort})
	require.Equal(t, []string{
		"  time    c1  who  what   (│ believes, ╎▒ past its term, ! fault, + over)",
		"  1.000   │   c1   gets the lock: no term",
		"  2.000   │   c1   acquires the lock again, which it holds",
		"  3.000   │   c1   releases the lock once, and holds it on",
		"  4.000   │   db   c2 comes on c1's session, which holds the lock: it is let in",
		"  5.000   │   db   c1's release comes on another session than its lock's: that holds on",
		"  6.000   ╎   db   c1's session has ended, and its lock with it",
		"  6.000   ╎   c1   its session is over; it goes on believing",
		"  7.000   ╎   db   session s9 has ended, and its lock with it",
		"  8.000   ·   c1   gives up",
	}, s.lines(t))
}
