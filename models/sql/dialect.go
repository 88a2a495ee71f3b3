package sql

import (
	"strings"
	"time"

	"locksim/models/option"
)

// Dialect is whose database it is: they differ in more than their words.
type Dialect uint8

// The dialects.
const (
	Postgres Dialect = iota
	MySQL
	MariaDB
)

var dialectNames = [...]string{Postgres: "postgres", MySQL: "mysql", MariaDB: "mariadb"}

// String is the dialect's name: "postgres", "mysql" or "mariadb".
func (d Dialect) String() string { return option.Name(dialectNames[:], d) }

// MarshalText writes the dialect's name.
func (d Dialect) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a dialect's name.
func (d *Dialect) UnmarshalText(text []byte) error {
	return option.Parse("dialect", dialectNames[:], text, d)
}

// Isolation is what a transaction sees of others.
type Isolation uint8

// The levels. SERIALIZABLE is not modelled: of the statements here, which each
// touch one row, it does the same as REPEATABLE READ.
const (
	// ReadCommitted sees what is committed when a statement begins.
	ReadCommitted Isolation = iota
	// RepeatableRead sees what was committed when its first statement began. In
	// PostgreSQL it cannot change a row that another has changed since (40001); in
	// MySQL and MariaDB a change goes by what is committed all the same.
	RepeatableRead
)

var isolationNames = [...]string{ReadCommitted: "read-committed", RepeatableRead: "repeatable-read"}

// String is the level's name: "read-committed" or "repeatable-read".
func (i Isolation) String() string { return option.Name(isolationNames[:], i) }

// MarshalText writes the level's name.
func (i Isolation) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a level's name.
func (i *Isolation) UnmarshalText(text []byte) error {
	return option.Parse("isolation", isolationNames[:], text, i)
}

// Error is what a statement ends in when the server refuses to do it: a SQLSTATE in
// PostgreSQL, a number in MySQL and MariaDB.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + " " + e.Text }

// trouble is something that goes wrong in every dialect, under its own code.
type trouble uint8

const (
	deadlock trouble = iota
	lockDeadlock
	serialization
	lockTimeout
	duplicate
	aborted
	badName
	noName
)

var codes = [...][3]Error{
	deadlock: {{"40P01", "deadlock detected"}, {"1213", "Deadlock found"}, {"1213", "Deadlock found"}},
	lockDeadlock: {{"40P01", "deadlock detected"}, {"3058", "Deadlock found when trying to get user-level lock"},
		{"1213", "Deadlock found"}},
	serialization: {{"40001", "could not serialize access due to concurrent update"}, {}, {}},
	lockTimeout:   {{"55P03", "canceling statement due to lock timeout"}, {"1205", "Lock wait timeout exceeded"}, {"1205", "Lock wait timeout exceeded"}},
	duplicate:     {{"23505", "duplicate key"}, {"1062", "Duplicate entry"}, {"1062", "Duplicate entry"}},
	aborted:       {{"25P02", "current transaction is aborted"}, {}, {}},
	badName:       {{}, {"4163", "The lock name is too long"}, {"4163", "The lock name is too long"}},
	noName:        {{}, {"3057", "Incorrect user-level lock name"}, {}},
}

func (d Dialect) error(t trouble) *Error {
	e := codes[t][d]
	return &e
}

// lockKey is what tells one user lock from another: MySQL compares names without
// regard to case.
func (d Dialect) lockKey(name string) string {
	if d == MySQL {
		return strings.ToLower(name)
	}
	return name
}

// longest is how long the name of a GET_LOCK may be.
func (d Dialect) longest() int {
	if d == MySQL {
		return 64
	}
	return 192
}

// patience is how long GET_LOCK waits that was asked to wait for d: MySQL takes
// whole seconds, rounded, and waits for ever for less than none.
func (d Dialect) patience(asked time.Duration) time.Duration {
	if d != MySQL || asked < 0 {
		return asked
	}
	return (asked + time.Second/2).Truncate(time.Second)
}
