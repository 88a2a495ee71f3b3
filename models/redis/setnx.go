package redis

import (
	"cmp"
	"fmt"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// SetNX is the lock on one Redis server: SET key value NX PX ttl, with a value
// that is random for each attempt. The server is called "r1", its replica "r2".
//
// The zero value of each option is its default.
type SetNX struct {
	// TTL is how long a key lives, in whole milliseconds: 10s by default.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Release is how the client gives the lock up: by comparing on the server, as
	// it should.
	Release Release `yaml:"release,omitempty"`
	// Timeout of each request: 50ms by default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Persistence of the servers: none by default.
	Persistence Persistence `yaml:"persistence,omitempty"`
	// Clock by which the servers expire keys: wall, as real Redis, by default.
	Clock Expiry `yaml:"clock,omitempty"`
	// ClientClock is the clock that a client with a deadline reads: monotonic by
	// default.
	ClientClock clock.Kind `yaml:"client-clock,omitempty"`
	// Deadline: the client measures how long its attempt took, refuses a lock whose
	// TTL is over by then, and stops believing in it TTL after the attempt began.
	// Without, as in the usual recipes, it believes until it releases.
	Deadline bool `yaml:"deadline,omitempty"`
	// Replica adds an asynchronous replica, Lag behind beyond the network's delay.
	Replica bool          `yaml:"replica,omitempty"`
	Lag     time.Duration `yaml:"lag,omitempty"`
}

// Release is how a client gives up its lock.
type Release uint8

// The ways to release.
const (
	// Compare deletes the key if it has the client's value, in one step of the
	// server: DELEX IFEQ, or the script of the Redis documentation.
	Compare Release = iota
	// GetThenDel compares in the client: GET, then DEL. The key can change hands
	// between the two.
	GetThenDel
	// PlainDel deletes the key, whoever's it is.
	PlainDel
)

var releaseNames = [...]string{Compare: "compare", GetThenDel: "get-then-del", PlainDel: "del"}

// String is the way's name: "compare", "get-then-del" or "del".
func (r Release) String() string { return nameOf(releaseNames[:], r) }

// MarshalText writes the way's name.
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a way's name.
func (r *Release) UnmarshalText(text []byte) error {
	return parseName("way to release", releaseNames[:], text, r)
}

// Open puts up the server, and its replica.
func (o SetNX) Open(w *sim.World) (models.Lock, error) {
	c := Config{o.Clock, o.Persistence}
	if err := cmp.Or(
		checkTimes(&o.TTL, &o.Timeout),
		c.check(),
		checkClock(o.ClientClock),
		checkName("release", releaseNames[:], o.Release),
	); err != nil {
		return nil, fmt.Errorf("setnx: %w", err)
	}
	if o.Lag < 0 || o.Lag > 0 && !o.Replica {
		return nil, fmt.Errorf("setnx: lag %v: want 0 or more, and only with a replica", o.Lag)
	}
	l := &setNX{SetNX: o, watch: stopwatch{on: o.Deadline, clock: o.ClientClock, usable: o.TTL}}
	if o.Replica {
		l.pair = openPair(w, "r1", "r2", c, o.Lag)
	} else {
		l.pair = &pair{primary: w.Server("r1", openNode(w, "r1", c))}
	}
	return l, nil
}

// setNX is the client's side.
type setNX struct {
	SetNX
	watch stopwatch
	pair  *pair // the server there is now
}

// Acquire sends one SET.
func (l *setNX) Acquire(p *sim.Process, key string) (models.Grant, error) {
	value := newValue(p)
	watch := l.watch.started(p)
	server := l.pair.primary
	set, err := sim.Call[Status](p, server, &Set{key, value, l.TTL}, l.Timeout)
	switch {
	case err != nil:
		return models.Grant{Value: value}, err
	case !bool(set):
		return models.Grant{}, models.ErrHeld
	}
	if elapsed := watch.elapsed(p); elapsed >= watch.usable {
		// Too late to be of use. Nobody was promised anything; what becomes of the
		// key, if this fails, is up to its TTL.
		_ = l.Release(p, key, models.Grant{Value: value})
		return models.Grant{Value: value}, models.Refused("after " + elapsed.String() + " of " + watch.usable.String())
	}
	return l.grant(value, server, watch), nil
}

// grant is what the client has. The server truncates to milliseconds and clocks
// run up to 500 ppm off, which is the allowance declared for a plain lease.
func (l *setNX) grant(value string, server *sim.Server, watch stopwatch) models.Grant {
	return models.Grant{
		Term:      l.TTL,
		Allowance: l.TTL/2000 + time.Millisecond,
		Value:     value,
		Votes:     []string{server.Name()},
		Deadline:  watch.deadline(),
	}
}

// Release deletes the key, in the way that the options say.
func (l *setNX) Release(p *sim.Process, key string, g models.Grant) error {
	switch l.SetNX.Release {
	case GetThenDel:
		current, err := sim.Call[Bulk](p, l.pair.primary, &Get{key}, l.Timeout)
		if err != nil {
			return err
		}
		if current.Value != g.Value {
			return models.ErrNotHeld
		}
		fallthrough
	case PlainDel:
		return l.confirm(p, &Del{key})
	default:
		return l.confirm(p, &DelIfEqual{key, g.Value})
	}
}

// Extend gives the key a new TTL if it still has the value of g.
func (l *setNX) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	watch := l.watch.started(p)
	server := l.pair.primary
	if err := l.confirm(p, &ExpireIfEqual{key, g.Value, l.TTL}); err != nil {
		return models.Grant{}, err
	}
	if watch.elapsed(p) >= watch.usable {
		return models.Grant{}, errLate
	}
	return l.grant(g.Value, server, watch), nil
}

// Holder asks for the key's value.
func (l *setNX) Holder(p *sim.Process, key string) (string, error) {
	current, err := sim.Call[Bulk](p, l.pair.primary, &Get{key}, l.Timeout)
	return current.Value, err
}

// confirm sends a command that answers 0 when the key is not the client's.
func (l *setNX) confirm(p *sim.Process, command any) error {
	n, err := sim.Call[Integer](p, l.pair.primary, command, l.Timeout)
	if err == nil && n == 0 {
		return models.ErrNotHeld
	}
	return err
}
