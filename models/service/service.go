// Package service is the lock service of the design: replicated by consensus, with
// sessions, a queue, and the index of the log as the fencing token.
//
// An acquire is a command that a majority commits; its place in the log is the
// token. A holder, or who waits for the lock, keeps its session alive over the
// connection to the leader; one that is silent for the TTL is put out, which is a
// command too. Who waits is queued, and told by a message when it is its turn:
// one message for each release. Whatever the leader answers without a command, it
// answers after it has confirmed with a majority that it leads.
//
// Who leads keeps the time of the sessions, on its monotonic clock, and a new
// leader gives each its whole TTL again, as etcd and Chubby do.
package service

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// Lock is the lock service. Its servers are called n1, n2 and so on. The zero
// value of each option is its default.
type Lock struct {
	raft.Config `yaml:",inline"`
	// TTL is for how long a session outlives the last that was heard of it: 10s by
	// default.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Beat is how often a client is heard of: a third of the TTL by default, in
	// whole milliseconds.
	Beat time.Duration `yaml:"beat,omitempty"`
	// Timeout of a request that does not queue: 1s by default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Read is how the leader answers who holds the lock: after it has confirmed that
	// it leads, as it should.
	Read Read `yaml:"read,omitempty"`
	// Token is what the fencing token is: the index of the log, as it should.
	Token Token `yaml:"token,omitempty"`
	// Wake is who is told that the lock is free: the next in the queue, as it should.
	Wake Wake `yaml:"wake,omitempty"`
	// Home is the node that a client by that name asks first: n1 by default. One that
	// is no leader names the leader, if it knows it; where there is no answer, the
	// client goes on to the next node.
	Home map[string]string `yaml:"home,omitempty"`
}

// About is what has to be known of it.
func (Lock) About() models.About {
	return models.About{
		Token:   "the index of the log at which the lock was asked for",
		Clock:   "the leader's monotonic clock; a new leader begins each term anew; the client's monotonic clock",
		Restart: "its log, synced before it acknowledges; a majority knows all that was granted",
		Assumes: "the leader's clock runs up to 500 ppm off; disks keep what they have synced",
	}
}

// The defaults.
const (
	defaultTTL     = 10 * time.Second
	defaultTimeout = time.Second
)

// Open puts up the servers.
func (o Lock) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("lock service: %w", err)
	}
	l := &lock{Lock: o, at: map[string]int{}, sessions: map[string]*session{}}
	group, err := raft.Open(w, o.Config, func(*raft.Node) raft.Replica { return &replica{options: &l.Lock} })
	if err != nil {
		return nil, fmt.Errorf("lock service: %w", err)
	}
	l.group = group
	for _, client := range slices.Sorted(maps.Keys(o.Home)) {
		node := group.Node(o.Home[client])
		if node == nil {
			return nil, fmt.Errorf("lock service: home of %s: no node %q", client, o.Home[client])
		}
		l.at[client] = node.Position()
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Lock) complete() error {
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Beat == 0 {
		o.Beat = (o.TTL / 3).Truncate(time.Millisecond)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	switch {
	case o.TTL < 10*time.Millisecond:
		return fmt.Errorf("ttl %v: want 10ms or more", o.TTL)
	case o.Beat < 0 || o.Beat >= o.TTL:
		return fmt.Errorf("beat %v: want more than 0, and less than the ttl %v", o.Beat, o.TTL)
	case o.Timeout < 0:
		return fmt.Errorf("timeout %v: want more than 0", o.Timeout)
	case int(o.Read) >= len(readNames):
		return fmt.Errorf("read %d: there is none", o.Read)
	case int(o.Token) >= len(tokenNames):
		return fmt.Errorf("token %d: there is none", o.Token)
	case int(o.Wake) >= len(wakeNames):
		return fmt.Errorf("wake %d: there is none", o.Wake)
	}
	return o.Config.Complete()
}
