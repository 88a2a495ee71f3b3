package redis

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Redlock is the lock on several independent Redis servers, as the Redis
// documentation describes it ("Distributed Locks with Redis"). To acquire it, a
// client
//
//  1. reads its clock (T1);
//  2. sends SET key value NX PX ttl to every node, with one random value, waiting
//     for each no longer than a timeout that is small compared with the TTL;
//  3. reads its clock again (T2). It has the lock if a majority of the nodes said
//     OK and validity = TTL - (T2 - T1) - drift is more than 0;
//  4. may then use the lock for that validity, that is until T1 + TTL - drift;
//  5. otherwise deletes the key on all nodes, even those that it believes have not
//     set it.
//
// Each step can be switched off. The servers are called "r1", "r2" and so on.
// The zero value of each option is its default.
type Redlock struct {
	// Nodes is how many servers there are: 5 by default.
	Nodes int `yaml:"nodes,omitempty"`
	// TTL is how long a key lives, in whole milliseconds: 10s by default.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Drift is what the client allows for clocks that run at different rates: by
	// default 1 % of the TTL and 2ms, as node-redlock does; redsync has the 1 %
	// alone. NoDrift is to allow nothing.
	Drift   time.Duration `yaml:"drift,omitempty"`
	NoDrift bool          `yaml:"no-drift,omitempty"`
	// Sends is how the nodes are asked: one by one by default.
	Sends Sends `yaml:"sends,omitempty"`
	// Timeout is how long the client waits for a node: 50ms by default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Quorum is how many nodes must say OK: a majority by default. Less is wrong.
	Quorum int `yaml:"quorum,omitempty"`
	// ClientClock is the clock that the client reads: monotonic by default.
	ClientClock clock.Kind `yaml:"client-clock,omitempty"`
	// Clock by which the servers expire keys: wall, as real Redis, by default.
	Clock Expiry `yaml:"clock,omitempty"`
	// Persistence of the servers: none by default.
	Persistence Persistence `yaml:"persistence,omitempty"`
	// SkipValidity leaves out the clock of steps 1, 3 and 4: the client takes a
	// majority for the lock however long it took, and believes until it releases.
	SkipValidity bool `yaml:"skip-validity,omitempty"`
	// Cleanup is on which nodes a client deletes its key again, after a failure and
	// when it releases: on all by default, as step 5 has it.
	Cleanup Cleanup `yaml:"cleanup,omitempty"`
	// NoTimeout lets the client wait for every node for ever: one node that does
	// not answer holds it up.
	NoTimeout bool `yaml:"no-timeout,omitempty"`
	// SetOnExtend lets an extension set the key anew on a node that does not have it:
	// WithSetNXOnExtend of redsync, since 4.12. Without, as in the documentation, such
	// a node says no, and the lock stands on fewer nodes with each that forgets it.
	SetOnExtend bool `yaml:"set-on-extend,omitempty"`
	// Token is what a fencing token is made of: there is none by default, as in the
	// documentation.
	Token Tokens `yaml:"token,omitempty"`
	// Retries is how often a client asks again by itself before it gives up, RetryDelay
	// after each failure (200ms by default, as node-redlock does, without its jitter):
	// not at all by default, as retrying is the caller's.
	Retries    int           `yaml:"retries,omitempty"`
	RetryDelay time.Duration `yaml:"retry-delay,omitempty"`
	// FromFirst counts the validity of a lock from the first of these attempts and not
	// from the one that got it, as node-redlock 5.0.0-beta.2 does (its issue 296). Step
	// 3 is about the last attempt alone, so that a lock is handed out that is over by
	// that count. It is not extended: the client says that it does not hold it, and
	// asks no node.
	FromFirst bool `yaml:"from-first,omitempty"`
	// Order is the list of nodes as a client's configuration has it, by the
	// client's name; others ask r1, r2 and so on. A list may leave out nodes; the
	// quorum stays that of all.
	Order map[string][]string `yaml:"order,omitempty"`
}

// maxNodes bounds the number of servers: far more than anybody runs.
const maxNodes = 99

// About is what has to be known of it.
func (Redlock) About() models.About {
	return models.About{
		Token:   "none; counters on each node make no order",
		Clock:   "each node's wall clock, or a monotonic one; the client's, monotonic by default",
		Restart: "as for set-nx, node by node",
		Assumes: "fewer nodes forget or jump than the client holds beyond two of five; clocks drift less than the allowance; step 3 is kept",
	}
}

