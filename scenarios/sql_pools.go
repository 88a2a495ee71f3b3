package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// poolUnpinned is S49: a pool that gives each statement another connection.
func poolUnpinned() *Scenario {
	pool := "unpinned"
	s := &Scenario{
		Name:   "pool-unpinned",
		Pair:   "database",
		Claim:  "an unlock that the pool sends on another connection returns false, and the lock is left behind",
		Claims: []string{"S49"},
	}
	s.Params = []Param{choice("pool", &pool, []string{"unpinned", "pinned"}, "whether the pool keeps the lock's connection for its holder")}
	s.Spec = func() trial.Spec {
		system := sql.Advisory{}
		mustText(&system.Pool, pool)
		return trial.Spec{
			System:  system,
			Cast:    two("acquire; work 1s; write doc; release; until 1h", "until 5s; acquire; work 1s; write doc; release"),
			Latency: sim.Every(hop),
			Horizon: 30 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		e.Because = "c1 unlocks at 1.005s on the connection on which it has locked"
		if pool == "unpinned" {
			e.Promise, e.Breaches, e.Progress, e.Granted = check.Broken, []string{check.LostLease}, check.Stalled, []string{"c1"}
			e.Because = "c1's unlock comes at 1.005s on its other connection; the first, in the pool, holds the lock to the end, at 30s"
		}
		return e
	}
	s.Control = func() Control { return turned("pool-unpinned", "pool", pool, "unpinned", "pinned") }
	return s
}

// pgBouncer is S51 and H20: in transaction pooling a statement runs on whatever
// server connection is free.
func pgBouncer() *Scenario {
	level, route := "session", "same"
	s := &Scenario{
		Name:   "pgbouncer-transaction-pooling",
		Pair:   "database",
		Claim:  "behind PgBouncer in transaction pooling a session lock lets a second client in, or is never given back; a lock of the transaction is right",
		Claims: []string{"S51", "H20"},
		Also:   []string{"route=apart", "level=transaction route=apart"},
	}
	s.Params = []Param{
		choice("level", &level, []string{"session", "transaction"}, "with what the lock is given up"),
		choice("route", &route, []string{"same", "apart"}, "which server connections: one for both clients, or the second for c1's unlock and for c2"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Advisory{Pool: sql.PgBouncer, Wait: -1, Routes: map[string][]int{"c1": {1}, "c2": {1}}}
		if route == "apart" {
			system.Routes = map[string][]int{"c1": {1, 2}, "c2": {2}}
		}
		mustText(&system.Level, level)
		from := map[string]string{"same": "1s", "apart": "10s"}[route]
		return trial.Spec{
			System:  system,
			Cast:    two("acquire; work 5s; write doc; release", "until "+from+"; acquire; work 1s; write doc; release"),
			Latency: sim.Every(hop),
			Horizon: 2 * time.Hour,
		}
	}
	// The server connections are opened with the first statement, at 1 ms, and live for
	// an hour.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		switch {
		case level == "transaction":
			e.Because = "a transaction has its server connection for itself, and the lock with it"
		case route == "same":
			const accepted2 = time.Second + 2*hop
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
			e.Belief, e.Overlap, e.Damage = check.Overlapping, time.Second+2*hop, []string{check.StaleWrite}
			e.Because = fmt.Sprintf("c2 comes at 1.001s on the session that has c1's lock, which counts it in; c2 believes from %s to %s, c1 to 5.004s", short(accepted2), short(accepted2+e.Overlap))
		default:
			e.Promise, e.Breaches = check.Broken, []string{check.LostLease}
			e.Longest = time.Hour + 2*hop - 10*time.Second
			e.Because = "c1's unlock comes at 5.005s on the second server connection and returns false; the first holds the lock until PgBouncer closes it, an hour after 1ms; c2 asks at 10s"
		}
		return e
	}
	s.Control = func() Control {
		return turned("pgbouncer-transaction-pooling", "level", level, "session", "transaction")
	}
	return s
}

