package sql

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Advisory is a lock that goes with a session of the database: GET_LOCK in MySQL and
// MariaDB, pg_advisory_lock in PostgreSQL. It has no term and no token. A client that
// has it may take it again, and has to give it back as often. Its server is called
// "db", or "db1", "db2", … where there are several nodes.
type Advisory struct {
	Dialect Dialect `yaml:"dialect,omitempty"`
	// Level is with what PostgreSQL gives it up: the session by default.
	Level Level `yaml:"level,omitempty"`
	// Wait is how long the server lets a client wait; 0, by default, for not at all, and
	// -1ns for without end.
	Wait time.Duration `yaml:"wait,omitempty"`
	// Pool is by which connections a client comes: one of its own, by default.
	Pool Pool `yaml:"pool,omitempty"`
	// Backends are the server connections of PgBouncer's, 2 by default. Routes say which
	// of them, from 1 on, serve a client's transactions in their order, the last of them
	// from then on; who has none gets those that are free, in turn. ServerLifetime is
	// how long a server connection lives: 1h by default.
	Backends       int              `yaml:"backends,omitempty"`
	Routes         map[string][]int `yaml:"routes,omitempty"`
	ServerLifetime time.Duration    `yaml:"server-lifetime,omitempty"`
	// Nodes are those of a cluster whose nodes have their locks each for itself (Galera);
	// 0 or 1 for one server. At says which of them, from 1 on, a client is connected to:
	// the first by default.
	Nodes int            `yaml:"nodes,omitempty"`
	At    map[string]int `yaml:"at,omitempty"`
	// Standby adds a standby, called "db2", which takes over without the locks: they are
	// in the server's memory, and never in its log (PostgreSQL, "Hot Standby").
	Standby bool `yaml:"standby,omitempty"`
	// Reconnect is what the driver does when its connection is closed: it fails.
	Reconnect Reconnect `yaml:"reconnect,omitempty"`
	// Autocommit: the client has forgotten the BEGIN before a lock of the transaction's,
	// so each statement is a transaction.
	Autocommit bool `yaml:"autocommit,omitempty"`
	// PerLock: the client takes each lock on a connection of that lock's own.
	PerLock bool `yaml:"per-lock,omitempty"`
	// Keepalive and IdleTimeout are those of [Options].
	Keepalive   time.Duration `yaml:"keepalive,omitempty"`
	IdleTimeout time.Duration `yaml:"idle-timeout,omitempty"`
	// Timeout is how much longer than Wait a client waits for an answer; 0 for without
	// end.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Level is with what an advisory lock of PostgreSQL's is given up.
type Level uint8

// The levels.
const (
	// Session: pg_advisory_lock, which stands until it is unlocked or its session ends,
	// whatever becomes of transactions.
	Session Level = iota
	// Transaction: pg_advisory_xact_lock, which cannot be unlocked and goes with the
	// transaction.
	Transaction
)

var levelNames = [...]string{Session: "session", Transaction: "transaction"}

// String is the level's name: "session" or "transaction".
func (l Level) String() string { return option.Name(levelNames[:], l) }

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level's name.
func (l *Level) UnmarshalText(text []byte) error {
	return option.Parse("level", levelNames[:], text, l)
}

// Pool is by which connections a client comes to the database.
type Pool uint8

// The pools.
const (
	// Pinned: the client keeps a connection for its lock.
	Pinned Pool = iota
	// Unpinned: the client has a pool of two connections, and each statement outside a
	// transaction goes by the one that was used less recently.
	Unpinned
	// PgBouncer is PgBouncer in transaction pooling, on the database's machine.
	PgBouncer
)

var poolNames = [...]string{Pinned: "pinned", Unpinned: "unpinned", PgBouncer: "pgbouncer"}

// String is the pool's name: "pinned", "unpinned" or "pgbouncer".
func (p Pool) String() string { return option.Name(poolNames[:], p) }

// MarshalText writes the pool's name.
func (p Pool) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a pool's name.
func (p *Pool) UnmarshalText(text []byte) error {
	return option.Parse("pool", poolNames[:], text, p)
}

// About is what has to be known of it.
func (Advisory) About() models.About {
	return models.About{
		Token:   "none",
		Clock:   "none: it has no term",
		Restart: "nothing: the sessions are gone, and the locks with them",
		Assumes: "a client keeps its connection for as long as it holds the lock, and notices when it loses it; one server, and no failover",
	}
}

// Open puts the database into w.
func (o Advisory) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("advisory lock: %w", err)
	}
	options := Options{Dialect: o.Dialect, Keepalive: o.Keepalive, IdleTimeout: o.IdleTimeout}
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("advisory lock: %w", err)
	}
	l := &advisory{Advisory: o, drivers: drivers{reconnect: o.Reconnect, timeout: o.Timeout}}
	if o.Nodes < 2 {
		l.pair = openPair(w, "db", options, o.Standby, 0)
	}
	for i := 1; i <= o.Nodes && o.Nodes > 1; i++ {
		l.nodes = append(l.nodes, open(w, fmt.Sprintf("db%d", i), options).server)
	}
	if o.Pool == PgBouncer {
		db := l.pair.primary.Handler().(*Database)
		db.pooler = &pooler{db: db, lifetime: o.ServerLifetime, routes: o.Routes}
		for range o.Backends {
			db.pooler.backends = append(db.pooler.backends, &backend{})
		}
	}
	return l, nil
}

