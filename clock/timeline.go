package clock

import (
	"math/bits"
	"time"
)

// Timeline is the virtual clock: one queue of events with payload E, ordered by
// instant and, within one instant, by the order in which they were scheduled.
// True time moves only by [Timeline.Next]. The zero value is ready, at instant 0.
//
// It is a binary heap of small pointer-free keys; payloads stand in a slab whose
// slots are used again, so that a running simulation does not allocate. A
// cancelled event stays in the heap until its turn and is dropped then.
type Timeline[E any] struct {
	heap []key
	// hole: the top of the heap has been taken and nothing has filled it yet. A
	// schedule that follows, as most do, fills it with one sift.
	hole bool
	slab []slot[E]
	free []uint32
	// lent is the slot of the event that was taken last, while lending.
	lent    uint32
	lending bool
	seq     uint32
	now     time.Duration
	live    int
}

type key struct {
	at   time.Duration
	seq  uint32
	slot uint32
}

type slot[E any] struct {
	event E
	gen   uint32
	live  bool
}

// Timer names one scheduled event, for [Timeline.Cancel]. The zero value names
// none.
type Timer struct{ slot, gen uint32 }

// Now is the true instant: that of the last event taken.
func (t *Timeline[E]) Now() time.Duration { return t.now }

// Len is how many events are scheduled and not cancelled.
func (t *Timeline[E]) Len() int { return t.live }

// Schedule puts e at instant at, which must not lie in the past.
func (t *Timeline[E]) Schedule(at time.Duration, e E) Timer {
	if at < t.now {
		panic("clock: scheduled in the past")
	}
	i := t.take()
	s := &t.slab[i]
	s.event, s.live = e, true
	t.seq++
	if t.seq == 0 {
		panic("clock: more than 4 billion events in one run")
	}
	t.live++
	t.push(key{at, t.seq, i})
	return Timer{i, s.gen}
}

// Cancel takes the event that tm names off the timeline. It reports false when
// that event has happened or was cancelled already.
func (t *Timeline[E]) Cancel(tm Timer) bool {
	if int(tm.slot) >= len(t.slab) {
		return false
	}
	s := &t.slab[tm.slot]
	if s.gen != tm.gen || !s.live {
		return false
	}
	s.live = false
	s.gen++
	t.live--
	return true
}

// Next takes the next event and moves true time to it. The event is lent: it
// stays as it is until the next call of Next or Reset. Next is nil when there is
// no event, or when it lies beyond limit; true time then stays.
func (t *Timeline[E]) Next(limit time.Duration) *E {
	t.giveBack()
	for {
		t.settle()
		if len(t.heap) == 0 {
			return nil
		}
		k := t.heap[0]
		s := &t.slab[k.slot]
		if s.live && k.at > limit {
			return nil
		}
		t.hole = true
		if !s.live {
			t.free = append(t.free, k.slot)
			continue
		}
		s.live = false
		s.gen++
		t.live--
		t.now = k.at
		t.lent, t.lending = k.slot, true
		return &s.event
	}
}

// giveBack makes the slot of the event that was lent free.
func (t *Timeline[E]) giveBack() {
	if t.lending {
		t.lending = false
		t.free = append(t.free, t.lent)
	}
}

// Advance moves true time to at without an event. It reports false, and does
// nothing, when an event is scheduled at or before at, which must not lie in the
// past.
func (t *Timeline[E]) Advance(at time.Duration) bool {
	for {
		i := t.earliest()
		if i >= len(t.heap) || t.heap[i].at > at {
			t.now = at
			return true
		}
		if t.slab[t.heap[i].slot].live {
			return false
		}
		t.settle()
		t.hole = true
		t.free = append(t.free, t.heap[0].slot)
	}
}

// earliest is where in the heap the earliest key is. It leaves a hole at the top
// as it is, so that the next key scheduled can fill it.
func (t *Timeline[E]) earliest() int {
	switch {
	case !t.hole:
		return 0
	case len(t.heap) > 2:
		return 1 + earlier(&t.heap[2], &t.heap[1])
	}
	return 1
}

// Reset empties the timeline, puts it back to instant 0 and keeps its memory. A
// Timer from before names nothing afterwards.
func (t *Timeline[E]) Reset() {
	t.giveBack()
	t.settle()
	for _, k := range t.heap {
		if s := &t.slab[k.slot]; s.live {
			s.live = false
			s.gen++
		}
		t.free = append(t.free, k.slot)
	}
	// What the slots held must not be kept alive by them.
	for i := range t.slab {
		var none E
		t.slab[i].event = none
	}
	t.heap = t.heap[:0]
	t.seq, t.now, t.live = 0, 0, 0
}

func (t *Timeline[E]) take() uint32 {
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	// Generations start at 1, so that the zero Timer names nothing.
	t.slab = append(t.slab, slot[E]{gen: 1})
	return uint32(len(t.slab) - 1)
}

func (t *Timeline[E]) push(k key) {
	if t.hole {
		t.hole = false
		t.sift(k)
		return
	}
	h := append(t.heap, k)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if earlier(&k, &h[p]) == 0 {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = k
	t.heap = h
}

// settle fills the hole at the top with the last key.
func (t *Timeline[E]) settle() {
	if !t.hole {
		return
	}
	t.hole = false
	n := len(t.heap) - 1
	last := t.heap[n]
	t.heap = t.heap[:n]
	if n > 0 {
		t.sift(last)
	}
}

// sift puts k into the hole at the top and restores the order.
func (t *Timeline[E]) sift(k key) {
	h := t.heap
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) {
			c += earlier(&h[c+1], &h[c])
		}
		if earlier(&h[c], &k) == 0 {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = k
}

// earlier is 1 when a comes before b, else 0. It has no branch, because which of
// two children is the earlier cannot be predicted. Instants are not negative, so
// that they compare as unsigned.
func earlier(a, b *key) int {
	_, borrow := bits.Sub64(uint64(a.seq)<<32|uint64(a.slot), uint64(b.seq)<<32|uint64(b.slot), 0)
	_, borrow = bits.Sub64(uint64(a.at), uint64(b.at), borrow)
	return int(borrow)
}
