package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// fencedDoc is doc behind a fence.
func fencedDoc() models.Resource { return resource.Fenced("doc") }

// two is a cast of two clients, c1 and c2, who write to doc.
func two(c1, c2 string) trial.Cast {
	return trial.Cast{
		Resources: []models.Resource{resource.Plain("doc")},
		Clients:   []trial.Client{{Name: "c1", Script: trial.MustScript(c1)}, {Name: "c2", Script: trial.MustScript(c2)}},
	}
}

// serverDown is T15, S24 and K2: one Redis that is down serves nobody; one of five
// is not missed.
func serverDown() *Scenario {
	system := "single"
	s := &Scenario{
		Name: "server-down", Pair: "overkill",
		Claim:  "when the only Redis is down nobody gets a lock; one of five is not missed",
		Claims: []string{"T15", "K2", "S43", "S18"},
	}
	s.Params = []Param{choice("system", &system, []string{"single", "redlock"}, "one Redis, or five")}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:   redis.SetNX{},
			Cast:     trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; release")}}},
			Schedule: faults.MustParse("at 500ms  restart r1 kill 1h"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
		if system == "redlock" {
			spec.System = redis.Redlock{}
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "four of five nodes say OK"}
		if system == "single" {
			e.Progress, e.Because = check.Stalled, "the only node is down until the end, at 1m"
		}
		return e
	}
	s.Control = func() Control { return turned("server-down", "system", system, "single", "redlock") }
	return s
}

// holderDies is S6, T2, T4 and H8: the holder dies, and who has not given the
// key a term in the same step has locked for ever.
func holderDies() *Scenario {
	expire := "none"
	s := &Scenario{
		Name:   "holder-dies",
		Pair:   "recipe",
		Claim:  "a lock without a term, or with one set too late, is never free again when its holder dies",
		Claims: []string{"S6", "T2", "T4", "A1", "H8"},
	}
	s.Params = []Param{choice("expire", &expire, []string{"none", "separate", "px"}, "how the key gets its term: not, by a second command, by SET NX PX")}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second}
		death := "at 1s  kill c1"
		switch expire {
		case "none":
			system = redis.SetNX{NoTTL: true}
		case "separate":
			system.Expire = redis.Separate
			death = "before c1.send#2  kill c1" // its PEXPIRE
		}
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 5s; release")},
				{Name: "c2", Script: trial.MustScript("until 2s; acquire; release")},
			}},
			Schedule: faults.MustParse(death),
			Latency:  sim.Every(hop),
			Horizon:  time.Hour,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.Stalled}
		switch expire {
		case "px":
			e.Progress, e.Because = check.OK, "the key is gone after 10s, and c2's next attempt gets it"
		case "separate":
			e.Because = "c1 dies before its PEXPIRE: the key stands to the end, at 1h"
		default:
			e.Because = "the key has no term: it stands to the end, at 1h"
		}
		return e
	}
	s.Control = func() Control { return turned("holder-dies", "expire", expire, "px", "none") }
	return s
}

