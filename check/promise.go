package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/history"
)

// dispute is a pair of grants that the service should not both have made, the
// lesser number first.
type dispute struct{ a, b int32 }

func between(a, b int32) dispute { return dispute{min(a, b), max(a, b)} }

// accusation is what is known about a dispute, and when it came to light.
type accusation struct {
	charge
	at time.Duration
}

// contest notes what is known about two grants, unless something is already.
func (j *Judge) contest(a, b int32, at time.Duration, c charge) {
	if k := j.disputed.of(between(a, b)); int(k) == len(j.disputes) {
		j.disputes = append(j.disputes, accusation{c, at})
	}
}

// agree forgets every dispute.
func (j *Judge) agree() {
	j.disputed.reset()
	j.disputes = j.disputes[:0]
}

// acquires reports whether anybody asked for a lock.
func (r *record) acquires() bool {
	for i := range r.spans {
		if r.spans[i].verb == history.Acquire {
			return true
		}
	}
	return false
}

// asks reports whether anybody asked who holds a lock.
func (r *record) asks() bool {
	for i := range r.spans {
		if r.spans[i].verb == history.Read {
			return true
		}
	}
	return false
}

// promise is the verdict on the service.
func (j *Judge) promise() Promise {
	j.agree()
	r := &j.rec
	p := Promise{Status: None, Breaches: []Breach{}}
	if !r.acquires() {
		return p
	}
	j.lease.read(r, true)
	found := j.sweep.run(&j.lease)
	if len(found) == 0 {
		p.Status = undecided(r.h, Kept)
		return p
	}
	p.Status = Broken
	if r.asks() {
		p.Breaches = j.withReads()
	} else {
		for i := range found {
			p.Breaches = append(p.Breaches, j.breach(&found[i]))
		}
	}
	slices.SortStableFunc(p.Breaches, func(a, b Breach) int {
		x, _ := r.locks.find(a.Lock)
		y, _ := r.locks.find(b.Lock)
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(x, y))
	})
	return p
}

// breach puts a finding into words.
func (j *Judge) breach(f *finding) Breach {
	r := &j.rec
	b := Breach{Lock: r.locks.keys[f.lock], At: r.event(r.spans[f.span].ret).At}
	var c charge
	switch f.fault {
	case overlap:
		c = j.overlapping(f, &b)
	case squeezed:
		b.Kind = DoubleGrant
		c = r.squeezed(f)
		j.contest(f.other, f.grant, b.At, c)
	case ungranted, premature, afterwards:
		b.Kind = ConfirmedAfterLoss
		c = r.misconfirmed(f)
	case lostEarly:
		b.Kind = LostLease
		until := r.standing(f.grant, r.spans[f.span].ret)
		b.Early = early(until, b.At)
		c = j.lost(f, until)
	case unordered:
		b.Kind = TokenOrder
		c = j.unordered(f)
	case staleRead:
		b.Kind = StaleRead
		c = j.staleRead(f)
	}
	b.Cause, b.Blame, b.Who = c.cause, c.blame, c.who
	return b
}

// overlapping completes b for a grant made inside the core of another: granted
// early, or, where the promise was over by then and only an operation that was
// confirmed later makes the core reach further, confirmed after the loss.
func (j *Judge) overlapping(f *finding, b *Breach) charge {
	r := &j.rec
	until := r.standing(f.grant, r.spans[f.span].ret)
	until = after(until, j.lease.facts[f.grant].delay)
	h := &j.sweep.holds[f.grant]
	proven := h.confSpan != none || h.release != nil
	cut := j.lease.facts[f.grant].cutExcl
	if cut < j.sweep.holds[f.other].hi { // it may have been given up or shortened by then
		until = min(until, r.event(int32(cut/2)).At)
	}
	if until > b.At || !proven {
		b.Kind = DoubleGrant
		c, ok := r.anothers(f.other, &r.spans[f.span])
		if ok { // that is all that proves it
			c.cause += fmt.Sprintf("; %s was told at %s that it holds the lock while %s", r.owner(f.other), seconds(b.At), r.ran(f.grant, until))
		} else {
			c = r.doubleGrant(f.grant, f.other, b.At, until)
		}
		if b.At >= until { // it was told late of what had been decided in time
			b.At = min(b.At, r.grantedBy(f.other, until-1))
		}
		b.Early = early(until, b.At)
		j.contest(f.grant, f.other, b.At, c)
		return c
	}
	b.Kind = ConfirmedAfterLoss
	if h.release != nil {
		// Nobody was given anything too early: what the two believed is another matter.
		b.At = max(b.At, r.event(r.spans[h.release.span].ret).At)
		return r.confirmedAfterLoss(f, h.release.span, until)
	}
	b.At = max(b.At, r.event(r.spans[h.confSpan].ret).At)
	c := r.confirmedAfterLoss(f, h.confSpan, until)
	j.contest(f.grant, f.other, b.At, c)
	return c
}

// early is how long before the end of a promise t was; 0 for one without an end, from
// which nothing can be counted.
func early(until, t time.Duration) time.Duration {
	if until == history.Forever {
		return 0
	}
	return max(0, until-t)
}

// dispute returns what is known about the service having made both grants, if it
// should not have.
func (j *Judge) dispute(a, b int32) (accusation, bool) {
	if len(j.disputes) == 0 {
		return accusation{}, false
	}
	if k, ok := j.disputed.find(between(a, b)); ok {
		return j.disputes[k], true
	}
	if a == b {
		return accusation{}, false
	}
	// Of many grants that overlap, each is named with one other only.
	r := &j.rec
	if r.older(b, a) {
		a, b = b, a
	}
	newer, ok := r.granted(b)
	if !ok || !r.older(a, b) {
		return accusation{}, false
	}
	told, until := r.event(newer.ret).At, min(r.standing(a, newer.ret), r.promiseEnd(a))
	if newer.lock != r.grants[a].lock || until <= told {
		return accusation{}, false
	}
	return accusation{r.doubleGrant(a, b, told, until), told}, true
}
