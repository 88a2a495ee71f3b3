package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// taken is what comes of it when c2 gets c1's lease a second after c1: c1 works for
// 5 s and writes, c2 works for a second, writes, and works on for 10 s.
func taken(why string) Expectation {
	const end1, accepted2 = 4*hop + 5*time.Second + 2*hop, time.Second + 4*hop
	return Expectation{
		Promise: check.Broken, Breaches: []string{check.DoubleGrant, check.LostLease},
		Belief: check.Overlapping, Overlap: end1 - accepted2, Damage: []string{check.StaleWrite},
		Progress: check.OK, Granted: []string{"c1", "c2"},
		Because: fmt.Sprintf("%s; overlap = %s - %s = %s", why, short(end1), short(accepted2), short(end1-accepted2)),
	}
}

// untaken is what comes of it when c2 does not.
func untaken(why string) Expectation {
	return Expectation{
		Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}, Because: why,
	}
}

const (
	takes1 = "acquire; work 5s; write doc; release"
	takes2 = "until 1s; try; work 1s; write doc; work 10s; release"
)

// leaseAppClock is H12 and S56: a date that each application reads from its own
// clock, or that the database reads for all.
func leaseAppClock() *Scenario {
	clock, skew, ttl := "app", 180*time.Second, 120*time.Second
	s := &Scenario{
		Name:   "lease-app-clock",
		Pair:   "database",
		Claim:  "an application whose clock is ahead takes a lease that is not over; the database's clock is the same for all",
		Claims: []string{"H12", "S56"},
		Also:   []string{"clock=db skew=1h"},
	}
	s.Params = []Param{
		choice("clock", &clock, []string{"app", "db"}, "whose clock an UPDATE goes by"),
		milliseconds("skew", &skew, 0, 2*time.Hour, "how far c2's clock is ahead of c1's"),
		milliseconds("ttl", &ttl, 8*time.Second, 2*time.Hour, "the term of a lease"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{TTL: ttl}
		mustText(&system.Clock, clock)
		return trial.Spec{
			System:   system,
			Cast:     guarding(document("none"), takes1, takes2),
			Schedule: faults.Schedule{{Anchor: faults.At(0), Action: faults.ClockStep{Machine: "c2", By: skew}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// Each reads its clock before its UPDATE: c1 at 2 ms, c2 at 1.002.
	s.Expect = func() Expectation {
		if clock == "app" && skew > ttl-time.Second {
			return taken(fmt.Sprintf("c2's clock shows 1.002s + %s, which is after 2ms + %s", short(skew), short(ttl)))
		}
		return untaken("the lease is not over by the clock that is asked")
	}
	s.Control = func() Control {
		if clock == "app" {
			return Control{"lease-app-clock", []string{"clock=db"}}
		}
		return Control{"lease-app-clock", []string{"clock=app", "skew=" + short(ttl)}}
	}
	return s
}

// leaseDBJump is the other half of S56, which the document leaves out: the clock
// that is the same for all can jump.
func leaseDBJump() *Scenario {
	jump, doc := 30*time.Second, "fence"
	s := &Scenario{
		Name:   "lease-db-jump",
		Pair:   "database",
		Claim:  "when the database's clock jumps ahead it gives the lease away; the fence keeps the data right",
		Claims: []string{"S56", "S13"},
		Also:   []string{"check=none"},
	}
	s.Params = []Param{
		milliseconds("jump", &jump, 0, time.Hour, "how far the database's clock jumps, at 500 ms"),
		choice("check", &doc, []string{"fence", "none"}, "whether an UPDATE of doc asks for fence <= :token"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   sql.Lease{},
			Cast:     guarding(document(doc), takes1, takes2),
			Schedule: faults.Schedule{{Anchor: faults.At(500 * time.Millisecond), Action: faults.ClockStep{Machine: "db", By: jump}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// c2's UPDATE is at the database at 1.003.
	s.Expect = func() Expectation {
		if jump <= 9*time.Second {
			return untaken(fmt.Sprintf("at c2's UPDATE db's clock shows 1.003s + %s, which is not after %s", short(jump), short(leased(0, 10*time.Second))))
		}
		e := taken(fmt.Sprintf("at c2's UPDATE db's clock shows 1.003s + %s, which is after %s", short(jump), short(leased(0, 10*time.Second))))
		if doc == "fence" {
			e.Damage, e.Rejected = nil, []string{"c1"}
		}
		return e
	}
	s.Control = func() Control {
		if jump > 9*time.Second {
			return Control{"lease-db-jump", []string{"jump=0s"}}
		}
		return Control{"lease-db-jump", []string{"jump=30s"}}
	}
	return s
}

// leaseTimeZone is a hazard of the document's SQL that was measured on PostgreSQL 15:
// a TIMESTAMP without time zone keeps what the clock on the wall shows.
func leaseTimeZone() *Scenario {
	column, zone := "timestamp", "+7h"
	s := &Scenario{
		Name:   "lease-time-zone",
		Pair:   "database",
		Claim:  "a session in another time zone takes a live lease at once, if the column has no time zone",
		Claims: []string{"S53", "S56"},
	}
	s.Params = []Param{
		choice("column", &column, []string{"timestamp", "timestamptz"}, "the type of expires_at"),
		choice("zone", &zone, []string{"+7h", "+0h", "-7h"}, "c2's time zone, from c1's"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{Naive: column == "timestamp"}
		if offset, _ := time.ParseDuration(zone); system.Naive {
			system.Zones = map[string]time.Duration{"c2": offset}
		}
		return trial.Spec{
			System: system, Cast: guarding(document("none"), takes1, takes2),
			Latency: sim.Every(hop), Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if column == "timestamp" && zone == "+7h" {
			return taken("to c2's session it is 1.003s + 7h, which is after " + short(leased(0, 10*time.Second)))
		}
		return untaken("to c2's session the lease is not over")
	}
	s.Control = func() Control {
		if column == "timestamp" {
			return Control{"lease-time-zone", []string{"column=timestamptz"}}
		}
		return Control{"lease-time-zone", []string{"column=timestamp", "zone=+7h"}}
	}
	return s
}

// leaseNow is another, measured too: now() is the begin of the transaction, so what
// comes between that and the UPDATE is taken off the lease.
func leaseNow() *Scenario {
	dialect, pause := "postgres", 14*time.Second
	s := &Scenario{
		Name:   "lease-now",
		Pair:   "database",
		Claim:  "in PostgreSQL a lease begins with its transaction: a pause behind BEGIN leaves nothing of it, and nobody notices",
		Claims: []string{"S53"},
	}
	s.Params = []Param{
		choice("dialect", &dialect, dialectNames, "whose database"),
		milliseconds("pause", &pause, 0, 14*time.Second, "how long c1 is paused between BEGIN and UPDATE"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{Begin: true, Row: sql.Exists}
		mustText(&system.Dialect, dialect)
		return trial.Spec{
			System: system,
			Cast: guarding(document("none"), "acquire; work 5s; write doc; release",
				"until 15s; acquire; work 1s; write doc; work 10s; release"),
			Schedule: faults.Schedule{{Anchor: faults.Before("c1", "send", 2), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause}}},
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	// In PostgreSQL c1 has BEGIN, UPDATE and COMMIT behind it after six hops and the
	// pause, and its lease ends at 10.001 whatever that was; so c2, with as many hops,
	// gets one at 15.006.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"},
			Because: "NOW() is the instant of the UPDATE: the lease has all of its term, and c2 waits until c1 has given it back"}
		if dialect != "postgres" {
			return e
		}
		accepted1, accepted2 := 6*hop+pause, 15*time.Second+6*hop
		end1 := accepted1 + 5*time.Second + 2*hop
		e.Overlap = max(0, end1-accepted2)
		e.Belief = overlapping(e.Overlap)
		e.Because = fmt.Sprintf("c1's lease ends 10s after BEGIN, at 10.001s; c1 believes from %s to %s, c2 from %s", short(accepted1), short(end1), short(accepted2))
		// c1's work began before c2's: in a tie its write comes first.
		if write1, write2 := end1-hop, accepted2+time.Second+hop; write1 > write2 {
			e.Damage = []string{check.StaleWrite}
		}
		return e
	}
	s.Control = func() Control { return turned("lease-now", "dialect", dialect, "mysql", "postgres") }
	return s
}
