package trial

import (
	"errors"
	"fmt"
	"slices"
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
	// unsure is there while the client cannot tell whether it holds the lock; it is
	// fired when it can again.
	unsure *sim.Signal
	alarm  sim.Alarm
	watch  *Line // how it is extended; nil for not at all
	// minted is the token that a resource handed out for it; 0 for none.
	minted int64
	// renewals are the attempts of the watch to extend it.
	renewals int
	// nested is how often it was acquired again.
	nested int
	// called is how the client's script calls the lock, for each time that it was
	// acquired.
	called []string
	// onLoss is called when the client learns of the loss.
	onLoss func()
}

// token is the fencing token that the client shows: the one that it was handed out
// last.
func (h *holding) token() int64 {
	if h.minted != 0 {
		return h.minted
	}
	return h.grant.Token
}

// watched tells whether the watch over h is to extend it once more.
func (h *holding) watched() bool {
	return h.watch != nil && (h.watch.Times == 0 || h.renewals < h.watch.Times)
}

// lose is what a client does when it learns that it has lost the lock.
func (r *recorder) lose(p *sim.Process, h *holding, why string) {
	r.doubt(p, h, why)
	h.lost = true
	h.ended.Fire()
	h.settle()
	if h.onLoss != nil {
		h.onLoss()
	}
}

// acquire makes one attempt of a client that holds held. It returns nil when the lock
// was not granted, for whatever reason: nobody may believe in an outcome that it does
// not know, unless its library does, or its program goes on anyway. Where the lock
// counts, it returns one of held.
func (r *recorder) acquire(p *sim.Process, key string, held []*holding, anyway bool) *holding {
	r.grants++
	call := r.call(p, history.Acquire, key, r.grants)
	g, err := r.lock.Acquire(p, key)
	assumed := g.Assumed || anyway && err != nil && !errors.Is(err, models.ErrHeld)
	e := r.outcome(p, call, err)
	e.Value = g.Value
	if e.Outcome == history.OK {
		r.possible(call, &g)
		if g.Nested {
			return r.again(p, call, e, held, &g)
		}
		promise(&e, call, g)
	}
	p.Record(e)
	if e.Outcome != history.OK && !assumed {
		return nil
	}
	h := &holding{key: key, id: call.event.Grant, grant: g, until: e.Until, believing: true}
	p.Record(history.Event{Kind: history.Believe, Lock: key, Grant: h.id})
	r.expire(p, h)
	r.follow(h)
	return h
}

// again takes down that a client acquired once more what is among all that it holds,
// which e is the return of: that extends the grant it has.
func (r *recorder) again(p *sim.Process, c calling, e history.Event, all []*holding, g *models.Grant) *holding {
	i := slices.IndexFunc(all, func(h *holding) bool { return h.key == e.Lock && h.grant.Value == g.Value })
	if i < 0 {
		panic(fmt.Sprintf("the lock returned an impossible grant for acquire of %q: nested in %q: want the value of a grant that the client holds", e.Lock, g.Value))
	}
	held := all[i]
	e.Verb, e.Grant, e.Why = history.Extend, held.id, history.ExtendAgain
	r.renewed(p, held, c, e, *g)
	held.nested++
	return held
}

// leave releases h once less than it was acquired: the client holds it on. It returns
// what came of it.
func (r *recorder) leave(p *sim.Process, h *holding) history.Outcome {
	h.nested--
	call := r.call(p, history.Extend, h.key, h.id)
	err := r.lock.Release(p, h.key, h.grant)
	e := r.outcome(p, call, err)
	if e.Outcome == history.OK {
		promise(&e, call, h.grant)
		e.Until, e.Why = h.until, history.ExtendInner // it asked for no more than stands
	}
	p.Record(e)
	if e.Outcome == history.NotHeld {
		r.lose(p, h, history.DoubtLost)
	}
	return e.Outcome
}

// follow listens to what the lock says of h by itself.
func (r *recorder) follow(h *holding) {
	s := h.grant.Session
	if s == nil {
		return
	}
	s.OnRenew = func(p *sim.Process, attempt func() (models.Grant, error)) error {
		outcome, err := r.prolong(p, h, attempt)
		if outcome == history.NotHeld {
			r.lose(p, h, history.DoubtLost)
		}
		return err
	}
	// A notice is a point at which the client is told that it does not hold the lock.
	s.OnLost = func(p *sim.Process) {
		call := r.call(p, history.Extend, h.key, h.id)
		p.Record(r.outcome(p, call, models.ErrNotHeld))
		r.lose(p, h, history.DoubtLost)
	}
	s.OnGiveUp = func(p *sim.Process) { r.lose(p, h, history.DoubtAbort) }
	s.OnJeopardy = func(p *sim.Process) {
		if h.believing {
			r.doubt(p, h, history.DoubtJeopardy)
			h.unsure = &sim.Signal{}
		}
	}
	s.OnSafe = func(p *sim.Process) {
		if h.unsure != nil {
			h.believing = true
			p.Record(history.Event{Kind: history.Believe, Lock: h.key, Grant: h.id})
			h.settle()
		}
	}
}

