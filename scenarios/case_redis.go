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

// caseH5 is a lock on a Redis that Sentinel watches: its primary dies 0.1 s after the
// grant, which the replica would have had 0.1 s later.
func caseH5() *Scenario {
	return waitFailover().retold("case-h05",
		"opsmill/infrahub#9450 (and redisson/redisson#2669): a failover loses a lock that no replica has yet, and another worker gets it",
		[]string{"H5", "S20", "T16"},
		"wait=off", "work=8s", "takeover=4900ms", "c2-at=5100ms").fromField(Case{
		Report: "opsmill/infrahub#9450",
		Seen:   "two workers change the graph at once for the rest of the first one's work; the new primary has one lock key, the second's; the first is told at its release that it does not own the lock",
		By:     Client,
		Cure:   "wait=on",
		Means:  "WAIT 1 behind the SET, and no lock where no replica has acknowledged, as Redisson does with each command of its RLock since #2669; while there is no replica, nobody gets a lock",
	})
}

// caseH6 is a release that was a DEL.
func caseH6() *Scenario {
	return plainDel().retold("case-h06",
		"laravel/framework#26213: a cache lock that took too long deletes the next holder's lock, and a third client gets in",
		[]string{"H6", "S26", "T5"},
		"c1-at=0s", "pause=11s", "c2-at=11s", "c3-at=13s").fromField(Case{
		Report: "laravel/framework#26213",
		Seen:   "two jobs at a time, twice: the late release throws nothing, and the lock is free long before it expires",
		By:     Client,
		Cure:   "release=compare",
		Means:  "Laravel 5.8 (#26645): the key's value is the owner's, and release compares it in a script before it deletes",
	})
}

// caseH7 is the time-line of redis-py's own documentation (redis/lock.py, of
// thread_local): two threads with one Lock object, which keeps one value.
func caseH7() *Scenario {
	value, work, deadline := "shared", 6*time.Second, "off"
	s := &Scenario{
		Name:   "case-h07",
		Claim:  "sqlalchemy/dogpile.cache#171: threads that share redis-py's Lock share its token: a late release passes the comparison",
		Claims: []string{"H7", "S26", "T5"},
		Also:   []string{"deadline=on"},
	}
	s.Params = []Param{
		choice("value", &value, []string{"shared", "own"}, "whether the two threads' Lock object keeps one value for both"),
		milliseconds("work", &work, time.Second, 8*time.Second, "how long th1 works"),
		choice("deadline", &deadline, []string{"off", "on"}, "whether a thread stops when its term is over by its own clock"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 5 * time.Second, Deadline: deadline == "on"}
		mustText(&system.Value, value)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "th1", Script: trial.MustScript("acquire; work " + work.String() + "; release")},
				{Name: "th2", Script: trial.MustScript("until 1s; acquire; work 3s; release")},
			}},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation { return sharedValue(value == "shared", deadline == "on", work) }
	return s.fromField(Case{
		Report: "sqlalchemy/dogpile.cache#171",
		Seen:   "the report is of the other half: with a token for each thread a background thread cannot release the lock. With the option that it led to (thread_local_lock=False) nothing is raised where a thread is late, and LockError where the other one releases",
		By:     Client,
		Cure:   "value=own",
		Means:  "thread_local=True, redis-py's default; or a Lock object for each acquire, which is handed on to the thread that releases. Whoever is late gets LockNotOwnedError",
	})
}

