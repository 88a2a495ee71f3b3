package check

import (
	"time"

	"locksim/history"
)

// act is what a normalised operation did to the lock.
type act uint8

const (
	granted  act = iota + 1
	extended     // a longer or shorter promise took the place of the standing one
	released
	notHeld // the grant was told that it does not hold the lock
	heldBy  // a read named the grant as the holder
	nobody  // a read found no holder
)

// claim is one normalised operation: what is left of a history once everything
// that can never matter is dropped and every unknown outcome is folded into the
// promises that it may have ended.
type claim struct {
	act       act
	lock      int32
	grant     int32
	span      int32 // the operation it came from
	left      int32 // of a granted: how many confirmed operations of the grant there are
	call, ret pos
	loss      pos // from here on the grant may be lost
	excl      pos // from here on the lock may be granted to another: loss and lock-delay
	token     int64
}

// fact is what the operations of one grant say together.
type fact struct {
	confirmed int32
	surely    pos // the grant had been made by here: least return of a confirmed operation
	delay     time.Duration
	// Unknown outcomes may have ended its promises: they hold at most up to here.
	cutLoss, cutExcl pos
}

// lease is a history as the lease specification sees it.
//
// Unknown outcomes are folded, none is left pending:
//   - an unknown release ends every promise of its grant at its call, unless the
//     grant surely was over before: told "not held", or its lock seen free;
//   - an unknown shorter extension ends them at what it asked for, or at its call;
//   - an unknown longer extension is dropped;
//   - an unknown acquire is dropped, unless an operation confirms it: then it is
//     a grant that promises nothing, made by the return of that operation;
//   - refusals are dropped, and nothing comes of a "not held" for a grant that
//     never was.
type lease struct {
	claims []claim
	facts  []fact // by grant number
}

// read normalises r, with or without the reads of who holds a lock.
func (l *lease) read(r *record, reads bool) {
	l.claims, l.facts = l.claims[:0], l.facts[:0]
	l.gather(r, reads)
	for i := range r.spans {
		if s := &r.spans[i]; s.outcome == history.Unknown && s.grant > 0 {
			l.fold(r, s, reads)
		}
	}
	for i := range r.spans {
		l.emit(r, int32(i), reads)
	}
}

// fact returns the fact of grant n, to be used before the next call of fact.
func (l *lease) fact(n int32) *fact {
	for len(l.facts) <= int(n) {
		l.facts = append(l.facts, fact{surely: never, cutLoss: never, cutExcl: never})
	}
	return &l.facts[n]
}

// gather collects what is sure about each grant.
func (l *lease) gather(r *record, reads bool) {
	for i := range r.spans {
		s := &r.spans[i]
		f := l.fact(s.grant)
		switch {
		case s.outcome != history.OK || s.verb == history.Read && !reads:
		case s.verb == history.Acquire:
			f.surely = min(f.surely, r.returnPos(s))
			f.delay = max(f.delay, r.event(s.ret).Delay)
		default:
			f.confirmed++
			f.surely = min(f.surely, r.returnPos(s))
			f.delay = max(f.delay, r.event(s.ret).Delay)
		}
	}
}

// fold turns the unknown outcome of s into a cut of its grant's promises.
func (l *lease) fold(r *record, s *span, reads bool) {
	f := l.fact(s.grant)
	loss := eventPos(s.call)
	excl := loss
	switch s.verb {
	case history.Release:
	case history.Extend:
		asked := r.event(s.call).Until
		if asked == 0 || asked >= promised(r, s.grant, s.call) {
			return
		}
		loss, excl = max(loss, r.instant(asked)), max(loss, r.instant(after(asked, f.delay)))
	default:
		return
	}
	if !l.gone(r, s, f.surely, reads) {
		f.cutLoss, f.cutExcl = min(f.cutLoss, loss), min(f.cutExcl, excl)
	}
}

// gone reports whether the grant of s, which surely had been made by the
// position surely, surely was over before s was called: told "not held", or
// its lock seen free. What is called then withdraws nothing.
func (l *lease) gone(r *record, s *span, surely pos, reads bool) bool {
	for i := range r.spans {
		o := &r.spans[i]
		told := o.outcome == history.NotHeld && o.grant == s.grant
		seen := reads && o.verb == history.Read && o.outcome == history.OK && o.grant == 0 && o.lock == s.lock
		if (told || seen) && eventPos(o.call) >= surely && r.returnPos(o) < eventPos(s.call) {
			return true
		}
	}
	return false
}

// emit adds the claim that span i makes, if it makes one.
func (l *lease) emit(r *record, i int32, reads bool) {
	s := &r.spans[i]
	f := l.fact(s.grant)
	c := claim{lock: s.lock, grant: s.grant, span: i, call: eventPos(s.call), ret: r.returnPos(s)}
	switch {
	case s.verb == history.Read:
		if !reads || s.outcome != history.OK {
			return
		}
		c.act = heldBy
		if s.grant == 0 {
			c.act = nobody
		}
	case s.grant <= 0:
		return // about no grant: nothing to hold against
	case s.verb == history.Acquire && s.outcome == history.OK:
		c.act, c.left, c.token = granted, f.confirmed, r.event(s.ret).Token
		l.promise(r, s, f, &c)
	case s.verb == history.Acquire && s.outcome == history.Unknown && f.confirmed > 0:
		c.act, c.left = granted, f.confirmed
		c.ret, c.loss, c.excl = f.surely, always, always
	case s.outcome == history.NotHeld:
		c.act = notHeld
	case s.verb == history.Extend && s.outcome == history.OK:
		c.act = extended
		l.promise(r, s, f, &c)
	case s.verb == history.Release && s.outcome == history.OK:
		c.act = released
	default:
		return
	}
	l.claims = append(l.claims, c)
}

// promise sets what the return of s promises.
func (l *lease) promise(r *record, s *span, f *fact, c *claim) {
	until := r.event(s.ret).Until
	c.loss = r.instant(until)
	c.excl = c.loss
	if f.delay > 0 {
		c.excl = r.instant(after(until, f.delay))
	}
	c.loss, c.excl = min(c.loss, f.cutLoss), min(c.excl, f.cutExcl)
}

// promised is the greatest until that grant n had been promised before event i,
// 0 for none.
func promised(r *record, n, i int32) time.Duration {
	most := time.Duration(0)
	for k := range r.spans {
		s := &r.spans[k]
		if s.grant == n && s.ret != none && s.ret < i && s.outcome == history.OK {
			most = max(most, r.event(s.ret).Until)
		}
	}
	return most
}

// after is t+d, where a promise for ever stays one.
func after(t, d time.Duration) time.Duration {
	if t > history.Forever-d {
		return history.Forever
	}
	return t + d
}
