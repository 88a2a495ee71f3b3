package sql

import (
	"fmt"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// epoch is the date at which every run starts, in milliseconds of Unix time:
// 2026-01-01 UTC. Clocks read durations since the start; a database needs dates.
const epoch = 1_767_225_600_000

// Options are those of a database server. The zero value is a PostgreSQL that
// reads what is committed and finds out about lost clients as Linux does.
type Options struct {
	Dialect   Dialect
	Isolation Isolation
	// Keepalive is how long a connection is silent before the server's kernel probes
	// it, and how often from then on; the first probe without an answer ends the
	// session. 2h by default, as Linux has it (which repeats the probe nine times).
	Keepalive time.Duration
	// IdleTimeout is how long a session may ask nothing before the server ends it
	// (idle_session_timeout and idle_in_transaction_session_timeout; wait_timeout). 0
	// for no end.
	IdleTimeout time.Duration
}

const defaultKeepalive = 2 * time.Hour

func (o *Options) complete() error {
	if o.Keepalive == 0 {
		o.Keepalive = defaultKeepalive
	}
	if o.Keepalive < 0 || o.IdleTimeout < 0 {
		return fmt.Errorf("keepalive %v, idle-timeout %v: want 0, for the default, or more", o.Keepalive, o.IdleTimeout)
	}
	if err := option.Check("dialect", dialectNames[:], o.Dialect); err != nil {
		return err
	}
	return option.Check("isolation", isolationNames[:], o.Isolation)
}

// Database is a database server. It is a sim.Handler that understands the
// statements of this package on connections, and a faults.Restarter.
type Database struct {
	options  Options
	server   *sim.Server
	sessions []*session
	born     int // sessions so far
	tables   tables
	locks    []*userLock
	grants   int   // of user locks and rows, so far
	seq      int64 // commits so far
	pooler   *pooler
	pair     *pair // nil for a server that is alone
	// kept are the resources that it keeps.
	kept   []*Documents
	unique bool // processed(id) is
	// migrated: every lease has a row from the start.
	migrated bool
}

// tables are those of every database here.
type tables struct{ leases, tasks, runs, documents, done table }

func newTables() tables {
	return tables{table{name: "leases"}, table{name: "tasks"}, table{name: "job_runs"}, table{name: "documents"}, table{name: "processed"}}
}

func (t *tables) all() []*table {
	return []*table{&t.leases, &t.tasks, &t.runs, &t.documents, &t.done}
}

// Open puts a database server called name into w, for a lock of one's own.
func Open(w *sim.World, name string, o Options) (*sim.Server, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("sql: %w", err)
	}
	return open(w, name, o).server, nil
}

func open(w *sim.World, name string, o Options) *Database {
	db := &Database{options: o, tables: newTables()}
	db.server = w.Server(name, db)
	return db
}

// date is what the server's wall clock shows, in whole milliseconds, cut off: the
// precision of NOW(3) and TIMESTAMP(3).
func (db *Database) date() int64 {
	return epoch + db.server.Now(clock.Wall).Milliseconds()
}

// Serve executes one statement. One that comes on a connection runs in the session
// of that; a request of a resource's is a transaction of its own.
func (db *Database) Serve(_ *sim.Server, r sim.Request) {
	stmt, ok := r.Body.(statement)
	switch c, replicated := r.Body.(*commitRecord); {
	case replicated:
		db.follow(c)
	case !ok:
		db.serveResource(r)
	case r.Conn() == nil:
		db.execute(db.passing(r.From()), r, stmt)
	case db.pooler != nil:
		db.pooler.serve(r, stmt)
	default:
		s := db.session(r.Conn())
		db.heard(s)
		db.execute(s, r, stmt)
	}
}

// passing is a session that serves one statement alone.
func (db *Database) passing(client string) *session { return &session{name: "s0", client: client} }

// serveResource executes a request to what the database keeps for a resource.
func (db *Database) serveResource(r sim.Request) {
	var stmt statement
	var name string
	switch q := r.Body.(type) {
	case models.ReadRequest:
		name, stmt = q.Object, &selectDocument{q}
	case models.WriteRequest:
		name, stmt = q.Object, &updateDocument{q}
	case models.EffectRequest:
		stmt = &process{q}
	default:
		r.Reply(models.Written{})
		return
	}
	s := db.passing(r.From())
	if d := db.document(name); d != nil && d.Transaction {
		if s = db.within(r.From()); s == nil {
			s = db.passing(r.From())
			stmt = &homeless{stmt}
		}
	}
	db.execute(s, r, stmt)
}

// within is the session in which a client has begun a transaction; nil for none.
func (db *Database) within(client string) *session {
	for _, s := range db.sessions {
		if s.client == client && s.tx != nil && !s.tx.implicit && !s.tx.failed {
			return s
		}
	}
	return nil
}
