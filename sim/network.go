package sim

import (
	"math/rand/v2"
	"time"

	"locksim/history"
)

// Latency is how long messages take, one way.
type Latency struct {
	// Default holds for every link that Links does not name. A message takes one
	// of the durations of the table, drawn evenly from the link's own stream; an
	// empty table means no time at all.
	Default []time.Duration
	// Links gives single links a table of their own, by "from>to".
	Links map[string][]time.Duration
}

// Every is the latency in which each message takes d.
func Every(d time.Duration) Latency { return Latency{Default: []time.Duration{d}} }

// Message is what a rule sees of a message.
type Message struct {
	From, To string
	// Reply: it answers a request.
	Reply bool
	// Kernel: no process sent it, but a kernel whose connection ended, or which
	// probes one. TCP repeats what is lost, so only what cuts two machines off from
	// each other stops it.
	Kernel bool
}

// Ruling is what a rule says of a message.
type Ruling struct {
	kind  rulingKind
	extra time.Duration
}

type rulingKind uint8

const (
	pass rulingKind = iota
	deliver
	drop
	twice
)

// Pass leaves the message to the next rule.
func Pass() Ruling { return Ruling{} }

// Deliver lets the message arrive, extra later than it would.
func Deliver(extra time.Duration) Ruling { return Ruling{deliver, extra} }

// Lose drops the message.
func Lose() Ruling { return Ruling{kind: drop} }

// Twice lets the message arrive a second time, again later.
func Twice(again time.Duration) Ruling { return Ruling{twice, again} }

type rule struct {
	id  int
	why string
	f   func(Message) Ruling
}

// AddRule puts a rule behind those that are there. Of all rules the first that
// does not pass decides. why is what the history says of a message it drops.
// The number it returns is for [World.RemoveRule].
func (w *World) AddRule(why string, f func(Message) Ruling) int {
	w.ruleID++
	w.rules = append(w.rules, rule{w.ruleID, why, f})
	return w.ruleID
}

// RemoveRule takes a rule away.
func (w *World) RemoveRule(id int) {
	for i := range w.rules {
		if w.rules[i].id == id {
			w.rules = append(w.rules[:i:i], w.rules[i+1:]...)
			return
		}
	}
}

// link is one direction between two machines. Messages on it arrive in the order
// in which they were sent, as on a connection; one that a rule delays stands
// alone.
type link struct {
	fresh   bool // set up for this run
	latency []time.Duration
	last    time.Duration // when the last message arrives
	pcg     rand.PCG
	rand    *rand.Rand
}

func (w *World) link(from, to *Machine) *link {
	for len(from.links) <= to.id {
		from.links = append(from.links, nil)
	}
	l := from.links[to.id]
	if l == nil {
		l = &link{}
		from.links[to.id] = l
	}
	if !l.fresh {
		l.fresh, l.last = true, 0
		l.latency = w.config.Latency.table(from, to)
		if len(l.latency) > 1 {
			if l.rand == nil {
				l.rand = rand.New(&l.pcg)
			}
			l.pcg.Seed(w.config.Seed, nameHash(from.name, ">", to.name))
		}
	}
	return l
}

func (l *Latency) table(from, to *Machine) []time.Duration {
	if from.local() || to.local() {
		return nil
	}
	if len(l.Links) > 0 {
		if t, ok := l.Links[from.name+">"+to.name]; ok {
			return t
		}
	}
	return l.Default
}

// draw is how long the next message takes.
func (l *link) draw() time.Duration {
	switch len(l.latency) {
	case 0:
		return 0
	case 1:
		return l.latency[0]
	}
	return l.latency[l.rand.IntN(len(l.latency))]
}

func (w *World) transmit(from *Machine, e event) { w.transmitAfter(from, e, 0) }

// transmitAfter puts a message on its link. It takes extra longer.
func (w *World) transmitAfter(from *Machine, e event, extra time.Duration) {
	if w.over {
		return
	}
	now := w.timeline.Now()
	at, verdict, why := w.route(from, &e, extra)
	e.left = int32(len(w.history.Events))
	sent := w.history.Place()
	sent.At, sent.Kind, sent.Verb = now, history.Send, history.Request
	sent.Who, sent.Peer, sent.Until = from.name, e.to.name, at
	if e.kind == evReply {
		sent.Verb = history.Reply
	}
	if n, ok := e.body.(named); ok {
		sent.Value = n.Label()
	}
	if verdict.kind == drop {
		w.Record(history.Event{Kind: history.Drop, Verb: sent.Verb, Who: from.name, Peer: e.to.name, Value: sent.Value, Why: why})
		return
	}
	w.carry(at, verdict, e)
}

// whisper puts a message on its link of which the history says nothing.
func (w *World) whisper(from *Machine, e event) {
	if w.over {
		return
	}
	if at, verdict, _ := w.route(from, &e, 0); verdict.kind != drop {
		w.carry(at, verdict, e)
	}
}

// route says when a message that is sent now arrives, extra later than the link
// takes, and what the rules make of it.
func (w *World) route(from *Machine, e *event, extra time.Duration) (at time.Duration, verdict Ruling, why string) {
	l := w.link(from, e.to)
	e.from = from
	at = max(later(later(w.timeline.Now(), l.draw()), extra), l.last)
	verdict, why = w.rule(from, e)
	if verdict.kind == deliver {
		at = later(at, verdict.extra)
	} else {
		l.last = at
	}
	e.era = e.to.lives
	return at, verdict, why
}

// carry lets a message arrive, twice where a rule says so.
func (w *World) carry(at time.Duration, verdict Ruling, e event) {
	w.timeline.Schedule(at, e)
	if verdict.kind == twice {
		w.timeline.Schedule(later(at, verdict.extra), e)
	}
}

// named is a message body that has a name for the history, such as "SET".
type named interface{ Label() string }

func (w *World) rule(from *Machine, e *event) (Ruling, string) {
	if len(w.rules) == 0 || from.local() || e.to.local() {
		return Ruling{}, ""
	}
	m := Message{From: from.name, To: e.to.name, Reply: e.kind == evReply, Kernel: e.kind == evClosed}
	for _, r := range w.rules {
		if v := r.f(m); v.kind != pass {
			return v, r.why
		}
	}
	return Ruling{}, ""
}