// sharedValue: th1 has the lock at 2 ms, and its key stands through 5.001 unless it
// releases before, as it does where it stops after 5 s. th2 asks every 102 ms from 1 s
// on, and holds for three seconds. A th1 that releases when th2 has been told goes by
// th2's value, where they share it.
func sharedValue(shared, stops bool, work time.Duration) Expectation {
	const gone = hop + 5*time.Second + time.Millisecond // since when the key is past its date
	end1 := ask + work
	if stops {
		end1 = min(end1, 5*time.Second)
	}
	accepted2 := polled(time.Second+hop, min(end1+hop, gone)) + hop
	end2 := accepted2 + 3*time.Second
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	first, second := "th1 not held", "th2 ok"
	switch {
	case end1+hop < gone:
		first = "th1 ok"
		e.Because = fmt.Sprintf("th1 releases at %s, when its key still stands", short(end1))
	case end1 <= accepted2:
		e.Because = fmt.Sprintf("th1 releases at %s; th2 is told at %s", short(end1), short(accepted2))
	default:
		e.Belief, e.Overlap = check.Overlapping, end1-accepted2
		e.Because = fmt.Sprintf("th1's key is gone at %s, th2 believes from %s; th1 until its release at %s", short(gone), short(accepted2), short(end1))
	}
	if shared && end1 > accepted2 && end1+hop >= gone {
		first, second = "th1 ok", "th2 not held"
		e.Promise, e.Breaches = check.Broken, []string{check.ConfirmedAfterLoss, check.LostLease}
		e.Damage = []string{check.WrongRelease}
		e.Because += fmt.Sprintf(", which goes by th2's value; none is left for th2's at %s", short(end2))
	}
	e.Figures = []Figure{{releases, first + ", " + second}}
	return e
}

// caseH8 is a lock that gets its term by a second command.
func caseH8() *Scenario {
	return holderDies().retold("case-h08",
		"lukas-krecan/ShedLock#65 (and laravel/horizon#1738): a process dies between SETNX and EXPIRE, and nobody ever gets the lock again",
		[]string{"H8", "S6", "T4"},
		"expire=separate").fromField(Case{
		Report: "lukas-krecan/ShedLock#65",
		Seen:   "the scheduled task never runs again, on any instance, and nothing fails; TTL of the lock's key is -1, and DEL helps",
		By:     Client,
		Cure:   "expire=px",
		Means:  "SET key value NX PX: ShedLock's Redis provider for spring-data-redis 2 (#66); Laravel's own RedisLock in the place of Horizon's",
	})
}

