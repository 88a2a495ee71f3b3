// Package sql is locks in a database: a lease table with a fencing token ([Lease]),
// advisory locks and GET_LOCK ([Advisory]), rows of the application's own ([Row]) and
// a table of job runs ([JobRuns]); and what a database protects ([Documents],
// [Inbox]), which may be the database of the lock. [Database] is the server.
//
// # What is modelled
//
// A small engine of our own. It parses no SQL: a statement is a value that stands for
// one, and is named for it in the history. It keeps rows in versions, transactions
// that are committed or undone in one step, row locks (FOR UPDATE, SKIP LOCKED, an
// UPDATE's own), unique keys, user-level locks, sessions, and deadlocks. Who waits is
// served in the order in which all came.
//
// A statement takes no time at the server. A transaction sees what was committed when
// its statement began (read committed), or its first statement (repeatable read); an
// UPDATE waits for who has locked its row, and looks again at what that one has left.
//
// A session is a connection (sim.Conn), and ends with it: its transaction is undone
// and its locks are free. The server hears of the end of a process a hop later, of a
// client that is cut off or suspended by the first probe without an answer, and of one
// that is only stopped never, since its kernel answers the probes (measured: a
// stopped client of PostgreSQL 15 keeps its lock for ever).
//
// # The dialects
//
// Measured on PostgreSQL 15, MariaDB 10.11 and MySQL 9.7; each is a test here.
//
//   - The fence comes with RETURNING in PostgreSQL, and from LAST_INSERT_ID() in the
//     others, which keeps the older value where the UPDATE has found no row.
//   - now() is the begin of the transaction in PostgreSQL, and of the statement in the
//     others. A lease is not to be had at exactly expires_at.
//   - A TIMESTAMP without time zone compares what the clocks on two walls show.
//   - GET_LOCK: names of up to 64 characters, without regard to case (MySQL), or 192,
//     with it (MariaDB); no name is error 3057 or NULL; less than no time-out is for
//     ever or NULL; fractions of a second do not count, or do; a deadlock is error 3058
//     or 1213.
//   - Advisory locks of PostgreSQL have a 64-bit key and count; ROLLBACK leaves those of
//     a session and frees those of a transaction; an unlock elsewhere returns false.
//   - A deadlock is error 1213 at once, or 40P01 once a statement has waited for a
//     second.
//   - PgBouncer in transaction pooling lets two clients in on one session, sends an
//     unlock to another, and keeps the lock when all clients have left.
//
// # Where it does not follow the real servers
//
//   - A connection is opened in no time, by its first statement. A statement whose
//     client is gone does not wait on, as it would in PostgreSQL until it can answer.
//   - The kernel probes a silent connection every two hours and gives up at once; Linux
//     repeats the probe nine times, over 11 minutes.
//   - SERIALIZABLE is not there: of statements that touch one row it does the same as
//     REPEATABLE READ. InnoDB's gap locks are not, nor the deadlock errors that MariaDB
//     gave in 2 of 400 attempts to insert into an empty table.
//   - An UPDATE whose row does not fit what is committed returns 0 rows at once, also
//     where InnoDB would wait for who has locked it. The one who closes the circle is
//     the victim of a deadlock in InnoDB, whatever it has changed.
//   - GET_LOCK refuses a name that is too long with error 4163 in MariaDB too.
//   - A commit is on the disk when it is answered. A standby takes over once, and its
//     primary does not come back. Resources stay with the first server.
//   - PgBouncer runs on the database's machine, and takes no time.
package sql
