package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// oppositeOrder is S66: two clients that need two locks each, on one Redis.
func oppositeOrder() *Scenario {
	order, ttl, dog, deadlines, apart := "opposite", "none", "off", "off", 20*time.Millisecond
	s := &Scenario{
		Name: "opposite-order-deadlock", Pair: "jobs",
		Claim:  "two clients that take two locks in opposite order wait for each other for ever, or without a watchdog for a TTL, which lets both in at once; in one order both finish",
		Claims: []string{"S66", "S11", "A1"},
		Also:   []string{"ttl=10s", "ttl=10s deadline=on", "ttl=10s watchdog=on", "ttl=10s apart=1.001s", "apart=1.002s"},
	}
	s.Params = []Param{
		choice("order", &order, []string{"opposite", "same"}, "in which order the clients take a and b"),
		choice("ttl", &ttl, []string{"none", "5s", "10s", "30s"}, "PX of the keys"),
		choice("deadline", &deadlines, []string{"off", "on"}, "whether a client stops when its own TTL is over, where there is one"),
		choice("watchdog", &dog, []string{"on", "off"}, "whether each client extends what it holds, every 3.3s"),
		milliseconds("apart", &apart, 0, 20*time.Second, "how much later than c1 c2 begins, and half a millisecond"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{NoTTL: ttl == "none"}
		if ttl != "none" {
			system.TTL, system.Deadline = px(ttl), deadlines == "on"
		}
		c1, c2 := bothLocks("a", "b", dog), bothLocks("b", "a", dog)
		if order == "same" {
			c2 = c1
		}
		cast := guarding(resource.Plain("doc"), c1, c2)
		startAt(&cast.Clients[1], apart+beside)
		return trial.Spec{System: system, Cast: cast, Latency: sim.Every(hop), Horizon: deadlockEnd}
	}
	s.Expect = func() Expectation {
		begins := apart + beside
		switch {
		case order == "same":
			return oneAfterOther(begins, "a", second+9*hop+time.Second)
		case begins > second: // c1 asks for b first
			return oneAfterOther(begins, "b", second+7*hop+time.Second)
		case ttl == "none" || dog == "on":
			return Expectation{
				Promise: check.Kept, Belief: check.Exclusive, Progress: check.Deadlocked, Granted: []string{"c1", "c2"}, Longest: deadlockEnd - second,
				Because: fmt.Sprintf("c1 has a and asks for b from %s on, c2 has b: neither key ends before the run, at %s", short(second), short(deadlockEnd)),
			}
		case deadlines == "on":
			return givenUp(begins, px(ttl))
		}
		return expiredInto(begins, px(ttl))
	}
	s.Control = func() Control { return turned(s.Name, "order", order, "opposite", "same") }
	return s
}

const (
	// beside is by how much c2 is off the milliseconds of c1, so that they never meet at
	// one instant.
	beside = hop / 2
	// deadlockEnd is the horizon, later than all that can happen but a deadlock.
	deadlockEnd = 2 * time.Minute
	// second is how long after its begin a client that need not wait for its first lock
	// asks for its second.
	second = 2*hop + time.Second
)

// px is a TTL that the parameter allows.
func px(ttl string) time.Duration {
	d, err := time.ParseDuration(ttl)
	if err != nil {
		panic(err)
	}
	return d
}

// bothLocks takes two locks, changes doc and gives them back in the other order.
func bothLocks(first, then, dog string) string {
	acquire := func(key string) string {
		if dog == "on" {
			return "acquire " + key + "; watch " + key + " every 3300ms; "
		}
		return "acquire " + key + "; "
	}
	return acquire(first) + "work 1s; " + acquire(then) + "read doc; work 1s; write doc; release " + then + "; release " + first
}

// oneAfterOther: c1 has both locks until its DEL of the one that c2 waits for arrives at gone.
func oneAfterOther(begins time.Duration, key string, gone time.Duration) Expectation {
	seen := polled(begins+hop, gone)
	return Expectation{
		Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
		Granted: []string{"c1", "c1", "c2", "c2"}, Longest: seen + hop - begins,
		Because: fmt.Sprintf("c1's DEL of %s arrives at %s, c2's next SET, or first, at %s; each has both locks in its turn", key, short(gone), short(seen)),
	}
}

// expiredInto: each has its first lock and polls for the other's, until that expires.
// Both go on: who got its second lock at an instant reads doc a hop later than it is
// told, writes four hops and a second later, and believes in that lock until five, in
// its first until seven hops and a second later.
func expiredInto(begins, ttl time.Duration) Expectation {
	goneA, goneB := hop+ttl+time.Millisecond, (begins+hop).Truncate(time.Millisecond)+ttl+time.Millisecond
	gotB, gotA := polled(second+hop, goneB), polled(begins+second+hop, goneA) // by c1, by c2
	e := Expectation{Promise: check.Kept, Progress: check.OK, Granted: []string{"c1", "c2", "c1", "c2"}}
	if gotA < gotB {
		e.Granted = []string{"c1", "c2", "c2", "c1"}
	}
	e.Longest = max(gotB, gotA-begins) + hop - second
	inA := min(gotB+7*hop, gotA+5*hop) + time.Second - (gotA + hop)
	inB := min(gotB+5*hop, gotA+7*hop) + time.Second - (gotB + hop)
	e.Overlap = max(0, inA) + max(0, inB)
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("a is gone at %s and c2 has it at %s, b at %s and c1 has it at %s: both work, each with a lock that is over; overlap = %s on a, %s on b",
		short(goneA), short(gotA), short(goneB), short(gotB), short(max(0, inA)), short(max(0, inB)))
	if gotB+2*hop < gotA+4*hop+time.Second {
		e.Damage = []string{check.LostUpdate}
		e.Because += "; both have read doc when the first writes it"
	}
	return e
}

// givenUp: c1's deadline comes in a wait between two attempts at b, and its DEL of a
// arrives a hop later. c2 asks until its own, and if it then has a, has not worked for
// a second before that is over.
func givenUp(begins, ttl time.Duration) Expectation {
	const period = trial.DefaultEvery + ask
	asked := second + (ttl-second)/period*period // after its begin, at the latest
	e := Expectation{
		Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}, Longest: asked + ask - second,
		Because: fmt.Sprintf("c1 gives up and frees a at %s, c2 asks for it until %s and gives up at %s", short(ttl+hop), short(begins+asked+hop), short(begins+ttl)),
	}
	if begins+asked+hop >= ttl+hop {
		e.Granted = append(e.Granted, "c2")
		e.Because += ", when it has both and is not done"
	}
	return e
}

// polled is when the first attempt of a client whose first arrives at an instant, and
// the others every 102 ms, is there when the key is gone.
func polled(first, gone time.Duration) time.Duration {
	const period = trial.DefaultEvery + ask
	if first >= gone {
		return first
	}
	return first + (gone-first+period-1)/period*period
}
