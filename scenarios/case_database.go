package scenarios

// caseH12 is the first report; the second asks for its cure.
func caseH12() *Scenario {
	return leaseAppClock().retold("case-h12",
		"lukas-krecan/ShedLock#231, lukas-krecan/ShedLock#263: a node whose clock is three minutes ahead takes a lock of two minutes after a second",
		[]string{"H12", "S56"}, "clock=app", "skew=180s", "ttl=120s").fromField(Case{
		Report: "lukas-krecan/ShedLock#231",
		Seen:   "it is asked there whether this can be, and the maintainer says yes: both nodes would run the job; in the row of table shedlock, locked_at would be ahead of the first node's clock, and locked_by the second's name while the first is still at work",
		By:     Client,
		Cure:   "clock=db",
		Means:  "JdbcTemplateLockProvider with usingDbTime() (ShedLock#263): every node's UPDATE reads the database's clock",
	})
}

// caseH20 is the first report; the second has the same cause, and the variant is what
// happens when the next client comes to the first connection instead.
func caseH20() *Scenario {
	s := pgBouncer().retold("case-h20",
		"goauthentik/authentik#23876, pgbouncer/pgbouncer#102: an unlock that goes to another server connection is false, and the next waits for an hour",
		[]string{"H20", "S51", "S49"}, "route=apart")
	s.Also = []string{"route=same"}
	return s.fromField(Case{
		Report: "goauthentik/authentik#23876",
		Seen:   "every pod that started logged that it was waiting to acquire the database lock; pg_locks had the lock granted to a server connection of PgBouncer's that was idle; nobody had looked at what pg_advisory_unlock returned",
		By:     Client,
		Cure:   "level=transaction",
		Means:  "pg_advisory_xact_lock in the transaction that does the work; or a direct connection for what needs a session (authentik#23013). With server_reset_query_always=1 the lock is gone after its own statement instead",
	})
}

// caseH21 needs no fault.
func caseH21() *Scenario {
	return galera().retold("case-h21",
		"github/gh-ost#224: GET_LOCK is not replicated: on two nodes of a Galera cluster two clients have the same lock, with no fault at all",
		[]string{"H21"}).fromField(Case{
		Report: "github/gh-ost#224",
		Seen:   "GET_LOCK returned 1 on both nodes, and IS_USED_LOCK on each named its own client's connection",
		By:     Operators,
		Cure:   "nodes=1",
		Means:  "one node for all that lock, by a proxy that writes to one; or a row instead of a named lock. MariaDB for a while refused GET_LOCK on a Galera cluster (MDEV-30473, taken back by MDEV-31325)",
	})
}

// caseH22 is a restart of the database between two heartbeats.
func caseH22() *Scenario {
	s := heartbeatLost().retold("case-h22",
		"cirello-io/pglock#18: heartbeats end while the database restarts, the lock does not say so, and the next client takes it",
		[]string{"H22"}, "policy=quit")
	s.Also = []string{"policy=ignore"}
	return s.fromField(Case{
		Report: "cirello-io/pglock#18",
		Seen:   "lock2 was acquired, and lock1.IsReleased went on saying false; the log had a heartbeat that failed, and none after it",
		By:     Client,
		Cure:   "policy=abort",
		Means:  "a pglock that marks the lock as released when a heartbeat fails, and a program that looks at that and stops; since pglock#42 it tries again first",
	})
}
