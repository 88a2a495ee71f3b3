package check

import (
	"cmp"
	"slices"
	"sort"
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
	over      pos // and it surely was over by here: least return of a "not held" called after that
	overSpan  int32
	delay     time.Duration
	// Unknown outcomes may have ended its promises: they hold at most up to here.
	cutLoss, cutExcl pos
	ended            pos // its session ended here
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
//   - the end of a session ends the promises of its grants, which were made before;
//   - a grant was made before its key expired, if the service is one and recorded that;
//   - refusals are dropped, and nothing comes of a "not held" for a grant that
//     never was.
type lease struct {
	claims []claim
	facts  []fact // by grant number
	free   []sighting
}

// sighting is a read that found a lock free.
type sighting struct {
	lock int32
	call pos
	ret  pos // the least return of this one and of those of the lock called after it
}

// read normalises r, with or without the reads of who holds a lock; those that are
// known to be wrong are left out.
func (l *lease) read(r *record, reads bool) {
	l.claims, l.facts = l.claims[:0], l.facts[:0]
	l.gather(r, reads)
	for n := range l.facts {
		l.clip(r, int32(n), &l.facts[n])
	}
	l.overlook(r, reads)
	for i := range r.spans {
		if s := &r.spans[i]; s.outcome == history.Unknown && s.grant > 0 {
			l.fold(r, s)
		}
	}
	for i := range r.spans {
		l.emit(r, int32(i), reads)
	}
}

// fact returns the fact of grant n, to be used before the next call of fact.
func (l *lease) fact(n int32) *fact {
	for len(l.facts) <= int(n) {
		l.facts = append(l.facts, fact{surely: never, over: never, cutLoss: never, cutExcl: never, ended: never})
	}
	return &l.facts[n]
}

// gather collects what is sure about each grant.
func (l *lease) gather(r *record, reads bool) {
	for i := range r.spans {
		s := &r.spans[i]
		f := l.fact(s.grant)
		switch {
		case s.outcome != history.OK || s.verb == history.Read && (!reads || s.misread):
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
func (l *lease) fold(r *record, s *span) {
	f := l.fact(s.grant)
	loss := eventPos(s.call)
	excl := loss
	switch s.verb {
	case history.Release:
	case history.Extend:
		asked := r.event(s.call).Until
		if asked == 0 || asked >= s.stood {
			return
		}
		loss, excl = max(loss, r.instant(asked)), max(loss, r.instant(after(asked, f.delay)))
	default:
		return
	}
	if !l.gone(s, f) {
		f.cutLoss, f.cutExcl = min(f.cutLoss, loss), min(f.cutExcl, excl)
	}
}

// gone reports whether the grant of s surely was over before s was called: told
// "not held", or its lock seen free. What is called then withdraws nothing.
func (l *lease) gone(s *span, f *fact) bool {
	return f.over < eventPos(s.call) || l.seenFree(s.lock, f.surely) < eventPos(s.call)
}

// overlook collects when each grant surely was over, and when each lock was seen
// free.
func (l *lease) overlook(r *record, reads bool) {
	l.free = l.free[:0]
	for i := range r.spans {
		switch s := &r.spans[i]; {
		case s.outcome == history.NotHeld:
			if f := l.fact(s.grant); eventPos(s.call) >= f.surely && r.returnPos(s) < f.over {
				f.over, f.overSpan = r.returnPos(s), int32(i)
			}
		case reads && s.verb == history.Read && s.outcome == history.OK && s.grant == 0:
			l.free = append(l.free, sighting{s.lock, eventPos(s.call), r.returnPos(s)})
		}
	}
	slices.SortFunc(l.free, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.call, b.call))
	})
	for i := len(l.free) - 2; i >= 0; i-- {
		if next := &l.free[i+1]; next.lock == l.free[i].lock {
			l.free[i].ret = min(l.free[i].ret, next.ret)
		}
	}
}

// seenFree is by when lock had been seen free by a read called at p or later.
func (l *lease) seenFree(lock int32, p pos) pos {
	k := sort.Search(len(l.free), func(i int) bool {
		s := &l.free[i]
		return s.lock > lock || s.lock == lock && s.call >= p
	})
	if k == len(l.free) || l.free[k].lock != lock {
		return never
	}
	return l.free[k].ret
}

// emit adds the claim that span i makes, if it makes one.
func (l *lease) emit(r *record, i int32, reads bool) {
	s := &r.spans[i]
	f := l.fact(s.grant)
	c := claim{lock: s.lock, grant: s.grant, span: i, call: eventPos(s.call), ret: r.returnPos(s)}
	switch {
	case s.verb == history.Read:
		if !reads || s.misread || s.outcome != history.OK {
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
		c.ret = min(r.made(s), f.ended)
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

// after is t+d, where a promise for ever stays one.
func after(t, d time.Duration) time.Duration {
	if t > history.Forever-d {
		return history.Forever
	}
	return t + d
}
