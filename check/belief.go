package check

import (
	"cmp"
	"slices"
	"time"
)

// edge is where one client's belief in one lock begins or ends.
type edge struct {
	at     time.Duration
	lock   int32
	client int32
	spell  int32
	step   int32 // +1 or -1
}

// believers sweeps the spells of belief: all edges of one instant are taken
// together, and between two instants the distinct believers are counted.
type believers struct {
	edges  []edge
	spells []int32 // by client: how many of its spells are open
	open   []int32 // the spells that are open
	place  []int32 // by spell: where it is in open
	among  []int32 // of one window after the other: the spells open when it begins
	first  []int32 // by window: where its own begin in among
}

// belief is the verdict on the clients.
func (j *Judge) belief() Belief {
	r, s := &j.rec, &j.believers
	b := Belief{Status: None, Windows: []Window{}}
	if len(r.spans)+len(r.spells) == 0 {
		return b
	}
	s.take(r)
	live := 0
	for i := 0; i < len(s.edges); {
		e := s.edges[i]
		for ; i < len(s.edges) && s.edges[i].lock == e.lock && s.edges[i].at == e.at; i++ {
			live += s.turn(&s.edges[i])
		}
		if live < 2 {
			continue
		}
		// So there is another edge of this lock.
		if b.add(Window{Lock: r.locks.keys[e.lock], Holders: s.names(r), From: e.at, To: s.edges[i].at}) {
			s.first = append(s.first, int32(len(s.among)))
			s.among = append(s.among, s.open...)
		}
	}
	for i := range b.Windows {
		w := &b.Windows[i]
		b.Total += w.To - w.From
		spells := s.among[s.first[i]:]
		if i+1 < len(b.Windows) {
			spells = s.among[s.first[i]:s.first[i+1]]
		}
		slices.Sort(spells)
		c := j.overlapCause(w, spells)
		w.Cause, w.Blame, w.Who = c.cause, c.blame, c.who
	}
	if len(b.Windows) > 0 {
		b.Status = Overlapping
		return b
	}
	b.Status = undecided(r.h, Exclusive)
	return b
}

// take sorts the edges of all spells by lock and instant.
func (s *believers) take(r *record) {
	s.edges, s.open, s.among, s.first = s.edges[:0], s.open[:0], s.among[:0], s.first[:0]
	s.spells = grown(s.spells[:0], len(r.clients.keys))
	s.place = grown(s.place[:0], len(r.spells))
	for i := range r.spells {
		if p := &r.spells[i]; p.from < p.to { // half-open: others are empty
			s.edges = append(s.edges,
				edge{p.from, p.lock, p.client, int32(i), +1}, edge{p.to, p.lock, p.client, int32(i), -1})
		}
	}
	slices.SortFunc(s.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.at, b.at))
	})
}

// turn passes e and returns by how much it changes the number of believers.
func (s *believers) turn(e *edge) int {
	was := s.spells[e.client] > 0
	s.spells[e.client] += e.step
	if e.step > 0 {
		s.place[e.spell] = int32(len(s.open))
		s.open = append(s.open, e.spell)
	} else {
		last := s.open[len(s.open)-1]
		s.open[s.place[e.spell]], s.place[last] = last, s.place[e.spell]
		s.open = s.open[:len(s.open)-1]
	}
	switch is := s.spells[e.client] > 0; {
	case is && !was:
		return 1
	case was && !is:
		return -1
	}
	return 0
}

// names returns who believes now, sorted by name.
func (s *believers) names(r *record) []string {
	var names []string
	for c, n := range s.spells {
		if n > 0 {
			names = append(names, r.clients.keys[c])
		}
	}
	slices.Sort(names)
	return names
}

// add appends w, or lets the last window grow where it is the same stretch. It
// reports whether w is a new one.
func (b *Belief) add(w Window) bool {
	if n := len(b.Windows); n > 0 {
		last := &b.Windows[n-1]
		if last.Lock == w.Lock && last.To == w.From && slices.Equal(last.Holders, w.Holders) {
			last.To = w.To
			return false
		}
	}
	b.Windows = append(b.Windows, w)
	return true
}
