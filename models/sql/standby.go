package sql

import (
	"time"

	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// pair is a primary and its asynchronous standby, which may take its place once.
type pair struct {
	primary, standby *sim.Server // standby nil once it has taken over
	lag              time.Duration
}

// commitRecord is what one commit changed, on its way to the standby.
type commitRecord struct{ changes []change }

type change struct {
	table, key string
	value      any
}

// Label is the message's name in the history.
func (*commitRecord) Label() string { return "WAL" }

// openPair puts up a primary called name, and, with a standby, name2 behind it by
// lag.
func openPair(w *sim.World, name string, o Options, standby bool, lag time.Duration) *pair {
	p := &pair{lag: lag}
	db := open(w, name, o)
	p.primary = db.server
	if standby {
		second := open(w, name+"2", o)
		db.pair, second.pair, p.standby = p, p, second.server
	}
	return p
}

// ship sends what was committed to the standby, a lag later. Nobody waits for that:
// what has not been sent when the primary dies is lost.
func (db *Database) ship(rows []*row) {
	if db.pair == nil || db.pair.standby == nil || db.server != db.pair.primary {
		return
	}
	c := &commitRecord{}
	for _, r := range rows {
		c.changes = append(c.changes, change{r.table.name, r.key, r.latest().value})
	}
	standby := db.pair.standby
	if db.pair.lag == 0 {
		db.server.Forward(standby, c, 0)
		return
	}
	db.server.After(clock.Monotonic, db.pair.lag, func() { db.server.Forward(standby, c, 0) })
}

// follow takes over what a commit of the primary's changed.
func (db *Database) follow(c *commitRecord) {
	if db.server == db.pair.primary {
		return // it has taken over: what comes late belongs to another history
	}
	db.seq++
	for _, ch := range c.changes {
		for _, t := range db.tables.all() {
			if t.name == ch.table {
				r := t.place(ch.key)
				r.versions = append(r.versions, version{db.seq, ch.value})
			}
		}
	}
}

// Replicas is a method of faults.Replicated.
func (db *Database) Replicas(s *sim.Server) []string {
	if db.pair == nil || db.pair.standby == nil || s != db.pair.primary {
		return nil
	}
	return []string{db.pair.standby.Name()}
}

// Promote makes the standby the primary. It has what it was sent; a lease that it
// never heard of, or has in an earlier state, is lost. It is a method of
// faults.Replicated.
func (db *Database) Promote(_, standby *sim.Server) string {
	next := standby.Handler().(*Database)
	db.pair.primary, db.pair.standby = standby, nil
	lost := 0
	for _, r := range db.tables.leases.rows {
		v := r.latest()
		if v == nil {
			continue
		}
		l := v.value.(lease)
		after, _ := next.tables.leases.row(r.key).latest().lease()
		if l.owner == "" || l.due < db.date() || after.value() == l.value() {
			continue
		}
		lost++
		standby.Record(history.Event{Kind: history.Freed, Lock: r.key, Value: l.value(), Why: history.FreedFailover})
	}
	db.dropAll()
	if lost > 0 {
		return "was promoted, " + db.pair.lag.String() + " behind"
	}
	return "was promoted"
}

// lease is the lease of a version, if there is one.
func (v *version) lease() (lease, bool) {
	if v == nil {
		return lease{}, false
	}
	l, ok := v.value.(lease)
	return l, ok
}

// Crash ends every session, with its transaction and its user locks. What was
// committed is on the disk, whichever way the server went down. It is a method of
// faults.Restarter.
func (db *Database) Crash(*sim.Server, faults.Crash) string {
	db.dropAll()
	return "restarted without its sessions"
}

// dropAll forgets what no crash leaves: the sessions, and what they had.
func (db *Database) dropAll() {
	for _, t := range db.tables.all() { // nobody gets anything any more
		for _, r := range t.rows {
			r.waiters = nil
		}
	}
	for _, l := range db.locks {
		l.waiters = nil
	}
	for _, s := range db.sessions {
		s.current, s.queue = nil, nil
	}
	for len(db.sessions) > 0 {
		db.hangUp(db.sessions[0])
	}
	if p := db.pooler; p != nil {
		p.waiting, p.turns, p.next = nil, nil, 0
		for _, b := range p.backends {
			*b = backend{}
		}
	}
}

// Restarted is a method of faults.Restarter.
func (db *Database) Restarted(*sim.Server) string { return "back up" }
