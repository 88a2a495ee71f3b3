package redis

import (
	"fmt"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// epoch is the date at which every run starts, as a Unix time: 2026-01-01 UTC.
// Clocks read durations since the start of the run; Redis needs dates.
const epoch = 1_767_225_600 * time.Second

// Node is a Redis server. It is a sim.Handler that understands the commands of
// this package, one at a time, and a faults.Restarter.
type Node struct {
	engine *engine
	config Config
	// keys is what the engine holds, with the owner and the expiry of each.
	keys    map[string]item
	journal []write
	pair    *pair // nil for a node that is alone
}

// item is a key's owner, and its expiry: a reading of the node's clock in whole
// milliseconds.
type item struct {
	value string
	when  int64
}

// Open puts a Redis server called name into w, for a lock of one's own.
func Open(w *sim.World, name string, c Config) (*sim.Server, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return w.Server(name, openNode(w, name, c)), nil
}

// openNode makes a node. What an earlier run in w left is cleared and used again:
// an engine is dear.
func openNode(w *sim.World, name string, c Config) *Node {
	n := sim.Keep(w, "redis/"+name, func() *Node {
		return &Node{engine: newEngine(), keys: map[string]item{}}
	})
	n.empty()
	n.config, n.pair = c, nil
	n.journal = n.journal[:0]
	return n
}

// empty deletes every key.
func (n *Node) empty() {
	for key := range n.keys {
		n.engine.del(key)
	}
	clear(n.keys)
}

// Serve executes one command.
func (n *Node) Serve(s *sim.Server, r sim.Request) {
	switch c := r.Body.(type) {
	case *Set:
		r.Reply(n.set(s, c))
	case *Get:
		r.Reply(n.get(s, c))
	case *Del:
		r.Reply(n.del(s, c, r.From()))
	case *DelIfEqual:
		r.Reply(n.delIfEqual(s, c, r.From()))
	case *ExpireIfEqual:
		r.Reply(n.expireIfEqual(s, c))
	case *PTTL:
		r.Reply(n.pttl(s, c))
	case *write:
		n.replicate(s, *c)
	default:
		r.Reply(fmt.Errorf("redis: %s does not know the command %T", s.Name(), c))
	}
}

func (n *Node) set(s *sim.Server, c *Set) Status {
	now := n.lapse(s, c.Key)
	if !n.engine.setNX(c.Key, c.Value, c.TTL) {
		return false
	}
	i := item{c.Value, now + c.TTL.Milliseconds()}
	n.keys[c.Key] = i
	n.log(s, writeSet, c.Key, i)
	return true
}

func (n *Node) get(s *sim.Server, c *Get) Bulk {
	n.lapse(s, c.Key)
	value, found := n.engine.get(c.Key)
	return Bulk{value, found}
}

func (n *Node) del(s *sim.Server, c *Del, from string) Integer {
	n.lapse(s, c.Key)
	if !n.engine.del(c.Key) {
		return 0
	}
	n.forget(s, c.Key, history.FreedDeleted, from)
	return 1
}

func (n *Node) delIfEqual(s *sim.Server, c *DelIfEqual, from string) Integer {
	n.lapse(s, c.Key)
	if !n.engine.delIfEqual(c.Key, c.Value) {
		return 0
	}
	n.forget(s, c.Key, history.FreedDeleted, from)
	return 1
}

func (n *Node) expireIfEqual(s *sim.Server, c *ExpireIfEqual) Integer {
	now := n.lapse(s, c.Key)
	if value, found := n.engine.get(c.Key); !found || value != c.Value {
		return 0
	}
	n.engine.expire(c.Key, c.TTL)
	i := item{c.Value, now + c.TTL.Milliseconds()}
	n.keys[c.Key] = i
	n.log(s, writeExpire, c.Key, i)
	return 1
}

func (n *Node) pttl(s *sim.Server, c *PTTL) Integer {
	now := n.lapse(s, c.Key)
	i, ok := n.keys[c.Key]
	if !ok {
		return -2
	}
	return Integer(i.when - now)
}

// lapse deletes key if it is past its expiry, as Redis does before every command
// on a key, and returns what the node's clock shows.
func (n *Node) lapse(s *sim.Server, key string) int64 {
	now := n.now(s)
	if i, ok := n.keys[key]; ok && i.over(now) {
		n.engine.del(key)
		n.forget(s, key, history.FreedExpired, "")
	}
	return now
}

// over tells whether the item is past its expiry. At exactly its expiry it is
// not: measured on Redis 7.0.15.
func (i item) over(now int64) bool { return now > i.when }

// forget notes that the engine does not hold key any more.
func (n *Node) forget(s *sim.Server, key, why, by string) {
	i := n.keys[key]
	delete(n.keys, key)
	free(s, key, i, why, by)
	n.log(s, writeDel, key, item{})
}

// free records that a key ended on s.
func free(s *sim.Server, key string, i item, why, by string) {
	s.Record(history.Event{Kind: history.Freed, Lock: key, Value: i.value, Why: why, Peer: by})
}

// now is what the clock that the node expires by shows, in whole milliseconds.
func (n *Node) now(s *sim.Server) int64 { return ms(s, n.config.Clock.kind()) }

// ms is a reading of a server's clock as Redis takes it: a date in whole
// milliseconds, rounded down.
func ms(s *sim.Server, k clock.Kind) int64 { return int64((epoch + s.Now(k)) / time.Millisecond) }
