package quorum

import (
	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// What a client asks of a replica. The answer to a read is a record, to the others
// an ack, whatever the replica has done with what was sent.
type (
	read  struct{ key string }
	write struct {
		key string
		record
	}
	repair write
	ack    struct{}
)

func (read) Label() string   { return "read" }
func (repair) Label() string { return "repair" }
func (w write) Label() string {
	if w.value == "" {
		return "delete"
	}
	return "write"
}

// node is a replica. It decides by itself, by the timestamps alone.
type node struct{ entries []entry }

type entry struct {
	key string
	record
}

// Serve handles one request.
func (n *node) Serve(s *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case read:
		r.Reply(n.entry(s, q.key).record)
	case write:
		if e := n.entry(s, q.key); !e.put(s, q.record) && q.value != "" && q.value != e.value {
			s.Record(history.Event{Kind: history.Freed, Lock: q.key, Value: q.value, Why: history.FreedOutdated, Peer: e.by})
		}
		r.Reply(ack{})
	case repair:
		n.entry(s, q.key).put(s, q.record)
		r.Reply(ack{})
	}
}

// put takes w in the place of what is there, if it is newer.
func (e *entry) put(s *sim.Server, w record) bool {
	if !w.newer(e.record) {
		return false
	}
	switch {
	case w.value == e.value:
	case w.expired:
		e.free(s, history.FreedExpired, "")
	case w.value == "":
		e.free(s, history.FreedDeleted, w.by)
	default:
		e.free(s, history.FreedOverwritten, w.by)
	}
	e.record = w
	return true
}

// free records that the value is not there any more, if there was one.
func (e *entry) free(s *sim.Server, why, by string) {
	if e.value != "" {
		s.Record(history.Event{Kind: history.Freed, Lock: e.key, Value: e.value, Why: why, Peer: by})
	}
}

// entry is what is kept under key now: a value whose term is over by the replica's
// wall clock has become a deletion.
func (n *node) entry(s *sim.Server, key string) *entry {
	for i := range n.entries {
		if e := &n.entries[i]; e.key == key {
			if e.over(s.Now(clock.Wall)) {
				e.free(s, history.FreedExpired, "")
				e.value, e.expired = "", true
			}
			return e
		}
	}
	n.entries = append(n.entries, entry{key, nothing})
	return &n.entries[len(n.entries)-1]
}

// Crash forgets everything, tokens too. It is a method of faults.Restarter.
func (n *node) Crash(s *sim.Server, _ faults.Crash) string {
	for i := range n.entries {
		n.entry(s, n.entries[i].key).free(s, history.FreedRestart, "")
	}
	n.entries = n.entries[:0]
	return "restarted empty"
}

// Restarted is a method of faults.Restarter.
func (n *node) Restarted(*sim.Server) string { return "back up" }
