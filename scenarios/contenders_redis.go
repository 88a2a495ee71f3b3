package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/redis"
)

// keyed is a lock that is keys with a TTL, on one Redis or several. Its holders renew
// nothing and are told nothing: they have a deadline of their own, or none.
type keyed struct {
	// cost is how long a client that is alone takes from asking to believing.
	cost func(store string) time.Duration
	// deadline is how long after it has asked a client stops; 0 for one that
	// believes until it releases.
	deadline time.Duration
	// promised is how long after a client has asked the lock is promised.
	promised time.Duration
	// gives tells whether c2 gets the lock.
	gives func(fault string) bool
	// tokens are those of c1 and c2; nil without any.
	tokens func(fault string) (first, second int, disorder string)
}

// first is c1's tenure.
func (k *keyed) first(fault, store string) *tenure {
	from := k.cost(store)
	if fault == "pause-acquire" {
		from += paused
	}
	t := holder(fault, store, from)
	switch {
	case k.deadline > 0 && fault == "pause-after":
		t.to = t.write - hop // its deadline is over when it goes on, and it notices
	case k.deadline > 0:
		t.stop(countUp(k.deadline, slow(fault)))
	}
	return t
}

// second is c2's.
func (k *keyed) second(fault, store string) *tenure {
	t := successor(store, comes(fault)+k.cost(store))
	if k.deadline > 0 {
		t.stop(comes(fault) + k.deadline)
	}
	return t
}

// fate is what comes of the two.
func (k *keyed) fate(fault, store string) fate {
	var f fate
	switch {
	case fault == "pause-acquire" && k.deadline > 0:
		f.second = k.second(fault, store)
		f.why = fmt.Sprintf("c1 measures %s, more than %s, and refuses", short(paused+k.cost(store)), short(k.deadline))
	case !k.gives(fault):
		f.first = k.first(fault, store)
		f.why = "c2 gets nothing: the lock is c1's still"
	default:
		f.first, f.second = k.first(fault, store), k.second(fault, store)
		if comes(fault)+hop < k.promised {
			f.breaches = []string{check.DoubleGrant}
		}
	}
	if store == "fence" && k.tokens != nil {
		one, two, disorder := k.tokens(fault)
		f.number(one, two)
		f.disorder = disorder
	}
	return f
}

// majority is the row of a Redlock whose client holds exactly three of five nodes,
// as in the attacks of the essay: one node is enough.
func majority(name string, o redis.Redlock, restart string, predicted ...Mark) contender {
	o.Sends = redis.Parallel
	o.Order = map[string][]string{"c1": {"r1", "r2", "r3"}, "c2": {"r3", "r4", "r5"}}
	k := keyed{
		cost:     func(string) time.Duration { return ask },
		deadline: deadline(10 * time.Second),
		promised: deadline(10 * time.Second),
	}
	if o.SkipValidity {
		k.deadline = 0
	}
	keeps := o.Persistence == redis.Always || restart != briefly
	k.gives = func(fault string) bool {
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
	return contender{
		Row:    Row{Name: name, Predicted: predicted, Fenced: Nothing, Compared: Holds},
		target: target{servers: []string{"r1", "r2", "r3", "r4", "r5"}, victim: "r3", restart: restart, deciding: 3},
		system: func(string) models.System { return o },
		fate:   k.fate,
	}
}

// single is the row of one Redis, with its replica if it has one. Its token is fetched
// by a command of its own, after the lock.
func single(name string, o redis.SetNX, predicted ...Mark) contender {
	c := contender{
		Row:    Row{name, predicted, Breaks, Holds, true},
		target: target{servers: []string{"r1"}, victim: "r1", restart: briefly, deciding: 1},
		system: func(store string) models.System {
			o := o
			if store == "fence" {
				o.Token = redis.SeparateIncr
			}
			return o
		},
	}
	if o.Replicas > 0 {
		c.heir = "r2"
	}
	k := keyed{
		promised: 10*time.Second - 6*time.Millisecond,
		cost: func(store string) time.Duration {
			if store == "fence" {
				return 2 * ask
			}
			return ask
		},
		gives: func(fault string) bool { return fault != "none" && (fault != "failover" || o.Replicas > 0) },
		tokens: func(fault string) (int, int, string) {
			switch fault {
			case "restart", "restart-jump", "failover":
				return 1, 1, "the counter is lost with the key, and both have token 1"
			case "pause-acquire":
				return 2, 1, "c1 fetches its token after c2 has, and it is the greater"
			}
			return 1, 2, ""
		},
	}
	if o.Deadline {
		k.deadline = 10 * time.Second
		c.Fenced = Nothing // no such row was predicted, and its footnotes say nothing of tokens
	}
	c.fate = k.fate
	return c
}