// Open puts up the servers.
func (o Redlock) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("redlock: %w", err)
	}
	l := &redlock{
		Redlock: o,
		watch:   stopwatch{on: !o.SkipValidity, clock: o.ClientClock, usable: o.TTL - o.Drift},
		all:     make([]*sim.Server, o.Nodes),
	}
	for i := range l.all {
		name := nodeName(i)
		l.all[i] = w.Server(name, openNode(w, name, Config{Clock: o.Clock, Persistence: o.Persistence}))
	}
	if err := l.readOrder(); err != nil {
		return nil, fmt.Errorf("redlock: %w", err)
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Redlock) complete() error {
	if o.NoTimeout && o.Timeout != 0 {
		return fmt.Errorf("timeout %v and no-timeout: want one of them", o.Timeout)
	}
	if err := cmp.Or(
		checkTimes(&o.TTL, &o.Timeout),
		Config{Clock: o.Clock, Persistence: o.Persistence}.check(),
		checkClock(o.ClientClock),
		option.Check("sends", sendsNames[:], o.Sends),
		option.Check("cleanup", cleanupNames[:], o.Cleanup),
		option.Check("token", tokensNames[:], o.Token),
	); err != nil {
		return err
	}
	if o.NoTimeout {
		o.Timeout = noTimeout
	}
	o.Nodes = cmp.Or(o.Nodes, 5)
	if o.Nodes < 1 || o.Nodes > maxNodes {
		return fmt.Errorf("nodes %d: want 1 to %d", o.Nodes, maxNodes)
	}
	o.Quorum = cmp.Or(o.Quorum, o.Nodes/2+1)
	if o.Quorum < 1 || o.Quorum > o.Nodes {
		return fmt.Errorf("quorum %d: want 1 to %d, the number of nodes", o.Quorum, o.Nodes)
	}
	return cmp.Or(o.completeDrift(), o.completeRetries())
}

func (o *Redlock) completeDrift() error {
	switch {
	case o.NoDrift && o.Drift != 0:
		return fmt.Errorf("drift %v and no-drift: want one of them", o.Drift)
	case !o.NoDrift && o.Drift == 0:
		o.Drift = o.TTL/100 + 2*time.Millisecond
	}
	if o.Drift < 0 || o.Drift >= o.TTL {
		return fmt.Errorf("drift %v: want 0 or more and less than the ttl, %v", o.Drift, o.TTL)
	}
	return nil
}

func (o *Redlock) completeRetries() error {
	switch {
	case o.Retries < 0:
		return fmt.Errorf("retries %d: want 0 or more", o.Retries)
	case o.RetryDelay < 0:
		return fmt.Errorf("retry-delay %v: want 0 or more", o.RetryDelay)
	case o.Retries == 0 && o.RetryDelay > 0:
		return fmt.Errorf("retry-delay %v: want it only with retries", o.RetryDelay)
	case o.FromFirst && o.Retries == 0:
		return errors.New("from-first: want it only with retries")
	case o.FromFirst && o.SkipValidity:
		return errors.New("from-first and skip-validity: want one of them")
	}
	o.RetryDelay = cmp.Or(o.RetryDelay, defaultRetryDelay)
	return nil
}

// readOrder looks up the nodes of each client's own list.
func (l *redlock) readOrder() error {
	if len(l.Order) == 0 {
		return nil
	}
	l.lists = make(map[string][]*sim.Server, len(l.Order))
	for _, client := range slices.Sorted(maps.Keys(l.Order)) {
		list, err := l.lookUp(l.Order[client])
		if err != nil {
			return fmt.Errorf("order of %s: %w", client, err)
		}
		l.lists[client] = list
	}
	return nil
}

func (l *redlock) lookUp(names []string) ([]*sim.Server, error) {
	if len(names) < l.Quorum {
		return nil, fmt.Errorf("%d nodes: want at least the quorum, %d", len(names), l.Quorum)
	}
	list := make([]*sim.Server, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(l.all, func(s *sim.Server) bool { return s.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("no node %q: want r1 to r%d", name, l.Nodes)
		}
		if slices.Contains(list, l.all[i]) {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		list = append(list, l.all[i])
	}
	return list, nil
}
