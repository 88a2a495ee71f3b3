// Package chubby is the lock service Chubby as its paper has it (Burrows, "The Chubby
// lock service for loosely-coupled distributed systems", OSDI 2006): sessions with
// leases, jeopardy and grace (section 2.8), lock-delay and sequencers (2.4), masters
// that fail over (2.9).
//
// # The promise
//
// For the lease of a session the master guarantees not to end it unilaterally (2.8). So
// the term of a grant is the lease, from the sending of the last KeepAlive that was
// answered, and behind it comes the lock-delay. The paper requires that the master's
// clock be faster than the client's by no more than a known factor; it does not say
// which. Here it is 1 %, which is the allowance, and by which the client takes its lease
// to be shorter than the master's.
//
// # What is left out
//
// A session serves one lock, is opened by acquiring it and ends with it; files, caches
// and events are left out. The master answers a KeepAlive at once and the client sends
// one every third of the lease, where Chubby's master keeps it back until the lease is
// almost over. The replicas agree by Raft in the place of Paxos. The master's own lease
// is a question to the replicas before each answer.
package chubby

import (
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// Lock is Chubby's. Its replicas are called n1, n2 and so on; there are five by
// default, as in a cell (2.2). The zero value of each option is its default.
type Lock struct {
	raft.Config `yaml:",inline"`
	// Lease of a session: 12s by default (2.8).
	Lease time.Duration `yaml:"lease,omitempty"`
	// Grace is how long a client whose lease is over goes on to look for a master
	// before it takes its session for lost: 45s by default (2.8).
	Grace time.Duration `yaml:"grace,omitempty"`
	// Delay is the lock-delay: none by default, at most 1m (2.4).
	Delay time.Duration `yaml:"delay,omitempty"`
	// IgnoreJeopardy: who uses the lock does not listen to the jeopardy event, and goes
	// on until its session is known to be lost. By default it does nothing meanwhile
	// (2.8: the application quiesces itself).
	IgnoreJeopardy bool `yaml:"ignore-jeopardy,omitempty"`
}

// The defaults, and the limits.
const (
	defaultCell  = 5
	defaultLease = 12 * time.Second
	defaultGrace = 45 * time.Second
	maxDelay     = time.Minute
	// faster is the part by which the master's clock may be faster than the client's.
	faster = 100
)

// About is what has to be known of it.
func (Lock) About() models.About {
	return models.About{
		Token:   "the generation number of the lock, which is part of its sequencer",
		Clock:   "the master's and the client's, monotonic, each for the lease",
		Restart: "locks and sessions, from the log; a new master extends every lease",
		Assumes: "a majority is up; the master's clock is at most 1 % faster than the client's",
	}
}

// Open puts up the replicas.
func (o Lock) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("chubby: %w", err)
	}
	l := &lock{Lock: o}
	group, err := raft.Open(w, o.Config, func(*raft.Node) raft.Replica { return &replica{options: &l.Lock} })
	if err != nil {
		return nil, fmt.Errorf("chubby: %w", err)
	}
	l.group = group
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Lock) complete() error {
	if o.Nodes == 0 {
		o.Nodes = defaultCell
	}
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	switch {
	case o.Lease < time.Second:
		return fmt.Errorf("lease %v: want 1s or more", o.Lease)
	case o.Grace < 0:
		return fmt.Errorf("grace %v: want more than 0", o.Grace)
	case o.Delay < 0 || o.Delay > maxDelay:
		return fmt.Errorf("delay %v: want 0s to 1m", o.Delay)
	}
	return nil
}