// settle ends the time for which the client of h does nothing.
func (h *holding) settle() {
	if h.unsure != nil {
		h.unsure.Fire()
		h.unsure = nil
	}
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

// release ends the belief in h and gives the lock back. It returns what came of it.
func (r *recorder) release(p *sim.Process, h *holding) history.Outcome {
	r.doubt(p, h, history.DoubtRelease)
	h.ended.Fire()
	call := r.call(p, history.Release, h.key, h.id)
	call.value = h.grant.Value
	err := r.lock.Release(p, h.key, h.grant)
	e := r.outcome(p, call, err)
	p.Record(e)
	return e.Outcome
}

// extend asks for a new term for h. A client that is told that it does not hold
// the lock has lost it.
func (r *recorder) extend(p *sim.Process, h *holding) {
	if r.ask(p, h) == history.NotHeld {
		r.lose(p, h, history.DoubtLost)
	}
}

// renew is an extension by whoever watches over h: unless that ignores it, or quits
// and tells nobody, a failure of any kind ends the work.
func (r *recorder) renew(p *sim.Process, h *holding) {
	watch := h.watch // another watch may be there, or none, when the answer comes
	if watch == nil {
		return
	}
	h.renewals++
	outcome := r.ask(p, h)
	switch {
	case outcome == history.OK || watch.Ignore:
	case watch.Quit:
		h.watch = nil
	case outcome == history.NotHeld:
		r.lose(p, h, history.DoubtLost)
	default:
		r.lose(p, h, history.DoubtAbort)
	}
}

// ask extends h and returns what came of it.
func (r *recorder) ask(p *sim.Process, h *holding) history.Outcome {
	outcome, _ := r.prolong(p, h, func() (models.Grant, error) {
		return r.lock.(models.Extender).Extend(p, h.key, h.grant)
	})
	return outcome
}

// prolong takes down an attempt to get a new term for h, whoever makes it. A
// promise that stands is not shortened by a later reply, unless a shorter term is
// what was asked for.
func (r *recorder) prolong(p *sim.Process, h *holding, attempt func() (models.Grant, error)) (history.Outcome, error) {
	call := r.call(p, history.Extend, h.key, h.id)
	g, err := attempt()
	e := r.outcome(p, call, err)
	if e.Outcome != history.OK {
		p.Record(e)
		return e.Outcome, err
	}
	r.possible(call, &g)
	r.renewed(p, h, call, e, g)
	return e.Outcome, nil
}

// renewed takes down with e that h has got the new term of g.
func (r *recorder) renewed(p *sim.Process, h *holding, c calling, e history.Event, g models.Grant) {
	inherit(&g, &h.grant)
	promise(&e, c, g)
	if g.Term >= h.grant.Term {
		e.Until = max(e.Until, h.until)
	}
	h.grant, h.until = g, e.Until
	p.Record(e)
	if h.believing {
		r.expire(p, h)
	}
}

// inherit gives an extension what it does not say anew.
func inherit(g, before *models.Grant) {
	if g.Value == "" {
		g.Value = before.Value
	}
	if g.Token == 0 {
		g.Token = before.Token
	}
	if g.Votes == nil {
		g.Votes = before.Votes
	}
	g.Session = before.Session
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
	if value != "" {
		e.Grant = r.owner(key, value)
	}
	if e.Grant == 0 && value != "" {
		e.Outcome = history.Unknown // an attempt that has not returned yet, or one of several
	}
	p.Record(e)
	return value, err == nil
}

// owner is the number of the grant that goes by value, 0 for none, and for a value
// that several go by. An attempt with an unknown outcome counts: who is named as
// the holder has got the lock, whether it was told so or not.
func (r *recorder) owner(key, value string) int32 {
	owner := int32(0)
	for i := range r.w.History().Events {
		e := &r.w.History().Events[i]
		if e.Kind != history.Return || e.Verb != history.Acquire || e.Outcome == history.Refused || e.Lock != key || e.Value != value {
			continue
		}
		if owner != 0 {
			return 0
		}
		owner = e.Grant
	}
	return owner
}
