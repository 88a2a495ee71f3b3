package sql

import (
	"slices"
	"strconv"

	"locksim/history"
)

// userLock is an advisory lock of PostgreSQL's, or one of GET_LOCK's.
type userLock struct {
	key     string
	entries []entry // of one session: how often, and for whom, it has been taken
	waiters []*running
}

// entry is one time that a session took a lock.
type entry struct {
	s *session
	// name is what the client calls the lock, client who that was: behind a pooler a
	// session serves many.
	name, client string
	// value is that of the grant, which all entries of one client share.
	value string
	tx    *transaction // whose end gives it up; nil where the session's does
}

// holder is the session that has the lock; nil for none.
func (l *userLock) holder() *session {
	if len(l.entries) == 0 {
		return nil
	}
	return l.entries[0].s
}

// userLock is the lock of key.
func (db *Database) userLock(key string) *userLock {
	for _, l := range db.locks {
		if l.key == key {
			return l
		}
	}
	l := &userLock{key: key}
	db.locks = append(db.locks, l)
	return l
}

// takeLock takes a user lock for the session of x, once more if it has it, and
// returns 1; or waits, or returns 0. The value of the result is that of the grant.
func (x *running) takeLock(key, name string, wait bool, tx *transaction) Result {
	l := x.db.userLock(key)
	switch holder := l.holder(); {
	case holder != nil && holder != x.s && wait:
		l.waiters = append(l.waiters, x)
		x.userLock = l
		return x.blocked()
	case holder != nil && holder != x.s:
		return Result{}
	}
	e := entry{s: x.s, name: name, client: x.request.From(), tx: tx}
	nested := false
	for _, before := range l.entries {
		if before.client == e.client {
			e.value, nested = before.value, true
		}
	}
	if !nested {
		x.db.grants++
		e.value = x.s.name + "/" + strconv.Itoa(x.db.grants)
		if len(l.entries) > 0 {
			first := l.entries[0]
			x.db.server.Record(history.Event{Kind: history.Strayed, Peer: e.client, Lock: first.name, Value: first.value, Why: history.StrayedEnter})
		}
	}
	l.entries = append(l.entries, e)
	return Result{Rows: 1, Number: 1, Text: e.value}
}

// releaseLock gives a lock up that the session of x has taken, once, and reports
// whether it had.
func (x *running) releaseLock(key string) bool {
	l := x.db.userLock(key)
	client := x.request.From()
	if l.holder() != x.s {
		for _, e := range l.entries {
			if e.client == client {
				x.db.server.Record(history.Event{Kind: history.Strayed, Peer: client, Lock: e.name, Value: e.value, Why: history.StrayedRelease})
				break
			}
		}
		return false
	}
	mine := -1
	for i, e := range l.entries {
		if e.tx == nil && (mine < 0 || e.client == client) {
			mine = i
		}
	}
	if mine < 0 {
		return false // a lock of the transaction cannot be released
	}
	l.drop(x.db, mine, history.FreedDeleted, client)
	l.next()
	return true
}

// drop takes an entry away, and records that the grant is over when it was its last.
func (l *userLock) drop(db *Database, i int, why, by string) {
	e := l.entries[i]
	l.entries = slices.Delete(l.entries, i, i+1)
	if !slices.ContainsFunc(l.entries, func(other entry) bool { return other.value == e.value }) {
		db.server.Record(history.Event{Kind: history.Freed, Lock: e.name, Value: e.value, Why: why, Peer: by})
	}
}

// leave takes the entries away that are so.
func (l *userLock) leave(db *Database, is func(*entry) bool, why, by string) {
	n := len(l.entries)
	for i := len(l.entries) - 1; i >= 0; i-- {
		if is(&l.entries[i]) {
			l.drop(db, i, why, by)
		}
	}
	if len(l.entries) < n {
		l.next()
	}
}

// next lets the first who waits have the lock, if it is free.
func (l *userLock) next() {
	if len(l.entries) == 0 && len(l.waiters) > 0 {
		l.waiters[0].resume()
	}
}
