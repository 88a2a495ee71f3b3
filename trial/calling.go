package trial

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// calling is an operation that has begun.
type calling struct {
	event history.Event
	at    time.Duration
	pos   int
	value string // of the grant that is released
}

func (r *recorder) call(p *sim.Process, verb history.Verb, key string, grant int32) calling {
	r.ops++
	e := history.Event{Kind: history.Call, Verb: verb, Op: r.ops, Grant: grant, Lock: key}
	return calling{event: e, at: r.w.Now(), pos: p.Record(e)}
}

// outcome is the return of an operation, as the contract of models.Lock reads an
// error.
func (r *recorder) outcome(p *sim.Process, c calling, err error) history.Event {
	e := c.event
	e.Kind = history.Return
	switch {
	case err == nil:
		e.Outcome = history.OK
	case errors.Is(err, models.ErrHeld), errors.Is(err, sim.ErrRefused) && r.sent(p, c) == 1, errors.Is(err, sim.ErrClosed) && r.sent(p, c) == 0:
		// A connection that was refused, or closed before, carried nothing: the operation
		// never was.
		e.Outcome = history.Refused
		if err != models.ErrHeld {
			e.Why = err.Error()
		}
	case errors.Is(err, models.ErrNotHeld) && r.sent(p, c) == 1 && r.deleted(p, c):
		// A copy of the one request did it before: that is not in the answer.
		e.Outcome = history.Unknown
	case errors.Is(err, models.ErrNotHeld):
		e.Outcome = history.NotHeld
	default:
		e.Outcome = history.Unknown
		e.Why = err.Error()
	}
	// The operation took effect before the last reply left, unless it is one that
	// came before the operation.
	if left := p.Latest(); e.Outcome != history.Unknown && left > c.pos {
		e.Decided = int32(left)
	}
	return e
}

// sent is how many requests p's process has sent since an operation began.
func (r *recorder) sent(p *sim.Process, c calling) int {
	n := 0
	for _, e := range r.w.History().Events[c.pos:] {
		if e.Kind == history.Send && e.Verb == history.Request && e.Who == p.Name() {
			n++
		}
	}
	return n
}

// deleted tells whether a server has deleted the key of the grant that a release
// is about, at this client's own request, since the release began.
func (r *recorder) deleted(p *sim.Process, c calling) bool {
	if c.event.Verb != history.Release || c.value == "" {
		return false
	}
	for _, e := range r.w.History().Events[c.pos:] {
		if e.Kind == history.Freed && e.Why == history.FreedDeleted && e.Peer == p.Name() && e.Value == c.value {
			return true
		}
	}
	return false
}

// promise writes into e what g promises: until its anchor plus its term, less
// what the service allows itself.
func promise(e *history.Event, c calling, g models.Grant) {
	e.Anchor, e.Term, e.Delay = c.at, g.Term, g.Delay
	if g.Anchor != 0 {
		e.Anchor = g.Anchor
	}
	e.Until = history.Forever
	if term := g.Term - g.Allowance; g.Term > 0 && e.Anchor <= history.Forever-term {
		e.Until = e.Anchor + term
	}
	e.Token, e.Value = g.Token, g.Value
	e.Votes = votes(g.Votes)
	if g.Decided > 0 {
		e.Decided = int32(g.Decided)
	}
}

// possible panics when a lock returned a grant that makes no sense: the run fails
// and names the process.
func (r *recorder) possible(c calling, g *models.Grant) {
	var what string
	switch now := r.w.Now(); {
	case g.Term < 0:
		what = fmt.Sprintf("term %v: want 0, for none, or more", g.Term)
	case g.Allowance < 0 || g.Term > 0 && g.Allowance > g.Term:
		what = fmt.Sprintf("allowance %v of a term of %v: want 0 to the term", g.Allowance, g.Term)
	case g.Anchor < 0 || g.Anchor > now:
		what = fmt.Sprintf("anchor %v at %v: want an instant that is not in the future", g.Anchor, now)
	case g.Delay < 0:
		what = fmt.Sprintf("delay %v: want 0 or more", g.Delay)
	case g.Decided < 0 || g.Decided > 0 && (g.Decided <= c.pos || g.Decided >= len(r.w.History().Events)):
		what = fmt.Sprintf("decided at position %d: want that of a reply since the call, at %d", g.Decided, c.pos)
	case g.Deadline != nil && g.Deadline.Clock > clock.Wall:
		what = fmt.Sprintf("deadline on clock %d: there is none", g.Deadline.Clock)
	default:
		return
	}
	panic(fmt.Sprintf("the lock returned an impossible grant for %s of %q: %s", c.event.Verb, c.event.Lock, what))
}

func votes(nodes []string) string {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return strings.Join(nodes, ",")
}
