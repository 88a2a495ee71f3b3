package check

import "locksim/history"

// object is one thing that a resource keeps, or one effect that it performs.
type object struct{ resource, name string }

// guarded is an object as it is written to under grants of one lock.
type guarded struct{ object, lock int32 }

// past is what happened to an object so far.
type past struct {
	last int32 // the last accepted write, or none
	top  int32 // the accepted write with the greatest token, or none
	done int32 // the first time the effect was performed, or none
}

// newest is which accepted writes to an object stand under the newest grants of
// one lock: the newest of all, and the newest of another client than that one's.
type newest struct{ first, second int32 }

// objects is scratch memory for the verdict on damage.
type objects struct {
	written, done index[object]
	pasts, firsts []past
	guarded       index[guarded]
	newest        []newest
	owners        owners
}

// damage is the verdict on the resource.
func (j *Judge) damage() Damage {
	r, o := &j.rec, &j.objects
	d := Damage{Status: None, Events: []Wound{}}
	o.written.reset()
	o.done.reset()
	o.guarded.reset()
	o.pasts, o.firsts, o.newest = o.pasts[:0], o.firsts[:0], o.newest[:0]
	o.owners.reset()
	for _, i := range r.marks {
		switch e := r.event(i); e.Kind {
		case history.Write:
			if e.Outcome == history.OK {
				d.add(j.write(i, e))
			}
		case history.Effect:
			d.add(j.effect(i, e))
		case history.Freed, history.Prolonged:
			d.add(j.meddling(i, e))
		}
	}
	j.torn(&d)
	if len(d.Events) > 0 {
		d.Status = Damaged
		return d
	}
	d.Status = undecided(r.h, None)
	return d
}

func (d *Damage) add(w Wound, wounded bool) {
	if wounded {
		d.Events = append(d.Events, w)
	}
}

// wound makes a wound of event e, found wrong for the reason c.
func wound(kind, class string, e *history.Event, c charge) Wound {
	return Wound{Kind: kind, Class: class, Client: e.Peer, At: e.At, Cause: c.cause, Blame: c.blame, Who: c.who}
}

// past returns what happened to the k-th object, to be used before the next call.
func pastOf(ps *[]past, k int32) *past {
	for len(*ps) <= int(k) {
		*ps = append(*ps, past{none, none, none})
	}
	return &(*ps)[k]
}

// write judges one accepted write: a blind one is stale after another client's
// under a newer grant of the same lock, and one that was computed from what the
// client had read loses an update unless that was the version it replaced.
func (j *Judge) write(i int32, e *history.Event) (w Wound, wounded bool) {
	r, o := &j.rec, &j.objects
	k := o.written.of(object{e.Who, e.Lock})
	p := pastOf(&o.pasts, k)
	newer := j.newer(k, i, e)
	switch {
	case e.Base == -1 && newer != none:
		w, wounded = wound(StaleWrite, Correctness, e, j.staleWrite(e, r.event(newer), p)), true
	case e.Base >= 0 && e.Base != e.Version-1:
		w, wounded = wound(LostUpdate, Correctness, e, j.lostUpdate(e, p)), true
	}
	p.last = i
	if e.Token != 0 && (p.top == none || e.Token > r.event(p.top).Token) {
		p.top = i
	}
	return w, wounded
}

// newer returns the accepted write to object k by another client than that of
// write i under the newest grant of the same lock, if that is newer than i's own,
// and takes in write i.
func (j *Judge) newer(k, i int32, e *history.Event) int32 {
	r, o := &j.rec, &j.objects
	s, ok := r.granted(e.Grant)
	if !ok {
		return none
	}
	id := o.guarded.of(guarded{k, s.lock})
	for len(o.newest) <= int(id) {
		o.newest = append(o.newest, newest{none, none})
	}
	n := &o.newest[id]
	after := func(w int32) bool { return w != none && r.older(e.Grant, r.event(w).Grant) }
	by := func(w int32) bool { return w != none && r.event(w).Peer == e.Peer }
	found := n.first
	if by(found) {
		found = n.second
	}
	if !after(found) {
		found = none
	}
	switch {
	case !after(n.first) && by(n.first):
		n.first = i
	case !after(n.first):
		n.first, n.second = i, n.first
	case !by(n.first) && !after(n.second):
		n.second = i
	}
	return found
}

// effect judges one effect: doing the same one again is a duplicate.
func (j *Judge) effect(i int32, e *history.Event) (w Wound, wounded bool) {
	o := &j.objects
	p := pastOf(&o.firsts, o.done.of(object{e.Who, e.Lock}))
	if p.done == none {
		p.done = i
		return w, false
	}
	return wound(DuplicateEffect, Efficiency, e, j.duplicate(e, j.rec.event(p.done))), true
}

// meddling judges the deletion of a key by a client, or its new term: it is wrong where
// the key was another client's. It counts once for each key, on however many nodes, and
// however often its term began anew.
func (j *Judge) meddling(i int32, e *history.Event) (w Wound, wounded bool) {
	r, o := &j.rec, &j.objects
	owner := o.owners.of(r, i, e)
	if owner == none || r.clients.keys[r.spans[owner].client] == e.Peer || o.owners.counted(e.Peer, owner, e.Kind) {
		return w, false
	}
	if e.Kind == history.Prolonged {
		return wound(WrongRenewal, Correctness, e, r.renewal(r.clients.keys[r.spans[owner].client], e)), true
	}
	return wound(WrongRelease, Correctness, e, j.wrongRelease(i, e, owner)), true
}

// decided is where grant n was decided, where that is known.
func (r *record) decided(n int32) (pos, bool) {
	s, ok := r.granted(n)
	if !ok {
		return 0, false
	}
	return r.returnPos(s), true
}

// older reports whether grant a was decided before grant b.
func (r *record) older(a, b int32) bool {
	x, okA := r.decided(a)
	y, okB := r.decided(b)
	return okA && okB && x < y
}
