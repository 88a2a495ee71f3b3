package report

import (
	"fmt"
	"strings"
	"time"

	"locksim/history"
)

// call tells that an operation began, where that is a line of its own: an
// acquire that takes time, a release.
func (s *teller) call(i int, e *history.Event) {
	ret, reply := s.reply(e)
	if e.Verb == history.Acquire {
		s.back[e.Op] = s.own(i, ret, e.Who)
	}
	switch {
	case e.Verb == history.Release:
		s.add(i, e.Who, s.release(i, e))
	case reply == nil:
		s.add(i, e.Who, s.wish(e)+"; no answer by the end of the run")
	case e.Verb != history.Acquire:
	case s.polled(i, e):
	case reply.At > e.At:
		s.add(i, e.Who, s.wish(e))
	}
}

// wish is what a client asks for.
func (s *teller) wish(e *history.Event) string {
	switch e.Verb {
	case history.Extend:
		return "asks for a longer term"
	case history.Read:
		return "asks who holds " + s.lock(e)
	}
	return "asks for " + s.lock(e)
}

// polled tells the attempts of a client that asks again and again in one step of
// its script, from the Call e at i on, in one line. It reports whether there was
// more than one that failed in the same way.
func (s *teller) polled(i int, e *history.Event) bool {
	attempts, outcome, next := s.attempts(i, e)
	if len(attempts) < 2 {
		return false
	}
	for _, at := range attempts {
		ret, _ := s.reply(&s.h.Events[at])
		s.told[at], s.told[ret] = true, true
		s.own(at, ret, e.Who)
	}
	if next < len(s.h.Events) {
		// A success needs no line for its beginning.
		_, reply := s.reply(&s.h.Events[next])
		s.told[next] = reply.Outcome == history.OK
	}
	what := "is refused"
	if outcome == history.Unknown {
		what = "learns nothing"
	}
	s.add(i, e.Who, fmt.Sprintf("%s, %s %s, every %s, last at %s", s.wish(e), what,
		count(len(attempts), "time"), s.pace(attempts), seconds(s.h.Events[attempts[len(attempts)-1]].At)))
	return true
}

// pace is the time between two or more calls, or the least and the greatest.
func (s *teller) pace(calls []int) string {
	least, most := time.Duration(1<<63-1), time.Duration(0)
	for k := 1; k < len(calls); k++ {
		gap := s.h.Events[calls[k]].At - s.h.Events[calls[k-1]].At
		least, most = min(least, gap), max(most, gap)
	}
	if least == most {
		return span(least)
	}
	return span(least.Round(time.Millisecond)) + " to " + span(most.Round(time.Millisecond))
}

// attempts are the calls from the one at i on that failed with the same outcome,
// in one step of the script, and behind them the call that did not, or the end of
// the history.
func (s *teller) attempts(i int, e *history.Event) (failed []int, outcome history.Outcome, next int) {
	for j := i; j < len(s.h.Events); j++ {
		c := &s.h.Events[j]
		if c.Who != e.Who {
			continue
		}
		if c.Kind == history.Step || c.Kind == history.End {
			break
		}
		if c.Kind != history.Call || c.Verb != history.Acquire || c.Lock != e.Lock {
			continue
		}
		_, reply := s.reply(c)
		if reply == nil {
			break
		}
		if j == i {
			outcome = reply.Outcome
		}
		if reply.Outcome != outcome || outcome == history.OK {
			return failed, outcome, j
		}
		failed = append(failed, j)
	}
	return failed, outcome, len(s.h.Events)
}

// returned tells how an operation ended.
func (s *teller) returned(i int, e *history.Event) {
	switch e.Verb {
	case history.Acquire:
		s.acquired(i, e)
	case history.Extend:
		s.extended(i, e)
	case history.Read:
		s.looked(i, e)
	}
}

func (s *teller) acquired(i int, e *history.Event) {
	switch e.Outcome {
	case history.OK:
		what := "gets " + s.lock(e)
		if e.Votes != "" {
			what += " from " + e.Votes
		}
		ln := s.add(i, e.Who, what+": "+promised(e))
		if n := i + 1; n < len(s.h.Events) && s.h.Events[n].Kind == history.Believe && s.h.Events[n].Grant == e.Grant {
			s.told[n], ln.pos = true, n
		}
	case history.Unknown:
		s.add(i, e.Who, "does not learn whether it has "+s.lock(e)+because(e))
	default:
		what := "does not get " + s.lock(e) + because(e)
		if back := s.back[e.Op]; len(back) > 0 {
			what += "; gives back " + strings.Join(back, ",")
		}
		s.add(i, e.Who, what)
	}
}

// promised is the term of a grant, and its token.
func promised(e *history.Event) string {
	text := "term until " + seconds(e.Until)
	switch {
	case e.Until == history.Forever:
		text = "no term"
	case e.Until <= e.At:
		text = "its term was over at " + seconds(e.Until)
	}
	if e.Token != 0 {
		text += fmt.Sprintf(", token %d", e.Token)
	}
	return text
}

func because(e *history.Event) string {
	if e.Why == "" {
		return ""
	}
	return ": " + e.Why
}