func (o *Advisory) complete() error {
	o.Backends, o.ServerLifetime = cmp.Or(o.Backends, 2), cmp.Or(o.ServerLifetime, time.Hour)
	switch {
	case o.Dialect != Postgres && (o.Level != Session || o.Pool == PgBouncer):
		return fmt.Errorf("dialect %s: want level session, and another pool than pgbouncer", o.Dialect)
	case o.Autocommit && o.Level != Transaction:
		return errors.New("autocommit: want level transaction")
	case o.Pool != PgBouncer && len(o.Routes) > 0:
		return errors.New("routes: want pool pgbouncer")
	case o.Pool != Pinned && o.PerLock:
		return errors.New("per-lock: want pool pinned")
	case o.Backends < 1 || o.ServerLifetime <= 0:
		return fmt.Errorf("backends %d, server-lifetime %v: want at least 1, and more than 0", o.Backends, o.ServerLifetime)
	case o.Nodes < 0 || o.Nodes > 9 || o.Nodes > 1 && o.Pool == PgBouncer:
		return fmt.Errorf("nodes %d: want 0 to 9, and one node with pgbouncer", o.Nodes)
	case o.Standby && (o.Nodes > 1 || o.Pool == PgBouncer):
		return errors.New("standby: want one node, and another pool than pgbouncer")
	case o.Wait < -1:
		return fmt.Errorf("wait %v: want 0 for not at all, more, or -1ns for without end", o.Wait)
	}
	if err := o.completeMaps(); err != nil {
		return err
	}
	return cmp.Or(
		checkTimeout(&o.Timeout),
		option.Check("level", levelNames[:], o.Level),
		option.Check("pool", poolNames[:], o.Pool),
		option.Check("reconnect", reconnectNames[:], o.Reconnect),
	)
}

// completeMaps checks what is said by client.
func (o *Advisory) completeMaps() error {
	for _, client := range slices.Sorted(maps.Keys(o.Routes)) {
		for _, b := range o.Routes[client] {
			if b < 1 || b > o.Backends {
				return fmt.Errorf("routes of %s: backend %d: want 1 to %d", client, b, o.Backends)
			}
		}
	}
	for _, client := range slices.Sorted(maps.Keys(o.At)) {
		if node := o.At[client]; node < 1 || node > max(1, o.Nodes) {
			return fmt.Errorf("node of %s: %d: want 1 to %d", client, node, max(1, o.Nodes))
		}
	}
	return nil
}

// lockKey is the 64-bit key by which PostgreSQL knows the lock called name.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes every write
	return int64(h.Sum64())
}
