package scenarios

import (
	"time"

	"locksim/models"
	"locksim/models/redis"
)

// majority is the row of a Redlock whose client holds exactly three of five nodes,
// as in the attacks of the essay: one node is enough.
func majority(name string, o redis.Redlock, restart string, predicted ...Mark) contender {
	o.Sends = redis.Parallel
	o.Order = map[string][]string{"c1": {"r1", "r2", "r3"}, "c2": {"r3", "r4", "r5"}}
	l := lapsing{
		cost:     func(string) time.Duration { return ask },
		deadline: deadline(10 * time.Second),
		promised: deadline(10 * time.Second), decided: hop,
	}
	if o.SkipValidity {
		l.deadline = 0
	}
	keeps := o.Persistence == redis.Always || restart != briefly
	l.gives = func(fault string) bool {
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
		fate:   l.fate,
	}
}

// single is the row of one Redis, with its replica if it has one. Its token is fetched
// by a command of its own, after the lock.
func single(name string, o redis.SetNX, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Breaks, predicted),
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
	l := lapsing{
		promised: 10*time.Second - 6*time.Millisecond, decided: hop,
		cost: func(store string) time.Duration {
			if store == "fence" {
				return 2 * ask
			}
			return ask
		},
		gives: func(fault string) bool { return fault != "none" && (fault != "failover" || o.Replicas > 0) },
		tokens: func(fault, store string) (int, int, string) {
			if store != "fence" {
				return 0, 0, ""
			}
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
		l.deadline = 10 * time.Second
	}
	c.fate = l.fate
	return c
}

// everywhere is the row of a lock that all three servers must have: WAIT for both
// replicas, and a sync of every write. The token comes with the key, in one script.
func everywhere(name string, predicted ...Mark) contender {
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: target{servers: []string{"r1", "r2", "r3"}, victim: "r1", restart: briefly, heir: "r2", deciding: 2},
		system: func(string) models.System {
			return redis.SetNX{Replicas: 2, Wait: 2, Persistence: redis.Always, Deadline: true, Token: redis.ScriptIncr}
		},
	}
	l := lapsing{
		cost:     func(string) time.Duration { return waited },
		deadline: 10 * time.Second,
		promised: 10*time.Second - 6*time.Millisecond, decided: waited - hop,
		gives: func(fault string) bool {
			return fault != "none" && fault != "restart" && fault != "failover" // what all have, r2 has
		},
		tokens: func(string, string) (int, int, string) { return 1, 2, "" },
	}
	c.fate = l.fate
	return c
}
