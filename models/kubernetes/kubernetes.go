// Package kubernetes is the leader election of Kubernetes' client library: a Lease
// object that candidates update with optimistic concurrency, in an API server
// whose store is replicated.
//
// The candidate is that of client-go, tools/leaderelection/leaderelection.go. It
// acts on its own clock alone: a lease is over when the candidate has not seen the
// record change for LeaseDuration. What the record says of times counts for nothing
// (kubernetes/client-go#448), unless Expiry is RenewTime, the mistake.
//
// # The promise
//
// The package's documentation: who leads may count on nobody else leading as long
// as no clock runs faster than another by more than LeaseDuration / RenewDeadline. So
// the term of a grant is LeaseDuration, of which the part beyond RenewDeadline is
// what its clocks may be wrong by. That candidates are part of the service is the
// point: a double grant is their doing.
//
// # What is left out
//
// The wait between the attempts of a candidate, RetryPeriod and up to 1.2 times as
// much again (JitterFactor), is that of the script: "acquire every 2s jitter
// 2400ms". Each server of the group is an API server with its part of the store.
package kubernetes

import (
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/models/raft"
	"locksim/sim"
)

// LeaderElection is a lock that is held by leading. Its servers are called n1, n2
// and so on. The zero value of each option is its default.
type LeaderElection struct {
	raft.Config `yaml:",inline"`
	// LeaseDuration is for how long a candidate waits after it has seen the record
	// change: 15s by default.
	LeaseDuration time.Duration `yaml:"lease-duration,omitempty"`
	// RenewDeadline is for how long a leader tries to renew before it stops leading:
	// 10s by default.
	RenewDeadline time.Duration `yaml:"renew-deadline,omitempty"`
	// RetryPeriod is a leader's wait between two renewals, successful or not: 2s by
	// default.
	RetryPeriod time.Duration `yaml:"retry-period,omitempty"`
	// ReleaseOnCancel: who stops leading takes its name from the record. By default
	// it leaves the lease to run out.
	ReleaseOnCancel bool `yaml:"release-on-cancel,omitempty"`
	// Expiry is how a candidate tells that a lease is over.
	Expiry Expiry `yaml:"expiry,omitempty"`
	// StopAtOnce: a leader that finds another's name in the record stops leading. By
	// default it goes on to try until its RenewDeadline, as client-go does (renew:
	// PollImmediateUntil ends at success or at the deadline).
	StopAtOnce bool `yaml:"stop-at-once,omitempty"`
}

// The defaults are those of the core components.
const (
	defaultLease    = 15 * time.Second
	defaultDeadline = 10 * time.Second
	defaultRetry    = 2 * time.Second
	// jitter is client-go's JitterFactor, in tenths.
	jitter = 12
	// leastTimeout is that of a request, which is half the RenewDeadline if that is
	// more (resourcelock.NewFromKubeconfig).
	leastTimeout = time.Second
)

// About is what has to be known of it.
func (LeaderElection) About() models.About {
	return models.About{
		Token:   "none; the record counts its leaders, but client-go tells nobody",
		Clock:   "the candidates', monotonic, from when each saw the record change; the leader's, for its deadline",
		Restart: "the record, from the log",
		Assumes: "no clock is faster than another by LeaseDuration / (RenewDeadline + RetryPeriod); who leads is stopped by its own timer",
	}
}

// Open puts up the servers.
func (o LeaderElection) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	group, err := raft.Open(w, o.Config, func(*raft.Node) raft.Replica { return &replica{} })
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	return &lock{LeaderElection: o, group: group}, nil
}

// complete fills in the defaults and tells what is wrong with the options, as
// NewLeaderElector does.
func (o *LeaderElection) complete() error {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&o.LeaseDuration, defaultLease}, {&o.RenewDeadline, defaultDeadline}, {&o.RetryPeriod, defaultRetry}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	switch {
	case o.RetryPeriod < 0:
		return fmt.Errorf("retry-period %v: want more than 0", o.RetryPeriod)
	case o.RenewDeadline <= o.RetryPeriod*jitter/10:
		return fmt.Errorf("renew-deadline %v: want more than 1.2 times the retry-period %v", o.RenewDeadline, o.RetryPeriod)
	case o.LeaseDuration <= o.RenewDeadline:
		return fmt.Errorf("lease-duration %v: want more than the renew-deadline %v", o.LeaseDuration, o.RenewDeadline)
	case int(o.Expiry) >= len(expiryNames):
		return fmt.Errorf("expiry %d: there is none", o.Expiry)
	}
	return nil
}

// Expiry is how a candidate tells that a lease is over.
type Expiry uint8

// The ways to tell.
const (
	// Observed: LeaseDuration after it saw the record change, by its monotonic clock.
	Observed Expiry = iota
	// RenewTime: LeaseDuration after the time in the record, which is the leader's wall
	// clock, by its own wall clock. This is the mistake.
	RenewTime
)

var expiryNames = [...]string{Observed: "observed", RenewTime: "renew-time"}

// String is the way's name: "observed" or "renew-time".
func (e Expiry) String() string { return expiryNames[e] }

// MarshalText writes the way's name.
func (e Expiry) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a way's name.
func (e *Expiry) UnmarshalText(text []byte) error {
	return option.Parse("expiry", expiryNames[:], text, e)
}
