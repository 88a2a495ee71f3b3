package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/models/raft"
	"locksim/sim"
)

// Etcd is the lock of etcd's client library on a cluster of etcd. The servers are
// called "n1", "n2" and so on; n1 leads at first.
//
// Each attempt at a lock opens a session of its own, with a lease, and the release
// closes it; so a key of a lock, "job/1f", belongs to one attempt alone. A client
// talks to one node. A request that is not answered in time has failed, and the
// next one goes to the next node of the client's list; reads and keepalives are
// repeated there, changes are not, as in the library (client/v3/retry.go).
//
// The zero value of each option is its default.
type Etcd struct {
	raft.Config `yaml:",inline"`
	// TTL of a session, in whole seconds: 60s by default (session.go:
	// defaultSessionTTL). A cluster raises it to its least.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Counts is by which of its clocks a leader counts leases: by its monotonic clock
	// alone, by default.
	Counts Counts `yaml:"counts,omitempty"`
	// Timeout is how long a client waits for an answer: 5s by default, as etcdctl
	// (--command-timeout).
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Order is the list of nodes as a client's configuration has it, by the client's
	// name; others ask n1, n2 and so on. A list may leave out nodes.
	Order map[string][]string `yaml:"order,omitempty"`
	// Wait is what a client that does not get the lock at once waits for: the
	// deletion of the key before its own, by default.
	Wait Wait `yaml:"wait,omitempty"`
	// NoRecheck leaves out the last look at its own key, as the library did
	// through 3.4 (etcd#11456): a client whose session ended while it waited takes
	// itself for the holder.
	NoRecheck bool `yaml:"no-recheck,omitempty"`
	// IgnoreDone: the program does not listen to Done, by which a session says that it
	// is over. It believes until it releases.
	IgnoreDone bool `yaml:"ignore-done,omitempty"`
	// Serializable: who holds a lock is asked of one node and what it has, which may
	// be old. By default that read is linearizable.
	Serializable bool `yaml:"serializable,omitempty"`
}

// Wait is what a client waits for that does not get the lock at once.
type Wait uint8

// What can be waited for.
const (
	// Predecessor is the deletion of the key that was created last before its own: each
	// deletion wakes one client.
	Predecessor Wait = iota
	// Anything is the deletion of any key of the lock, which wakes all that wait.
	Anything
)

var waitNames = [...]string{Predecessor: "predecessor", Anything: "anything"}

// String is the name: "predecessor" or "anything".
func (w Wait) String() string {
	if int(w) >= len(waitNames) {
		return fmt.Sprintf("Wait(%d)", w)
	}
	return waitNames[w]
}

// MarshalText writes the name.
func (w Wait) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a name.
func (w *Wait) UnmarshalText(text []byte) error {
	return option.Parse("wait", waitNames[:], text, w)
}

// Counts is by which of its clocks a leader counts leases.
type Counts uint8

// What releases have counted by.
const (
	// MonotonicClock is that of releases since 3.5, and of 3.1 to 3.3.
	MonotonicClock Counts = iota
	// WallQueue is that of 3.4: the leader looks at a lease only when its wall clock
	// shows the date that the lease has in a queue (etcd#9418), and then asks its
	// monotonic clock whether the lease is over. So a wall clock that is set back lets a
	// lease outlive its TTL (etcd#12291, mended by etcd#12292).
	WallQueue
	// WallClock is that of 3.0: a lease ends at a date (etcd#6700, mended by etcd#6888).
	WallClock
)

var countsNames = [...]string{MonotonicClock: "monotonic", WallQueue: "wall-queue", WallClock: "wall"}

// String is the name: "monotonic", "wall-queue" or "wall".
func (c Counts) String() string { return option.Name(countsNames[:], c) }

// MarshalText writes the name.
func (c Counts) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name.
func (c *Counts) UnmarshalText(text []byte) error {
	return option.Parse("counts", countsNames[:], text, c)
}

// About is what has to be known of it.
func (Etcd) About() models.About {
	return models.About{
		Token:   "the create revision of the lock's key",
		Clock:   "the leader's monotonic clock; the client's for Done",
		Restart: "all that was answered; a new leader gives every lease its full TTL again",
		Assumes: "a majority is up, disks keep what they have synced, the leader's clock is within 500 ppm",
	}
}

const (
	defaultTTL     = 60 * time.Second
	defaultTimeout = 5 * time.Second
)

// Open puts up the cluster.
func (o Etcd) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	r := &relays{}
	g, err := raft.Open(w, o.Config, func(*raft.Node) raft.Replica { return newReplica(o, r) })
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	l := &lock{Etcd: o, clients: map[string]*client{}}
	for _, n := range g.Nodes() {
		l.nodes = append(l.nodes, n.Server())
	}
	if err := l.readOrder(g); err != nil {
		return nil, err
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Etcd) complete() error {
	if err := o.Config.Complete(); err != nil {
		return err
	}
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	switch {
	case o.TTL < time.Second || o.TTL%time.Second != 0:
		return fmt.Errorf("ttl %v: want whole seconds, at least 1s", o.TTL)
	case o.Timeout < time.Millisecond:
		return fmt.Errorf("timeout %v: want 1ms or more", o.Timeout)
	case int(o.Wait) >= len(waitNames):
		return fmt.Errorf("wait %d: want one of %s", o.Wait, strings.Join(waitNames[:], ", "))
	}
	return option.Check("counts", countsNames[:], o.Counts)
}

// readOrder finds the nodes of each client that has a list of its own.
func (l *lock) readOrder(g *raft.Group) error {
	for _, name := range slices.Sorted(maps.Keys(l.Order)) {
		c := &client{}
		for _, node := range l.Order[name] {
			n := g.Node(node)
			if n == nil {
				return fmt.Errorf("etcd: order of %s: no node %q: want n1 to n%d", name, node, len(l.nodes))
			}
			c.nodes = append(c.nodes, n.Server())
		}
		if len(c.nodes) == 0 {
			return fmt.Errorf("etcd: order of %s: want at least one node", name)
		}
		l.clients[name] = c
	}
	return nil
}
