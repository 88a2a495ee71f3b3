package redis

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// epoch is the date at which every run starts, as a Unix time: 2026-01-01 UTC.
// Clocks read durations since the start of the run; Redis needs dates.
const epoch = 1_767_225_600 * time.Second

// Node is a Redis server. It is a sim.Handler that understands the commands of
// this package, one at a time, and a faults.Restarter and faults.Bounded.
type Node struct {
	engine *engine
	config Config
	// keys is what the engine holds, with the owner and the expiry of each.
	keys    map[string]item
	journal []write
	fsyncs  fsyncs
	group   *group // nil for a node that is alone
	fills   int    // of its memory that last, and to which no key gave way
}

// item is a key's owner, and its expiry: a reading of the node's clock in whole
// milliseconds, or never.
type item struct {
	value   string
	by      string // the client who set it
	when    int64
	counter bool // no lock's key, but a number: its end is nobody's loss
}

// never is the expiry of a key that has none.
const never = math.MaxInt64

// expiry is when a key that is given ttl at now expires.
func expiry(now int64, ttl time.Duration) int64 {
	if ttl == 0 {
		return never
	}
	return now + ttl.Milliseconds()
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
	n.config, n.group = c, nil
	n.journal, n.fsyncs, n.fills = n.journal[:0], fsyncs{}, 0
	return n
}

// empty deletes every key.
func (n *Node) empty() {
	for key := range n.keys {
		n.engine.del(key)
	}
	clear(n.keys)
}

// Serve executes one command. Whatever it changed is in the append-only file, and
// synced there where the persistence is always, before it is answered.
func (n *Node) Serve(s *sim.Server, r sim.Request) {
	if c, ok := r.Body.(*Wait); ok { // there is no replica to wait for
		s.After(clock.Monotonic, c.Timeout, func() { r.Reply(Integer(0)) })
		return
	}
	if n.fills > 0 && n.grows(s, r.Body) {
		r.Reply(oom)
		return
	}
	answer := n.execute(s, r)
	n.synced(s)
	r.Reply(answer)
}

// execute executes one command and returns its answer.
func (n *Node) execute(s *sim.Server, r sim.Request) any {
	switch c := r.Body.(type) {
	case *Set:
		return n.set(s, c, r.From())
	case *Get:
		return n.get(s, c)
	case *Del:
		return n.del(s, c, r.From())
	case *DelIfEqual:
		return n.delIfEqual(s, c, r.From())
	case *EvalDelIfEqual:
		return n.evalDelIfEqual(s, c, r.From())
	case *ExpireIfEqual:
		return n.expireIfEqual(s, c, r.From())
	case *ExpireOrSet:
		return n.expireOrSet(s, c, r.From())
	case *PTTL:
		return n.pttl(s, c)
	case *Put:
		return n.put(s, c, r.From())
	case *SetIncr:
		return n.setIncr(s, c, r.From())
	case *Incr:
		return n.incr(s, c)
	case *PExpire:
		return n.expire(s, c, r.From())
	}
	return fmt.Errorf("redis: %s does not know the command %T", s.Name(), r.Body)
}

func (n *Node) set(s *sim.Server, c *Set, from string) Status {
	now := n.lapse(s, c.Key)
	if !n.engine.setNX(c.Key, c.Value, c.TTL) {
		return false
	}
	n.keep(s, writeSet, c.Key, item{value: c.Value, by: from, when: expiry(now, c.TTL)})
	return true
}

// put takes the key from whoever has it.
func (n *Node) put(s *sim.Server, c *Put, from string) Status {
	now := n.lapse(s, c.Key)
	if i, ok := n.keys[c.Key]; ok && i.value != c.Value {
		free(s, c.Key, i, history.FreedOverwritten, from)
	}
	n.engine.put(c.Key, c.Value, c.TTL)
	n.keep(s, writeSet, c.Key, item{value: c.Value, by: from, when: expiry(now, c.TTL)})
	return true
}

