package check

import (
	"cmp"
	"slices"
	"sort"
)

// order checks that tokens strictly increase. Where two grants show by themselves
// that they do not, it counts whatever else is wrong with the lock: that it was
// granted twice is no excuse for the token. What only more of them show together
// counts where nothing else is wrong.
func (s *sweep) order() {
	slices.SortFunc(s.tokens, byToken)
	for rest := s.tokens; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].lock == rest[0].lock {
			n++
		}
		var h, before *hold
		if !s.broken(rest[0].lock) {
			h, before = s.misplaced(rest[:n])
		}
		if !s.inverted(rest[:n]) && h != nil {
			s.found(unordered, h, before.grant, h.hiSpan)
		}
		rest = rest[n:]
	}
}

// misplaced returns the first of one lock's grants, in the order of their
// tokens, that cannot have been made after all of those before it, and the one
// before it. A grant without a core is placed at the first gap that its token
// allows, which leaves most room for the rest.
func (s *sweep) misplaced(tokens []*hold) (h, before *hold) {
	at := always
	for _, h := range tokens {
		start, end := at, h.excl
		if !h.core() {
			start, _ = s.skip(h.lock, max(at, h.from, h.excl))
			end = start
		}
		if start >= h.hi || before != nil && before.token == h.token {
			return h, before
		}
		at, before = end, h
	}
	return nil, nil
}

// inverted reports the grants of one lock, in the order of their tokens, whose
// token is not greater than that of a grant surely made earlier, and whether there
// are any. Earlier is what was told of before the other was asked for, or kept the
// lock and was over before the other, which kept it too, was told of; of two with
// the same token it does not matter which was.
func (s *sweep) inverted(tokens []*hold) bool {
	for i, t := range tokens {
		t.before = nil
		if i > 0 && tokens[i-1].token == t.token {
			t.before = tokens[i-1]
		}
	}
	s.over = s.over[:0]
	for _, t := range tokens {
		if t.core() {
			s.over = append(s.over, t)
		}
	}
	slices.SortFunc(tokens, byStart)
	slices.SortFunc(s.over, byEnd)
	s.tops = s.tops[:0]
	var top, past *hold // the greatest token up to here, and of what is over
	for _, t := range tokens {
		top = greater(top, t)
		s.tops = append(s.tops, top)
	}
	known, n := len(s.findings), 0
	for _, t := range tokens {
		for ; n < len(s.over) && s.over[n].excl < t.hi; n++ {
			past = greater(past, s.over[n])
		}
		before := t.before
		if t.core() {
			before = greater(past, before)
		}
		if k := sort.Search(len(tokens), func(i int) bool { return tokens[i].hi > t.from }); k > 0 {
			before = greater(s.tops[k-1], before)
		}
		if before != nil && before.token >= t.token {
			s.found(unordered, t, before.grant, t.hiSpan)
		}
	}
	return len(s.findings) > known
}

// greater is the one of two grants, either of which may be missing, with the
// greater token; a if they have the same.
func greater(a, b *hold) *hold {
	if a == nil || b != nil && b.token > a.token {
		return b
	}
	return a
}

func byToken(a, b *hold) int {
	return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.token, b.token), byStart(a, b))
}

func byEnd(a, b *hold) int {
	return cmp.Or(cmp.Compare(a.excl, b.excl), byStart(a, b))
}
