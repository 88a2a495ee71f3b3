package zookeeper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/models/raft"
	"locksim/sim"
)

// Mutex is the lock recipe of ZooKeeper on an ensemble of servers n1, n2 and so on,
// as Curator's InterProcessMutex has it. The zero value of each option is its
// default.
type Mutex struct {
	raft.Config `yaml:",inline"`
	// Tick is the unit in which the leader ends sessions: 2s by default (tickTime,
	// "ZooKeeper Getting Started Guide"), in whole multiples of 2ms.
	Tick time.Duration `yaml:"tick,omitempty"`
	// Session is the timeout that clients ask for, in whole milliseconds: 10s by
	// default. They get at least 2 and at most 20 ticks ("Programmer's Guide",
	// ZooKeeper Sessions). Curator asks for 60s, which a server with the usual tick
	// makes 40s.
	Session time.Duration `yaml:"session,omitempty"`
	// Recipe is what the client does about errors: curator by default.
	Recipe Recipe `yaml:"recipe,omitempty"`
	// Watch is what a waiting client watches: its predecessor by default.
	Watch Watch `yaml:"watch,omitempty"`
	// Stop is when a holder stops of its own accord: never by default.
	Stop Stop `yaml:"stop,omitempty"`
	// Token is where the fencing token comes from: zxid by default.
	Token Token `yaml:"token,omitempty"`
	// Plain: the lock's own node stays for ever. By default it is a container, as
	// Curator makes it (creatingParentContainersIfNeeded), which the leader deletes
	// within about a minute after its last child.
	Plain bool `yaml:"plain,omitempty"`
	// Sync: whoever asks who holds the lock calls sync first.
	Sync bool `yaml:"sync,omitempty"`
	// Servers are those that a client knows, in the order in which it tries them: all
	// by default, n1 first. Real clients shuffle them.
	Servers map[string][]string `yaml:"servers,omitempty"`
}

// The defaults and bounds.
const (
	defaultTick        = 2 * time.Second
	defaultSession     = 10 * time.Second
	minTicks, maxTicks = 2, 20
)

// Recipe is what a client does about errors while it acquires.
type Recipe uint8

// The recipes.
const (
	// Curator puts a guid into the name of its node, by which it finds the node if the
	// reply to create() was lost, and asks again what a lost connection left unanswered.
	// What it could not delete it deletes as soon as it is connected again
	// (LockInternals; withProtection, guaranteed).
	Curator Recipe = iota
	// GoZookeeper has the guid, but where the children cannot be listed, Lock returns
	// the error and leaves the node behind (lock.go; samuel/go-zookeeper#229).
	GoZookeeper
	// WithoutGUID is Curator without the guid: it creates another node.
	WithoutGUID
)

var recipeNames = [...]string{Curator: "curator", GoZookeeper: "go-zookeeper", WithoutGUID: "without-guid"}

// Watch is what a waiting client watches.
type Watch uint8

// The watches.
const (
	// Predecessor is the next lower node: its end wakes one client.
	Predecessor Watch = iota
	// Parent is the lock's own node: each change of its children wakes all.
	Parent
)

var watchNames = [...]string{Predecessor: "predecessor", Parent: "parent"}

// Stop is when a client that holds the lock stops of its own accord, beside its
// release.
type Stop uint8

// When to stop.
const (
	// Never: it listens to nothing, as a program without a ConnectionStateListener.
	Never Stop = iota
	// Lost: when it is told that its session has expired, or when it has been without
	// a connection for the session's timeout (Curator's own estimate since 3.0;
	// ConnectionStateManager.checkSessionExpiration).
	Lost
	// Suspended: as soon as it has lost the connection, as Curator's documentation
	// strongly recommends.
	Suspended
)

var stopNames = [...]string{Never: "never", Lost: "lost", Suspended: "suspended"}

// Token is where a fencing token comes from.
type Token uint8

