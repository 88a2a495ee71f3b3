package check

import (
	"cmp"
	"slices"
	"sort"
)

// exclude checks the holds of each lock against one another.
func (s *sweep) exclude() {
	s.cores, s.points, s.tokens = s.cores[:0], s.points[:0], s.tokens[:0]
	for i := range s.holds {
		h := &s.holds[i]
		if !h.sound {
			continue
		}
		if h.core() {
			s.cores = append(s.cores, h)
		} else {
			s.points = append(s.points, h)
		}
		if h.token != 0 {
			s.tokens = append(s.tokens, h)
		}
	}
	s.disjoint()
	s.place()
	s.order()
}

// disjoint checks that no grant was made inside the core of another.
func (s *sweep) disjoint() {
	slices.SortFunc(s.cores, byStart)
	var top *hold // the core so far that reaches furthest
	for _, h := range s.cores {
		if top == nil || top.lock != h.lock {
			top = h
			continue
		}
		if top.excl >= h.hi {
			s.found(overlap, top, h.grant, h.hiSpan)
		}
		if h.excl > top.excl {
			top = h
		}
	}
}

// place checks that every grant without a core finds a point outside all cores.
func (s *sweep) place() {
	for _, h := range s.points {
		if s.broken(h.lock) {
			continue // cores that overlap leave no gaps to look for
		}
		if p, by := s.skip(h.lock, max(h.from, h.excl)); p >= h.hi {
			s.found(squeezed, h, by, h.hiSpan)
		}
	}
}

// skip returns the first position from p on outside every core of lock, and the
// grant whose core had to be skipped. The cores of lock must be disjoint: so
// there is a gap after each.
func (s *sweep) skip(lock int32, p pos) (pos, int32) {
	k := sort.Search(len(s.cores), func(i int) bool {
		c := s.cores[i]
		return c.lock > lock || c.lock == lock && c.excl > p
	})
	if k == len(s.cores) || s.cores[k].lock != lock || s.cores[k].hi > p {
		return p, 0
	}
	return s.cores[k].excl, s.cores[k].grant
}

// broken reports whether something was found on lock already.
func (s *sweep) broken(lock int32) bool { return int(lock) < len(s.bad) && s.bad[lock] }

func byStart(a, b *hold) int {
	return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.hi, b.hi), cmp.Compare(a.grant, b.grant))
}
