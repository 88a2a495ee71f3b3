package redis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/clock"
	"locksim/models/option"
)

// Config is the options of a node. The zero value is a Redis without persistence.
type Config struct {
	// Clock by which keys expire: wall, as real Redis, by default.
	Clock Expiry
	// Persistence: none by default.
	Persistence Persistence
	// Eviction is what it does when its memory is full: nothing goes, by default.
	Eviction Eviction
}

// check tells what is wrong with the options.
func (c Config) check() error {
	return cmp.Or(
		option.Check("clock", expiryNames[:], c.Clock),
		option.Check("persistence", persistenceNames[:], c.Persistence),
		option.Check("eviction", evictionNames[:], c.Eviction),
	)
}

// Expiry is the clock by which a node expires its keys.
type Expiry uint8

// The clocks of a node.
const (
	// Wall is the date, which can be stepped: what real Redis uses.
	Wall Expiry = iota
	// Monotonic cannot be stepped.
	Monotonic
)

var expiryNames = [...]string{Wall: "wall", Monotonic: "monotonic"}

// String is the clock's name: "wall" or "monotonic".
func (e Expiry) String() string { return option.Name(expiryNames[:], e) }

// MarshalText writes the clock's name.
func (e Expiry) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a clock's name.
func (e *Expiry) UnmarshalText(text []byte) error {
	return option.Parse("clock to expire keys by", expiryNames[:], text, e)
}

func (e Expiry) kind() clock.Kind {
	if e == Monotonic {
		return clock.Monotonic
	}
	return clock.Wall
}

// The defaults of the options that both locks have.
const (
	defaultTTL     = 10 * time.Second
	defaultTimeout = 50 * time.Millisecond
	// defaultWaitTimeout is that of WAIT alone.
	defaultWaitTimeout = 100 * time.Millisecond
	// defaultRetryDelay is that of Redlock alone.
	defaultRetryDelay = 200 * time.Millisecond
)

// checkTimes fills in the defaults of ttl and timeout and tells what is wrong
// with them.
func checkTimes(ttl, timeout *time.Duration) error {
	*ttl, *timeout = cmp.Or(*ttl, defaultTTL), cmp.Or(*timeout, defaultTimeout)
	if err := checkTTL("ttl", *ttl); err != nil {
		return err
	}
	if *timeout < 0 {
		return fmt.Errorf("timeout %v: want more than 0", *timeout)
	}
	return nil
}

// checkTTL tells whether a key can be given that TTL.
func checkTTL(option string, ttl time.Duration) error {
	if ttl < time.Millisecond || ttl%time.Millisecond != 0 {
		return fmt.Errorf("%s %v: want whole milliseconds, at least 1ms", option, ttl)
	}
	return nil
}

// checkTTLs is checkTTL for each client's own.
func checkTTLs(ttls map[string]time.Duration) error {
	for _, client := range slices.Sorted(maps.Keys(ttls)) {
		if err := checkTTL("ttl of "+client, ttls[client]); err != nil {
			return err
		}
	}
	return nil
}

// checkClock tells whether k is a clock that a client has.
func checkClock(k clock.Kind) error {
	return option.Check("client-clock", []string{
		clock.Monotonic.String(), clock.Boottime.String(), clock.Wall.String(),
	}, k)
}
