package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// caseH1 is the essay's own example, which stands for any lock with a term.
func caseH1() *Scenario {
	return gcPause().retold("case-h01",
		"Kleppmann 2016, on any lease: a client that was paused for longer than its lease writes when it wakes, over the next holder's write",
		[]string{"H1", "K3", "K5", "K7", "S7"}, "pause=15s", "c1-at=0s", "c2-at=11s").fromField(Case{
		Report: "Kleppmann 2016",
		Seen:   "the older client's data over the newer's, and no error; in its log a gap as long as the pause (HBase, which had this, says when it is back: \"We slept 50631ms instead of 3000ms\")",
		By:     Store,
		Cure:   "fencing=on",
		Means:  "the service hands out a number that rises with each grant, the client sends it with each write, and the store refuses one that is smaller than it has seen",
	})
}

// caseH2 is the report itself, and that of whoever keeps locks there (valkey#2651). That
// c1 has three nodes only is c2's doing, who asked two of them first and gave them back.
func caseH2() *Scenario {
	return redlockClockJump("redlock-clock-jump").retold("case-h02",
		"redis/redis#416, valkey-io/valkey#2651: the clock of one node is set ahead, its keys expire, and a second client has a majority",
		[]string{"H2", "K10", "S29", "R8"}, "jump-at=1s", "c2-at=2s").fromField(Case{
		Report: "redis/redis#416",
		Seen:   "ntpdate had set a server's time ahead by days, and its clients' time-outs were over much too early (#416); when the clock changes all locks are gone, and others get them while they are held (#2651)",
		By:     Operators,
		Cure:   "how=slew",
		Means:  "an NTP client that never steps a running server's clock, and slews it by less than the 1 % that Redlock allows for; Redis expires keys by the date, and has no other clock for them",
	})
}

// caseH3 is the scenario that the report sets out, step by step.
func caseH3() *Scenario {
	s := redlockRestart("redlock-restart").retold("case-h03",
		"go-redsync/redsync#186: a client that has three of five pools loses the lock with the first of them that restarts empty",
		[]string{"H3", "S33", "K11"}, "restart-at=1s").fromField(Case{
		Report: "go-redsync/redsync#186",
		Seen:   "it is reasoned there, and not seen: Lock would return nil to both clients, and Unlock false to the first, since only two pools still have its value",
		By:     Operators,
		Cure:   "down=10s",
		Means:  "a server that crashed stays away for as long as the longest lock lives, before redsync may ask it again",
	})
	expect := s.Expect
	s.Expect = func() Expectation {
		e := expect()
		if e.Overlap > 0 {
			e.Because += "; redsync takes off 1 % alone, without our 2ms, and so believes 2ms longer"
		}
		return e
	}
	return s
}

