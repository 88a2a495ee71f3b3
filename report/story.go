package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/history"
)

// mark is the sign in front of a line.
type mark uint8

const (
	noMark mark = iota
	struck      // a fault begins
	healed      // a fault is over
	both        // two believe from here on
)

// text is the mark as it is printed, one column.
func (m mark) text(p *page) string {
	switch m {
	case struck:
		return p.in(red, "!")
	case healed:
		return p.in(green, "+")
	}
	return " "
}

// line is one line of the story.
type line struct {
	at time.Duration
	// pos is the event after which the lanes are shown.
	pos       int
	mark      mark
	who, what string
}

// paint is the colour of what a line says.
func (ln *line) paint() paint {
	switch ln.mark {
	case struck, both:
		return red
	case healed:
		return green
	}
	return noPaint
}

// teller turns events into lines. An event that belongs to another's line is
// marked as told.
type teller struct {
	h     *history.History
	lines []line
	told  []bool
	// returns has the position of each operation's Return.
	returns map[int32]int
	// keys has the grant that goes by each key's value.
	keys map[string]*grant
	// grants has each grant by its number.
	grants map[int32]*grant
	// back has the nodes on which a failed acquire deleted its own key again, by
	// its operation.
	back map[int32][]string
	// objects has the client whose write each object holds now; done the effects
	// that were performed.
	objects map[string]string
	done    map[string]bool
	// several: there is more than one lock, so each is named.
	several bool
}

// grant is what is known of one grant.
type grant struct {
	client string
	until  time.Duration
	votes  string
	// over: its client has begun to release it.
	over bool
}

// tell is the story of h, in order of time.
func tell(h *history.History, l *lanes) []line {
	s := &teller{
		h: h, told: make([]bool, len(h.Events)),
		returns: map[int32]int{}, keys: map[string]*grant{}, grants: map[int32]*grant{},
		back:    map[int32][]string{},
		objects: map[string]string{}, done: map[string]bool{},
	}
	s.index()
	for i := range h.Events {
		e := &h.Events[i]
		if g := s.grants[e.Grant]; g != nil && e.Kind == history.Return && e.Verb == history.Extend && e.Outcome == history.OK {
			g.until = e.Until
		}
		if !s.told[i] {
			s.event(i, e)
		}
	}
	s.ending()
	return s.merge(s.remarks(l))
}

// index finds the returns and the grants before the story begins: a key can be
// lost before its client has been told that it holds the lock.
func (s *teller) index() {
	first := ""
	for i := range s.h.Events {
		e := &s.h.Events[i]
		if e.Kind == history.Call && e.Lock != "" {
			s.several = s.several || first != "" && first != e.Lock
			first = e.Lock
		}
		if e.Kind != history.Return {
			continue
		}
		s.returns[e.Op] = i
		if e.Verb != history.Acquire {
			continue
		}
		// An attempt that failed may have set keys too, with nothing promised.
		g := &grant{client: e.Who, over: e.Outcome != history.OK}
		if e.Outcome == history.OK {
			g.until, g.votes = e.Until, e.Votes
		}
		if e.Outcome != history.Refused {
			s.grants[e.Grant] = g
		}
		if e.Value != "" {
			s.keys[e.Value] = g
		}
	}
}

// event tells event i, unless nobody needs to know.
func (s *teller) event(i int, e *history.Event) {
	switch e.Kind {
	case history.Call:
		s.call(i, e)
	case history.Return:
		s.returned(i, e)
	case history.Believe:
		s.add(i, e.Who, "believes that it holds "+s.lock(e))
	case history.Doubt:
		s.doubt(i, e)
	case history.Drop:
		s.dropped(i, e)
	case history.Freed:
		s.freed(i, e)
	case history.Strayed:
		s.strayed(i, e)
	case history.Prolonged:
		s.prolonged(i, e)
	case history.Write:
		s.write(i, e)
	case history.Effect:
		s.effect(i, e)
	case history.Elected:
		s.elected(i, e)
	case history.SteppedDown:
		s.add(i, e.Who, "leads no more: "+e.Why)
	case history.Mint:
		s.add(i, e.Who, fmt.Sprintf("hands out token %d to %s", e.Token, e.Peer))
	case history.Fault:
		s.fault(i, e)
	case history.Heal:
		s.add(i, e.Who, healing(e)).mark = healed
	}
}

// add adds the line of event i.
func (s *teller) add(i int, who, what string) *line {
	s.told[i] = true
	s.lines = append(s.lines, line{at: s.h.Events[i].At, pos: i, who: who, what: what})
	return &s.lines[len(s.lines)-1]
}

// lock is how the lock of e is called.
func (s *teller) lock(e *history.Event) string {
	if s.several {
		return e.Lock
	}
	return "the lock"
}

// of says which lock something is of, where there are several.
func (s *teller) of(lock string) string {
	if s.several {
		return " of " + lock
	}
	return ""
}

// reply is the Return of the operation that the Call e began; nil when it never
// returned.
func (s *teller) reply(e *history.Event) (int, *history.Event) {
	if i, ok := s.returns[e.Op]; ok {
		return i, &s.h.Events[i]
	}
	return len(s.h.Events), nil
}

// ending says why the run ended, if not because all was over.
func (s *teller) ending() {
	what := ""
	switch s.h.Stopped {
	case history.Horizon:
		what = "the run ends at its horizon"
	case history.Bound:
		what = "the run is cut off at its bound on events: what was open is unknown"
	default:
		return
	}
	s.lines = append(s.lines, line{at: s.h.End, pos: len(s.h.Events) - 1, what: what})
}

// remarks are the lines that stand for no event: where a term ends under a client
// that goes on believing, and where two begin to believe.
func (s *teller) remarks(l *lanes) []line {
	var list []line
	for i := range l.spells {
		b := &l.spells[i]
		// One that began after its term is told where it begins.
		if end := b.until(b.to); b.ended > end && end > s.h.Events[b.from].At {
			what, pos := "its term", s.before(end)-1
			if b.session > 0 {
				what, pos = "its "+s.h.Events[b.session].Why, b.session // behind what ended it
			}
			list = append(list, line{at: end, pos: pos, who: b.client,
				what: what + s.of(b.lock) + " is over; it goes on believing"})
		}
	}
	for _, w := range l.windows {
		many := "BOTH BELIEVE"
		if len(w.Holders) > 2 {
			many = "ALL BELIEVE"
		}
		list = append(list, line{at: w.From, pos: s.before(w.From+1) - 1, mark: both, what: fmt.Sprintf(
			"%s: %s%s, for %s, until %s", many, and(w.Holders), s.of(w.Lock), span(w.To-w.From), seconds(w.To))})
	}
	return list
}

// before is how many events there are before instant t.
func (s *teller) before(t time.Duration) int {
	n, _ := slices.BinarySearchFunc(s.h.Events, t, func(e history.Event, t time.Duration) int {
		return cmp.Compare(e.At, t)
	})
	return n
}

// merge puts the remarks among the lines: the end of a term before what happens
// at its instant, the begin of an overlap behind.
func (s *teller) merge(remarks []line) []line {
	all := append(s.lines, remarks...)
	slices.SortStableFunc(all, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pos, b.pos))
	})
	return all
}
