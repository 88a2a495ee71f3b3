// Package twophase is a lock on nodes that agree by two-phase commit, to be held
// against consensus: all of them must answer, where consensus asks for a majority.
package twophase

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Lock is a lock that every node keeps. n1 is the coordinator: a client asks it,
// and it asks the others to prepare. A node that is prepared has it on its disk,
// and can only wait for the decision; the coordinator decides when all are. It has
// no timeouts: this is the protocol as it is, which waits for a node that is
// down (Gray, "Notes on Data Base Operating Systems", 1978).
//
// A lock has no term, and there is no queue: one that is held is refused.
type Lock struct {
	// Nodes is how many there are, 1 to 9: 3 by default.
	Nodes int `yaml:"nodes,omitempty"`
	// Fsync is how long a disk takes: 2ms by default.
	Fsync time.Duration `yaml:"fsync,omitempty"`
}

// About is what has to be known of it.
func (Lock) About() models.About {
	return models.About{
		Token:   "none",
		Clock:   "none: there is no term",
		Restart: "who holds the lock; what it was deciding is never decided",
		Assumes: "every node is up",
	}
}

// Open puts up the nodes, n1 and so on.
func (o Lock) Open(w *sim.World) (models.Lock, error) {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Fsync == 0 {
		o.Fsync = 2 * time.Millisecond
	}
	if o.Nodes < 1 || o.Nodes > 9 || o.Fsync < 0 {
		return nil, fmt.Errorf("two-phase: nodes %d, fsync %v: want 1 to 9, and more than 0", o.Nodes, o.Fsync)
	}
	c := &coordinator{node: node{fsync: o.Fsync}, owners: map[string]string{}}
	first := w.Server("n1", c)
	for i := 2; i <= o.Nodes; i++ {
		c.others = append(c.others, w.Server("n"+strconv.Itoa(i), &node{fsync: o.Fsync, coordinator: first}))
	}
	return &lock{first}, nil
}

type lock struct{ server *sim.Server }

// Acquire waits for the decision, however long that takes.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	g := models.Grant{Value: p.Name()}
	ok, err := sim.Call[bool](p, l.server, change{key, p.Name(), p.Name()}, -1)
	if err == nil && !ok {
		err = models.ErrHeld
	}
	return g, err
}

// Release waits for the decision too.
func (l *lock) Release(p *sim.Process, key string, _ models.Grant) error {
	ok, err := sim.Call[bool](p, l.server, change{key, "", p.Name()}, -1)
	if err == nil && !ok {
		err = models.ErrNotHeld
	}
	return err
}

// The messages. A change gives the lock to owner, or to nobody.
type (
	change  struct{ key, owner, client string }
	prepare struct {
		number int
		change
	}
	prepared struct{ number int }
	commit   struct{ number int }
)

func (c change) Label() string {
	if c.owner == "" {
		return "release"
	}
	return "acquire"
}
func (prepare) Label() string  { return "prepare" }
func (prepared) Label() string { return "prepared" }
func (commit) Label() string   { return "commit" }

// node is a participant. What it has of the data is what the coordinator has: it
// is asked to prepare what that has found to be possible.
type node struct {
	fsync       time.Duration
	coordinator *sim.Server
}

// Serve prepares. A decision needs no answer here.
func (n *node) Serve(s *sim.Server, r sim.Request) {
	if q, ok := r.Body.(prepare); ok {
		s.After(clock.Monotonic, n.fsync, func() { s.Forward(n.coordinator, prepared{q.number}, 0) })
	}
}

// Crash is a method of faults.Restarter. What the node has prepared and said so is
// on its disk.
func (n *node) Crash(*sim.Server, faults.Crash) string { return "restarted with everything" }

// Restarted is a method of faults.Restarter.
func (n *node) Restarted(*sim.Server) string { return "back up" }

// coordinator is n1: a participant too.
type coordinator struct {
	node
	others []*sim.Server
	owners map[string]string
	open   []*decision
	asked  int
}

// decision is a change under way. While it is, its key is locked.
type decision struct {
	number int
	change
	request sim.Request
	waits   int // for so many nodes
}

// Serve begins a change, or counts who is prepared.
func (c *coordinator) Serve(s *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case change:
		c.begin(s, q, r)
	case prepared:
		c.voted(s, q.number)
	}
}

// begin asks all nodes to prepare a change that is possible.
func (c *coordinator) begin(s *sim.Server, q change, r sim.Request) {
	held := c.owners[q.key]
	if c.pending(q.key) || q.owner != "" && held != "" || q.owner == "" && held != q.client {
		r.Reply(false)
		return
	}
	c.asked++
	d := &decision{c.asked, q, r, len(c.others) + 1}
	c.open = append(c.open, d)
	for _, o := range c.others {
		s.Forward(o, prepare{d.number, q}, 0)
	}
	s.After(clock.Monotonic, c.fsync, func() { c.voted(s, d.number) })
}

func (c *coordinator) pending(key string) bool {
	return slices.ContainsFunc(c.open, func(d *decision) bool { return d.key == key })
}

// voted decides when the last of the nodes is prepared. The decision has to be on
// the disk before anybody hears of it.
func (c *coordinator) voted(s *sim.Server, number int) {
	for _, d := range c.open {
		if d.number != number {
			continue
		}
		if d.waits--; d.waits == 0 {
			s.After(clock.Monotonic, c.fsync, func() { c.decide(s, d) })
		}
	}
}

func (c *coordinator) decide(s *sim.Server, d *decision) {
	if d.owner == "" {
		s.Record(history.Event{Kind: history.Freed, Lock: d.key, Value: d.client, Why: history.FreedDeleted, Peer: d.client})
	}
	c.owners[d.key] = d.owner
	c.open = slices.DeleteFunc(c.open, func(o *decision) bool { return o == d })
	for _, o := range c.others {
		s.Forward(o, commit{d.number}, 0)
	}
	d.request.Reply(true)
}
