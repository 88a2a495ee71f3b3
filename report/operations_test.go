package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// operation is a call at 1 s, and its return a second later unless it has no
// outcome.
func (s *script) operation(verb history.Verb, e history.Event) {
	s.op++
	e.Verb, e.Op, e.Who = verb, s.op, "c1"
	if e.Lock == "" {
		e.Lock = "job"
	}
	call := e
	call.Kind, call.Outcome, call.Why = history.Call, 0, ""
	s.add(time.Second, call)
	if e.Outcome != 0 {
		e.Kind = history.Return
		s.add(2*time.Second, e)
	}
}

func TestOperations(t *testing.T) {
	const term = 9 * time.Second
	for _, c := range []struct {
		verb history.Verb
		e    history.Event
		want []string
	}{
		{history.Acquire, history.Event{Outcome: history.OK, Until: term, Votes: "r1,r2", Token: 7},
			[]string{"asks for the lock", "gets the lock from r1,r2: term until 9.000, token 7"}},
		{history.Acquire, history.Event{Outcome: history.Refused, Why: "2 of 5"},
			[]string{"asks for the lock", "does not get the lock: 2 of 5"}},
		{history.Acquire, history.Event{Outcome: history.Unknown, Why: "no reply"},
			[]string{"asks for the lock", "does not learn whether it has the lock: no reply"}},
		{history.Acquire, history.Event{}, []string{"asks for the lock; no answer by the end of the run"}},
		{history.Extend, history.Event{Outcome: history.OK, Until: term}, []string{"extends the lock: term until 9.000"}},
		{history.Extend, history.Event{Outcome: history.NotHeld}, []string{"cannot extend the lock"}},
		{history.Extend, history.Event{Outcome: history.Unknown}, []string{"does not learn whether it has extended the lock"}},
		{history.Extend, history.Event{}, []string{"asks for a longer term; no answer by the end of the run"}},
		{history.Read, history.Event{Outcome: history.OK}, []string{"is told that nobody holds the lock"}},
		{history.Read, history.Event{Outcome: history.Unknown}, []string{"is told that somebody unknown holds the lock"}},
		{history.Read, history.Event{}, []string{"asks who holds the lock; no answer by the end of the run"}},
		{history.Release, history.Event{Outcome: history.OK}, []string{"releases the lock"}},
		{history.Release, history.Event{Outcome: history.NotHeld}, []string{"releases the lock (told: not held)"}},
		{history.Release, history.Event{Outcome: history.Unknown, Why: "lost"}, []string{"releases the lock (unknown: lost)"}},
		{history.Release, history.Event{}, []string{"releases the lock; no answer by the end of the run"}},
	} {
		var s script
		s.operation(c.verb, c.e)
		require.Equal(t, c.want, whats(s.lines(t)))
	}
}

// whats are the last columns of lines.
func whats(lines []string) []string {
	var list []string
	at := strings.Index(lines[0], "what")
	for _, line := range lines[1:] {
		list = append(list, string([]rune(line)[at:]))
	}
	return list
}

func TestSeveralLocksAreNamed(t *testing.T) {
	var s script
	s.operation(history.Acquire, history.Event{Lock: "a", Grant: 1, Outcome: history.OK, Until: 3 * time.Second, Value: "v"})
	s.add(2*time.Second, history.Event{Kind: history.Believe, Who: "c1", Lock: "a", Grant: 1})
	s.add(4*time.Second, history.Event{Kind: history.Freed, Who: "r1", Lock: "a", Value: "v", Why: history.FreedExpired})
	s.doubt("c1", 5*time.Second, 1)
	s.h.Events[len(s.h.Events)-1].Lock = "a"
	s.add(6*time.Second, history.Event{Kind: history.Call, Verb: history.Release, Op: 9, Who: "c1", Lock: "b"})
	s.h.Stopped = history.Horizon
	require.Equal(t, []string{
		"asks for a",
		"gets a: term until 3.000",
		"its term of a is over; it goes on believing",
		"c1's key of a has expired",
		"its own deadline of a is over",
		"releases b; no answer by the end of the run",
		"the run ends at its horizon",
	}, whats(s.lines(t)))
}

