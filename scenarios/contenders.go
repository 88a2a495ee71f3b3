package scenarios

import (
	"time"

	"locksim/models"
	"locksim/models/redis"
)

// contender is a row with what it takes to attack it.
type contender struct {
	Row
	// system is the lock for a store with that check.
	system func(store string) models.System
	// servers are those whose clocks drift; victim is the one that jumps, restarts or
	// fails over.
	servers []string
	victim  string
	// cost is how long a client that is alone takes from asking to believing.
	cost func(store string) time.Duration
	// deciding is which reply makes the client believe.
	deciding int
	// deadline is how long after it has asked a client stops; 0 for one that
	// believes until it releases.
	deadline time.Duration
	// promised is how long after a client has asked the lock is promised.
	promised time.Duration
	// restart is how the victim restarts, in a schedule's words.
	restart string
	// gives tells whether c2 gets the lock.
	gives func(fault string) bool
	// replica: one takes over when the victim dies.
	replica bool
	// askedLater: the token is fetched by a command of its own, after the lock.
	askedLater bool
}

// majority is the row of a Redlock whose client holds exactly three of five nodes,
// as in the attacks of the essay: one node is enough.
func majority(name string, o redis.Redlock, restart string, predicted ...Mark) contender {
	o.Sends = redis.Parallel
	o.Order = map[string][]string{"c1": {"r1", "r2", "r3"}, "c2": {"r3", "r4", "r5"}}
	c := contender{
		Row:      Row{Name: name, Predicted: predicted, Fenced: Nothing, Compared: Holds},
		system:   func(string) models.System { return o },
		servers:  []string{"r1", "r2", "r3", "r4", "r5"},
		victim:   "r3",
		cost:     func(string) time.Duration { return ask },
		deciding: 3,
		deadline: deadline(10 * time.Second),
		promised: deadline(10 * time.Second),
		restart:  restart,
	}
	if o.SkipValidity {
		c.deadline = 0
	}
	keeps := o.Persistence == redis.Always || restart != briefly
	c.gives = func(fault string) bool {
		switch fault {
		case "none", "failover":
			return false
		case "server-jump":
			return o.Clock == redis.Wall
		case "restart":
			return !keeps
		case "restart-jump":
			// What is on the disk is a date. A node that waits does so by its own clock.
			return !keeps || o.Persistence == redis.Always || o.Clock == redis.Wall
		}
		return true
	}
	return c
}

// single is the row of one Redis.
func single(name string, o redis.SetNX, predicted ...Mark) contender {
	c := contender{
		Row:        Row{name, predicted, Breaks, Holds, true},
		servers:    []string{"r1"},
		victim:     "r1",
		deciding:   1,
		promised:   10*time.Second - 6*time.Millisecond,
		restart:    briefly,
		askedLater: true,
		replica:    o.Replicas > 0,
	}
	if o.Deadline {
		c.deadline = 10 * time.Second
		c.Fenced = Nothing // no such row was predicted, and its footnotes say nothing of tokens
	}
	c.system = func(store string) models.System {
		o := o
		if store == "fence" {
			o.Token = redis.SeparateIncr
		}
		return o
	}
	c.cost = func(store string) time.Duration {
		if store == "fence" {
			return 2 * ask
		}
		return ask
	}
	c.gives = func(fault string) bool { return fault != "none" && (fault != "failover" || c.replica) }
	return c
}

// contenders are the rows of section 3b, and the two that turn: Redlock without
// step 3, and one Redis whose client has it.
func contenders() []contender {
	const y, n, na = Holds, Breaks, Nothing
	const wait = "power-loss 12s"
	return []contender{
		majority("redlock", redis.Redlock{}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-monotonic", redis.Redlock{Clock: redis.Monotonic}, briefly, n, y, y, n, y, n, n, na),
		majority("redlock-everysec", redis.Redlock{Persistence: redis.EverySec}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-fsync", redis.Redlock{Persistence: redis.Always}, briefly, n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-fsync", redis.Redlock{Clock: redis.Monotonic, Persistence: redis.Always}, briefly, n, y, y, n, y, y, n, na),
		majority("redlock-delayed", redis.Redlock{}, wait+" wall", n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-delayed", redis.Redlock{Clock: redis.Monotonic}, wait, n, y, y, n, y, y, y, na),
		majority("redlock-unmeasured", redis.Redlock{SkipValidity: true}, briefly, n, n, n, n, n, n, n, na),
		single("redis", redis.SetNX{}, n, n, n, na, na, n, n, na),
		single("redis-measured", redis.SetNX{Deadline: true}, n, y, n, n, n, n, n, na),
		single("redis-replica", redis.SetNX{Replicas: 1, Lag: time.Second}, n, n, n, na, na, n, n, n),
	}
}
