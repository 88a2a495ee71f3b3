package sql

import (
	"cmp"
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Row is a row of the application's own as the lock: the database keeps two clients
// off it, and no lock beside it is needed. It has no term and no token. Every row is
// there from the start, pending. Its server is called "db".
type Row struct {
	Dialect Dialect `yaml:"dialect,omitempty"`
	// By is how a client takes the row.
	By Taking `yaml:"by,omitempty"`
	// Once: a row that was released is done, and nobody gets it again: a job, not a
	// lock.
	Once bool `yaml:"once,omitempty"`
	// IdleTimeout and Keepalive are those of [Options].
	Keepalive   time.Duration `yaml:"keepalive,omitempty"`
	IdleTimeout time.Duration `yaml:"idle-timeout,omitempty"`
	// Timeout is how long a client waits for an answer; 0 for without end.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Taking is how a client takes a row.
type Taking uint8

// The ways to take a row.
const (
	// ForUpdate locks it with SELECT … FOR UPDATE in a transaction, which ends with the
	// release. Who comes second waits.
	ForUpdate Taking = iota
	// SkipLocked is FOR UPDATE SKIP LOCKED: who comes second is told at once.
	SkipLocked
	// Conditional is UPDATE … SET state = 'running' WHERE state = 'pending', a
	// transaction of its own: the row stays taken, whatever becomes of the client.
	Conditional
)

var takingNames = [...]string{ForUpdate: "for-update", SkipLocked: "skip-locked", Conditional: "conditional"}

// String is the way's name: "for-update", "skip-locked" or "conditional".
func (t Taking) String() string { return option.Name(takingNames[:], t) }

// MarshalText writes the way's name.
func (t Taking) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a way's name.
func (t *Taking) UnmarshalText(text []byte) error {
	return option.Parse("way to take a row", takingNames[:], text, t)
}

// About is what has to be known of it.
func (Row) About() models.About {
	return models.About{
		Token:   "none: what is done in the transaction is done, or is not",
		Clock:   "none: it has no term",
		Restart: "everything that was committed; transactions are undone",
		Assumes: "the work is in the same database, and in the transaction",
	}
}

// Open puts the database into w.
func (o Row) Open(w *sim.World) (models.Lock, error) {
	options := Options{Dialect: o.Dialect, Keepalive: o.Keepalive, IdleTimeout: o.IdleTimeout}
	if err := cmp.Or(options.complete(), checkTimeout(&o.Timeout), option.Check("by", takingNames[:], o.By)); err != nil {
		return nil, fmt.Errorf("row: %w", err)
	}
	return &rowLock{Row: o, server: open(w, "db", options).server, drivers: drivers{timeout: o.Timeout}}, nil
}

type rowLock struct {
	Row
	server  *sim.Server
	drivers drivers
	book    book
	keys    []string // each row's transaction has a connection of its own
}

func (l *rowLock) conn(key string) int {
	for i, k := range l.keys {
		if k == key {
			return i
		}
	}
	l.keys = append(l.keys, key)
	return len(l.keys) - 1
}

func (l *rowLock) do(p *sim.Process, key string, stmt statement) (Result, error) {
	return l.drivers.do(p, l.server, l.conn(key), stmt)
}

// Acquire makes one attempt, which with ForUpdate waits for whoever has the row.
func (l *rowLock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	g := models.Grant{Votes: []string{l.server.Name()}}
	if l.By == Conditional {
		g.Value = fmt.Sprintf("%s-%08x", p.Name(), p.Rand().Uint32())
		res, err := l.do(p, key, &TakeTask{key, g.Value})
		if err == nil && res.Rows == 0 {
			err = models.ErrHeld
		}
		return g, err
	}
	if h := l.book.of(p.Name(), key); h != nil { // within its transaction
		h.count++
		g.Value, g.Nested = h.value, true
		return g, nil
	}
	if _, err := l.do(p, key, &Begin{}); err != nil {
		return models.Grant{}, models.Refused(err.Error())
	}
	res, err := l.do(p, key, &SelectTask{key, l.By == SkipLocked})
	if err == nil && res.Rows == 0 {
		err = models.ErrHeld
	}
	if err != nil {
		_, _ = l.do(p, key, &End{})
		return models.Grant{}, err
	}
	g.Value = res.Text
	l.book.enter(p.Name(), key, g.Value)
	return g, nil
}

// Release says what became of the row, and ends the transaction.
func (l *rowLock) Release(p *sim.Process, key string, g models.Grant) error {
	state := pendingTask
	if l.Once {
		state = doneTask
	}
	if l.By == Conditional {
		return one(l.do(p, key, &FinishTask{key, g.Value, state}))
	}
	if !l.book.leave(p.Name(), key) {
		return nil
	}
	if l.Once {
		if _, err := l.do(p, key, &FinishTask{ID: key, State: state}); err != nil {
			return err
		}
	}
	return yes(l.do(p, key, &End{Commit: true}))
}
