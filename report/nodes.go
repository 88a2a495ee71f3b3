package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/history"
)

// freed tells that a key ended on a node, and on those that followed before
// anything else happened.
func (s *teller) freed(i int, e *history.Event) {
	nodes := s.freedToo(i, e)
	who, where := e.Who, ""
	if len(nodes) > 1 {
		who, where = "nodes", " on "+strings.Join(nodes, ",")
	}
	key, still := s.key(e, e.At)
	what := key + " is dropped" + where
	switch e.Why {
	case history.FreedExpired:
		what = key + " has expired" + where
	case history.FreedDeleted:
		what = fmt.Sprintf("%s is deleted by %s%s", key, e.Peer, where)
	case history.FreedOverwritten:
		what = fmt.Sprintf("%s is overwritten by %s%s", key, e.Peer, where)
	case history.FreedOutdated:
		what = fmt.Sprintf("%s is older than %s's: dropped%s", key, e.Peer, where)
	case history.FreedEvicted:
		what = key + " is evicted" + where
	case history.FreedSession, history.FreedTransaction:
		what = s.session(e) + " has ended, and its lock with it" + where
	}
	s.add(i, who, what+still)
}

// freedToo lists the nodes on which the key of e ended in the same way from i on,
// until anything else happened, and marks that as told.
func (s *teller) freedToo(i int, e *history.Event) []string {
	nodes := []string{e.Who}
	for j := i + 1; j < len(s.h.Events); j++ {
		f := &s.h.Events[j]
		switch {
		case f.Kind == history.Send || f.Kind == history.Step || f.Kind == history.Fsync || s.told[j]:
		case f.Kind == history.Freed && f.Value == e.Value && f.Why == e.Why && f.Peer == e.Peer:
			s.told[j] = true
			nodes = append(nodes, f.Who)
		default:
			return nodes
		}
	}
	return nodes
}

// key is whose key e is about, and until when its term stands, where it does at
// instant at. A key that no grant stands on goes by its value.
func (s *teller) key(e *history.Event, at time.Duration) (whose, still string) {
	g := s.keys[e.Value]
	if g == nil {
		return "key " + e.Value, ""
	}
	if !g.over && g.until != history.Forever && g.until > at {
		still = " (term until " + seconds(g.until) + ")"
	}
	return g.client + "'s key" + s.of(e.Lock), still
}

// session is whose session, or transaction, e is about.
func (s *teller) session(e *history.Event) string {
	what := "session"
	if e.Why == history.FreedTransaction {
		what = e.Why
	}
	if g := s.keys[e.Value]; g != nil {
		return g.client + "'s " + what + s.of(e.Lock)
	}
	return what + " " + e.Value
}

// prolonged tells of a key that another client than its own gave a new term.
func (s *teller) prolonged(i int, e *history.Event) {
	key, _ := s.key(e, e.At)
	s.add(i, e.Who, key+" is given a new term by "+e.Peer)
}

// strayed tells of a request that came on the wrong session.
func (s *teller) strayed(i int, e *history.Event) {
	what := fmt.Sprintf("%s's release comes on another session than its lock's: that holds on", e.Peer)
	if e.Why == history.StrayedEnter {
		what = fmt.Sprintf("%s comes on %s, which holds %s: it is let in", e.Peer, s.session(e), s.lock(e))
	}
	s.add(i, e.Who, what)
}

func (s *teller) write(i int, e *history.Event) {
	write := e.Peer + "'s write"
	if e.Value != "" && e.Value != e.Peer {
		write += " of " + e.Value
	}
	if e.Lock != e.Who {
		write += " to " + e.Lock
	}
	if e.Token != 0 {
		write += fmt.Sprintf(" with token %d", e.Token)
	}
	if e.Outcome != history.OK {
		s.add(i, e.Who, "rejects "+write+because(e))
		return
	}
	what, id := "accepts "+write, e.Who+"/"+e.Lock
	if before := s.objects[id]; before != "" && before != e.Peer {
		what += ", over " + before + "'s"
	}
	s.objects[id] = e.Peer
	if e.Anchor != 0 {
		what += ", checked at " + seconds(e.Anchor)
	}
	s.add(i, e.Who, what)
}