// clockJump is S29, T18, R8 and K10 on one Redis: forward, the lock is given away;
// back, it outlives its term.
func clockJump() *Scenario {
	jump, clock := "+11s", "wall"
	s := &Scenario{
		Name: "clock-jump", Pair: "clock",
		Claim:  "when the clock of the only Redis jumps ahead, the lock is given away; when it jumps back, it outlives its term",
		Claims: []string{"S29", "T18", "R8", "R9", "S42"},
	}
	s.Params = []Param{
		choice("jump", &jump, []string{"+11s", "-60s"}, "how the clock of r1 jumps at 2s"),
		choice("clock", &clock, []string{"wall", "monotonic"}, "by which keys expire"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second}
		mustText(&system.Clock, clock)
		c1 := "acquire; work 8s; write doc; release"
		if jump == "-60s" {
			c1 = "acquire; work 1s" // and goes without a release
		}
		return trial.Spec{
			System:   system,
			Cast:     two(c1, "until 3s; acquire; work 1s; write doc; work 10s; release"),
			Schedule: faults.MustParse("at 2s  clock-step r1 " + jump),
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		switch {
		case clock == "monotonic":
			e.Because = "the monotonic clock does not notice; c2 gets the lock when c1 has released it or 10s after it was set"
		case jump == "-60s":
			e.Because = "c1's key stands until its date, 60s later: c2 waits for it from 3s to 70s"
		default:
			// c1 believes from 0.002 to 8.004, c2 from 3.002; c1's write is the older grant's.
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
			e.Belief, e.Overlap = check.Overlapping, 5002*time.Millisecond
			e.Damage = []string{check.StaleWrite}
			e.Because = "c1's key expires when r1's clock shows 10.001s, and after the jump c2 asks when it shows 14.001s; overlap = 8.004s - 3.002s"
		}
		return e
	}
	s.Control = func() Control {
		return Control{"clock-jump", []string{"clock=" + map[string]string{"wall": "monotonic", "monotonic": "wall"}[clock], "jump=+11s"}}
	}
	return s
}

// replicaRead is S19: the free lock that a lagging replica shows is taken.
func replicaRead() *Scenario {
	lag := 100 * time.Millisecond
	s := &Scenario{
		Name: "replica-read", Pair: "copies",
		Claim:  "who asks a replica whether the lock is free is told what was true a moment ago",
		Claims: []string{"S19", "K2"},
	}
	s.Params = []Param{milliseconds("lag", &lag, 0, time.Second, "how far the replica is behind")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:  redis.SetNX{TTL: 10 * time.Second, Replicas: 1, Lag: lag, Check: redis.CheckReplica},
			Cast:    two("acquire; work 5s; release", "until 50ms; try; work 6s; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	// c1's SET is at r1 at 0.003 and at r2 a lag and a hop later; c2's GET is at r2 at
	// 0.051, and it accepts at 0.054. c1 releases at 5.004, and finds another's key.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		arrives := 3*time.Millisecond + lag + hop
		if arrives <= 51*time.Millisecond {
			e.Because = fmt.Sprintf("r2 has c1's key at %s, before c2 asks it at 51ms", short(arrives))
			return e
		}
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, 5004*time.Millisecond-54*time.Millisecond
		e.Because = fmt.Sprintf("r2 has c1's key at %s, c2 asks it at 51ms; overlap = 5.004s - 54ms", short(arrives))
		return e
	}
	s.Control = func() Control {
		if lag > 47*time.Millisecond {
			return Control{"replica-read", []string{"lag=0s"}}
		}
		return Control{"replica-read", []string{"lag=1s"}}
	}
	return s
}

// waitFailover is R7 and H5: WAIT refuses a lock that no replica has, so the
// failover loses none.
func waitFailover() *Scenario {
	wait, work, after, again := "on", 5*time.Second, time.Duration(0), time.Second
	s := &Scenario{
		Name: "wait-failover", Pair: "copies",
		Claim:  "a client that waits for the replica refuses the lock that the failover would have lost",
		Claims: []string{"H5"},
	}
	s.Params = []Param{
		choice("wait", &wait, []string{"on", "off"}, "whether the client asks with WAIT that a replica has the key"),
		milliseconds("work", &work, 5*time.Second, 8*time.Second, "how long c1 works"),
		milliseconds("takeover", &after, 0, 4900*time.Millisecond, "how long after the primary's death, at 100ms, the replica takes over"),
		milliseconds("c2-at", &again, time.Second, 6*time.Second, "when c2 asks"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second, Replicas: 1, Lag: 200 * time.Millisecond}
		if wait == "on" {
			system.Wait, system.WaitTimeout = 1, 50*time.Millisecond
		}
		return trial.Spec{
			System: system,
			Cast:   two("try; work "+work.String()+"; release", "until "+again.String()+"; try; work 6s; release"),
			Schedule: faults.Schedule{{
				Anchor: faults.At(100 * time.Millisecond), Action: faults.Failover{Primary: "r1", Replica: "r2", After: after},
			}},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation { return unreplicated(wait == "on", work, after, again) }
	s.Control = func() Control { return Control{s.Name, []string{"wait=" + other(wait)}} }
	return s
}

// unreplicated: r1 has c1's key at 1 ms and dies at 100 ms, before r2 would have it. When
// r2 has taken over, c1 is told there that it holds nothing, long before its term is
// over. A c2 that asks before that asks r1; so does one that asks at that very instant,
// since it was set to do so before r1 died, unless r2 takes over as r1 dies.
func unreplicated(on bool, work, after, again time.Duration) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	if on {
		e.Because = "r2 would have the key at 202ms; c1's WAIT reaches r1 at 3ms and ends at 53ms with no replica, and c1 has given the key back at 56ms; afterwards there is no replica, and c2 gets nothing either"
		return e
	}
	promoted := 100*time.Millisecond + after
	early := again < promoted || again == promoted && after > 0
	end1, accepted2 := ask+work, again+ask
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
	e.Because = fmt.Sprintf("r1 dies at 100ms, before r2 has the key, which would be at 202ms; r2 takes over at %s", short(promoted))
	switch {
	case early:
		e.Breaches = e.Breaches[1:]
		e.Because += fmt.Sprintf("; c2 has asked the old primary at %s, in vain", short(again))
		return e
	case accepted2 >= end1:
		e.Because += fmt.Sprintf("; c1 stops at %s, and c2 has the lock at %s", short(end1), short(accepted2))
	default:
		end := min(end1, accepted2+6*time.Second)
		e.Belief, e.Overlap = check.Overlapping, end-accepted2
		e.Because += fmt.Sprintf("; overlap = %s - %s", short(end), short(accepted2))
	}
	if accepted2 >= end1+ask { // c1 has its answer
		e.Breaches = []string{check.LostLease, check.DoubleGrant}
	}
	return e
}

// redlockOffset is S39: clocks may be hours apart, as long as they run alike.
func redlockOffset() *Scenario {
	s := &Scenario{
		Name: "redlock-offset", Pair: "clock",
		Claim:  "clocks that are hours apart do no harm: Redlock measures durations, not dates",
		Claims: []string{"S39", "A7"},
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   redis.Redlock{},
			Cast:     two("until 1s; acquire; work 5s; write doc; release", "until 2s; acquire; work 1s; write doc; release"),
			Schedule: faults.MustParse("at 0s  clock-step r1 +1h\nat 0s  clock-step r2 -1h\nat 0s  clock-step r4 +1h\nat 0s  clock-step c2 -1h"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		return Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Because: "each node counts the TTL from its own date, each client from its own reading"}
	}
	s.Control = func() Control { return Control{Name: "redlock-clock-jump"} }
	return s
}

// localLock is S1: a lock in each process's own memory excludes nobody else.
func localLock() *Scenario {
	where, instances := "local", "5"
	s := &Scenario{
		Name:   "local-lock",
		Pair:   "jobs",
		Claim:  "instances that each have a lock in their own memory all run the job",
		Claims: []string{"S1", "T1", "K1", "S5"},
	}
	s.Params = []Param{
		choice("lock", &where, []string{"local", "shared"}, "whether each instance has a lock of its own, or all share one"),
		choice("instances", &instances, []string{"2", "5", "10"}, "how many there are"),
	}
	count := func() int {
		n, _ := strconv.Atoi(instances) // the parameter allows numbers alone
		return n
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{System: redis.SetNX{}, Latency: sim.Every(hop)}
		spec.Cast.Resources = []models.Resource{resource.Mailer{Called: "mailer"}}
		for i := range count() {
			name := fmt.Sprintf("c%d", i+1)
			key := map[string]string{"local": "in-" + name, "shared": "job"}[where]
			script := strings.ReplaceAll("try KEY; do mailer report; work 1s; release KEY", "KEY", key)
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{Name: name, Script: trial.MustScript(script)})
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "one instance gets the one lock"}
		if where == "local" {
			e.Because = fmt.Sprintf("each gets its own lock: %d runs, all but one in vain", count())
			for range count() - 1 {
				e.Damage = append(e.Damage, check.DuplicateEffect)
			}
		}
		return e
	}
	s.Control = func() Control { return turned("local-lock", "lock", where, "local", "shared") }
	return s
}

// jobAfterRelease is T11 and S60: a lock keeps two runs apart in time; it does not
// make them one.
func jobAfterRelease() *Scenario {
	mark := "off"
	s := &Scenario{
		Name:   "job-after-release",
		Pair:   "jobs",
		Claim:  "an instance that starts after the first has released does the work again; only a mark on the work prevents it",
		Claims: []string{"T11", "S60", "S4"},
	}
	s.Params = []Param{choice("mark", &mark, []string{"off", "on"}, "whether each invoice is marked as sent")}
	s.Spec = func() trial.Spec {
		const mails = "try; do mailer invoice-1; do mailer invoice-2; do mailer invoice-3; release"
		return trial.Spec{
			System: redis.SetNX{TTL: 5 * time.Second},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "mailer", Idempotent: mark == "on"}},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript(mails)},
					{Name: "c2", Script: trial.MustScript("until 1s; " + mails)},
				},
			},
			Latency: sim.Every(hop),
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "6 requests, 3 mails: each is marked"}
		if mark == "off" {
			e.Damage = []string{check.DuplicateEffect, check.DuplicateEffect, check.DuplicateEffect}
			e.Because = "two instances, one after the other: 6 mails"
		}
		return e
	}
	s.Control = func() Control { return Control{"job-after-release", []string{"mark=" + other(mark)}} }
	return s
}