// The tokens.
const (
	// Zxid is the czxid of the holder's node.
	Zxid Token = iota
	// Sequence is the sequence number of the holder's node, plus one: a token 0 would
	// be none.
	Sequence
	// Random is a number that the client draws. It has no order.
	Random
)

var tokenNames = [...]string{Zxid: "zxid", Sequence: "sequence", Random: "random"}

// The names of the options, for specs.
func (r Recipe) MarshalText() ([]byte, error) { return []byte(option.Name(recipeNames[:], r)), nil }
func (w Watch) MarshalText() ([]byte, error)  { return []byte(option.Name(watchNames[:], w)), nil }
func (s Stop) MarshalText() ([]byte, error)   { return []byte(option.Name(stopNames[:], s)), nil }
func (t Token) MarshalText() ([]byte, error)  { return []byte(option.Name(tokenNames[:], t)), nil }

func (r *Recipe) UnmarshalText(text []byte) error {
	return option.Parse("recipe", recipeNames[:], text, r)
}
func (w *Watch) UnmarshalText(text []byte) error {
	return option.Parse("watch", watchNames[:], text, w)
}
func (s *Stop) UnmarshalText(text []byte) error { return option.Parse("stop", stopNames[:], text, s) }
func (t *Token) UnmarshalText(text []byte) error {
	return option.Parse("token", tokenNames[:], text, t)
}

// About is what has to be known of it.
func (Mutex) About() models.About {
	return models.About{
		Token:   "the zxid of the holder's node; or its sequence number, which begins anew when the lock's node is deleted",
		Clock:   "the leader's, monotonic, in ticks; the client's own for what it makes of a lost connection",
		Restart: "all that was synced: the tree and the sessions, which a new leader lets begin anew",
		Assumes: "a majority is up and remembers; the leader's clock is not faster than time by a tick in a session; a follower that dies has told the leader whom it has heard of",
	}
}

// Open puts up the ensemble.
func (o Mutex) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("zookeeper: %w", err)
	}
	l := &lock{Mutex: &o}
	group, err := raft.Open(w, o.Config, func(n *raft.Node) raft.Replica { return newServer(&o, n) })
	if err != nil {
		return nil, fmt.Errorf("zookeeper: %w", err)
	}
	for _, n := range group.Nodes() {
		l.servers = append(l.servers, n.Server())
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Mutex) complete() error {
	if err := o.Config.Complete(); err != nil {
		return err
	}
	o.Tick, o.Session = cmp.Or(o.Tick, defaultTick), cmp.Or(o.Session, defaultSession)
	switch {
	case o.Tick < 2*time.Millisecond || o.Tick%(2*time.Millisecond) != 0 || o.Tick > time.Hour:
		return fmt.Errorf("tick %v: want a multiple of 2ms, from 2ms to 1h", o.Tick)
	case o.Session < time.Millisecond || o.Session%time.Millisecond != 0:
		return fmt.Errorf("session %v: want whole milliseconds, at least 1ms", o.Session)
	}
	if err := cmp.Or(
		option.Check("recipe", recipeNames[:], o.Recipe), option.Check("watch", watchNames[:], o.Watch),
		option.Check("stop", stopNames[:], o.Stop), option.Check("token", tokenNames[:], o.Token),
	); err != nil {
		return err
	}
	for _, client := range slices.Sorted(maps.Keys(o.Servers)) {
		names := o.Servers[client]
		if len(names) == 0 {
			return fmt.Errorf("servers of %s: there is none", client)
		}
		for _, name := range names {
			if !o.has(name) {
				return fmt.Errorf("servers of %s: no server %q: want n1 to n%d", client, name, o.Nodes)
			}
		}
	}
	return nil
}

func (o *Mutex) has(name string) bool {
	for i := range o.Nodes {
		if name == fmt.Sprintf("n%d", i+1) {
			return true
		}
	}
	return false
}