func (s *teller) effect(i int, e *history.Event) {
	what := fmt.Sprintf("does %s for %s", e.Lock, e.Peer)
	id := e.Who + "/" + e.Lock
	if s.done[id] {
		what += ", again"
	}
	s.done[id] = true
	s.add(i, e.Who, what)
}

// elected tells that a node became the leader of its group; at the beginning of
// the run, that it is.
func (s *teller) elected(i int, e *history.Event) {
	what := "becomes the leader"
	if e.At == 0 {
		what = "is the leader"
	}
	what += fmt.Sprintf(" (Raft term %d)", e.Version)
	if e.Why != "" {
		what += ", " + e.Why
	}
	s.add(i, e.Who, what)
}

// dropped tells of a message that was lost to a fault of its own. Those that a
// partition or a dead server swallows are the rule while it lasts.
func (s *teller) dropped(i int, e *history.Event) {
	if !strings.HasPrefix(e.Why, "drop ") && !strings.HasPrefix(e.Why, "lose-reply ") {
		return
	}
	what := "message"
	switch {
	case e.Verb == history.Reply:
		what = "reply"
	case e.Value != "":
		what = e.Value
	}
	s.add(i, e.Who, fmt.Sprintf("its %s to %s is lost", what, e.Peer))
}

// fault tells what a fault did, and which keys were lost with it.
func (s *teller) fault(i int, e *history.Event) {
	what := striking(e)
	var keys, stills []string
	for j := i + 1; j < len(s.h.Events) && s.h.Events[j].At == e.At; j++ {
		f := &s.h.Events[j]
		if f.Kind != history.Freed || f.Who != e.Who || f.Why != history.FreedRestart && f.Why != history.FreedFailover {
			continue
		}
		s.told[j] = true
		key, still := s.key(f, f.At)
		if !slices.Contains(keys, key) {
			keys, stills = append(keys, key), append(stills, still)
		}
	}
	switch len(keys) {
	case 0:
	case 1:
		what += ", without " + keys[0] + stills[0]
	default:
		what += ", without " + and(keys)
	}
	s.add(i, e.Who, what).mark = struck
}

// striking says what the fault of e, a line of the schedule, does to its target.
func striking(e *history.Event) string {
	words := strings.Fields(e.Value)
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch word(0) {
	case "pause":
		return "is " + e.Why + " for " + word(3)
	case "kill":
		return "is killed"
	case "clock-step", "clock-rate":
		return "its clock " + e.Why
	case "restart":
		what := "is killed"
		if word(2) == "power-loss" {
			what = "loses power"
		}
		return what + lasting(", down for ", word(3)) + ", " + e.Why
	case "failover":
		return e.Why
	case "fill":
		return "its memory is full" + lasting(" for ", word(2)) + ": " + e.Why
	case "partition":
		return "is cut off from " + e.Peer + lasting(" for ", word(2))
	case "cut":
		return "cannot reach " + e.Peer + lasting(" for ", word(2))
	case "delay":
		return "its next message to " + e.Peer + " takes " + word(2) + " longer"
	case "duplicate":
		return "its next message to " + e.Peer + " will arrive twice"
	case "drop":
		return "its next message to " + e.Peer + " will be lost"
	case "reset":
		return e.Why + lasting(" to ", e.Peer)
	case "lose-reply":
		return "its next reply to " + e.Peer + " will be lost"
	case "panic":
		return e.Why
	}
	return strings.TrimSpace(e.Why + " [" + e.Value + "]")
}

// lasting is how long a fault lasts, behind a few words; nothing where it has no
// length.
func lasting(words, size string) string {
	if size == "" {
		return ""
	}
	return words + size
}

// healing says how the fault of e is over.
func healing(e *history.Event) string {
	switch word, _, _ := strings.Cut(e.Value, " "); word {
	case "pause":
		if e.Why == "still paused" {
			return "is still paused"
		}
		return "goes on"
	case "restart":
		return "is back up"
	case "fill":
		return "its memory has room again"
	case "partition", "cut":
		return "reaches " + e.Peer + " again"
	}
	return "over: " + e.Value
}
