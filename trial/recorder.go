package trial

import (
	"errors"
	"strings"
	"time"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// recorder stands between the clients and the lock: it numbers operations and
// grants, and writes down what was asked, what was answered, and who believes
// what. It is the only place that does, so a lock cannot get it wrong.
type recorder struct {
	w      *sim.World
	lock   models.Lock
	ops    int32
	grants int32
}

// holding is one grant that a client has accepted.
type holding struct {
	key   string
	id    int32
	grant models.Grant
	until time.Duration
	// believing: the client has not yet executed a step that ends its belief.
	believing bool
	// lost: the client knows that it has lost the lock. ended is fired then, and when
	// it releases.
	lost  bool
	ended sim.Signal
	alarm sim.Alarm
	watch *Line // how it is extended; nil for not at all
}

// lose is what a client does when it learns that it has lost the lock.
func (r *recorder) lose(p *sim.Process, h *holding, why string) {
	r.doubt(p, h, why)
	h.lost = true
	h.ended.Fire()
}

// acquire makes one attempt. It returns nil when the lock was not granted, for
// whatever reason: nobody may believe in an outcome that it does not know.
func (r *recorder) acquire(p *sim.Process, key string) *holding {
	r.grants++
	call := r.call(p, history.Acquire, key, r.grants)
	g, err := r.lock.Acquire(p, key)
	e := r.outcome(p, call, err)
	e.Value = g.Value
	if e.Outcome == history.OK {
		promise(&e, call.at, g, 0)
	}
	p.Record(e)
	if e.Outcome != history.OK {
		return nil
	}
	h := &holding{key: key, id: call.event.Grant, grant: g, until: e.Until, believing: true}
	p.Record(history.Event{Kind: history.Believe, Lock: key, Grant: h.id})
	r.expire(p, h)
	return h
}

// expire ends the belief in h when the client's own deadline is over. It is a
// timer of the client's: while the client is frozen, it notices nothing.
func (r *recorder) expire(p *sim.Process, h *holding) {
	h.alarm.Cancel()
	if d := h.grant.Deadline; d != nil {
		h.alarm = p.Machine().SetAlarm(d.Clock, d.Reading, func() {
			r.lose(p, h, history.DoubtDeadline)
		})
	}
}

// doubt ends the belief in h, if it has not ended.
func (r *recorder) doubt(p *sim.Process, h *holding, why string) {
	if !h.believing {
		return
	}
	h.believing = false
	h.alarm.Cancel()
	p.Record(history.Event{Kind: history.Doubt, Lock: h.key, Grant: h.id, Why: why})
}

// release ends the belief in h and gives the lock back.
func (r *recorder) release(p *sim.Process, h *holding) {
	r.doubt(p, h, history.DoubtRelease)
	h.ended.Fire()
	call := r.call(p, history.Release, h.key, h.id)
	err := r.lock.Release(p, h.key, h.grant)
	p.Record(r.outcome(p, call, err))
}

// extend asks for a new term for h. A client that is told that it does not hold
// the lock has lost it.
func (r *recorder) extend(p *sim.Process, h *holding) {
	if r.ask(p, h) == history.NotHeld {
		r.lose(p, h, history.DoubtLost)
	}
}

// renew is an extension by whoever watches over h: unless that ignores it, a
// failure of any kind ends the work.
func (r *recorder) renew(p *sim.Process, h *holding) {
	outcome := r.ask(p, h)
	switch {
	case outcome == history.OK || h.watch.Ignore:
	case outcome == history.NotHeld:
		r.lose(p, h, history.DoubtLost)
	default:
		r.lose(p, h, history.DoubtAbort)
	}
}

// ask extends h and returns what came of it.
func (r *recorder) ask(p *sim.Process, h *holding) history.Outcome {
	call := r.call(p, history.Extend, h.key, h.id)
	g, err := r.lock.(models.Extender).Extend(p, h.key, h.grant)
	e := r.outcome(p, call, err)
	if e.Outcome == history.OK {
		promise(&e, call.at, g, h.until)
		h.grant, h.until = g, e.Until
	}
	p.Record(e)
	if e.Outcome == history.OK && h.believing {
		r.expire(p, h)
	}
	return e.Outcome
}

// check asks who holds the lock. A client that is told another name, or nothing,
// gives h up.
func (r *recorder) check(p *sim.Process, h *holding) {
	if value, ok := r.look(p, h.key); !ok || value != h.grant.Value {
		r.lose(p, h, history.DoubtLost)
	}
}

// look asks who holds the lock. It reports false when nothing was learned.
func (r *recorder) look(p *sim.Process, key string) (string, bool) {
	call := r.call(p, history.Read, key, 0)
	value, err := r.lock.(models.Inspector).Holder(p, key)
	e := r.outcome(p, call, err)
	e.Value = value
	if e.Grant = r.owner(key, value); e.Grant == 0 && value != "" {
		e.Outcome = history.Unknown // it names a grant that nobody has been told of yet
	}
	p.Record(e)
	return value, err == nil
}

// owner is the number of the grant that goes by value, 0 for none.
func (r *recorder) owner(key, value string) int32 {
	if value == "" {
		return 0
	}
	events := r.w.History().Events
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Kind == history.Return && e.Verb == history.Acquire && e.Lock == key && e.Value == value {
			return e.Grant
		}
	}
	return 0
}

// calling is an operation that has begun.
type calling struct {
	event history.Event
	at    time.Duration
	pos   int
}

func (r *recorder) call(p *sim.Process, verb history.Verb, key string, grant int32) calling {
	r.ops++
	e := history.Event{Kind: history.Call, Verb: verb, Op: r.ops, Grant: grant, Lock: key}
	return calling{e, r.w.Now(), p.Record(e)}
}

// outcome is the return of an operation, as the contract of models.Lock reads an
// error.
func (r *recorder) outcome(p *sim.Process, c calling, err error) history.Event {
	e := c.event
	e.Kind = history.Return
	switch {
	case err == nil:
		e.Outcome = history.OK
	case errors.Is(err, models.ErrHeld), errors.Is(err, sim.ErrRefused):
		// A connection that was refused carried nothing: the operation never was.
		e.Outcome = history.Refused
		if err != models.ErrHeld {
			e.Why = err.Error()
		}
	case errors.Is(err, models.ErrNotHeld):
		e.Outcome = history.NotHeld
	default:
		e.Outcome = history.Unknown
		e.Why = err.Error()
	}
	// The operation took effect before the last reply left, unless it is one that
	// came before the operation.
	if left := p.Left(); e.Outcome != history.Unknown && left > c.pos {
		e.Decided = int32(left)
	}
	return e
}

// promise writes into e what g promises: until its anchor plus its term, less
// what the service allows itself. A promise that stands is never shortened by a
// later reply.
func promise(e *history.Event, called time.Duration, g models.Grant, standing time.Duration) {
	e.Anchor, e.Term, e.Delay = max(called, g.Anchor), g.Term, g.Delay
	e.Until = history.Forever
	if g.Term > 0 {
		e.Until = max(e.Anchor+g.Term-g.Allowance, standing)
	}
	e.Token, e.Value = g.Token, g.Value
	e.Votes = votes(g.Votes)
	if g.Decided > 0 {
		e.Decided = int32(g.Decided)
	}
}

func votes(nodes []string) string {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return strings.Join(nodes, ",")
}
