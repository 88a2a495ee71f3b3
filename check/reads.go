package check

import (
	"slices"
	"sort"
)

// stretch is a maximal run of positions [from, to) at which a lock surely had a
// holder.
type stretch struct {
	lock     int32
	from, to pos
}

// readNobody checks the reads that found no holder: each needs a position within
// itself at which no grant surely holds. A lock-delay is no hindrance, and a
// grant without a surely held stretch can be placed around the read.
func (s *sweep) readNobody() {
	if len(s.reads) == 0 {
		return
	}
	s.unite()
	for _, c := range s.reads {
		if s.free(c.lock, c.call) >= c.ret {
			h := s.holder(c.lock, c.call)
			s.find(finding{fault: staleRead, lock: c.lock, grant: h, span: c.span})
		}
	}
}

// unite makes the surely held stretches of every lock.
func (s *sweep) unite() {
	s.kept, s.reach, s.taken = s.kept[:0], s.reach[:0], s.taken[:0]
	for i := range s.holds {
		if h := &s.holds[i]; h.sound && h.loss > h.hi {
			s.kept = append(s.kept, h)
		}
	}
	slices.SortFunc(s.kept, byStart)
	for i, h := range s.kept {
		far := h
		if i > 0 && s.reach[i-1].lock == h.lock && s.reach[i-1].loss >= h.loss {
			far = s.reach[i-1]
		}
		s.reach = append(s.reach, far)
		if n := len(s.taken); n > 0 && s.taken[n-1].lock == h.lock && s.taken[n-1].to >= h.hi {
			s.taken[n-1].to = max(s.taken[n-1].to, h.loss)
			continue
		}
		s.taken = append(s.taken, stretch{h.lock, h.hi, h.loss})
	}
}

// free returns the first position from p on at which lock surely has no holder.
func (s *sweep) free(lock int32, p pos) pos {
	k := sort.Search(len(s.taken), func(i int) bool {
		t := &s.taken[i]
		return t.lock > lock || t.lock == lock && t.to > p
	})
	if k < len(s.taken) && s.taken[k].lock == lock && s.taken[k].from <= p {
		return s.taken[k].to
	}
	return p
}

// holder returns a grant that surely holds lock at p, at which somebody does.
func (s *sweep) holder(lock int32, p pos) int32 {
	k := sort.Search(len(s.kept), func(i int) bool {
		h := s.kept[i]
		return h.lock > lock || h.lock == lock && h.hi > p
	})
	return s.reach[k-1].grant
}