// caseH9 is a lock that shares its Redis with a cache. The key has an expiry, so a
// policy that spares what has none does not spare it.
func caseH9() *Scenario {
	policy, full, lasts, again := "allkeys-lru", time.Second, 3*time.Second, 2*time.Second
	s := &Scenario{
		Name:   "case-h09",
		Claim:  "samcook/RedLock.net#101: a Redis that is also a cache evicts a lock when its memory is full, and another gets it",
		Claims: []string{"H9"},
		Also:   []string{"policy=volatile-lru"},
	}
	s.Params = []Param{
		choice("policy", &policy, []string{"noeviction", "allkeys-lru", "volatile-lru"}, "maxmemory-policy"),
		milliseconds("full-at", &full, 10*time.Millisecond, 3*time.Second, "when the memory of r1 is full"),
		milliseconds("full-for", &lasts, time.Millisecond, 30*time.Second, "for how long"),
		milliseconds("c2-at", &again, 10*time.Millisecond, 3*time.Second, "when c2 asks"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second}
		mustText(&system.Eviction, policy)
		return trial.Spec{
			System:   system,
			Cast:     two("acquire; work 5s; write doc; release", "until "+again.String()+"; acquire; work 1s; write doc; work 5s; release"),
			Schedule: faults.Schedule{{Anchor: faults.At(full), Action: faults.Fill{Server: "r1", For: lasts}}},
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	s.Expect = func() Expectation { return evicted(policy != "noeviction", full, lasts, again) }
	return s.fromField(Case{
		Report: "samcook/RedLock.net#101",
		Seen:   "the report tells of locks that fail at busy times, when the memory is full under allkeys-lru, and asks whether Redis drops them; where it does, evicted_keys of INFO rises, and the key is another's long before its expiry",
		By:     Operators,
		Cure:   "policy=noeviction",
		Means:  "maxmemory-policy noeviction, which takes a Redis of the locks' own: full, it answers OOM to every SET, and nobody gets a lock. volatile-lru does not help: a lock's key has an expiry",
	})
}

// evicted: c1 believes from 2 ms on, for 5 s and a write. If its key goes, c2 has the
// lock with the first of its attempts, every 102 ms, that r1 sees from then on; else
// with the first after c1's DELEX for which r1 has memory.
func evicted(goes bool, full, lasts, again time.Duration) Expectation {
	const end1 = ask + 5*time.Second + ask
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	if !goes {
		free := max(end1+hop+time.Millisecond, full+lasts) // in the instant of the DELEX c2's SET comes first
		e.Longest = polled(again+hop, free) + hop - again
		e.Because = fmt.Sprintf("r1 keeps c1's key until %s, and refuses every SET from %s to %s; c2 has waited %s",
			short(end1+hop), short(full), short(full+lasts), short(e.Longest))
		return e
	}
	accepted2 := polled(again+hop, full) + hop
	e.Longest = accepted2 - again
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease}
	e.Belief, e.Overlap = check.Overlapping, end1-accepted2
	e.Damage = []string{check.StaleWrite}
	e.Because = fmt.Sprintf("r1 drops c1's key at %s; overlap = %s - %s = %s", short(full), short(end1), short(accepted2), short(e.Overlap))
	return e
}

// caseH10 is a leader that renews its lock as soon as it reaches Redis again.
func caseH10() *Scenario {
	extend, again, deadline := "pexpire", 11*time.Second, "off"
	s := &Scenario{
		Name:   "case-h10",
		Claim:  "sibson/redbeat#127: a scheduler that was cut off renews its lock with a PEXPIRE that does not look whose it is, and goes on",
		Claims: []string{"H10", "S65"},
		Also:   []string{"deadline=on"},
	}
	s.Params = []Param{
		choice("extend", &extend, []string{"pexpire", "compare"}, "how a client asks for a new term"),
		milliseconds("c2-at", &again, 2*time.Second, 12*time.Second, "when c2 asks"),
		choice("deadline", &deadline, []string{"off", "on"}, "whether a client stops when its term is over by its own clock"),
	}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: 10 * time.Second, Deadline: deadline == "on"}
		mustText(&system.Extend, extend)
		return trial.Spec{
			System: system,
			Cast: two("acquire; work 13s; extend; work 5s; write doc; release",
				"until "+again.String()+"; acquire; work 3s; write doc; work 6s; release"),
			Schedule: faults.MustParse("at 1s  partition c1|r1 12s"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return renewed(extend == "pexpire", deadline == "on", again) }
	return s.fromField(Case{
		Report: "sibson/redbeat#127",
		Seen:   "every task is sent twice, for good: both schedulers log \"beat: Extending lock...\" at each tick, and the key never expires",
		By:     Client,
		Cure:   "extend=compare",
		Means:  "redbeat #128: lock.extend of redis-py, a script that compares before PEXPIRE. The scheduler that is no longer the owner gets LockNotOwnedError, and ends",
	})
}

// renewed: c1 believes from 2 ms on; its key stands through 10.001. c2 has the lock
// with the first of its attempts, every 102 ms, after that. c1's extension is sent at
// 13.002, when it reaches r1 again: it is refused, and c1 stops; or c2's key gets a new
// term, and c1 works for 5 s more, and writes. A c1 that stops after 10 s does none of
// that.
func renewed(blind, stops bool, again time.Duration) Expectation {
	const sent = ask + 13*time.Second
	accepted2 := polled(again+hop, hop+10*time.Second+time.Millisecond) + hop
	end1 := sent + ask
	e := Expectation{Promise: check.Kept, Belief: check.Overlapping, Progress: check.OK}
	if stops {
		e.Belief = check.Exclusive
		e.Because = fmt.Sprintf("c1 stops at 10s, c2 believes from %s", short(accepted2))
		return e
	}
	if blind {
		end1 += 5*time.Second + ask
		e.Promise, e.Breaches = check.Broken, []string{check.ConfirmedAfterLoss, check.LostLease}
		e.Damage = []string{check.WrongRenewal, check.StaleWrite}
	}
	e.Overlap = end1 - accepted2
	e.Because = fmt.Sprintf("c2 believes from %s; c1's PEXPIRE comes at %s, and c1 believes until %s; overlap = %s",
		short(accepted2), short(sent+hop), short(end1), short(e.Overlap))
	return e
}

// caseH11 is a scheduler whose framework swallows the exception of an acquire. What
// came of the request itself is another question: where the lock was free, it may have
// got through.
func caseH11() *Scenario {
	policy, first, lost := "goes-on", "c1", "request"
	s := &Scenario{
		Name:   "case-h11",
		Claim:  "sibson/redbeat#208 (and #238): the error of an acquire is swallowed, and the scheduler runs beside the one that has the lock",
		Claims: []string{"H11"},
		Also:   []string{"first=c2", "first=c2 lost=reply", "first=c2 lost=reply on-error=stops"},
	}
	s.Params = []Param{
		choice("on-error", &policy, []string{"goes-on", "stops"}, "what c2's program does after the error: as if it had the lock, or nothing"),
		choice("first", &first, []string{"c1", "c2"}, "who asks first: c1, which then has the lock; or c2, for which it would be free"),
		choice("lost", &lost, []string{"request", "reply"}, "what is lost: c2's SET, or the answer to it"),
	}
	s.Spec = func() trial.Spec {
		start1, try, fault := "0s", "try anyway", "drop c2>r1"
		if first == "c2" {
			start1 = "1200ms"
		}
		if policy == "stops" {
			try = "try"
		}
		if lost == "reply" {
			fault = "lose-reply r1>c2"
		}
		return trial.Spec{
			System: redis.SetNX{TTL: 10 * time.Second},
			Cast: two("until "+start1+"; acquire; read doc; work 5s; write doc; release",
				"until 1s; "+try+"; read doc; work 1s; write doc; release"),
			Schedule: faults.MustParse("at 500ms  " + fault),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return failedOpen(policy == "goes-on", first == "c1", lost == "reply") }
	return s.fromField(Case{
		Report: "sibson/redbeat#208",
		Seen:   "every task is sent twice, by the scheduler that has the lock and by one that logs \"raised: ConnectionError\" for its acquire, and never that it acquired it",
		By:     Client,
		Cure:   "on-error=stops",
		Means:  "redbeat #240: a tick without a lock is an error where one is wanted, and ends the scheduler. A SET that got through then holds its key until the TTL is over",
	})
}

// failedOpen: c2's SET is sent at 1 s and given up 50 ms later. If it goes on, it
// believes for its read, a second, and its write. c1, which asks at 0 or at 1.2 s, reads
// as soon as it has the lock, and writes 5 s later; if c2 has written meanwhile, that is
// lost. If the SET got through to a lock that was free, c1 waits for c2's release, or
// for the end of the key.
func failedOpen(open, held, through bool) Expectation {
	const from2 = 1050 * time.Millisecond
	const end2 = from2 + ask + time.Second + ask
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
	start1, free := time.Duration(0), time.Duration(0)
	if !held {
		start1 = 1200 * time.Millisecond
	}
	if !held && through {
		free = time.Second + hop + 10*time.Second + time.Millisecond
	}
	if !held && through && open {
		free = end2 + hop
	}
	accepted1 := polled(start1+hop, free) + hop
	if accepted1 > start1+ask {
		e.Longest = accepted1 - start1
	}
	e.Because = fmt.Sprintf("c1 has the lock at %s", short(accepted1))
	if !open {
		e.Because += ", and c2 does nothing"
		return e
	}
	e.Because += fmt.Sprintf(", and c2 believes from %s to %s", short(from2), short(end2))
	if accepted1 < end2 {
		e.Belief, e.Overlap = check.Overlapping, end2-max(from2, accepted1)
		e.Damage = []string{check.LostUpdate}
		e.Because += fmt.Sprintf("; overlap = %s; c1 writes what it has read before c2's write", short(e.Overlap))
	}
	return e
}
