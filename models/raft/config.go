package raft

import (
	"fmt"
	"time"
)

// Config is the options of a group. The zero value of each is its default. A
// system takes it in with `yaml:",inline"`.
type Config struct {
	// Nodes is how many there are: 1 to 9, and 3 by default. They are called n1, n2
	// and so on.
	Nodes int `yaml:"nodes,omitempty"`
	// Heartbeat is how often a leader is heard of: every 100ms by default, as in
	// etcd (--heartbeat-interval; etcd.io, "Tuning").
	Heartbeat time.Duration `yaml:"heartbeat,omitempty"`
	// Election is for how long at least a node hears of no leader before it stands
	// for election, and for how long at most a leader goes on that hears of no
	// majority, less than twice: 1s by default, as in etcd (--election-timeout;
	// "Tuning"). It is a multiple of Heartbeat.
	Election time.Duration `yaml:"election,omitempty"`
	// Timeouts are the nodes' election timeouts, for each node one that never
	// changes, at least Election. By default each is drawn anew each time, from
	// Election to twice that, as Raft has it.
	Timeouts []time.Duration `yaml:"timeouts,omitempty"`
	// Fsync is how long the disk takes: 2ms by default, of a disk that can do 500
	// operations a second, as etcd recommends (etcd.io, "Hardware recommendations").
	Fsync time.Duration `yaml:"fsync,omitempty"`
	// NoFsync: nothing is synced, and a node acknowledges what a loss of power takes
	// back: all that it has written in this run. In etcd it is --unsafe-no-fsync.
	NoFsync bool `yaml:"no-fsync,omitempty"`
	// VoteByLength: a node votes for whoever has a log that is as long as its own,
	// whatever the terms in it. Raft compares the last terms first (Raft paper,
	// 5.4.1): this is the mistake.
	VoteByLength bool `yaml:"vote-by-length,omitempty"`
}

// The defaults.
const (
	defaultNodes     = 3
	maxNodes         = 9
	defaultHeartbeat = 100 * time.Millisecond
	defaultElection  = time.Second
	defaultFsync     = 2 * time.Millisecond
)

// Majority is how many of n nodes decide.
func Majority(n int) int { return n/2 + 1 }

// Complete fills in the defaults, and tells what is wrong with the options. [Open]
// calls it; a system that needs the defaults before may call it too.
func (c *Config) Complete() error {
	if c.Nodes == 0 {
		c.Nodes = defaultNodes
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = defaultHeartbeat
	}
	if c.Election == 0 {
		c.Election = defaultElection
	}
	switch {
	case c.Fsync != 0 && c.NoFsync:
		return fmt.Errorf("fsync %v and no-fsync: want one of them", c.Fsync)
	case c.Fsync == 0 && !c.NoFsync:
		c.Fsync = defaultFsync
	}
	return c.check()
}

func (c *Config) check() error {
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return fmt.Errorf("nodes %d: want 1 to %d", c.Nodes, maxNodes)
	case c.Heartbeat < time.Millisecond:
		return fmt.Errorf("heartbeat %v: want 1ms or more", c.Heartbeat)
	case c.Election < 2*c.Heartbeat || c.Election%c.Heartbeat != 0 || c.Election > time.Hour:
		return fmt.Errorf("election %v: want a multiple of heartbeat %v, at least twice that and at most 1h", c.Election, c.Heartbeat)
	case c.Fsync < 0:
		return fmt.Errorf("fsync %v: want more than 0", c.Fsync)
	case len(c.Timeouts) != 0 && len(c.Timeouts) != c.Nodes:
		return fmt.Errorf("timeouts %v: want one for each of %d nodes, or none", c.Timeouts, c.Nodes)
	}
	for _, d := range c.Timeouts {
		if d < c.Election {
			return fmt.Errorf("timeouts %v: want each at least election %v", c.Timeouts, c.Election)
		}
	}
	return nil
}
