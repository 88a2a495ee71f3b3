package check

import (
	"cmp"
	"slices"

	"locksim/history"
)

// key is a lock's key on the servers by what is kept under it.
type key struct{ lock, value string }

// owners says whose the keys were that clients deleted or prolonged. It is asked in the order
// of the events.
type owners struct {
	ready bool
	keys  index[key]
	any   []int32 // by key: the first acquire that went by it, whatever its outcome
	last  []int32 // by key: the last grant of it that was decided so far, or none

	grants []int32 // the spans of the grants of those keys, in the order of their decisions
	next   int     // how many of them were decided before the event asked about

	pairs    index[pair]
	released []int32 // by client and lock: the last release that was called so far
	spans    int     // how many spans have been looked at

	wronged index[wrong]
}

// wrong is a client that deleted the key of an acquire of another's, or prolonged it.
type wrong struct {
	client string
	owner  int32
	how    history.Kind
}

func (o *owners) reset() {
	o.ready = false
	o.wronged.reset()
}

// read finds the acquires whose keys clients deleted or prolonged.
func (o *owners) read(r *record) {
	o.ready = true
	o.keys.reset()
	o.pairs.reset()
	o.any, o.last, o.grants, o.released = o.any[:0], o.last[:0], o.grants[:0], o.released[:0]
	o.next, o.spans = 0, 0
	for _, i := range r.marks {
		if e := r.event(i); e.Kind == history.Freed || e.Kind == history.Prolonged {
			o.keys.of(key{e.Lock, e.Value})
		}
	}
	for range o.keys.keys {
		o.any, o.last = append(o.any, none), append(o.last, none)
	}
	for i := range r.spans {
		s := &r.spans[i]
		if s.verb != history.Acquire || s.ret == none || r.event(s.ret).Value == "" {
			continue
		}
		k, ok := o.keys.find(key{r.locks.keys[s.lock], r.event(s.ret).Value})
		if !ok {
			continue
		}
		if o.any[k] == none {
			o.any[k] = int32(i)
		}
		if s.outcome == history.OK {
			o.grants = append(o.grants, int32(i))
		}
	}
	slices.SortFunc(o.grants, func(a, b int32) int {
		return cmp.Compare(r.returnPos(&r.spans[a]), r.returnPos(&r.spans[b]))
	})
}

// of returns the acquire that owned the key deleted or prolonged by event i, or none where
// that is not known. Where several went by one value, it is the last of them that
// had been granted.
func (o *owners) of(r *record, i int32, e *history.Event) int32 {
	if !o.ready {
		o.read(r)
	}
	for ; o.next < len(o.grants); o.next++ {
		s := &r.spans[o.grants[o.next]]
		if r.returnPos(s) >= eventPos(i) {
			break
		}
		k, _ := o.keys.find(key{r.locks.keys[s.lock], r.event(s.ret).Value})
		o.last[k] = o.grants[o.next]
	}
	k, _ := o.keys.find(key{e.Lock, e.Value})
	if o.last[k] != none {
		return o.last[k]
	}
	return o.any[k]
}

// counted reports whether it is known already that client did so to the key of
// acquire owner, and takes it in.
func (o *owners) counted(client string, owner int32, how history.Kind) bool {
	known := len(o.wronged.keys)
	return int(o.wronged.of(wrong{client, owner, how})) < known
}

// releasing returns the last release of its lock that the client who deleted a key
// with event i had called, or none.
func (o *owners) releasing(r *record, i int32, e *history.Event) int32 {
	for ; o.spans < len(r.spans) && r.spans[o.spans].call < i; o.spans++ {
		s := &r.spans[o.spans]
		if s.verb != history.Release {
			continue
		}
		k := o.pairs.of(pair{s.client, s.lock})
		o.released = grown(o.released, int(k)+1)
		o.released[k] = int32(o.spans)
	}
	client, ok := r.clients.find(e.Peer)
	lock, also := r.locks.find(e.Lock)
	if !ok || !also {
		return none
	}
	k, ok := o.pairs.find(pair{client, lock})
	if !ok {
		return none
	}
	return o.released[k]
}
