package redis

import (
	"maps"
	"slices"

	"locksim/history"
	"locksim/models/option"
	"locksim/sim"
)

// Eviction is what a node does when other data has filled its memory
// (maxmemory-policy). Which key an LRU hits is chance: Redis looks at a few and drops
// the one that was used longest ago. Here every key goes that the policy lets go, which
// is the worst that it can do to a lock.
type Eviction uint8

// The policies. For what they do the variants of Redis, lfu and random, are alike.
const (
	// NoEviction drops nothing, and refuses the commands that may take memory
	// (SET and INCR, in scripts too): OOM. The others are served, PEXPIRE and DEL
	// among them.
	NoEviction Eviction = iota
	// AllKeys drops keys of any kind.
	AllKeys
	// Volatile drops keys that have an expiry, as locks have. Where there is none, it
	// is as NoEviction.
	Volatile
)

var evictionNames = [...]string{NoEviction: "noeviction", AllKeys: "allkeys-lru", Volatile: "volatile-lru"}

// String is the policy's name: "noeviction", "allkeys-lru" or "volatile-lru".
func (e Eviction) String() string { return option.Name(evictionNames[:], e) }

// MarshalText writes the policy's name.
func (e Eviction) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a policy's name.
func (e *Eviction) UnmarshalText(text []byte) error {
	return option.Parse("eviction", evictionNames[:], text, e)
}

// oom is what a node without memory answers to a command that may take some.
const oom = Error("OOM command not allowed when used memory > 'maxmemory'.")

// grows tells whether a command may take memory (its flag is denyoom). Of a script it
// is the command that it comes to.
func (n *Node) grows(s *sim.Server, command any) bool {
	switch c := command.(type) {
	case *Set, *Put, *SetIncr, *Incr:
		return true
	case *ExpireOrSet:
		i, ok := n.keys[c.Key]
		return !ok || i.over(n.now(s))
	}
	return false
}

// Fill drops the keys that the policy lets go, or refuses to take more until the
// memory is drained. A replica does neither: its primary tells it what to drop
// (replica-ignore-maxmemory). It is a method of faults.Bounded.
func (n *Node) Fill(s *sim.Server) (string, func()) {
	if !n.serves(s) {
		return "a replica drops what its primary drops", nil
	}
	evicted := 0
	for _, key := range slices.Sorted(maps.Keys(n.keys)) {
		n.lapse(s, key)
		i, ok := n.keys[key]
		if !ok || n.config.Eviction == NoEviction || n.config.Eviction == Volatile && i.when == never {
			continue
		}
		n.engine.del(key)
		n.forget(s, key, history.FreedEvicted, "")
		evicted++
	}
	n.synced(s)
	switch {
	case evicted > 0:
		return "evicted " + count(evicted), nil
	case n.config.Eviction == AllKeys:
		return "evicted others' data", nil
	}
	n.fills++
	return "takes no more", func() { n.fills-- }
}
