package sql

import (
	"strconv"
	"time"
)

// statement is something that a session can be asked to execute. It is sent as a
// pointer and never changed.
type statement interface {
	// Label is what it is called in the history.
	Label() string
	// run executes it, all of it in one step, or puts it among those who wait and
	// returns a result that says so: then it is run again.
	run(x *running) Result
}

// patient is a statement that waits no longer than so long, if that is not
// negative; late is its result then.
type patient interface {
	patience(x *running) time.Duration
	late(x *running) Result
}

// translator is a statement whose answer is not a Result, but one of models.
type translator interface{ answer(Result) any }

// Result is the answer to a statement.
type Result struct {
	// Rows were changed, or found.
	Rows int
	// Number and Text are what was returned.
	Number int64
	Text   string
	// Null: what was returned is NULL.
	Null bool
	// Err: the server has refused.
	Err *Error

	waits bool // there is none yet
}

// Label is the answer in a few words.
func (r Result) Label() string {
	switch {
	case r.Err != nil:
		return "ERROR " + r.Err.Code
	case r.Null:
		return "NULL"
	case r.Rows == 1:
		return "1 row"
	}
	return strconv.Itoa(r.Rows) + " rows"
}

// The statements that are about a session and its transaction.
type (
	// Begin is BEGIN.
	Begin struct{}
	// End is COMMIT, or without Commit ROLLBACK. Number is 1 where there was a transaction
	// that could be committed, as the server's warning says otherwise.
	End struct{ Commit bool }
	// Ping is SELECT 1.
	Ping struct{}
	// LastInsertID is SELECT LAST_INSERT_ID(), whose Number it returns: what this
	// session was given last, however long ago.
	LastInsertID struct{}
)

// Label is the statement.
func (*Begin) Label() string { return "BEGIN" }

// Label is the statement.
func (e *End) Label() string {
	if e.Commit {
		return "COMMIT"
	}
	return "ROLLBACK"
}

// Label is the statement.
func (*Ping) Label() string { return "SELECT 1" }

// Label is the statement.
func (*LastInsertID) Label() string { return "SELECT LAST_INSERT_ID()" }

func (*Begin) run(x *running) Result {
	x.tx.implicit, x.tx.snapshot = false, -1
	return Result{}
}

func (e *End) run(x *running) Result {
	switch {
	case x.tx.failed:
		x.s.tx = nil
	case x.tx.implicit: // there is nothing to end
	case e.Commit:
		x.db.commit(x.tx)
		return Result{Number: 1}
	default:
		x.db.rollback(x.tx)
		return Result{Number: 1}
	}
	return Result{}
}

func (*Ping) run(*running) Result { return Result{Rows: 1, Number: 1} }

func (*LastInsertID) run(x *running) Result { return Result{Rows: 1, Number: x.s.lastID} }

// The statements of user-level locks. Name is what the client calls the lock.
type (
	// GetLock is GET_LOCK(Name, Timeout): 1, or 0 when Timeout is over. For less than
	// no timeout MySQL waits for ever and MariaDB returns NULL.
	GetLock struct {
		Name    string
		Timeout time.Duration
	}
	// ReleaseLock is RELEASE_LOCK(Name): 1, or 0 where another session has the lock, or
	// NULL where nobody has.
	ReleaseLock struct{ Name string }
	// AdvisoryLock is pg_advisory_lock(Key), or with Try pg_try_advisory_lock: Number 1
	// for true. With Xact it is the variant that the transaction's end gives up.
	// LockTimeout is lock_timeout, of a lock that is waited for; 0 for none.
	AdvisoryLock struct {
		Name        string
		Key         int64
		Try, Xact   bool
		LockTimeout time.Duration
	}
	// AdvisoryUnlock is pg_advisory_unlock(Key): Number 1 for true.
	AdvisoryUnlock struct {
		Name string
		Key  int64
	}
)

// Label is the statement.
func (*GetLock) Label() string { return "GET_LOCK" }

// Label is the statement.
func (*ReleaseLock) Label() string { return "RELEASE_LOCK" }

// Label is the statement.
func (l *AdvisoryLock) Label() string {
	name := "advisory_"
	if l.Try {
		name = "try_" + name
	}
	if l.Xact {
		name += "xact_"
	}
	return "pg_" + name + "lock"
}

// Label is the statement.
func (*AdvisoryUnlock) Label() string { return "pg_advisory_unlock" }

func (l *GetLock) run(x *running) Result {
	d := x.db.options.Dialect
	switch {
	case l.Name == "" && d == MySQL:
		return x.fail(noName)
	case l.Name == "":
		return Result{Null: true}
	case len(l.Name) > d.longest():
		return x.fail(badName)
	case l.Timeout < 0 && d == MariaDB:
		return Result{Null: true}
	}
	return x.takeLock(d.lockKey(l.Name), l.Name, d.patience(l.Timeout) != 0, nil)
}

func (l *GetLock) patience(x *running) time.Duration {
	return x.db.options.Dialect.patience(l.Timeout)
}

func (l *GetLock) late(*running) Result { return Result{} }

func (l *ReleaseLock) run(x *running) Result {
	key := x.db.options.Dialect.lockKey(l.Name)
	if x.db.userLock(key).holder() == nil {
		return Result{Null: true}
	}
	return truth(x.releaseLock(key))
}

func (l *AdvisoryLock) run(x *running) Result {
	var tx *transaction
	if l.Xact {
		tx = x.tx
	}
	return x.takeLock(strconv.FormatInt(l.Key, 10), l.Name, !l.Try, tx)
}

func (l *AdvisoryLock) patience(*running) time.Duration {
	if l.LockTimeout == 0 {
		return -1
	}
	return l.LockTimeout
}

func (l *AdvisoryLock) late(x *running) Result { return x.fail(lockTimeout) }

func (l *AdvisoryUnlock) run(x *running) Result {
	return truth(x.releaseLock(strconv.FormatInt(l.Key, 10)))
}

// truth is a boolean as a result.
func truth(ok bool) Result {
	if ok {
		return Result{Rows: 1, Number: 1}
	}
	return Result{}
}
