package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/resource"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// leaseFailover is S57: a standby that is behind takes over without the lease, and
// counts the token up from what it knows.
func leaseFailover() *Scenario {
	lag, at, after := 200*time.Millisecond, 100*time.Millisecond, 900*time.Millisecond
	s := &Scenario{
		Name:   "lease-failover",
		Pair:   "database",
		Claim:  "an asynchronous standby loses the lease and hands out its token again, so that the fence does not help",
		Claims: []string{"S57", "S20"},
	}
	s.Params = []Param{
		milliseconds("lag", &lag, 0, 10*time.Second, "how far the standby is behind"),
		milliseconds("failover-at", &at, 10*time.Millisecond, 2*time.Second, "when the primary dies and the standby takes over"),
		milliseconds("c2-after", &after, 10*time.Millisecond, 1900*time.Millisecond, "how long after that c2 asks"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: sql.Lease{Standby: true, Lag: lag},
			Cast: guarding(resource.Fenced("doc"), "acquire; work 5s; write doc; release",
				"until "+(at+after).String()+"; try; work 1s; write doc; work 5s; release"),
			Schedule: faults.Schedule{{Anchor: faults.At(at), Action: faults.Failover{Primary: "db", Replica: "db2"}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// The primary commits c1's lease at 3 ms, and the standby hears of it a lag and a hop
	// later.
	s.Expect = func() Expectation {
		heard := 3*hop + lag + hop
		if heard < at {
			return untaken(fmt.Sprintf("the standby has c1's lease at %s, before it takes over at %s", short(heard), short(at)))
		}
		e := Expectation{
			Promise: check.Broken, Breaches: []string{check.DoubleGrant, check.TokenOrder, check.LostLease}, Belief: check.Overlapping,
			Damage: []string{check.StaleWrite}, Progress: check.OK, Granted: []string{"c1", "c2"},
		}
		end1, accepted2 := 4*hop+5*time.Second+2*hop, at+after+4*hop
		e.Overlap = end1 - accepted2
		e.Because = fmt.Sprintf("the standby would have c1's lease at %s, but takes over at %s and gives c2 token 1 too; doc takes both; overlap = %s - %s = %s",
			short(heard), short(at), short(end1), short(accepted2), short(e.Overlap))
		return e
	}
	s.Control = func() Control {
		if 4*hop+lag >= at {
			return Control{"lease-failover", []string{"lag=0s"}}
		}
		return Control{"lease-failover", []string{"lag=" + short(at)}}
	}
	return s
}

// heartbeatLost is H22 and H11: a heartbeat fails, and it is the library's policy
// what becomes of that.
func heartbeatLost() *Scenario {
	policy := "quit"
	s := &Scenario{
		Name:   "heartbeat-lost",
		Pair:   "database",
		Claim:  "a heartbeat that fails once and tells nobody leaves a holder who believes until the work is done",
		Claims: []string{"H22"},
		Also:   []string{"policy=ignore"},
	}
	s.Params = []Param{choice("policy", &policy, []string{"quit", "abort", "ignore"}, "what a failed heartbeat does: ends the heartbeats, ends the work, or nothing")}
	s.Spec = func() trial.Spec {
		watch := "watch every 5s"
		if policy != "abort" {
			watch += " " + policy
		}
		return trial.Spec{
			System: sql.Lease{TTL: 20 * time.Second, Clock: sql.Watched},
			Cast: two("acquire; "+watch+"; work 40s; write doc; release",
				"until 6s; acquire every 1s; work 1s; write doc; work 15s; release"),
			Schedule: faults.MustParse("at 10s  restart db kill 2s"),
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	// c1 has its lease at 6 ms, with a SELECT, an INSERT and an UPDATE; its heartbeat of
	// 5.006 is the last before db is down, the next would be that of 10.008. c2 sees the
	// record at 6.002, looks every 1.002 s, and finds it unchanged for 20 s with the look
	// of 26.040.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		switch policy {
		case "quit":
			const accepted2, end1 = 26046 * time.Millisecond, 40008 * time.Millisecond
			e.Belief, e.Overlap, e.Damage = check.Overlapping, end1-accepted2, []string{check.StaleWrite}
			e.Because = fmt.Sprintf("c2 has seen the same record from 6.002s to 26.042s and has the lease at %s; c1 works until %s", short(accepted2), short(end1))
		case "abort":
			e.Because = "c1 is told at 10.010s and stops; c2 has the lease when it has seen the same record for 20s"
		default:
			e.Because = "the heartbeat of 15.010s goes through again: c2 gets the lease when c1 has given it back"
		}
		return e
	}
	s.Control = func() Control { return turned("heartbeat-lost", "policy", policy, "abort", "quit") }
	return s
}

// advisoryCut is S50: the session of a lock ends, and its holder goes on. Which
// failures end a session, and when, was measured on PostgreSQL 15.
func advisoryCut() *Scenario {
	cut, keepalive := "reset", 10*time.Second
	s := &Scenario{
		Name:   "advisory-connection-cut",
		Pair:   "database",
		Claim:  "the database frees a lock with its session, and the process that holds it is not told; one that is only stopped keeps it",
		Claims: []string{"S50", "S49"},
		Also:   []string{"cut=partition", "cut=suspend", "cut=stop"},
	}
	s.Params = []Param{
		choice("cut", &cut, []string{"reset", "partition", "suspend", "stop"}, "what strikes c1 at 2s, in the last two cases for a minute"),
		milliseconds("keepalive", &keepalive, 10*time.Millisecond, 30*time.Second, "how often the server's kernel probes a silent connection"),
	}
	s.Spec = func() trial.Spec {
		line := map[string]string{
			"reset": "reset c1 db", "partition": "partition c1|db", "suspend": "pause c1 suspend 60s", "stop": "pause c1 gc 60s",
		}[cut]
		return trial.Spec{
			System:   sql.Advisory{Keepalive: keepalive, Timeout: time.Second},
			Cast:     two("acquire; work 5s; write doc; release", "until 1s; acquire; work 1s; write doc; release"),
			Schedule: faults.MustParse("at 2s  " + line),
			Latency:  sim.Every(hop),
			Horizon:  3 * time.Minute,
		}
	}
	s.Expect = func() Expectation { return sessionCut(cut, keepalive) }
	s.Control = func() Control { return turned("advisory-connection-cut", "cut", cut, "stop", "reset") }
	return s
}

// sessionCut: c1 asks at 0, and its statement is at db at 1 ms; the probes come each a
// keepalive after that. c1 writes 5.001 s after it has the lock, by a clock that
// stands still while it is suspended.
func sessionCut(cut string, keepalive time.Duration) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	const struck = 2 * time.Second
	freed, write1 := struck, 2*hop+5*time.Second+hop
	switch cut {
	case "stop":
		e.Because = "c1's kernel answers every probe: c1 has its lock until it gives it back"
		return e
	case "suspend":
		write1 += 60 * time.Second
		fallthrough
	case "partition":
		freed = hop + keepalive*((struck-hop+keepalive-1)/keepalive)
	}
	// c2's attempts are 102 ms apart, and each is at db after a hop.
	asked := time.Second + 102*time.Millisecond*max(0, (freed-time.Second-hop+102*time.Millisecond-1)/(102*time.Millisecond))
	accepted2 := asked + 2*hop
	end1, end2, write2 := write1+hop, accepted2+time.Second+2*hop, accepted2+time.Second+hop
	e.Overlap = max(0, min(end1, end2)-accepted2)
	e.Belief = overlapping(e.Overlap)
	if write1 > write2 {
		e.Damage = []string{check.StaleWrite}
	}
	e.Because = fmt.Sprintf("c1's session ends at %s; c2 believes from %s to %s, c1 until %s", short(freed), short(accepted2), short(end2), short(end1))
	return e
}

// getLock is S47: GET_LOCK(name, timeout) waits that long and says 1, or 0; how it
// counts a fraction of a second is the dialect's.
func getLock() *Scenario {
	dialect, wait, work := "mysql", 5*time.Second, 10*time.Second
	s := &Scenario{
		Name:   "get-lock",
		Pair:   "database",
		Claim:  "GET_LOCK waits for its time-out and says 0; of a fraction of a second MySQL makes none, MariaDB a fraction",
		Claims: []string{"S47"},
		Also:   []string{"dialect=mariadb wait=300ms", "wait=300ms"},
	}
	s.Params = []Param{
		choice("dialect", &dialect, []string{"mysql", "mariadb"}, "whose database"),
		milliseconds("wait", &wait, 0, time.Hour, "the time-out that c2 gives"),
		milliseconds("work", &work, 0, time.Hour, "how long c1 works under the lock"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Advisory{Wait: wait}
		mustText(&system.Dialect, dialect)
		return trial.Spec{
			System:  system,
			Cast:    trial.Cast{Clients: two("acquire; work "+work.String()+"; release", "until 1s; try; work 1s; release").Clients},
			Latency: sim.Every(hop),
			Horizon: 3 * time.Hour,
		}
	}
	// c1's RELEASE_LOCK is at db three hops after its work began; c2 asks there at 1.001.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		counts := wait
		if dialect == "mysql" {
			counts = (wait + 500*time.Millisecond).Truncate(time.Second)
		}
		const there = time.Second + hop
		freed, patience := 2*hop+work+hop, there+counts
		told := max(freed, there) + hop
		if freed >= patience {
			told, e.Granted = patience+hop, []string{"c1"}
		}
		e.Longest = max(2*hop, told-time.Second)
		e.Because = fmt.Sprintf("c1's lock is free at %s; c2 waits for %s from %s on", short(freed), short(counts), short(there))
		return e
	}
	s.Control = func() Control {
		if work > 2*time.Second {
			return Control{"get-lock", []string{"work=0s"}}
		}
		return Control{"get-lock", []string{"work=1h"}}
	}
	return s
}

// advisoryLevel is S48: a lock of the transaction goes with it, and without BEGIN
// that is each statement.
func advisoryLevel() *Scenario {
	level, begin := "transaction", "missing"
	s := &Scenario{
		Name:   "advisory-level",
		Pair:   "database",
		Claim:  "pg_advisory_xact_lock without a BEGIN is gone when its own statement is done",
		Claims: []string{"S48"},
		Also:   []string{"level=session"},
	}
	s.Params = []Param{
		choice("level", &level, []string{"transaction", "session"}, "with what the lock is given up"),
		choice("begin", &begin, []string{"missing", "there"}, "whether the client begins a transaction for a lock of that level"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Advisory{Autocommit: level == "transaction" && begin == "missing"}
		mustText(&system.Level, level)
		return trial.Spec{
			System:  system,
			Cast:    two("acquire; work 5s; write doc; release", "until 1s; try; work 1s; write doc; work 5s; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if level == "session" || begin == "there" {
			return untaken("the lock stands until c1 gives it up")
		}
		const accepted2, end1 = time.Second + 2*hop, 2*hop + 5*time.Second + 2*hop
		return Expectation{
			Promise: check.Kept, Belief: check.Overlapping, Overlap: end1 - accepted2, Damage: []string{check.StaleWrite},
			Progress: check.OK, Granted: []string{"c1", "c2"},
			Because: fmt.Sprintf("c1's transaction is its statement, and over at 1ms; c2 believes from %s, c1 until %s", short(accepted2), short(end1)),
		}
	}
	s.Control = func() Control {
		if level == "session" {
			return Control{"advisory-level", []string{"level=transaction", "begin=missing"}}
		}
		return turned("advisory-level", "begin", begin, "there", "missing")
	}
	return s
}