func TestDoubts(t *testing.T) {
	for why, want := range map[string]string{
		history.DoubtRelease:  "is about to release the lock",
		history.DoubtDeadline: "its own deadline is over",
		history.DoubtLost:     "learns that it has lost the lock",
		history.DoubtAbort:    "gives up",
		history.DoubtDeath:    "is dead",
		history.DoubtJeopardy: "cannot tell whether it still holds the lock, and waits",
	} {
		var s script
		s.add(time.Second, history.Event{Kind: history.Believe, Who: "c1", Lock: "job", Grant: 1})
		s.add(2*time.Second, history.Event{Kind: history.Doubt, Who: "c1", Lock: "job", Grant: 1, Why: why})
		require.Equal(t, []string{"believes that it holds the lock", want}, whats(s.lines(t)))
	}
}

func TestMessagesAreOnlyToldWhenAFaultOfTheirOwnLosesThem(t *testing.T) {
	var s script
	drop := func(verb history.Verb, value, why string) {
		s.add(0, history.Event{Kind: history.Drop, Verb: verb, Who: "c1", Peer: "r1", Value: value, Why: why})
	}
	drop(history.Request, "SET", "drop c1>r1")
	drop(history.Request, "", "drop c1>r1")
	drop(history.Reply, "OK", "lose-reply c1>r1")
	drop(history.Request, "SET", "partition c1|r1")
	s.h.Stopped = history.Bound
	require.Equal(t, []string{
		"its SET to r1 is lost", "its message to r1 is lost", "its reply to r1 is lost",
		"the run is cut off at its bound on events: what was open is unknown",
	}, whats(s.lines(t)))
}

// TestLeaders: who leads, who leads no more and why, and a node that gives up.
func TestLeaders(t *testing.T) {
	var s script
	s.add(0, history.Event{Kind: history.Step, Who: "c1", Value: "acquire"})
	s.add(0, history.Event{Kind: history.Elected, Who: "n1", Version: 1})
	s.add(2*time.Second, history.Event{Kind: history.Elected, Who: "n3", Version: 2, Why: "without 1 committed entry"})
	s.add(2*time.Second, history.Event{Kind: history.Fault, Who: "n2", Value: "panic", Why: "panics: its log is too short"})
	s.add(3*time.Second, history.Event{Kind: history.SteppedDown, Who: "n1", Version: 1, Why: "no majority answers"})
	require.Equal(t, []string{
		"  time    c1  who  what   (│ believes, ! fault, + over)",
		"  0.000   ·   n1   is the leader (Raft term 1)",
		"  2.000   ·   n3   becomes the leader (Raft term 2), without 1 committed entry",
		"  2.000 ! ·   n2   panics: its log is too short",
		"  3.000   ·   n1   leads no more: no majority answers",
	}, s.lines(t))
}

// TestExtensionsInARow: three or more of one grant are a line, up to what changes
// something; what is told later knows of the last of them.
func TestExtensionsInARow(t *testing.T) {
	var s script
	extend := func(at time.Duration, who string, grant int32) {
		s.op++
		e := history.Event{Verb: history.Extend, Op: s.op, Grant: grant, Who: who, Lock: "job", Kind: history.Call}
		s.add(at, e)
		e.Kind, e.Outcome, e.Until, e.Token = history.Return, history.OK, at+10*time.Second, 7
		s.add(at, e)
	}
	for at := range 4 * time.Second / time.Second {
		extend(at*time.Second, "c1", 1)
		extend(at*time.Second, "c2", 2) // of something else
	}
	s.add(4*time.Second, history.Event{Kind: history.Elected, Who: "n2", Version: 2})
	extend(5*time.Second, "c1", 1)
	extend(6*time.Second, "c1", 1)
	require.Equal(t, []string{
		"extends the lock 4 times, every 1.000 s, last at 3.000: term until 13.000",
		"extends the lock 4 times, every 1.000 s, last at 3.000: term until 13.000",
		"becomes the leader (Raft term 2)",
		"extends the lock: term until 15.000, token 7",
		"extends the lock: term until 16.000, token 7",
	}, whats(s.lines(t)))
}

// TestALossKnowsOfTheLastExtension though that has no line of its own.
func TestALossKnowsOfTheLastExtension(t *testing.T) {
	var s script
	s.operation(history.Acquire, history.Event{Grant: 1, Outcome: history.OK, Until: 11 * time.Second, Value: "v"})
	for range 3 {
		s.operation(history.Extend, history.Event{Grant: 1, Outcome: history.OK, Until: 20 * time.Second})
	}
	s.add(4*time.Second, history.Event{Kind: history.Freed, Who: "r1", Lock: "job", Value: "v", Why: history.FreedEvicted})
	lines := whats(s.lines(t))
	require.Contains(t, lines[len(lines)-1], "term until 20.000")
}
