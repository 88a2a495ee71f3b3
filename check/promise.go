package check

import (
	"cmp"
	"slices"
	"time"

	"locksim/history"
)

// dispute is a pair of grants that the service should not both have made, and
// what is known about it.
type dispute struct {
	a, b int32
	charge
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
	j.disputes = j.disputes[:0]
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
		p.Breaches = j.withReads(found)
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

// withReads names the breaches of a history in which who holds a lock was read.
// Reads are what is wrong with it only where it is right without them; those
// that found nobody are judged one by one all the same.
func (j *Judge) withReads(found []finding) []Breach {
	bs := []Breach{}
	var others []Breach
	for i := range found {
		if found[i].fault == staleRead {
			bs = append(bs, j.breach(&found[i]))
			continue
		}
		others = append(others, j.misread(&found[i]))
	}
	j.disputes = j.disputes[:0]
	j.lease.read(&j.rec, false)
	found = j.sweep.run(&j.lease)
	for i := range found {
		bs = append(bs, j.breach(&found[i]))
	}
	if len(found) == 0 {
		bs = append(bs, others...)
	}
	return bs
}

// misread puts a finding into words that only a read explains.
func (j *Judge) misread(f *finding) Breach {
	r := &j.rec
	proof := f.span
	if h := &j.sweep.holds[f.grant]; r.spans[proof].verb != history.Read && h.confSpan != none {
		proof = h.confSpan
	}
	at := r.event(r.spans[proof].ret).At
	c := r.misread(f, proof)
	return Breach{
		Kind: StaleRead, Lock: r.locks.keys[f.lock], At: at, Cause: c.cause, Blame: c.blame, Who: c.who,
	}
}

// breach puts a finding into words.
func (j *Judge) breach(f *finding) Breach {
	r := &j.rec
	b := Breach{Lock: r.locks.keys[f.lock], At: r.event(r.spans[f.span].ret).At}
	var c charge
	switch f.fault {
	case overlap:
		b.Kind = DoubleGrant
		c = j.overlapping(f, &b)
	case squeezed:
		b.Kind = DoubleGrant
		c = r.squeezed(f)
		j.disputes = append(j.disputes, dispute{f.other, f.grant, c})
	case ungranted, premature, afterwards:
		b.Kind = DoubleGrant
		c = r.misconfirmed(f)
	case lostEarly:
		b.Kind = LostLease
		until := r.standing(f.grant, r.spans[f.span].ret)
		b.Early = r.early(until, b.At)
		c = r.lost(f, until)
	case unordered:
		b.Kind = TokenOrder
		c = r.unordered(f)
	case staleRead:
		b.Kind = StaleRead
		c = r.staleRead(f)
	}
	b.Cause, b.Blame, b.Who = c.cause, c.blame, c.who
	return b
}

// overlapping completes b for a grant made inside the core of another.
func (j *Judge) overlapping(f *finding, b *Breach) charge {
	r := &j.rec
	until := r.standing(f.grant, r.spans[f.span].ret)
	until = after(until, j.lease.facts[f.grant].delay)
	h := &j.sweep.holds[f.grant]
	var c charge
	if until > b.At || h.confSpan == none && h.release == nil {
		b.Early = r.early(until, b.At)
		c = r.doubleGrant(f.grant, f.other, b.At, until)
	} else {
		proof := h.confSpan
		if h.release != nil {
			proof = h.release.span
		}
		b.At = max(b.At, r.event(r.spans[proof].ret).At)
		c = r.confirmedAfterLoss(f, proof, until)
	}
	j.disputes = append(j.disputes, dispute{f.grant, f.other, c})
	return c
}

// early is how long before the end of a promise t was. A promise without an end
// is counted to the end of the run.
func (r *record) early(until, t time.Duration) time.Duration {
	if until == history.Forever {
		until = r.h.End
	}
	return max(0, until-t)
}

// dispute returns what is known about the service having made both grants, if it
// should not have.
func (j *Judge) dispute(a, b int32) (charge, bool) {
	for i := range j.disputes {
		if d := &j.disputes[i]; d.a == a && d.b == b || d.a == b && d.b == a {
			return d.charge, true
		}
	}
	if len(j.disputes) == 0 || a == b {
		return charge{}, false
	}
	// Of many grants that overlap, each is named with one other only.
	r := &j.rec
	if r.older(b, a) {
		a, b = b, a
	}
	newer, ok := r.granted(b)
	if !ok || !r.older(a, b) {
		return charge{}, false
	}
	told, until := r.event(newer.ret).At, min(r.standing(a, newer.ret), r.promiseEnd(a))
	if newer.lock != r.grants[a].lock || until <= told {
		return charge{}, false
	}
	return r.doubleGrant(a, b, told, until), true
}

// standing is until when grant n had been promised by the last reply before
// event i; by its first reply where none had come.
func (r *record) standing(n, i int32) time.Duration {
	until := time.Duration(0)
	last := none
	for k := range r.spans {
		s := &r.spans[k]
		if s.grant != n || s.outcome != history.OK || s.verb != history.Acquire && s.verb != history.Extend {
			continue
		}
		if last == none || s.ret < i && s.ret > last {
			last, until = s.ret, r.event(s.ret).Until
		}
	}
	return until
}