// galera is H21: GET_LOCK is of one node, and a cluster has several.
func galera() *Scenario {
	nodes := "2"
	s := &Scenario{
		Name:   "get-lock-galera",
		Pair:   "database",
		Claim:  "on a cluster whose nodes have their GET_LOCKs each for itself two clients hold one, with no fault at all",
		Claims: []string{"H21"},
	}
	s.Params = []Param{choice("nodes", &nodes, []string{"2", "1"}, "how many nodes there are; c2 is connected to the last")}
	s.Spec = func() trial.Spec {
		n := int(nodes[0] - '0')
		return trial.Spec{
			System:  sql.Advisory{Dialect: sql.MariaDB, Nodes: n, At: map[string]int{"c2": n}},
			Cast:    two("acquire; work 5s; write doc; release", "until 1s; try; work 1s; write doc; work 5s; release"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if nodes == "1" {
			return untaken("there is one node, which has given the lock to c1")
		}
		const accepted2, end1 = time.Second + 2*hop, 2*hop + 5*time.Second + 2*hop
		return Expectation{
			Promise: check.Broken, Breaches: []string{check.DoubleGrant}, Belief: check.Overlapping, Overlap: end1 - accepted2,
			Damage: []string{check.StaleWrite}, Progress: check.OK, Granted: []string{"c1", "c2"},
			Because: fmt.Sprintf("db2 knows nothing of db1's lock; overlap = %s - %s = %s", short(end1), short(accepted2), short(end1-accepted2)),
		}
	}
	s.Control = func() Control { return turned("get-lock-galera", "nodes", nodes, "2", "1") }
	return s
}

// sqlDeadlock is the database's side of S66: it sees two clients that wait for each
// other's locks, and lets one of them fail; unless each lock has a session of its
// own.
func sqlDeadlock() *Scenario {
	dialect, order, sessions := "postgres", "opposite", "one"
	s := &Scenario{
		Name:   "advisory-deadlock",
		Pair:   "database",
		Claim:  "a database ends a deadlock of its own locks with an error to one client, if it can see that the locks are one client's",
		Claims: []string{"S66"},
		Also:   []string{"dialect=mysql", "sessions=per-lock"},
	}
	s.Params = []Param{
		choice("dialect", &dialect, dialectNames, "whose database"),
		choice("order", &order, []string{"opposite", "same"}, "in which order the clients take a and b"),
		choice("sessions", &sessions, []string{"one", "per-lock"}, "whether a client takes both in one session"),
	}
	s.Spec = func() trial.Spec {
		system := sql.Advisory{Wait: time.Hour, PerLock: sessions == "per-lock"}
		mustText(&system.Dialect, dialect)
		cast := trial.Cast{Clients: two("acquire a; work 1s; try b; work 1s; release b; release a",
			"acquire a; work 1s; try b; work 1s; release b; release a").Clients}
		if order == "opposite" {
			cast.Clients[1].Script = trial.MustScript("acquire b; work 1200ms; try a; work 1s; release a; release b")
		}
		return trial.Spec{System: system, Cast: cast, Latency: sim.Every(hop), Horizon: 30 * time.Second}
	}
	// Each has its first lock at 2 ms. c1 asks for b at 1.002, c2 for a at 1.202; both
	// are there a hop later.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		switch {
		case order == "same":
			e.Granted, e.Longest = []string{"c1", "c1", "c2", "c2"}, 2*time.Second+8*hop
			e.Because = "c2 waits for a until c1 has given back both, at 2.007s"
		case sessions == "per-lock":
			e.Granted, e.Progress = []string{"c1", "c2"}, check.Deadlocked
			e.Because = "to the database four sessions have or want a lock each, and none waits for itself"
		case dialect == "postgres":
			e.Granted, e.Longest = []string{"c1", "c2", "c2"}, time.Second+2*hop
			e.Because = "c1 has waited for a second at 2.003s, when the database looks and finds the circle; c1 is told, gives a back at 2.005s, and c2 has it"
		default:
			e.Granted, e.Longest = []string{"c1", "c2", "c1"}, 204*time.Millisecond
			e.Because = "the database finds the circle when c2 closes it, at 1.203s; c2 is told, gives b back at 1.205s, and c1 has it at 1.206s"
		}
		return e
	}
	s.Control = func() Control {
		if sessions == "one" && order == "opposite" {
			return Control{"advisory-deadlock", []string{"sessions=per-lock"}}
		}
		return Control{"advisory-deadlock", []string{"sessions=one", "order=opposite"}}
	}
	return s
}
