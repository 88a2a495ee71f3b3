package check

import (
	"math"
	"time"

	"locksim/history"
)

// tape records a history by hand. Instants are seconds.
type tape struct {
	h    history.History
	ops  int32
	open map[string]history.Event // by client: its operation under way
}

func newTape() *tape {
	return &tape{h: history.History{Stopped: history.Quiet}, open: map[string]history.Event{}}
}

func sec(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// on records e at s.
func (t *tape) on(s float64, e history.Event) int {
	e.At = sec(s)
	t.h.End = e.At
	return t.h.Add(e)
}

// call begins an operation of who on lock "doc".
func (t *tape) call(s float64, who string, verb history.Verb, grant int32) {
	t.callOn(s, who, verb, grant, "doc")
}

func (t *tape) callOn(s float64, who string, verb history.Verb, grant int32, lock string) {
	t.ops++
	e := history.Event{Kind: history.Call, Verb: verb, Op: t.ops, Grant: grant, Who: who, Lock: lock}
	t.open[who] = e
	t.on(s, e)
}

// ret ends the operation that who is at; with adds what else the reply says.
func (t *tape) ret(s float64, who string, out history.Outcome, with ...func(*history.Event)) {
	e := t.open[who]
	e.Kind, e.Outcome = history.Return, out
	for _, w := range with {
		w(&e)
	}
	t.on(s, e)
}

// granted is an acquire called at c and granted at r, in whose promise the
// client believes from then on.
func (t *tape) granted(c, r float64, who string, grant int32, until float64, with ...func(*history.Event)) {
	t.call(c, who, history.Acquire, grant)
	t.ret(r, who, history.OK, append(with, promise(until))...)
	t.on(r, history.Event{Kind: history.Believe, Who: who, Grant: grant, Lock: "doc"})
}

func promise(until float64) func(*history.Event) {
	return func(e *history.Event) { e.Until = sec(until) }
}

func value(v string) func(*history.Event) { return func(e *history.Event) { e.Value = v } }

func token(n int64) func(*history.Event) { return func(e *history.Event) { e.Token = n } }

func standing(votes string) func(*history.Event) { return func(e *history.Event) { e.Votes = votes } }

// doubt ends who's belief in grant.
func (t *tape) doubt(s float64, who string, grant int32, why string) {
	t.on(s, history.Event{Kind: history.Doubt, Who: who, Grant: grant, Lock: "doc", Why: why})
}

// fault strikes who; line is its line in the schedule, did what it did.
func (t *tape) fault(s float64, who, line, did string) {
	t.on(s, history.Event{Kind: history.Fault, Who: who, Value: line, Why: did})
}

func (t *tape) heal(s float64, who, line string) {
	t.on(s, history.Event{Kind: history.Heal, Who: who, Value: line})
}

// freed ends the key of value v on node, by client where one deleted it.
func (t *tape) freed(s float64, node, v, why, client string) {
	t.on(s, history.Event{Kind: history.Freed, Who: node, Lock: "doc", Value: v, Why: why, Peer: client})
}

// sent is a request named what.
func (t *tape) sent(s float64, who, node, what string) int {
	return t.on(s, history.Event{Kind: history.Send, Verb: history.Request, Who: who, Peer: node, Value: what})
}

// wrote is a write to "row" that the resource accepted; base -1 makes it blind.
func (t *tape) wrote(s float64, who string, grant int32, version, base, token int64) {
	t.on(s, history.Event{
		Kind: history.Write, Who: "db", Peer: who, Lock: "row", Grant: grant, Outcome: history.OK,
		Version: version, Base: base, Token: token,
	})
}

func (t *tape) end(s float64, who, why string) {
	t.on(s, history.Event{Kind: history.End, Who: who, Why: why})
}