// own lists the nodes between two positions on which a client deleted a key that
// is its own, and marks that as told.
func (s *teller) own(from, to int, client string) []string {
	var nodes []string
	for j := from; j < to; j++ {
		e := &s.h.Events[j]
		if e.Kind != history.Freed || e.Why != history.FreedDeleted || e.Peer != client {
			continue
		}
		if g := s.keys[e.Value]; g == nil || g.client == client {
			s.told[j] = true
			nodes = append(nodes, e.Who)
		}
	}
	return nodes
}

func (s *teller) extended(i int, e *history.Event) {
	switch e.Outcome {
	case history.OK:
		switch e.Why {
		case history.ExtendAgain:
			s.add(i, e.Who, "acquires "+s.lock(e)+" again, which it holds")
			return
		case history.ExtendInner:
			s.add(i, e.Who, "releases "+s.lock(e)+" once, and holds it on")
			return
		}
		if !s.renewed(i, e) {
			s.add(i, e.Who, "extends "+s.lock(e)+": "+promised(e))
		}
	case history.Unknown:
		s.add(i, e.Who, "does not learn whether it has extended "+s.lock(e)+because(e))
	default:
		s.add(i, e.Who, "cannot extend "+s.lock(e)+because(e))
	}
}

// renewed tells the extensions of a grant from the Return e at i on in one line, up to
// what changes something for anybody. It reports whether there were more than two.
func (s *teller) renewed(i int, e *history.Event) bool {
	all := []int{i}
	for j := i + 1; j < len(s.h.Events) && !s.changes(&s.h.Events[j], e.Who); j++ {
		if r := &s.h.Events[j]; r.Kind == history.Return && r.Verb == history.Extend && r.Grant == e.Grant {
			all = append(all, j)
		}
	}
	if len(all) < 3 {
		return false
	}
	for _, j := range all {
		s.told[j] = true
	}
	last := s.h.Events[all[len(all)-1]]
	last.Token = 0 // it is that of the grant
	s.add(i, e.Who, fmt.Sprintf("extends %s %s, every %s, last at %s: %s",
		s.lock(e), count(len(all), "time"), s.pace(all), seconds(last.At), promised(&last)))
	return true
}

// changes tells whether e is the end of a row of client's extensions: a fault or its
// end, a change of the leader, of who holds or believes, of what is stored; or the next
// thing that the client does.
func (s *teller) changes(e *history.Event, client string) bool {
	switch e.Kind {
	case history.Call, history.Send, history.Drop, history.Fsync:
		return false
	case history.Return:
		if e.Verb == history.Acquire {
			return e.Outcome == history.OK
		}
		return e.Who == client && (e.Verb != history.Extend || e.Outcome != history.OK || e.Why != "")
	case history.Step:
		return e.Who == client && e.Value != "acquire" // its attempts are told together
	}
	return true
}

func (s *teller) looked(i int, e *history.Event) {
	if e.Why != "" { // there was no answer
		s.add(i, e.Who, "does not learn who holds "+s.lock(e)+because(e))
		return
	}
	who := "nobody"
	switch g := s.grants[e.Grant]; {
	case e.Outcome != history.OK:
		who = "somebody unknown"
	case g != nil:
		who = g.client
	}
	s.add(i, e.Who, "is told that "+who+" holds "+s.lock(e))
}

// doubt tells that a client stops believing, and the release that it calls at
// once.
func (s *teller) doubt(i int, e *history.Event) {
	what := ""
	switch e.Why {
	case history.DoubtDeadline:
		what = "its own deadline" + s.of(e.Lock) + " is over"
	case history.DoubtLost:
		what = "learns that it has lost " + s.lock(e)
	case history.DoubtAbort:
		what = "gives up"
	case history.DoubtDeath:
		what = "is dead"
	case history.DoubtJeopardy:
		what = "cannot tell whether it still holds " + s.lock(e) + ", and waits"
	}
	for j := i + 1; j < len(s.h.Events) && s.h.Events[j].At == e.At; j++ {
		c := &s.h.Events[j]
		if c.Kind == history.Call && c.Verb == history.Release && c.Grant == e.Grant {
			s.told[j] = true
			if what != "" {
				what += "; "
			}
			what += s.release(j, c)
			break
		}
	}
	if what == "" {
		what = "is about to release " + s.lock(e)
	}
	s.add(i, e.Who, what)
}

// release is what became of the release that the Call e at i began.
func (s *teller) release(i int, e *history.Event) string {
	if g := s.grants[e.Grant]; g != nil {
		g.over = true
	}
	ret, reply := s.reply(e)
	nodes := s.own(i, ret, e.Who)
	if reply == nil {
		return "releases " + s.lock(e) + "; no answer by the end of the run"
	}
	s.told[ret] = true
	what := "releases " + s.lock(e)
	if g := s.grants[e.Grant]; len(nodes) > 0 && g != nil && strings.Contains(g.votes, ",") {
		what += " on " + strings.Join(nodes, ",")
	}
	switch reply.Outcome {
	case history.NotHeld:
		what += " (told: not held)"
	case history.Unknown:
		what += " (unknown" + because(reply) + ")"
	case history.Refused:
		what += " (failed" + because(reply) + ")"
	}
	return what
}
