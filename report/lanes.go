package report

import (
	"slices"
	"strings"
	"time"

	"locksim/check"
	"locksim/history"
)

// spell is a stretch for which one client believed that it holds a lock.
type spell struct {
	client, lock string
	grant        int32
	// The belief stands from the event at position from up to the one at to.
	from, to int
	// ended is the instant of to.
	ended time.Duration
	terms []term
	// session is the position at which its session ended, 0 for never: its last term
	// ended with that.
	session int
}

// term is until when the service promises a grant, as of a position.
type term struct {
	from  int
	until time.Duration
}

// until is the end of the promise as the client knew it after event pos.
func (s *spell) until(pos int) time.Duration {
	end := history.Forever
	for _, t := range s.terms {
		if t.from <= pos {
			end = t.until
		}
	}
	return end
}

// lanes are the columns that show who believes: one for each client.
type lanes struct {
	clients []string
	spells  []spell
	windows []check.Window
}

// newLanes takes from h who believes when. The windows in which two do are those
// of the verdict.
func newLanes(h *history.History) *lanes {
	l := &lanes{windows: check.Verdict(h).Belief.Windows}
	terms, grants := map[int32][]term{}, map[string]int32{}
	var ends []int
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Call, history.Step:
			l.client(e.Who)
		case history.Return:
			if e.Outcome == history.OK && (e.Verb == history.Acquire || e.Verb == history.Extend) {
				terms[e.Grant] = append(terms[e.Grant], term{i, e.Until})
				grants[e.Value] = e.Grant
			}
		case history.Freed:
			if e.Why == history.FreedSession || e.Why == history.FreedTransaction {
				ends = append(ends, i)
			}
		case history.Believe:
			l.client(e.Who)
			l.spells = append(l.spells, spell{
				client: e.Who, lock: e.Lock, grant: e.Grant, from: i, to: len(h.Events), ended: h.End,
			})
		case history.Doubt, history.End:
			l.end(e, i)
		}
	}
	for i := range l.spells {
		l.spells[i].terms = terms[l.spells[i].grant]
	}
	l.endSessions(h, ends, grants)
	return l
}

// endSessions ends the terms of the spells whose session ended while they stood.
// ends are the positions at which sessions ended, grants is what they held.
func (l *lanes) endSessions(h *history.History, ends []int, grants map[string]int32) {
	for _, at := range ends {
		e := &h.Events[at]
		for i := range l.spells {
			s := &l.spells[i]
			if s.grant == grants[e.Value] && at < s.to && e.At < s.until(at) {
				s.terms, s.session = append(s.terms, term{at, e.At}), at
			}
		}
	}
}

func (l *lanes) client(name string) {
	if !slices.Contains(l.clients, name) {
		l.clients = append(l.clients, name)
	}
}

// end ends the spells that event e at position i ends: of one grant, or all of a
// client that died.
func (l *lanes) end(e *history.Event, i int) {
	for k := range l.spells {
		s := &l.spells[k]
		ends := e.Grant == s.grant
		if e.Kind == history.End {
			ends = e.Why == history.DoubtDeath
		}
		if ends && s.client == e.Who && s.to > i {
			s.to, s.ended = i, e.At
		}
	}
}

// state is what a client believes.
type state struct {
	// believes: it holds some lock. expired: of a lock it holds, the term is over.
	// shared: of a lock it holds, another believes the same.
	believes, expired, shared bool
}

// state is what client believes after the event at pos, at instant at.
func (l *lanes) state(client string, pos int, at time.Duration) state {
	var now state
	for i := range l.spells {
		s := &l.spells[i]
		if s.client != client || pos < s.from || pos >= s.to {
			continue
		}
		now.believes = true
		// A client that stops in the very instant in which its term ends is in time.
		end := s.until(pos)
		now.expired = now.expired || at > end || at == end && s.ended > at
		now.shared = now.shared || l.shared(s, at)
	}
	return now
}

func (l *lanes) shared(s *spell, at time.Duration) bool {
	for _, w := range l.windows {
		if w.Lock == s.lock && w.From <= at && at < w.To && slices.Contains(w.Holders, s.client) {
			return true
		}
	}
	return false
}

// What a lane shows. Two believers at once fill their lanes.
const (
	idle    = "·"
	holds   = "│"
	expired = "╎" // holds, and its term is over
	full    = "█"
	shade   = "▒" // holds with another, and its term is over
)

// labels are the heads of the lanes: the clients' names, or only the last letter
// of each where many clients take too much room.
func (l *lanes) labels() []string {
	const most = 24
	width := 0
	for _, c := range l.clients {
		width += cells(c) + 1
	}
	if width <= most {
		return l.clients
	}
	short := make([]string, len(l.clients))
	for i, c := range l.clients {
		r := []rune(c)
		short[i] = string(r[len(r)-1])
	}
	return short
}

// cell is the lane of one client, width columns wide.
func cell(p *page, s state, width int) string {
	switch {
	case s.shared && s.expired:
		return p.in(red, strings.Repeat(shade, width))
	case s.shared:
		return p.in(red, strings.Repeat(full, width))
	case s.believes && s.expired:
		return p.in(yellow, pad(expired, width))
	case s.believes:
		return p.in(green, pad(holds, width))
	}
	return p.in(dim, pad(idle, width))
}

// row is all lanes after the event at pos, at instant at.
func (l *lanes) row(p *page, labels []string, pos int, at time.Duration) string {
	row := make([]string, len(l.clients))
	for i, c := range l.clients {
		row[i] = cell(p, l.state(c, pos, at), cells(labels[i]))
	}
	return strings.Join(row, " ")
}
