package check

import (
	"slices"
	"sort"

	"locksim/history"
)

// withReads names the breaches of a history in which who holds a lock was read: what
// is wrong without the reads; every read that is wrong by itself, whatever else is;
// and, on locks that are right so far, what the other reads show together. Those that
// found nobody are judged beside the reads that may be right.
func (j *Judge) withReads() []Breach {
	r, s := &j.rec, &j.sweep
	j.lease.read(r, false)
	found := s.run(&j.lease)
	grants := []Breach{}
	for i := range found {
		grants = append(grants, j.breach(&found[i]))
	}
	wrong := slices.Clone(s.bad)
	var reads []Breach
	s.furthest()
	for i := range r.spans {
		if f := j.misnamed(int32(i)); f.fault != 0 {
			reads = append(reads, j.misread(&f, int32(i)))
		}
	}
	j.lease.read(r, true)
	found = s.run(&j.lease)
	for i := range found {
		f := &found[i]
		if f.fault == staleRead {
			reads = append(reads, j.breach(f))
			continue
		}
		proof := f.span
		if h := &s.holds[f.grant]; r.spans[proof].verb != history.Read && h.confSpan != none {
			proof = h.confSpan
		}
		if int(f.lock) < len(wrong) && wrong[f.lock] || r.spans[proof].misread {
			continue // what comes of it is told already
		}
		reads = append(reads, j.misread(f, proof))
	}
	return append(reads, grants...)
}

// misread puts a finding into words that only the read proof explains, which from
// then on counts for nothing.
func (j *Judge) misread(f *finding, proof int32) Breach {
	r := &j.rec
	at := r.event(r.spans[proof].ret).At
	r.spans[proof].misread = true
	c := r.misread(f, proof)
	return Breach{
		Kind: StaleRead, Lock: r.locks.keys[f.lock], At: at, Cause: c.cause, Blame: c.blame, Who: c.who,
	}
}

// misnamed holds span i alone, if it is a read that named a holder, against what the
// sweep knows without the reads. It must have been called before that grant was
// surely over, and not have returned before it was asked for, and another that
// kept the lock meanwhile, or since, cannot be. It says nothing against a grant by
// what is in dispute between the two already.
func (j *Judge) misnamed(i int32) finding {
	r, s := &j.rec, &j.sweep
	c := &r.spans[i]
	if c.verb != history.Read || c.outcome != history.OK || c.grant <= 0 {
		return finding{}
	}
	f := finding{lock: c.lock, grant: c.grant, span: i}
	h, fact := &s.holds[c.grant], &j.lease.facts[c.grant]
	call, ret := eventPos(c.call), r.returnPos(c)
	from := h.from
	if !h.made {
		k := r.grantOf(c.grant)
		if k == none || r.spans[k].outcome != history.Unknown {
			f.fault = ungranted
			return f
		}
		from = eventPos(r.spans[k].call)
	}
	switch {
	case from >= ret:
		f.fault = premature
	case h.release != nil && h.release.ret < call:
		f.fault = afterwards
	case h.sound && fact.over < call && h.loss < fact.over:
		f.fault, f.span = lostEarly, fact.overSpan
	case h.sound || !h.made:
		if o := j.instead(h, c.lock, call, ret); o != nil {
			f.fault, f.other = overlap, o.grant
		}
	}
	return f
}

// grantOf is the span of the acquire of grant n, or none.
func (r *record) grantOf(n int32) int32 {
	if n <= 0 || int(n) >= len(r.grants) {
		return none
	}
	return r.grants[n].acquire
}

// furthest notes beside every core which of those of its lock up to it reaches
// furthest.
func (s *sweep) furthest() {
	s.far = s.far[:0]
	for i, h := range s.cores {
		if i > 0 && s.far[i-1].lock == h.lock && s.far[i-1].excl >= h.excl {
			h = s.far[i-1]
		}
		s.far = append(s.far, h)
	}
}

// instead returns a grant that surely held lock for all of [call, ret), or was made
// between the time of h and call, so that h did not hold it then; nil if there is none
// that is not in conflict with h anyway, or had been told that it had lost the lock.
func (j *Judge) instead(h *hold, lock int32, call, ret pos) *hold {
	s := &j.sweep
	k := sort.Search(len(s.cores), func(i int) bool {
		c := s.cores[i]
		return c.lock > lock || c.lock == lock && c.hi > call
	}) - 1
	if k < 0 || s.cores[k].lock != lock {
		return nil
	}
	if last := s.cores[k]; h.made && last.hi > max(h.hi, h.excl) {
		return last
	}
	if far := s.far[k]; far != h && far.excl >= ret && j.lease.facts[far.grant].over >= ret && !(h.made && h.clashes(far)) {
		return far
	}
	return nil
}

// clashes reports whether h was made or held inside core.
func (h *hold) clashes(core *hold) bool {
	end := h.excl
	if !h.core() {
		end = max(h.from, h.excl)
	}
	return core.hi <= end && core.excl >= h.hi
}
