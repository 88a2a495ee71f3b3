package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// redlockRun is a kept run of about 250 events: two clients that take one lock
// over five nodes two times each, and a resource that they write to.
func redlockRun() *history.History {
	h := &history.History{Stopped: history.Quiet}
	at := time.Duration(0)
	add := func(e history.Event) int {
		at += 500 * time.Microsecond
		e.At = at
		return h.Add(e)
	}
	talk := func(client, request string) (decided int32) {
		for n := range 5 {
			node := fmt.Sprintf("r%d", n+1)
			add(history.Event{Kind: history.Send, Verb: history.Request, Who: client, Peer: node, Value: request})
			sent := add(history.Event{Kind: history.Send, Verb: history.Reply, Who: node, Peer: client, Value: request})
			add(history.Event{Kind: history.Step, Who: client, Value: "reply"})
			if request == "DELEX" {
				add(history.Event{Kind: history.Freed, Who: node, Peer: client, Lock: "doc", Value: fmt.Sprintf("v%d", at), Why: history.FreedExpired})
			}
			if n == 2 {
				decided = int32(sent)
			}
		}
		return decided
	}
	op := int32(0)
	for round := range int32(4) {
		c := fmt.Sprintf("c%d", round%2+1)
		e := history.Event{Who: c, Lock: "doc", Grant: round + 1}
		e.Kind, e.Verb, e.Op = history.Call, history.Acquire, op+1
		add(e)
		e.Anchor, e.Term = at, 10*time.Second
		e.Until = e.Anchor + 9898*time.Millisecond
		e.Decided = talk(c, "SET")
		e.Kind, e.Outcome, e.Value, e.Votes = history.Return, history.OK, fmt.Sprintf("value%d", round), "r1,r2,r3,r4,r5"
		add(e)
		add(history.Event{Kind: history.Believe, Who: c, Lock: "doc", Grant: round + 1})
		add(history.Event{Kind: history.Send, Verb: history.Request, Who: c, Peer: "db", Value: "write"})
		add(history.Event{Kind: history.Write, Who: "db", Peer: c, Lock: "row", Grant: round + 1, Outcome: history.OK, Version: int64(round) + 1, Base: -1})
		add(history.Event{Kind: history.Doubt, Who: c, Lock: "doc", Grant: round + 1, Why: history.DoubtRelease})
		r := history.Event{Kind: history.Call, Who: c, Lock: "doc", Grant: round + 1, Verb: history.Release, Op: op + 2}
		add(r)
		talk(c, "DELEX")
		r.Kind, r.Outcome = history.Return, history.OK
		add(r)
		op += 2
	}
	for _, c := range []string{"c1", "c2"} {
		add(history.Event{Kind: history.End, Who: c})
	}
	for len(h.Events) < 250 {
		add(history.Event{Kind: history.Send, Verb: history.Request, Who: "c1", Peer: "r1", Value: strings.Repeat("x", 3)})
	}
	h.End = at
	return h
}

func TestJudgeReusesItsMemory(t *testing.T) {
	var j Judge
	h := redlockRun()
	require.Equal(t, Kept, j.Verdicts(h).Promise.Status)
	require.Zero(t, testing.AllocsPerRun(100, func() { j.Verdicts(h) }))
}

func BenchmarkJudge(b *testing.B) {
	var j Judge
	h := redlockRun()
	b.ReportAllocs()
	for b.Loop() {
		j.Verdicts(h)
	}
}