func (n *Node) setIncr(s *sim.Server, c *SetIncr, from string) Integer {
	if !n.set(s, &Set{c.Key, c.Value, c.TTL}, from) {
		return 0
	}
	return n.incr(s, &Incr{c.Counter})
}

func (n *Node) incr(s *sim.Server, c *Incr) Integer {
	n.lapse(s, c.Key)
	i, ok := n.keys[c.Key]
	if !ok {
		i = item{when: never, counter: true}
	}
	count := n.engine.incr(c.Key)
	i.value = strconv.FormatInt(count, 10)
	n.keep(s, writeIncr, c.Key, i)
	return Integer(count)
}

// keep notes what the engine now holds under key.
func (n *Node) keep(s *sim.Server, kind writeKind, key string, i item) {
	n.keys[key] = i
	n.log(s, kind, key, i)
}

func (n *Node) get(s *sim.Server, c *Get) Bulk {
	n.lapse(s, c.Key)
	value, found := n.engine.get(c.Key)
	return Bulk{value, found}
}

func (n *Node) del(s *sim.Server, c *Del, from string) Integer {
	n.lapse(s, c.Key)
	return n.deleted(s, c.Key, from, n.engine.del(c.Key))
}

func (n *Node) delIfEqual(s *sim.Server, c *DelIfEqual, from string) Integer {
	n.lapse(s, c.Key)
	return n.deleted(s, c.Key, from, n.engine.delIfEqual(c.Key, c.Value))
}

func (n *Node) evalDelIfEqual(s *sim.Server, c *EvalDelIfEqual, from string) Integer {
	n.lapse(s, c.Key)
	return n.deleted(s, c.Key, from, n.engine.evalDelIfEqual(c.Key, c.Value))
}

// deleted is the answer to a command of from's that was to delete key, and notes
// whether it did.
func (n *Node) deleted(s *sim.Server, key, from string, did bool) Integer {
	if !did {
		return 0
	}
	n.forget(s, key, history.FreedDeleted, from)
	return 1
}

func (n *Node) expireIfEqual(s *sim.Server, c *ExpireIfEqual, from string) Integer {
	n.lapse(s, c.Key)
	if value, found := n.engine.get(c.Key); !found || value != c.Value {
		return 0
	}
	return n.expire(s, &PExpire{c.Key, c.TTL}, from)
}

func (n *Node) expire(s *sim.Server, c *PExpire, from string) Integer {
	now := n.lapse(s, c.Key)
	if !n.engine.expire(c.Key, c.TTL) {
		return 0
	}
	i := n.keys[c.Key]
	i.when = now + c.TTL.Milliseconds()
	n.keep(s, writeExpire, c.Key, i)
	if i.by != from && !i.counter {
		s.Record(history.Event{Kind: history.Prolonged, Lock: c.Key, Value: i.value, Why: c.Label(), Peer: from})
	}
	return 1
}

func (n *Node) expireOrSet(s *sim.Server, c *ExpireOrSet, from string) Integer {
	if n.set(s, &Set{c.Key, c.Value, c.TTL}, from) {
		return 1
	}
	return n.expireIfEqual(s, &ExpireIfEqual{c.Key, c.Value, c.TTL}, from)
}

func (n *Node) pttl(s *sim.Server, c *PTTL) Integer {
	now := n.lapse(s, c.Key)
	i, ok := n.keys[c.Key]
	switch {
	case !ok:
		return -2
	case i.when == never:
		return -1
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
	n.log(s, writeDel, key, item{when: never})
}

// free records that a key ended on s, if a lock's key it was.
func free(s *sim.Server, key string, i item, why, by string) {
	if i.counter {
		return
	}
	s.Record(history.Event{Kind: history.Freed, Lock: key, Value: i.value, Why: why, Peer: by})
}

// now is what the clock that the node expires by shows, in whole milliseconds.
func (n *Node) now(s *sim.Server) int64 { return ms(s, n.config.Clock.kind()) }

// ms is a reading of a server's clock as Redis takes it: a date in whole
// milliseconds, rounded down.
func ms(s *sim.Server, k clock.Kind) int64 { return int64((epoch + s.Now(k)) / time.Millisecond) }
