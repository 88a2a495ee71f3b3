package redis

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// SetNX is the lock on one Redis server: SET key value NX PX ttl, with a value
// that is random for each attempt. The server is called "r1", its replicas "r2" and
// so on.
//
// An attempt is one command after another, each a step of the client's: the GET
// of Check, SET, the PEXPIRE of Expire, WAIT, and the INCR of Token. So the INCR
// of an attempt with the other options as they are is its second "send".
//
// The zero value of each option is its default.
type SetNX struct {
	// TTL is how long a key lives, in whole milliseconds: 10s by default.
	TTL time.Duration `yaml:"ttl,omitempty"`
	// TTLs is the TTL of single clients, by the client's name; others have TTL.
	TTLs map[string]time.Duration `yaml:"ttls,omitempty"`
	// Release is how the client gives the lock up: by comparing on the server, as
	// it should.
	Release Release `yaml:"release,omitempty"`
	// Value is whose the random value is by which a client knows its lock: its own, by
	// default.
	Value Value `yaml:"value,omitempty"`
	// Extend is how the client asks for a new term: by comparing on the server, as it
	// should.
	Extend Extend `yaml:"extend,omitempty"`
	// Timeout of each request: 50ms by default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Persistence of the servers: none by default.
	Persistence Persistence `yaml:"persistence,omitempty"`
	// Eviction is what the servers do when their memory is full (maxmemory-policy):
	// noeviction by default, as in Redis.
	Eviction Eviction `yaml:"eviction,omitempty"`
	// Clock by which the servers expire keys: wall, as real Redis, by default.
	Clock Expiry `yaml:"clock,omitempty"`
	// ClientClock is the clock that a client with a deadline reads: monotonic by
	// default.
	ClientClock clock.Kind `yaml:"client-clock,omitempty"`
	// Deadline: the client measures how long its attempt took, refuses a lock whose
	// TTL is over by then, and stops believing in it TTL after the attempt began.
	// Without, as in the usual recipes, it believes until it releases.
	Deadline bool `yaml:"deadline,omitempty"`
	// Replicas is how many asynchronous replicas there are: none by default. A change
	// waits for Lag in a buffer of the primary before it is sent: it is lost if the
	// primary dies first.
	Replicas int           `yaml:"replicas,omitempty"`
	Lag      time.Duration `yaml:"lag,omitempty"`
	// MinReplicas is min-replicas-to-write: a primary refuses writes (NOREPLICAS) while
	// fewer replicas than that are connected and have reported within the last 10
	// seconds. 0 by default: it takes them all. With it replicas report every second,
	// so that a run ends only at its horizon.
	MinReplicas int `yaml:"min-replicas,omitempty"`
	// NoTTL: the key never expires, and the grant has no term. Who dies with the
	// lock keeps it for ever.
	NoTTL bool `yaml:"no-ttl,omitempty"`
	// Expire is how the key is given its expiry: with SET NX PX, as it should.
	Expire Expire `yaml:"expire,omitempty"`
	// Token is where a fencing token comes from: there is none by default, as in the
	// recipe of the Redis documentation.
	Token Token `yaml:"token,omitempty"`
	// Check is whom the client asks whether the lock is free: nobody by default.
	Check Check `yaml:"check,omitempty"`
	// Wait is for how many replicas the client waits, with WAIT behind its SET on the
	// same connection, no longer than WaitTimeout (100ms by default, in whole
	// milliseconds). Where fewer have acknowledged the key, it gives it back, in the
	// way that it releases, and the attempt has failed. 0 by default: it does not
	// wait.
	Wait        int           `yaml:"wait,omitempty"`
	WaitTimeout time.Duration `yaml:"wait-timeout,omitempty"`
}

// About is what has to be known of it.
func (SetNX) About() models.About {
	return models.About{
		Token:   "none; or INCR on the same server, in a second command or in the granting script",
		Clock:   "the server's wall clock, or a monotonic one; the client's only with a deadline",
		Restart: "nothing; or with an append-only file what was synced, and all that was written if only the process died",
		Assumes: "the server is up, its clock is not stepped and within 500 ppm, and it forgets nothing; a replica that takes over has all",
	}
}

// Open puts up the server, and its replicas.
func (o SetNX) Open(w *sim.World) (models.Lock, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("setnx: %w", err)
	}
	l := &setNX{SetNX: o, last: map[string]string{}}
	c := Config{o.Clock, o.Persistence, o.Eviction}
	if o.Replicas > 0 {
		l.group = openGroup(w, o.Replicas, c, o.Lag, o.MinReplicas)
	} else {
		l.group = &group{primary: w.Server("r1", openNode(w, "r1", c))}
	}
	return l, nil
}

// complete fills in the defaults and tells what is wrong with the options.
func (o *SetNX) complete() error {
	if o.NoTTL {
		switch {
		case o.TTL != 0:
			return fmt.Errorf("ttl %v and no-ttl: want one of them", o.TTL)
		case len(o.TTLs) != 0:
			return errors.New("ttls and no-ttl: want one of them")
		case o.Extend == PlainPExpire:
			return errors.New("extend pexpire and no-ttl: want one of them")
		case o.Expire == Separate:
			return errors.New("expire separate and no-ttl: want one of them")
		case o.Deadline:
			return errors.New("deadline and no-ttl: want one of them")
		}
	}
	if err := cmp.Or(
		checkTimes(&o.TTL, &o.Timeout),
		checkTTLs(o.TTLs),
		Config{o.Clock, o.Persistence, o.Eviction}.check(),
		checkClock(o.ClientClock),
		option.Check("release", releaseNames[:], o.Release),
		option.Check("value", valueNames[:], o.Value),
		option.Check("extend", extendNames[:], o.Extend),
		option.Check("expire", expireNames[:], o.Expire),
		option.Check("token", tokenNames[:], o.Token),
		option.Check("check", checkNames[:], o.Check),
	); err != nil {
		return err
	}
	if o.NoTTL {
		o.TTL = 0
	}
	if o.Token == ScriptIncr && (o.Expire == Separate || o.Check == CheckReplica) {
		return errors.New("token script: want it without expire separate and without check replica")
	}
	return o.completeReplicas()
}

// completeReplicas is complete for what replicas are good for.
func (o *SetNX) completeReplicas() error {
	switch {
	case o.Replicas < 0 || o.Replicas >= maxNodes:
		return fmt.Errorf("replicas %d: want 0 to %d", o.Replicas, maxNodes-1)
	case o.Lag < 0 || o.Lag > 0 && o.Replicas == 0:
		return fmt.Errorf("lag %v: want 0 or more, and only with replicas", o.Lag)
	case o.Check == CheckReplica && o.Replicas == 0:
		return errors.New("check replica: want a replica")
	case o.MinReplicas < 0 || o.MinReplicas > o.Replicas:
		return fmt.Errorf("min-replicas %d: want 0 to %d, the number of replicas", o.MinReplicas, o.Replicas)
	case o.Wait < 0 || o.Wait > o.Replicas:
		return fmt.Errorf("wait %d: want 0 to %d, the number of replicas", o.Wait, o.Replicas)
	case o.WaitTimeout != 0 && o.Wait == 0:
		return fmt.Errorf("wait-timeout %v: want it only with wait", o.WaitTimeout)
	}
	o.WaitTimeout = cmp.Or(o.WaitTimeout, defaultWaitTimeout)
	if o.WaitTimeout < time.Millisecond || o.WaitTimeout%time.Millisecond != 0 {
		return fmt.Errorf("wait-timeout %v: want whole milliseconds, at least 1ms", o.WaitTimeout)
	}
	return nil
}