// caseH4 is redsync on three pools, asked all at once: c1 extends its lock every 2 s,
// and two of the servers restart empty, one after the other.
func caseH4() *Scenario {
	set, client, first, again := "off", "deadline", "3s", 5500*time.Millisecond
	s := &Scenario{
		Name:   "case-h04",
		Claim:  "go-redsync/redsync#149 (and #147): a lock that is extended stands on one pool less with each that restarts empty, until another gets it",
		Claims: []string{"H4", "K11", "R5"},
		Also:   []string{"client=stops", "set-on-extend=on r1-at=4.5s"},
	}
	s.Params = []Param{
		choice("set-on-extend", &set, []string{"off", "on"}, "whether an extension sets the key anew on a node that lost it"),
		choice("client", &client, []string{"deadline", "stops"}, "what c1 does when an extension fails: it goes on until its deadline, or stops"),
		choice("r1-at", &first, []string{"3s", "4.5s"}, "when r1 restarts, before or after c1's extension at 4s; r2 does at 5s"),
		milliseconds("c2-at", &again, 5001*time.Millisecond, 5900*time.Millisecond, "when c2 asks"),
	}
	s.Spec = func() trial.Spec {
		watch := "watch every 2s"
		if client == "deadline" {
			watch += " quit"
		}
		return trial.Spec{
			System: redis.Redlock{Nodes: 3, TTL: redsyncTTL, Drift: redsyncDrift, Sends: redis.Parallel, SetOnExtend: set == "on"},
			Cast: two("acquire; "+watch+"; work 7s; write doc; work 10s; release",
				"until "+again.String()+"; try; work 1s; write doc; work 1000h; release"),
			Schedule: faults.MustParse("at " + first + "  restart r1 kill\nat 5s  restart r2 kill"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return restartedInTurn(set == "on" && first == "3s", client == "stops", again) }
	return s.fromField(Case{
		Report: "go-redsync/redsync#149",
		Seen:   "with three servers that keep nothing on disk, extending said that the key does not exist on the one that had restarted; with the second restart every lock was lost at once",
		By:     Client,
		Cure:   "set-on-extend=on",
		Means:  "redsync 4.12 or later, and its option WithSetNXOnExtend; servers that restart between two extensions still give the lock away",
	})
}

// What redsync does unless it is told otherwise: it allows 1 % for drift, and nothing
// for what Redis rounds off.
const (
	redsyncTTL   = 8 * time.Second
	redsyncDrift = redsyncTTL / 100
)

// restartedInTurn: an extension takes two hops, so that c1 sends its second at 4.004,
// which is good until 11.924, and its third at 6.006. By the second it has three
// nodes, or, where r1 was empty and stays so, r2 and r3. c2 gets the nodes that are
// empty when it asks; if those are r1 and r2, the third extension finds r3 alone.
func restartedInTurn(anew, stops bool, again time.Duration) Expectation {
	const extension = 2*time.Second + 2*hop
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
	if anew {
		e.Because = fmt.Sprintf("c1's extension at %s sets its key on r1 again: c2 finds r2 alone free, and gets 1 of 3", short(2*extension))
		return e
	}
	until, told, accepted2 := 2*extension+redsyncTTL-redsyncDrift, 3*extension+2*hop, again+2*hop
	end1 := until
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
	e.Damage = []string{check.StaleWrite} // at 7.003, after c2's
	if stops {
		end1, e.Damage = told, nil
		e.Breaches = append(e.Breaches, check.LostLease) // told so again when it releases
	}
	e.Belief, e.Overlap, e.Granted = check.Overlapping, end1-accepted2, []string{"c1", "c2"}
	e.Because = fmt.Sprintf("c1's extension at %s is good until %s + 8s - 80ms = %s; c2 finds r1 and r2 free, and has them at %s; c1 is told at %s; overlap = %s - %s = %s",
		short(2*extension), short(2*extension), short(until), short(accepted2), short(told), short(end1), short(accepted2), short(e.Overlap))
	return e
}

// caseH13 is node-redlock with its own delay and number of retries: c1 has the lock
// first, and c2 asks until it is free.
func caseH13() *Scenario {
	from, client, held := "first", "using", 1200*time.Millisecond
	s := &Scenario{
		Name:   "case-h13",
		Claim:  "mike-marcacci/node-redlock#296 (and #274): a lock that was waited for is over when it comes, since its term counts from the first attempt",
		Claims: []string{"H13", "S31"},
		Also:   []string{"client=checks"},
	}
	s.Params = []Param{
		choice("from", &from, []string{"first", "last"}, "from which attempt on the validity of a lock counts"),
		choice("client", &client, []string{"using", "checks"}, "what c2 does with the lock: it lets the library extend it, or checks its deadline itself"),
		milliseconds("held", &held, time.Millisecond, 2500*time.Millisecond, "how long c1 works under the lock"),
	}
	s.Spec = func() trial.Spec {
		// using() extends as soon as it believes that less than 500 ms are left.
		extend := map[string]string{"using": "extend; ", "checks": ""}[client]
		return trial.Spec{
			System: redis.Redlock{TTL: time.Second, Sends: redis.Parallel, Retries: retries, FromFirst: from == "first"},
			Cast: two("acquire; watch every 500ms; work "+held.String()+"; release",
				"until 1ms; try; "+extend+"work 300ms; write doc; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation { return waitedFor(held, from == "first", client == "using") }
	return s.fromField(Case{
		Report: "mike-marcacci/node-redlock#296",
		Seen:   "lock.expiration was in the past when acquire returned; using() said at once \"Cannot extend an already-expired lock.\" and aborted the work; in Redis the lock was fine",
		By:     Client,
		Cure:   "from=last",
		Means:  "node-redlock with #274 (merged in 2023; 5.0.0-beta.2, in 2024 the latest release, is without), or retryCount 0 and retries of one's own",
	})
}

// retries is how often node-redlock asks again unless it is told otherwise.
const retries = 10

// waitedFor: an attempt and its undoing take 4 ms, and c2 asks again 200 ms later, so
// that it sends its n-th retry at 1 ms + n x 204 ms. c1's release is at the nodes 3 ms
// after its work of held has ended; the first retry that comes no earlier has the lock
// after two hops. By its first attempt that is good until 1 ms + 988 ms.
func waitedFor(held time.Duration, first, using bool) Expectation {
	const period = 2*ask + 200*time.Millisecond
	n := (held + hop + period - 1) / period
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
	c1 := "c1 " + short(held)
	if n > retries {
		e.Longest = retries*period + 2*ask
		e.Figures = []Figure{{beliefs, c1}, {lastWrite, "none"}}
		e.Because = fmt.Sprintf("c2 gives up after %d retries, %s after it has begun", retries, short(e.Longest))
		return e
	}
	sent := hop + n*period
	accepted, until := sent+ask, sent+deadline(time.Second)
	if first {
		until = hop + deadline(time.Second)
	}
	e.Granted, e.Longest = []string{"c1", "c2"}, accepted-hop
	e.Because = fmt.Sprintf("c2's retry %d, sent at %s, has the lock at %s; by c2's count that is good until %s", n, short(sent), short(accepted), short(until))
	worked := accepted + 300*time.Millisecond
	switch {
	case using && accepted > until:
		e.Promise, e.Breaches = check.Broken, []string{check.LostLease}
		e.Because += fmt.Sprintf(", and it says that it is over, though the nodes have it until %s", short(sent+deadline(time.Second)))
		until = accepted
	case using:
		until, worked = accepted+ask+deadline(time.Second), worked+ask
	}
	end2, wrote := max(accepted, min(until, worked+ask)), "none"
	if worked < until {
		wrote = "c2"
	}
	e.Figures = []Figure{{beliefs, c1 + ", c2 " + short(end2-accepted)}, {lastWrite, wrote}}
	return e
}
