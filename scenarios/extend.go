package scenarios

import (
	"fmt"
	"strconv"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// redlockExtend is R5: a Redlock client keeps the lock for longer than its TTL by
// giving the keys a new one on a majority of the nodes. What reaches only a minority
// has extended nothing.
func redlockExtend() *Scenario {
	reach, client := "all", "stops"
	s := &Scenario{
		Name: "redlock-extend", Pair: "pause",
		Claim:  "an extension on a majority keeps the lock for long work; one that reaches a minority has to end the work",
		Claims: []string{"R5", "S11", "S65"},
		Also:   []string{"reach=minority", "reach=minority client=deadline"},
	}
	s.Params = []Param{
		choice("reach", &reach, []string{"all", "minority"}, "whom c1 reaches from 6s on: all nodes, or r1 and r2"),
		choice("client", &client, []string{"stops", "deadline", "ignores"}, "what c1 does when an extension fails: it stops; it goes on until its deadline; it goes on and has none"),
	}
	s.Spec = func() trial.Spec {
		watch := "watch every 3300ms"
		if client != "stops" {
			watch += " ignore"
		}
		spec := trial.Spec{
			System:  redis.Redlock{SkipValidity: client == "ignores"},
			Cast:    two("acquire; "+watch+"; work 25s; write doc; release", "until 3s; acquire; write doc; work 1s; release"),
			Latency: sim.Every(hop),
			Horizon: 2 * time.Minute,
		}
		if reach == "minority" {
			spec.Schedule = faults.MustParse("at 6s  partition c1|r3,r4,r5")
		}
		return spec
	}
	s.Expect = func() Expectation { return extended(reach == "minority", client) }
	s.Control = func() Control {
		if reach == "minority" && client == "ignores" {
			return Control{s.Name, []string{"client=stops"}}
		}
		return Control{s.Name, []string{"reach=minority", "client=ignores"}}
	}
	return s
}

// extension is when a Redlock client that extends the lock so often, each time
// after the answers to the last, sends its n-th.
func extension(n int, every time.Duration) time.Duration {
	return acquisition + time.Duration(n)*every + time.Duration(n-1)*acquisition
}

// extended: c1's first extension is sent at 3.310 and gives every key 10 s; c1
// believes by it until 13.208. The second, at 6.620, does the same, or has r1 and r2
// and after three timeouts nothing. c2 gets the lock when it finds three nodes free.
func extended(minority bool, client string) Expectation {
	const timeout = 50 * time.Millisecond
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	worked := acquisition + longWork
	end1 := worked + ask // its write is answered
	free := released(end1)
	if minority {
		first, second := extension(1, watchEvery), extension(2, watchEvery)
		switch client {
		case "stops":
			end1 = second + 2*ask + 3*timeout
		case "deadline":
			end1 = first + deadline(watchTTL)
		}
		// r1 and r2 have what c1 gives them; the others expire.
		free = released(end1)
		for i := 2; i < 5; i++ {
			free[i] = first + time.Duration(i)*ask + hop + watchTTL + time.Millisecond
		}
	}
	accepted2 := polledMajority(3*time.Second, free)
	end2 := accepted2 + ask + time.Second
	e.Granted, e.Longest = []string{"c1", "c2"}, accepted2-3*time.Second
	e.Overlap = max(0, min(end1, end2)-accepted2)
	e.Belief = overlapping(e.Overlap)
	c1, c2 := "c1 "+short(end1-acquisition), "c2 "+short(end2-accepted2)
	e.Figures = []Figure{{beliefs, c1 + ", " + c2}}
	if end1 > end2 {
		e.Figures = []Figure{{beliefs, c2 + ", " + c1}}
		e.Damage = []string{check.StaleWrite}
	}
	e.Because = fmt.Sprintf("c1 believes from %s to %s; c2 finds three nodes free, and believes from %s to %s; overlap = %s",
		short(acquisition), short(end1), short(accepted2), short(end2), short(e.Overlap))
	return e
}

// released is when each node is free if a client that holds them all releases them
// from an instant on.
func released(from time.Duration) (free [5]time.Duration) {
	for i := range free {
		free[i] = from + time.Duration(i)*ask + hop
	}
	return free
}

// polledMajority is when a client that asks from an instant on, and again 100 ms
// after it has undone an attempt, has a majority of nodes that are free from the
// instants on that it is given.
func polledMajority(begins time.Duration, free [5]time.Duration) time.Duration {
	for {
		votes := 0
		for i := range free {
			if begins+time.Duration(i)*ask+hop >= free[i] {
				votes++
			}
		}
		if votes >= 3 {
			return begins + acquisition
		}
		begins += 2*acquisition + trial.DefaultEvery
	}
}

// redlockExtendCap is the other half of R5: the number of extensions has to be
// limited, or a client that never lets go keeps everybody out for ever.
func redlockExtendCap() *Scenario {
	times := "unlimited"
	s := &Scenario{
		Name:   "redlock-extend-cap",
		Pair:   "recipe",
		Claim:  "a client that extends for ever keeps everybody out for ever; a limit on extensions lets the next one in",
		Claims: []string{"R5", "T26"},
	}
	s.Params = []Param{choice("times", &times, []string{"1", "3", "10", "unlimited"}, "how often c1, which never ends, may extend its lock, every 3s")}
	const end = 45 * time.Second
	s.Spec = func() trial.Spec {
		limit := ""
		if times != "unlimited" {
			limit = " times " + times
		}
		return trial.Spec{
			System:  redis.Redlock{},
			Cast:    two("acquire; watch every 3s"+limit+"; work 1000h; release", "until 3s; acquire; release"),
			Latency: sim.Every(hop),
			Horizon: end,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if times == "unlimited" {
			e.Granted, e.Longest = []string{"c1"}, end-3*time.Second
			e.Because = "c1 extends to the end, at 45s; c2 has waited since 3s"
			return e
		}
		n, _ := strconv.Atoi(times) // the parameter allows no other word
		last := extension(n, 3*time.Second)
		stops := last + deadline(10*time.Second)
		accepted2 := polledMajority(3*time.Second, released(stops))
		e.Granted, e.Longest = []string{"c1", "c2"}, accepted2-3*time.Second
		e.Because = fmt.Sprintf("c1's last extension is sent at %s, by its deadline of %s it releases the lock; c2 has it at %s",
			short(last), short(stops), short(accepted2))
		return e
	}
	s.Control = func() Control { return turned(s.Name, "times", times, "unlimited", "3") }
	return s
}
