package sql

import (
	"slices"
	"strconv"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// session is what the server keeps for one connection: its transaction, its user
// locks, its last inserted id.
type session struct {
	name   string // "db.s1"
	client string // who it serves now
	conn   *sim.Conn
	tx     *transaction
	// current is the statement that it is at; queue those behind it.
	current *running
	queue   []pending
	// lastID is LAST_INSERT_ID(): what this session was given last, by whichever
	// statement.
	lastID int64

	keepalive, idleness sim.Alarm
}

// pending is a statement whose turn has not come.
type pending struct {
	request sim.Request
	stmt    statement
}

// session is the session of a connection, a new one where it has none.
func (db *Database) session(c *sim.Conn) *session {
	for _, s := range db.sessions {
		if s.conn == c {
			return s
		}
	}
	s := db.newSession(c.Client())
	s.conn = c
	return s
}

func (db *Database) newSession(client string) *session {
	db.born++
	s := &session{name: db.server.Name() + ".s" + strconv.Itoa(db.born), client: client}
	db.sessions = append(db.sessions, s)
	return s
}

// heard starts the server's patience with a session anew: something came from it.
func (db *Database) heard(s *session) {
	s.keepalive.Cancel()
	s.idleness.Cancel()
	s.keepalive = db.server.After(clock.Monotonic, db.options.Keepalive, func() { db.probe(s) })
	if db.options.IdleTimeout > 0 {
		s.idleness = db.server.After(clock.Monotonic, db.options.IdleTimeout, func() {
			if s.current == nil {
				db.close(s)
			}
		})
	}
}

// probe asks the kernel at the other end of a session whether it is there. The
// first probe that is not answered ends the session.
func (db *Database) probe(s *session) {
	if s.conn.Probe() != sim.Alive {
		db.close(s)
		return
	}
	s.keepalive = db.server.After(clock.Monotonic, db.options.Keepalive, func() { db.probe(s) })
}

// close ends a session and its connection.
func (db *Database) close(s *session) {
	s.conn.Close()
	db.hangUp(s)
}

// hangUp ends a session: what it has not committed is undone, what it has locked is
// free.
func (db *Database) hangUp(s *session) {
	s.keepalive.Cancel()
	s.idleness.Cancel()
	db.sessions = slices.DeleteFunc(db.sessions, func(x *session) bool { return x == s })
	if s.current != nil {
		s.current.forsake()
		s.current, s.queue = nil, nil
	}
	for _, l := range slices.Clone(db.locks) {
		l.leave(db, func(e *entry) bool { return e.s == s }, history.FreedSession, "")
	}
	if s.tx != nil && !s.tx.failed {
		for i := range s.tx.doubts {
			if e := &s.tx.doubts[i]; e.Kind == history.Freed {
				e.Why, e.Peer = history.FreedSession, ""
			}
		}
		db.rollback(s.tx)
	}
}

// idle is what comes when a session has answered a statement: the next one.
func (db *Database) idle(s *session) {
	if s.current != nil {
		return
	}
	if len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		db.execute(s, next.request, next.stmt)
		return
	}
	if db.pooler != nil && s.tx == nil {
		db.pooler.free(s)
	}
}

// Disconnected is a method of sim.ConnHandler: a client's connection has ended.
func (db *Database) Disconnected(_ *sim.Server, c *sim.Conn) {
	if db.pooler != nil {
		db.pooler.left(c)
		return
	}
	for _, s := range db.sessions {
		if s.conn == c {
			db.hangUp(s)
			return
		}
	}
}
