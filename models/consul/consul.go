// Package consul is the lock of Consul: sessions, a key that a session acquires,
// and the lock of its Go client (hashicorp/consul, api/lock.go).
//
// What a session and a key do is that of agent/consul/state/{session,kvs}.go; the
// time of a session that of agent/consul/session_ttl.go, the lock-delay that of
// agent/consul/kvs_endpoint.go, where it is checked by the leader before a command
// is proposed.
//
// # The promise
//
// A TTL is a lower bound: "Consul will not expire the session before the TTL is
// reached, but it is allowed to delay the expiration" (docs, "Sessions"). So the term
// of a grant is the TTL, from the sending of the last renewal that was acknowledged,
// and its lock-delay comes behind it. What servers do is to wait for twice the TTL
// (SessionTTLMultiplier), which is their allowance for the network and for clocks:
// no other is taken from the term.
//
// # What is left out
//
// Health checks: a session ends by its TTL alone. The behaviour "delete". The agent
// on the client's machine, which never fails here; a server that does not lead sends
// it on to the leader, where Consul's passes the request on, in as many hops.
package consul

import (
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/option"
	"locksim/models/raft"
	"locksim/sim"
)

// Lock is Consul's. Its servers are called n1, n2 and so on. The zero value of
// each option is its default.
type Lock struct {
	raft.Config `yaml:",inline"`
	// TTL of a session: 15s by default (api.DefaultLockSessionTTL), from 10s to 24h
	// (session_ttl_min and structs.SessionTTLMax).
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Delay is the lock-delay: 15s by default, at most 60s. A delay of 0 is the
	// default, as it was in Consul (hashicorp/consul#4508); NoDelay is none.
	Delay   time.Duration `yaml:"delay,omitempty"`
	NoDelay bool          `yaml:"no-delay,omitempty"`
	// Token is what a holder takes for its fencing token: none by default, as in the
	// Go client.
	Token Token `yaml:"token,omitempty"`
	// Put: who has got the lock writes its name into the key with a plain PUT. By
	// default it comes with the acquire.
	Put bool `yaml:"put,omitempty"`
}

// The limits, and the defaults.
const (
	minTTL       = 10 * time.Second // agent/config: session_ttl_min
	maxTTL       = 24 * time.Hour   // structs.SessionTTLMax
	defaultTTL   = 15 * time.Second // api.DefaultLockSessionTTL
	maxDelay     = 60 * time.Second // structs.MaxLockDelay
	defaultDelay = 15 * time.Second // agent/session_endpoint.go
	// multiplier is by how much longer than its TTL a server lets a session live
	// (structs.SessionTTLMultiplier).
	multiplier = 2
)

// About is what has to be known of it.
func (Lock) About() models.About {
	return models.About{
		Token:   "none in the client; the key's ModifyIndex rises, its LockIndex is lost with a plain PUT",
		Clock:   "the leader's, monotonic, for twice the TTL; the client has none",
		Restart: "sessions and keys, from the log; a new leader gives each session twice its TTL again",
		Assumes: "a majority is up; the leader's clock is no faster than time where there is a lock-delay, and at most twice as fast where there is none",
	}
}

// Open puts up the servers.
func (o Lock) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("consul: %w", err)
	}
	group, err := raft.Open(w, o.Config, func(*raft.Node) raft.Replica { return &replica{} })
	if err != nil {
		return nil, fmt.Errorf("consul: %w", err)
	}
	return &lock{Lock: o, group: group}, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Lock) complete() error {
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	switch {
	case o.TTL < minTTL || o.TTL > maxTTL:
		return fmt.Errorf("ttl %v: want 10s to 24h", o.TTL)
	case o.Delay < 0 || o.Delay > maxDelay:
		return fmt.Errorf("delay %v: want 0s to 60s", o.Delay)
	case o.Delay != 0 && o.NoDelay:
		return fmt.Errorf("delay %v and no-delay: want one of them", o.Delay)
	case int(o.Token) >= len(tokenNames):
		return fmt.Errorf("token %d: there is none", o.Token)
	}
	if o.Delay == 0 && !o.NoDelay {
		o.Delay = defaultDelay
	}
	return nil
}

// Token is what a holder takes for its fencing token.
type Token uint8

// The tokens.
const (
	// NoToken: there is none.
	NoToken Token = iota
	// ModifyIndex is the index of the log at which the key was changed last, read
	// from the key after the acquire.
	ModifyIndex
	// LockIndex is how often the key was acquired, read in the same way. The
	// documentation has it in its sequencer. A plain PUT takes it to 0, held or not:
	// this is the mistake.
	LockIndex
)

var tokenNames = [...]string{NoToken: "none", ModifyIndex: "modify-index", LockIndex: "lock-index"}

// String is the token's name: "none", "modify-index" or "lock-index".
func (t Token) String() string { return tokenNames[t] }

// MarshalText writes the token's name.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a token's name.
func (t *Token) UnmarshalText(text []byte) error {
	return option.Parse("token", tokenNames[:], text, t)
}
