package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/history"
)

// deed is one operation as the tests write it down: instants on a small grid,
// and sequence numbers for its call and its return.
type deed struct {
	grant  int // from 1; 0 is a read's "nobody"
	lock   int
	verb   history.Verb
	out    history.Outcome
	c, r   int64 // instants of call and return
	cs, rs int64 // their sequence numbers
	until  int64 // promised, or asked for
	token  int64
	short  bool // an unknown extension that asked for less than was promised
}

// Verbs of no operation, but of the service's record that the session of a grant has
// ended, or its key expired: deeds of one instant and one sequence number.
const (
	sessionEnd = history.Verb(99) - iota
	keyExpiry
)

// record tells whether d is such a deed.
func (d deed) record() bool { return d.verb == sessionEnd || d.verb == keyExpiry }

func (d deed) String() string {
	switch d.verb {
	case sessionEnd:
		return fmt.Sprintf("lock %d grant %d session ends [%d#%d]", d.lock, d.grant, d.c, d.cs)
	case keyExpiry:
		return fmt.Sprintf("lock %d grant %d key expires [%d#%d]", d.lock, d.grant, d.c, d.cs)
	}
	verb, _ := d.verb.MarshalText()
	out, _ := d.out.MarshalText()
	return fmt.Sprintf("lock %d grant %d %s %s [%d#%d, %d#%d] until %d token %d short %v",
		d.lock, d.grant, verb, out, d.c, d.cs, d.r, d.rs, d.until, d.token, d.short)
}

func show(ds []deed, delay int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock-delay %d\n", delay)
	for _, d := range ds {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// mark is one end of a deed.
type mark struct {
	at  int64
	tie uint64
	of  int
	ret bool
}

// marks returns the ends of ds in order; tie decides within one instant.
func marks(ds []deed, tie func(of int, ret bool) uint64) []mark {
	var ms []mark
	for i, d := range ds {
		ms = append(ms, mark{d.c, tie(i, false), i, false})
		if d.out != history.Unknown && !d.record() {
			ms = append(ms, mark{d.r, tie(i, true), i, true})
		}
	}
	slices.SortFunc(ms, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie)) })
	for n, m := range ms {
		if m.ret {
			ds[m.of].rs = int64(n)
		} else {
			ds[m.of].cs = int64(n)
			if ds[m.of].record() {
				ds[m.of].rs = int64(n)
			}
		}
	}
	return ms
}

// lay makes a history of ds. Instants are multiples of unit. Where late is not
// nil it says, at each mark, whether a return that is due there reaches the
// client only later, after its deciding reply has left the server; and whether
// those that are still on their way arrive.
func lay(ds []deed, ms []mark, delay int64, unit time.Duration, late func() (hold, flush bool)) *history.History {
	h := &history.History{Stopped: history.Quiet}
	var onWay []history.Event
	flush := func(at time.Duration) {
		for _, e := range onWay {
			e.At = at
			h.Add(e)
		}
		onWay = onWay[:0]
	}
	for _, m := range ms {
		d := ds[m.of]
		e := d.event(m.of, unit)
		e.At = time.Duration(m.at) * unit
		hold, arrive := false, false
		if late != nil {
			hold, arrive = late()
		}
		if arrive {
			flush(e.At)
		}
		if d.record() {
			why := map[history.Verb]string{sessionEnd: history.FreedSession, keyExpiry: history.FreedExpired}[d.verb]
			h.Add(history.Event{At: e.At, Kind: history.Freed, Who: "s", Lock: e.Lock, Value: d.value(), Why: why})
			continue
		}
		if !m.ret {
			e.Kind = history.Call
			if d.verb == history.Extend && d.out == history.Unknown {
				e.Until = time.Duration(d.until) * unit
			}
			h.Add(e)
			continue
		}
		e.Kind, e.Outcome = history.Return, d.out
		if d.out == history.OK && (d.verb == history.Acquire || d.verb == history.Extend) {
			e.Until, e.Delay, e.Token = time.Duration(d.until)*unit, time.Duration(delay)*unit, d.token
			e.Value = d.value()
		}
		if hold {
			e.Decided = int32(h.Add(history.Event{At: e.At, Kind: history.Send, Verb: history.Reply, Who: "s", Peer: e.Who}))
			onWay = append(onWay, e)
			continue
		}
		h.Add(e)
	}
	if n := len(h.Events); n > 0 {
		h.End = h.Events[n-1].At
	}
	flush(h.End)
	return h
}

func (d deed) value() string { return fmt.Sprintf("g%d", d.grant) }

func (d deed) event(i int, unit time.Duration) history.Event {
	who := fmt.Sprintf("c%d", d.grant)
	if d.verb == history.Read {
		who = "reader"
	}
	return history.Event{
		Who: who, Lock: fmt.Sprintf("lock%d", d.lock), Verb: d.verb, Op: int32(i) + 1, Grant: int32(d.grant),
	}
}

// shorten marks the unknown extensions of ds that asked for less than their
// grant had been promised when they were called, going by what h records.
func shorten(ds []deed, h *history.History, unit time.Duration) {
	most := map[int32]time.Duration{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Return && e.Outcome == history.OK:
			most[e.Grant] = max(most[e.Grant], e.Until)
		case e.Kind == history.Call && e.Verb == history.Extend:
			d := &ds[e.Op-1]
			d.short = d.out == history.Unknown && d.until > 0 && time.Duration(d.until)*unit < most[e.Grant]
		}
	}
}
