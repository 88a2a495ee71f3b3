package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

var dialectNames = []string{"postgres", "mysql", "mariadb"}

// guarding is a cast of two clients who write to doc.
func guarding(doc models.Resource, c1, c2 string) trial.Cast {
	cast := two(c1, c2)
	cast.Resources = []models.Resource{doc}
	return cast
}

// document is doc in the database.
func document(check string) sql.Documents {
	d := sql.Documents{Called: "doc"}
	mustText(&d.Check, check)
	return d
}

// leasing is how long a client that is alone takes to get a lease: an INSERT, an
// UPDATE, and where the token does not come with that (RETURNING) a SELECT
// LAST_INSERT_ID().
func leasing(dialect string) time.Duration {
	if dialect == "postgres" {
		return 4 * hop
	}
	return 6 * hop
}

// leased is what the database keeps of a lease that was asked for at an instant: it
// is free in the millisecond after. The UPDATE is at the server after three hops.
func leased(asked, ttl time.Duration) time.Duration { return asked + 3*hop + ttl }

// leaseTable is S53 and S55, which the document measured line by line: A gets token
// 1; B changes 0 rows; B gets token 2 after the TTL; A's write changes 0 rows; A's
// release changes 0 rows.
func leaseTable() *Scenario {
	dialect, doc := "postgres", "fence"
	s := &Scenario{
		Name:   "lease-table",
		Pair:   "database",
		Claim:  "a lease in a table hands out its token with the row, and the document's fence rejects the older one",
		Claims: []string{"S53", "S55", "S13"},
		Also:   []string{"dialect=mysql", "dialect=mariadb"},
	}
	s.Params = []Param{
		choice("dialect", &dialect, dialectNames, "whose database"),
		choice("check", &doc, []string{"fence", "none"}, "whether an UPDATE of doc asks for fence <= :token"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{TTL: time.Second}
		mustText(&system.Dialect, dialect)
		return trial.Spec{
			System: system,
			Cast: guarding(document(doc), "acquire; work 1500ms; write doc; release",
				"until 500ms; try; release; until 1200ms; try; write doc; work 500ms; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		accepted1, accepted2 := leasing(dialect), 1200*time.Millisecond+leasing(dialect)
		end1 := accepted1 + 1500*time.Millisecond + 2*hop
		e := Expectation{
			Promise: check.Kept, Belief: check.Overlapping, Overlap: end1 - accepted2, Progress: check.OK,
			Rejected: []string{"c1"}, Granted: []string{"c1", "c2"},
		}
		e.Because = fmt.Sprintf("c1's lease of token 1 is free behind %s; c2 changes no row at 0.503, and gets token 2 at %s; c1's write with 1, and its release, change none; overlap = %s - %s = %s",
			short(leased(0, time.Second)), short(accepted2), short(end1), short(accepted2), short(e.Overlap))
		if doc == "none" {
			e.Rejected, e.Damage = nil, []string{check.StaleWrite}
		}
		return e
	}
	s.Control = func() Control { return turned("lease-table", "check", doc, "fence", "none") }
	return s
}

// leaseRace is S52 and the last line of S53: of twenty that ask at once one wins, as
// long as there is a row to win.
func leaseRace() *Scenario {
	clients, dialect, row, transaction := "5", "postgres", "insert", "none"
	s := &Scenario{
		Name:   "lease-race",
		Pair:   "database",
		Claim:  "of twenty that ask at once exactly one gets the lease, if there is a row; without one nobody ever does",
		Claims: []string{"S52", "S53"},
		Also:   []string{"clients=20", "clients=20 dialect=mysql", "clients=20 dialect=mariadb", "transaction=repeatable-read"},
	}
	s.Params = []Param{
		choice("clients", &clients, []string{"2", "5", "20"}, "how many ask at once"),
		choice("dialect", &dialect, dialectNames, "whose database"),
		choice("row", &row, []string{"insert", "exists", "missing"}, "where the row comes from"),
		choice("transaction", &transaction, []string{"none", "read-committed", "repeatable-read"}, "whether an attempt is a transaction, and of what level"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{Begin: transaction != "none"}
		mustText(&system.Dialect, dialect)
		mustText(&system.Row, row)
		if system.Begin {
			mustText(&system.Isolation, transaction)
		}
		spec := trial.Spec{System: system, Latency: sim.Every(hop), Horizon: time.Minute}
		for i := range map[string]int{"2": 2, "5": 5, "20": 20}[clients] {
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{
				Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript("try; work 1s; release"),
			})
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
		e.Because = "the first UPDATE that arrives is c1's; the others find a lease that is not over, or wait for c1's transaction and find it then, or are told 40001"
		if row == "missing" {
			e.Granted = []string{}
			e.Because = "an UPDATE of a row that is not there changes 0 rows, whoever sends it"
		}
		return e
	}
	s.Control = func() Control {
		if row == "missing" {
			return Control{"lease-race", []string{"row=insert"}}
		}
		return Control{"lease-race", []string{"row=missing"}}
	}
	return s
}

// leaseStaleID is S54: LAST_INSERT_ID() is of the session, and keeps its older value
// where the UPDATE changed no row.
func leaseStaleID() *Scenario {
	dialect, rows := "mysql", "ignored"
	s := &Scenario{
		Name:   "lease-stale-id",
		Pair:   "database",
		Claim:  "who reads LAST_INSERT_ID() without a look at the changed rows takes an old token for a new lease",
		Claims: []string{"S54"},
	}
	s.Params = []Param{
		choice("dialect", &dialect, dialectNames[1:], "whose database"),
		choice("rows", &rows, []string{"ignored", "checked"}, "whether the client looks at how many rows were changed"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Lease{IgnoreRows: rows == "ignored"}
		mustText(&system.Dialect, dialect)
		return trial.Spec{
			System: system,
			Cast: guarding(document("fence"), "try; release; until 2s; try; write doc; work 1s; release",
				"until 1s; try; write doc; work 5s; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		e.Because = "c1's second UPDATE changes 0 rows: it does not hold the lease that is c2's"
		if rows == "ignored" {
			accepted, end := 2*time.Second+leasing(dialect), 2*time.Second+leasing(dialect)+2*hop+time.Second
			e.Belief, e.Overlap, e.Rejected = check.Overlapping, end-accepted, []string{"c1"}
			e.Because = fmt.Sprintf("c1's session still has the id 1 of its first lease: c1 believes from %s to %s with token 1, in the middle of c2's lease with token 2, which doc has seen",
				short(accepted), short(end))
		}
		return e
	}
	s.Control = func() Control { return turned("lease-stale-id", "rows", rows, "checked", "ignored") }
	return s
}

// leaseRelease is S55: a release by the name alone ends whoever's lease it is.
func leaseRelease() *Scenario {
	match := "name"
	s := &Scenario{
		Name:   "lease-release",
		Pair:   "database",
		Claim:  "a release that does not match owner and fence ends another's lease and lets a third in",
		Claims: []string{"S55", "S26"},
	}
	s.Params = []Param{choice("match", &match, []string{"name", "owner", "owner-and-fence"}, "by what a client finds its lease when it gives it up")}
	s.Spec = func() trial.Spec {
		system := sql.Lease{}
		mustText(&system.Release, match)
		cast := two("until 1s; acquire; work 1s; write doc; release", "until 3s; acquire; work 5s; write doc; release")
		cast.Clients = append(cast.Clients, trial.Client{Name: "c3", Script: trial.MustScript("until 12500ms; acquire; work 1s; write doc; release")})
		return trial.Spec{
			System:   system,
			Cast:     cast,
			Schedule: faults.Schedule{{Anchor: faults.Before("c1", "release", 1), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: 10 * time.Second}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// c1 writes at 2.005 and is at its release from 2.006 to 12.006. c2 asks every 104 ms
	// from 3 s on; its attempt of 11.008 is the first whose UPDATE comes after 11.003.
	s.Expect = func() Expectation {
		const (
			accepted2 = 11012 * time.Millisecond
			end1      = 12006 * time.Millisecond
			accepted3 = 12504 * time.Millisecond
			end3      = accepted3 + time.Second + 2*hop
		)
		e := Expectation{
			Promise: check.Kept, Belief: check.Overlapping, Overlap: end1 - accepted2, Progress: check.OK,
			Because: fmt.Sprintf("c1 believes until its release at %s, c2 from %s; the release finds another's lease and changes 0 rows", short(end1), short(accepted2)),
		}
		if match != "name" {
			return e
		}
		e.Promise, e.Breaches = check.Broken, []string{check.ConfirmedAfterLoss, check.DoubleGrant}
		e.Overlap += end3 - accepted3
		e.Damage = []string{check.WrongRelease, check.StaleWrite}
		e.Because = fmt.Sprintf("c1's release at 12.007 ends c2's lease; c3 believes from %s to %s; c2's write at 16.013 is the older grant's; its own release finds a row too, as by the name it always does, so it is told nothing",
			short(accepted3), short(end3))
		return e
	}
	s.Control = func() Control { return turned("lease-release", "match", match, "owner-and-fence", "name") }
	return s
}
