package sql

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Lease is a lock that is a row of a table, with a date until when it is held: the
// lease table of "Distributed lock", with the fencing token out of the statement that
// acquires. Its server is called "db".
type Lease struct {
	Dialect Dialect `yaml:"dialect,omitempty"`
	// TTL is how long a lease lasts, in whole milliseconds: 10s by default. At exactly
	// its end it is not yet free.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Row is where the row comes from: an insert before each attempt, by default.
	Row Seed `yaml:"row,omitempty"`
	// Clock is by whose clock the lease is free: the database's by default.
	Clock Clock `yaml:"clock,omitempty"`
	// Naive: expires_at is a TIMESTAMP without time zone, and Zones the offsets of the
	// sessions' time zones, by client; UTC for the others.
	Naive bool                     `yaml:"naive,omitempty"`
	Zones map[string]time.Duration `yaml:"zones,omitempty"`
	// Begin: each attempt is a transaction, BEGIN … COMMIT. Else each of its statements
	// is one.
	Begin     bool      `yaml:"begin,omitempty"`
	Isolation Isolation `yaml:"isolation,omitempty"`
	// IgnoreRows: the client does not look at how many rows its UPDATE changed, but
	// takes for its token what LAST_INSERT_ID() says. Only in MySQL and MariaDB.
	IgnoreRows bool `yaml:"ignore-rows,omitempty"`
	// Release is by what a client finds its lease when it gives it up.
	Release Match `yaml:"release,omitempty"`
	// Deadline: the client measures how long its attempt took, refuses a lease whose
	// TTL is over by then, and stops believing in it TTL after the attempt began.
	Deadline bool `yaml:"deadline,omitempty"`
	// Standby adds an asynchronous standby, called "db2", which hears of a commit Lag
	// after it.
	Standby bool          `yaml:"standby,omitempty"`
	Lag     time.Duration `yaml:"lag,omitempty"`
	// Timeout is how long a client waits for an answer; 0 for without end.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// About is what has to be known of it.
func (Lease) About() models.About {
	return models.About{
		Token:   "a column that the acquiring UPDATE counts up",
		Clock:   "the database's wall clock; or each application's own, which breaks it; the client's only with a deadline",
		Restart: "everything that was committed",
		Assumes: "the database's clock is not stepped and within 500 ppm; a standby that takes over has all; the column has a time zone",
	}
}

// Open puts the database into w.
func (o Lease) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("lease table: %w", err)
	}
	options := Options{Dialect: o.Dialect, Isolation: o.Isolation}
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("lease table: %w", err)
	}
	l := &leaseTable{Lease: o, pair: openPair(w, "db", options, o.Standby, o.Lag)}
	l.drivers = drivers{reconnect: Silent, timeout: o.Timeout}
	l.pair.primary.Handler().(*Database).migrated = o.Row == Exists
	return l, nil
}

func (o *Lease) complete() error {
	switch {
	case o.Lag < 0 || o.Lag > 0 && !o.Standby:
		return fmt.Errorf("lag %v: want 0 or more, and only with a standby", o.Lag)
	case o.IgnoreRows && o.Dialect == Postgres:
		return errors.New("ignore-rows: want it with mysql or mariadb: RETURNING returns nothing where there is no row")
	case len(o.Zones) > 0 && !o.Naive:
		return errors.New("zones: want them with naive: a timestamp with time zone does not depend on them")
	case o.Clock == Watched && (o.Begin || o.Naive || o.IgnoreRows):
		return errors.New("clock watched: want it without begin, naive and ignore-rows")
	}
	return cmp.Or(
		checkTTL(&o.TTL),
		checkTimeout(&o.Timeout),
		option.Check("row", seedNames[:], o.Row),
		option.Check("clock", clockNames[:], o.Clock),
		option.Check("release", matchNames[:], o.Release),
	)
}
