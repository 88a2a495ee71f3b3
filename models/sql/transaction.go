package sql

import (
	"slices"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// transaction is what a session has begun and not yet committed.
type transaction struct {
	s *session
	// implicit: of one statement alone (autocommit).
	implicit bool
	// failed: PostgreSQL has rolled it back after an error and waits to be told.
	failed bool
	// began is the date at which it began: now() in PostgreSQL.
	began    int64
	snapshot int64
	locked   []*row
	changed  []*row
	// facts are what is to be recorded when it is committed; doubts what is, when it
	// is rolled back.
	facts, doubts []history.Event
}

// running is a statement that is being executed, or waits.
type running struct {
	db      *Database
	s       *session
	tx      *transaction
	stmt    statement
	request sim.Request
	// now is the date at which it began.
	now int64
	// waits: it does, for a row or a user lock.
	waits    bool
	row      *row
	given    *row // was handed to it while it waited
	userLock *userLock
	timer    sim.Alarm // ends the wait
	check    sim.Alarm // looks for a deadlock
}

// date is what now() is to x: in PostgreSQL the begin of its transaction, else that
// of the statement.
func (x *running) date() int64 {
	if x.db.options.Dialect == Postgres {
		return x.tx.began
	}
	return x.now
}

// unseen tells whether a version is too new to be changed by x.
func (x *running) unseen(v *version) bool {
	return x.db.options.Dialect == Postgres && x.db.options.Isolation == RepeatableRead && v.seq > x.tx.snapshot
}

// fail is the result of a statement that the server refuses.
func (x *running) fail(t trouble) Result { return Result{Err: x.db.options.Dialect.error(t)} }

// blocked is the result of a statement that waits.
func (x *running) blocked() Result { return Result{waits: true} }

// lock locks a row for x's transaction, or puts x among those who wait for it.
func (x *running) lock(r *row) bool {
	if r.holder == nil {
		r.holder = x.tx
		x.tx.locked = append(x.tx.locked, r)
	}
	if r.holder == x.tx {
		return true
	}
	r.waiters = append(r.waiters, x)
	x.row = r
	return false
}

// change makes a new draft of a row that x's transaction has locked.
func (x *running) change(r *row, value any) {
	if r.draft == nil {
		x.tx.changed = append(x.tx.changed, r)
	}
	r.draft = value
}

// unlock gives a row on to the first who waits for it.
func (tx *transaction) unlock(r *row) {
	tx.locked = slices.DeleteFunc(tx.locked, func(x *row) bool { return x == r })
	r.holder = nil
	if len(r.waiters) == 0 {
		return
	}
	next := r.waiters[0]
	r.waiters = r.waiters[1:]
	r.holder, next.given = next.tx, r
	next.tx.locked = append(next.tx.locked, r)
	next.resume()
}

// commit makes what tx has changed everybody's, in one step.
func (db *Database) commit(tx *transaction) {
	if len(tx.changed) > 0 {
		db.seq++
		for _, r := range tx.changed {
			r.versions = append(r.versions, version{db.seq, r.draft})
			r.draft = nil
		}
		db.ship(tx.changed)
	}
	db.end(tx, tx.facts)
}

// rollback undoes it.
func (db *Database) rollback(tx *transaction) {
	for _, r := range tx.changed {
		r.draft = nil
	}
	db.end(tx, tx.doubts)
}

// end records what came of tx and gives up all that it had locked.
func (db *Database) end(tx *transaction, facts []history.Event) {
	for _, e := range facts {
		db.server.Record(e)
	}
	if tx.s.tx == tx && !tx.failed {
		tx.s.tx = nil
	}
	why, by := history.FreedDeleted, tx.s.client
	if tx.implicit || tx.failed { // it was not the client that ended it
		why, by = history.FreedTransaction, ""
	}
	for _, l := range slices.Clone(db.locks) {
		l.leave(db, func(e *entry) bool { return e.tx == tx }, why, by)
	}
	for len(tx.locked) > 0 {
		tx.unlock(tx.locked[0])
	}
	tx.changed, tx.facts, tx.doubts = nil, nil, nil
}

// execute runs a statement of a session's, or lets it wait behind one that waits.
func (db *Database) execute(s *session, r sim.Request, stmt statement) {
	if s.current != nil {
		s.queue = append(s.queue, pending{r, stmt})
		return
	}
	x := &running{db: db, s: s, stmt: stmt, request: r, now: db.date()}
	if s.tx == nil {
		s.tx = &transaction{s: s, implicit: true, began: x.now, snapshot: -1}
	}
	x.tx = s.tx
	s.current = x
	if s.tx.failed {
		if _, ok := stmt.(*End); !ok {
			x.done(x.fail(aborted))
			return
		}
	}
	x.step()
}

// step runs x as far as it gets.
func (x *running) step() {
	db := x.db
	if x.tx.snapshot < 0 || db.options.Isolation == ReadCommitted {
		x.tx.snapshot = db.seq
	}
	res := x.stmt.run(x)
	if !res.waits {
		x.done(res)
		return
	}
	if x.waits {
		return
	}
	x.waits = true
	if t, ok := x.stmt.(patient); ok && t.patience(x) >= 0 {
		x.timer = db.server.After(clock.Monotonic, t.patience(x), func() { x.giveUp(t.late(x)) })
	}
	if db.options.Dialect != Postgres {
		x.detect()
		return
	}
	x.check = db.server.After(clock.Monotonic, deadlockTimeout, x.detect)
}

// deadlockTimeout is how long PostgreSQL lets a statement wait before it looks for
// a deadlock, once.
const deadlockTimeout = time.Second

// detect ends x's wait when whoever it waits for waits, in the end, for x.
func (x *running) detect() {
	s := x.blocker()
	for range x.db.sessions { // a circle need not lead through x
		if s == nil || s == x.s {
			break
		}
		s = s.current.blocker()
	}
	if s != x.s {
		return
	}
	t := deadlock
	if x.userLock != nil {
		t = lockDeadlock
	}
	x.giveUp(x.fail(t))
}

// blocker is the session that x waits for; nil for none.
func (x *running) blocker() *session {
	switch {
	case x == nil || !x.waits:
		return nil
	case x.row != nil:
		return x.row.holder.s
	case x.userLock != nil:
		return x.userLock.holder()
	}
	return nil
}

// giveUp ends x's wait with a result.
func (x *running) giveUp(res Result) {
	x.forsake()
	x.done(res)
}

// forsake takes x from among those who wait.
func (x *running) forsake() {
	x.timer.Cancel()
	x.check.Cancel()
	if x.row != nil {
		x.row.waiters = slices.DeleteFunc(x.row.waiters, func(y *running) bool { return y == x })
	}
	if x.userLock != nil {
		x.userLock.waiters = slices.DeleteFunc(x.userLock.waiters, func(y *running) bool { return y == x })
	}
	x.waits, x.row, x.userLock = false, nil, nil
}

// resume runs x again: what it waited for is its own.
func (x *running) resume() {
	x.forsake()
	x.step()
}

// done answers a statement, and goes on to the next of its session.
func (x *running) done(res Result) {
	db, s := x.db, x.s
	s.current = nil
	switch {
	case res.Err == nil:
		if x.tx.implicit && s.tx == x.tx {
			db.commit(x.tx)
		}
	case x.tx.implicit:
		db.rollback(x.tx)
	case x.tx.failed:
	case db.options.Dialect == Postgres:
		x.tx.failed = true
		db.rollback(x.tx)
	case res.Err.Code == "1213":
		db.rollback(x.tx)
	}
	if t, ok := x.stmt.(translator); ok {
		x.request.Reply(t.answer(res))
	} else {
		x.request.Reply(res)
	}
	db.idle(s)
}
