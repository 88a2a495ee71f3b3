package check

import (
	"slices"

	"locksim/history"
)

// object is one thing that a resource keeps, or one effect that it performs.
type object struct{ resource, name string }

// past is what happened to an object so far.
type past struct {
	last   int32 // the last accepted write, or none
	newest int32 // the accepted write under the newest grant, or none
	top    int32 // the accepted write with the greatest token, or none
	done   int32 // the first time the effect was performed, or none
}

// objects is scratch memory for the verdict on damage.
type objects struct {
	written, done index[object]
	pasts, firsts []past
	wronged       []int32 // releases that were found to be wrong already
}

// damage is the verdict on the resource.
func (j *Judge) damage() Damage {
	r, o := &j.rec, &j.objects
	d := Damage{Status: None, Events: []Wound{}}
	o.written.reset()
	o.done.reset()
	o.pasts, o.firsts, o.wronged = o.pasts[:0], o.firsts[:0], o.wronged[:0]
	for _, i := range r.marks {
		switch e := r.event(i); e.Kind {
		case history.Write:
			if e.Outcome == history.OK {
				d.add(j.write(i, e))
			}
		case history.Effect:
			d.add(j.effect(i, e))
		case history.Freed:
			d.add(j.deletion(i, e))
		}
	}
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
		*ps = append(*ps, past{none, none, none, none})
	}
	return &(*ps)[k]
}

// write judges one accepted write: a blind one is stale after a write under a
// newer grant, and one that was computed from what the client had read loses an
// update unless that was the version it replaced.
func (j *Judge) write(i int32, e *history.Event) (w Wound, wounded bool) {
	r, o := &j.rec, &j.objects
	p := pastOf(&o.pasts, o.written.of(object{e.Who, e.Lock}))
	switch {
	case e.Base == -1 && p.newest != none && r.older(e.Grant, r.event(p.newest).Grant):
		w, wounded = wound(StaleWrite, Correctness, e, j.staleWrite(e, p)), true
	case e.Base >= 0 && e.Base != e.Version-1:
		w, wounded = wound(LostUpdate, Correctness, e, j.lostUpdate(e, p)), true
	}
	p.last = i
	if _, ok := r.decided(e.Grant); ok && (p.newest == none || r.older(r.event(p.newest).Grant, e.Grant)) {
		p.newest = i
	}
	if e.Token != 0 && (p.top == none || e.Token > r.event(p.top).Token) {
		p.top = i
	}
	return w, wounded
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

// deletion judges the deletion of a key: it is wrong where the key belonged to
// another grant than the one that its client is releasing. It counts once for
// each release.
func (j *Judge) deletion(i int32, e *history.Event) (w Wound, wounded bool) {
	r, o := &j.rec, &j.objects
	s := r.releasing(i, e)
	if s == none || slices.Contains(o.wronged, s) {
		return w, false
	}
	mine, owner := r.spans[s].grant, r.ownerOf(e, i)
	own := r.reply(mine)
	if owner == mine || owner == 0 && (own == nil || own.Value == e.Value) {
		return w, false
	}
	o.wronged = append(o.wronged, s)
	return wound(WrongRelease, Correctness, e, r.wrongRelease(e, mine, owner)), true
}

// releasing returns the release that client e.Peer was at when event i deleted a
// key: the open one, or else the last one whose outcome it never learned, since
// its request may still have been on its way.
func (r *record) releasing(i int32, e *history.Event) int32 {
	late := none
	for k := len(r.spans) - 1; k >= 0; k-- {
		s := &r.spans[k]
		if s.call > i || s.verb != history.Release || r.clients.keys[s.client] != e.Peer || r.locks.keys[s.lock] != e.Lock {
			continue
		}
		if s.ret == none || s.ret > i {
			return int32(k)
		}
		if late == none && s.outcome == history.Unknown {
			late = int32(k)
		}
	}
	return late
}

// ownerOf returns the grant that the value deleted by event i belonged to, 0
// where that is not known. Where one value was used for several grants, it is
// the last of those decided before.
func (r *record) ownerOf(e *history.Event, i int32) int32 {
	owner := int32(0)
	for k := range r.spans {
		s := &r.spans[k]
		if s.verb != history.Acquire || s.outcome != history.OK || r.event(s.ret).Value != e.Value {
			continue
		}
		if at, ok := r.decided(s.grant); owner == 0 || ok && at < eventPos(i) {
			owner = s.grant
		}
	}
	return owner
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
