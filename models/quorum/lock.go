package quorum

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"locksim/models"
	"locksim/sim"
)

// Lock is a lock on leaderless replicas. Its record under a key is the holder's
// value, a token and a term. To acquire the lock, a client
//
//  1. reads the record with a quorum of Read. Is there a holder, it is refused;
//  2. writes its own value, with the greatest token seen plus one, and goes on when
//     Write replicas have acknowledged that.
//
// A client that learns of fewer acknowledgements does not know whether it has the
// lock: its record stays where it arrived. To release, it reads the record, and
// deletes it where the value is still its own. The client stops believing a term
// after step 1 began, less the allowance, by its monotonic clock.
//
// Between the two steps, of acquiring as of releasing, anything may happen: that is
// what is wrong with it.
//
// The servers are called "r1", "r2" and so on. The zero value of each option is its
// default.
type Lock struct {
	// Nodes is how many replicas there are: 3 by default.
	Nodes int `yaml:"nodes,omitempty"`
	// Write and Read are the quorums, 1 to Nodes: a majority by default.
	Write int `yaml:"write,omitempty"`
	Read  int `yaml:"read,omitempty"`
	// ReadRepair: a reader brings the replicas that answered it with less up to
	// date, and waits for that, before it goes on.
	ReadRepair bool `yaml:"read-repair,omitempty"`
	// TTL is the term of the lock: 10s by default.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// Timeout is how long a client waits for a quorum: 1s by default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// About is what has to be known of it.
func (Lock) About() models.About {
	return models.About{
		Token:   "the greatest seen by a quorum plus one: two that ask at once get the same",
		Clock:   "a date by the writer's wall clock, held against each replica's; the client's monotonic one",
		Restart: "nothing: the lock is forgotten, and the tokens with it",
		Assumes: "nobody else asks between a client's read and its write; all wall clocks in step; no replica forgets",
	}
}

// maxNodes bounds the number of replicas: far more than anybody runs.
const maxNodes = 99

// Open puts up the replicas.
func (o Lock) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("quorum: %w", err)
	}
	l := &lock{Lock: o}
	for i := range o.Nodes {
		l.nodes = append(l.nodes, w.Server("r"+strconv.Itoa(i+1), &node{}))
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *Lock) complete() error {
	o.Nodes = cmp.Or(o.Nodes, 3)
	if o.Nodes < 1 || o.Nodes > maxNodes {
		return fmt.Errorf("nodes %d: want 1 to %d", o.Nodes, maxNodes)
	}
	o.Write, o.Read = cmp.Or(o.Write, o.Nodes/2+1), cmp.Or(o.Read, o.Nodes/2+1)
	o.TTL, o.Timeout = cmp.Or(o.TTL, 10*time.Second), cmp.Or(o.Timeout, time.Second)
	switch {
	case o.Write < 1 || o.Write > o.Nodes:
		return fmt.Errorf("write %d: want 1 to %d, the number of nodes", o.Write, o.Nodes)
	case o.Read < 1 || o.Read > o.Nodes:
		return fmt.Errorf("read %d: want 1 to %d, the number of nodes", o.Read, o.Nodes)
	case o.TTL < 0:
		return fmt.Errorf("ttl %v: want more than 0", o.TTL)
	case o.Timeout < 0:
		return fmt.Errorf("timeout %v: want more than 0", o.Timeout)
	}
	return nil
}

// allowance is the part of the term that is not promised, for clocks that run at
// different rates: 500 ppm, which NTP tolerates.
func (o *Lock) allowance() time.Duration { return o.TTL / 2000 }
