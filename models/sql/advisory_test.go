package sql

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
)

// TestGetLock: S47 and the table that was measured on MariaDB 10.11 and MySQL 9.7,
// cell by cell.
func TestGetLock(t *testing.T) {
	type answer struct {
		number int64
		null   bool
		code   string
		after  time.Duration // from the call to the reply, less the two hops
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	yes, no, null := answer{number: 1}, answer{}, answer{null: true}
	for _, c := range []struct {
		name           string
		held           string // the lock that another session has for 20 s
		ask            GetLock
		mysql, mariadb answer
	}{
		{"free", "", GetLock{"n", 5 * sec}, yes, yes},
		{"held: 0 after the time-out", "n", GetLock{"n", 5 * sec}, answer{after: 5 * sec}, answer{after: 5 * sec}},
		{"held, no time-out", "n", GetLock{"n", 0}, no, no},
		{"64 characters", "", GetLock{long(64), 0}, yes, yes},
		{"65 characters", "", GetLock{long(65), 0}, answer{code: "4163"}, yes},
		{"192 characters", "", GetLock{long(192), 0}, answer{code: "4163"}, yes},
		{"193 characters", "", GetLock{long(193), 0}, answer{code: "4163"}, answer{code: "4163"}},
		{"'CaSe' and 'case'", "CaSe", GetLock{"case", 0}, no, yes},
		{"''", "", GetLock{"", 0}, answer{code: "3057"}, null},
		{"time-out 0.3", "n", GetLock{"n", 300 * hop}, no, answer{after: 300 * hop}},
		{"time-out -1: for ever, or NULL", "n", GetLock{"n", -1}, answer{number: 1, after: 20*sec - sec}, null},
	} {
		for _, d := range []Dialect{MySQL, MariaDB} {
			t.Run(d.String()+" "+c.name, func(t *testing.T) {
				want := c.mysql
				if d == MariaDB {
					want = c.mariadb
				}
				s := served(t, Options{Dialect: d})
				if c.held != "" {
					s.client("a", 0, func(u *user) {
						require.EqualValues(t, 1, u.exec(&GetLock{c.held, 0}).Number)
						u.until(20 * sec)
					})
				}
				s.client("b", sec, func(u *user) {
					r := u.exec(&c.ask)
					require.Equal(t, want, answer{r.Number, r.Null, code(r), s.w.Now() - sec - 2*hop})
				})
				s.run()
			})
		}
	}
}

// TestGetLockAndTransactions: S47: several locks a session, each counted; COMMIT and
// ROLLBACK release none, the end of the session (KILL) all.
func TestGetLockAndTransactions(t *testing.T) {
	for _, d := range []Dialect{MySQL, MariaDB} {
		s := served(t, Options{Dialect: d})
		free := func(u *user, name string) bool {
			r := u.exec(&GetLock{name, 0})
			if r.Number == 1 {
				require.EqualValues(t, 1, u.exec(&ReleaseLock{name}).Number)
			}
			return r.Number == 1
		}
		s.client("a", 0, func(u *user) {
			for _, commit := range []bool{true, false} {
				u.exec(&Begin{})
				require.EqualValues(t, 1, u.exec(&GetLock{"m", 0}).Number)
				require.EqualValues(t, 1, u.exec(&GetLock{"n", 0}).Number)
				u.exec(&End{commit})
			}
			u.until(2 * sec)
			require.EqualValues(t, 1, u.exec(&ReleaseLock{"n"}).Number, "taken twice, given up once")
			u.until(4 * sec)
			require.EqualValues(t, 1, u.exec(&ReleaseLock{"n"}).Number)
			require.True(t, u.exec(&ReleaseLock{"n"}).Null, "nobody has it")
			u.until(6 * sec)
			db := s.db.Handler().(*Database)
			db.close(db.sessions[0])
		})
		s.client("b", sec, func(u *user) {
			require.False(t, free(u, "n"), "COMMIT and ROLLBACK keep it")
			require.False(t, u.exec(&ReleaseLock{"n"}).Null, "another's: 0, not NULL")
			u.until(3 * sec)
			require.False(t, free(u, "n"))
			u.until(5 * sec)
			require.True(t, free(u, "n"))
			require.False(t, free(u, "m"))
			u.until(7 * sec)
			require.True(t, free(u, "m"), "KILL releases it")
		})
		s.run()
	}
}

// TestAdvisoryLocks: S48, as measured on PostgreSQL 15.
func TestAdvisoryLocks(t *testing.T) {
	s := served(t, Options{})
	try := func(u *user, key int64, xact bool) bool {
		return u.exec(&AdvisoryLock{Name: "n", Key: key, Try: true, Xact: xact}).Number == 1
	}
	unlock := func(u *user, key int64) bool { return u.exec(&AdvisoryUnlock{"n", key}).Number == 1 }
	s.client("a", 0, func(u *user) {
		u.exec(&Begin{})
		require.True(t, try(u, 1, false))
		require.True(t, try(u, 1, false), "it counts")
		require.True(t, try(u, 2, true))
		require.False(t, unlock(u, 2), "a lock of the transaction cannot be unlocked")
		u.until(2 * sec)
		u.exec(&End{})
		u.until(4 * sec)
		require.True(t, unlock(u, 1))
		u.until(6 * sec)
		require.True(t, unlock(u, 1))
		require.False(t, unlock(u, 1))
		u.exec(&Begin{})
		require.True(t, try(u, 3, true))
		u.exec(&End{Commit: true})
		u.until(8 * sec)
	})
	s.client("b", sec, func(u *user) {
		require.False(t, try(u, 1, true), "one space of keys for both levels")
		require.False(t, try(u, 2, false))
		require.True(t, try(u, 1+1<<32, false), "all 64 bits of a key count")
		require.False(t, unlock(u, 1), "an unlock elsewhere returns false")
		u.until(3 * sec)
		require.False(t, try(u, 1, false), "ROLLBACK keeps a lock of the session")
		require.True(t, try(u, 2, false), "and frees one of the transaction")
		u.until(5 * sec)
		require.False(t, try(u, 1, false), "unlocked once of twice")
		u.until(7 * sec)
		require.True(t, try(u, 1, false))
		require.True(t, try(u, 3, false), "COMMIT frees it")
	})
	s.run()
}

// TestErrorsInTransactions: after an error PostgreSQL does nothing until the
// transaction is ended, and has given up its locks by then, but not those of the
// session.
func TestErrorsInTransactions(t *testing.T) {
	s := served(t, Options{})
	s.client("a", 0, func(u *user) {
		u.exec(&InsertRun{"nightly"})
		u.exec(&Begin{})
		u.exec(&AdvisoryLock{Name: "n", Key: 1, Try: true})
		u.exec(&AdvisoryLock{Name: "n", Key: 2, Try: true, Xact: true})
		require.Equal(t, "23505", code(u.exec(&InsertRun{"nightly"})))
		require.Equal(t, "25P02", code(u.exec(&Ping{})))
		u.until(2 * sec)
		require.Empty(t, code(u.exec(&End{Commit: true})))
		require.Empty(t, code(u.exec(&Ping{})))
	})
	s.client("b", sec, func(u *user) {
		require.Zero(t, u.exec(&AdvisoryLock{Name: "n", Key: 1, Try: true}).Number)
		require.EqualValues(t, 1, u.exec(&AdvisoryLock{Name: "n", Key: 2, Try: true}).Number)
	})
	s.run()
}

// TestSessionsEnd: who the server learns to be gone, and when. c1 has the lock from
// 0.001 on; the server probes every 10 s that nothing came.
func TestSessionsEnd(t *testing.T) {
	for _, c := range []struct {
		name, schedule string
		idle           time.Duration
		freed          []string
	}{
		{"it ends", "", 0, []string{"1m0.001s db.s1/1 session"}},
		{"killed", "at 2s  kill c1", 0, []string{"2.001s db.s1/1 session"}},
		{"reset", "at 2s  reset c1 db", 0, []string{"2s db.s1/1 session"}},
		{"cut off: the next probe", "at 2s  partition c1|db", 0, []string{"10.001s db.s1/1 session"}},
		{"cut off for less than that", "at 2s  partition c1|db 8s", 0, []string{"1m0.001s db.s1/1 session"}},
		{"suspended", "at 12s  pause c1 suspend 20s", 0, []string{"20.001s db.s1/1 session"}},
		{"stopped: its kernel answers for ever", "at 2s  pause c1 gc 2h", 0, []string{"2h0m2.001s db.s1/1 session"}},
		{"stopped, and ended for idleness", "at 2s  pause c1 gc 2h", 30 * sec, []string{"30.001s db.s1/1 session"}},
		{"killed behind a partition: the probe after that", "at 2s  partition c1|db 5s\nat 3s  kill c1", 0, []string{"10.001s db.s1/1 session"}},
		{"the server restarts", "at 2s  restart db power-loss", 0, []string{"2s db.s1/1 session"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := locked(t, Advisory{Keepalive: 10 * sec, IdleTimeout: c.idle})
			s.client("c1", 0, func(u *user) {
				_, err := u.acquire()
				require.NoError(t, err)
				u.until(60 * sec)
			})
			s.apply(c.schedule)
			s.run()
			require.Equal(t, c.freed, s.freed())
		})
	}
}

// TestReconnect: S49, S50: a driver that fails tells of the loss, one that is silent
// goes on without the lock.
func TestReconnect(t *testing.T) {
	for _, c := range []struct {
		how    Reconnect
		extend string
	}{{Fail, "SELECT 1: db: connection closed"}, {Silent, ""}} {
		s := locked(t, Advisory{Reconnect: c.how})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			u.until(3 * sec)
			_, err = s.lock.(models.Extender).Extend(u.Process, "k", g)
			if c.extend == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.extend)
			}
			require.ErrorIs(t, u.release(g), models.ErrNotHeld, "on a session that never had it")
		})
		s.apply("at 2s  reset c1 db")
		s.run()
		require.Equal(t, []string{"2s db.s1/1 session"}, s.freed())
	}
}

// TestTimeoutHangsUp: who gives up waiting for an answer closes the connection, so
// that what was done there is undone.
func TestTimeoutHangsUp(t *testing.T) {
	s := locked(t, Advisory{Timeout: sec})
	s.client("c1", 0, func(u *user) {
		_, err := u.acquire()
		require.ErrorContains(t, err, "pg_try_advisory_lock: db: no reply in time")
		u.until(5 * sec)
	})
	s.apply("at 0s  lose-reply db>c1")
	s.run()
	require.Equal(t, []string{"1.001s db.s1/1 session"}, s.freed())
}

// TestUnpinnedPool: S49: the unlock goes by another connection, returns false, and
// the lock is left behind.
func TestUnpinnedPool(t *testing.T) {
	for pool, want := range map[Pool]error{Pinned: nil, Unpinned: models.ErrNotHeld} {
		s := locked(t, Advisory{Pool: pool})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			require.Equal(t, want, u.release(g))
			u.until(3 * sec)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.Equal(t, pool == Unpinned, err != nil)
		})
		s.run()
		require.Equal(t, pool == Unpinned, strays(s) != nil)
	}
}

// strays lists the requests that came on the wrong session.
func strays(s *stage) []string {
	var list []string
	for _, e := range s.w.History().Events {
		if e.Kind == history.Strayed {
			list = append(list, e.Peer+" "+e.Value+" "+e.Why)
		}
	}
	return list
}

// TestPgBouncer: S51, H20, as measured on PgBouncer 1.18 in transaction pooling.
func TestPgBouncer(t *testing.T) {
	t.Run("two clients get true on one session", func(t *testing.T) {
		s := locked(t, Advisory{Pool: PgBouncer, Backends: 1})
		for i, name := range []string{"c1", "c2"} {
			s.client(name, time.Duration(i)*sec, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				require.False(t, g.Nested)
				u.until(5 * sec)
			})
		}
		s.run()
		require.Equal(t, []string{"c2 db.s1/1 enter"}, strays(s))
	})
	t.Run("an unlock elsewhere is false, and the lock outlives its client until server_lifetime", func(t *testing.T) {
		s := locked(t, Advisory{Pool: PgBouncer, Routes: map[string][]int{"c1": {1, 2}, "c2": {2}}, Wait: -1})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			require.ErrorIs(t, u.release(g), models.ErrNotHeld)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			require.Equal(t, time.Hour+2*hop, s.w.Now())
		})
		s.run()
		require.Equal(t, []string{"c1 db.s1/1 release"}, strays(s))
		require.Equal(t, "1h0m0.001s db.s1/1 session", s.freed()[0])
	})
	t.Run("locks of the transaction are right", func(t *testing.T) {
		s := locked(t, Advisory{Pool: PgBouncer, Level: Transaction})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			u.until(2 * sec)
			require.NoError(t, u.release(g))
			u.until(4 * sec)
			_, err = u.acquire()
			require.NoError(t, err)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.ErrorIs(t, err, models.ErrHeld)
			u.until(3 * sec)
			g, err := u.acquire()
			require.NoError(t, err)
			require.NoError(t, u.release(g))
			u.until(6 * sec)
			_, err = u.acquire()
			require.NoError(t, err, "c1 left within its transaction, and its server connection was closed")
		})
		s.run()
		require.Empty(t, strays(s))
	})
	t.Run("who finds no server connection free waits for one", func(t *testing.T) {
		s := locked(t, Advisory{Pool: PgBouncer, Level: Transaction, Backends: 1})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			u.until(2 * sec)
			require.NoError(t, u.release(g))
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			require.Equal(t, 2*sec+4*hop, s.w.Now(), "c1's COMMIT is there at 2.001")
		})
		s.run()
	})
}

// TestGalera: H21: GET_LOCK is of one node.
func TestGalera(t *testing.T) {
	for nodes, want := range map[int]error{1: models.ErrHeld, 2: nil} {
		s := locked(t, Advisory{Dialect: MariaDB, Nodes: nodes, At: map[string]int{"c2": nodes}})
		for i, name := range []string{"c1", "c2"} {
			s.client(name, time.Duration(i)*sec, func(u *user) {
				g, err := u.acquire()
				if i == 1 {
					require.Equal(t, want, err)
				}
				if err == nil {
					require.Len(t, g.Votes, 1)
				}
				u.until(5 * sec)
			})
		}
		s.run()
	}
}

// TestStandbyHasNoLocks: advisory locks are never logged, so what takes over has none,
// however little it is behind (PostgreSQL, "Hot Standby").
func TestStandbyHasNoLocks(t *testing.T) {
	for failover, want := range map[string]error{"": models.ErrHeld, "at 500ms  failover db>db2": nil} {
		s := locked(t, Advisory{Standby: true, Timeout: sec})
		s.apply(failover)
		s.client("c1", 0, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			u.until(5 * sec)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.Equal(t, want, err)
		})
		s.run()
	}
}

// TestNestedLocks: a client that has the lock takes it again, and has to give it
// back as often.
func TestNestedLocks(t *testing.T) {
	for _, system := range []models.System{
		Advisory{}, Advisory{Level: Transaction}, Advisory{Dialect: MySQL}, Advisory{Dialect: MariaDB}, Row{By: SkipLocked},
	} {
		s := locked(t, system)
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			require.False(t, g.Nested)
			again, err := u.acquire()
			require.NoError(t, err)
			require.True(t, again.Nested)
			require.Equal(t, g.Value, again.Value)
			require.NoError(t, u.release(g))
			u.until(2 * sec)
			require.NoError(t, u.release(g))
			u.until(4 * sec)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.ErrorIs(t, err, models.ErrHeld)
			u.until(3 * sec)
			_, err = u.acquire()
			require.NoError(t, err)
		})
		s.run()
	}
}

// TestWaitersAreServedInOrder.
func TestWaitersAreServedInOrder(t *testing.T) {
	for _, system := range []models.System{Advisory{Wait: -1}, Advisory{Dialect: MySQL, Wait: time.Minute}, Row{}} {
		s := locked(t, system)
		var order []string
		for i, name := range []string{"c1", "c3", "c2", "c4"} {
			s.client(name, time.Duration(i)*10*hop, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				order = append(order, name)
				u.Sleep(sec)
				require.NoError(t, u.release(g))
			})
		}
		s.run()
		require.Equal(t, []string{"c1", "c3", "c2", "c4"}, order)
	}
}

// TestTransactionsEnd: who ends the transaction that has a lock: the client, or not.
func TestTransactionsEnd(t *testing.T) {
	for autocommit, want := range map[bool]string{true: "1ms db.s1/1 transaction", false: "1.003s db.s1/1 deleted"} {
		s := locked(t, Advisory{Level: Transaction, Autocommit: autocommit})
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			u.until(sec + 2*hop)
			if autocommit {
				require.ErrorIs(t, u.release(g), models.ErrNotHeld, "there is no transaction in progress")
			} else {
				require.NoError(t, u.release(g))
			}
		})
		s.run()
		require.Equal(t, []string{want}, s.freed())
	}
}

// TestLockTimeout: lock_timeout ends PostgreSQL's patience with an error.
func TestLockTimeout(t *testing.T) {
	s := locked(t, Advisory{Wait: 2 * sec})
	s.client("c1", 0, func(u *user) {
		_, err := u.acquire()
		require.NoError(t, err)
		u.until(9 * sec)
	})
	s.client("c2", sec, func(u *user) {
		_, err := u.acquire()
		require.ErrorIs(t, err, models.ErrHeld)
		require.EqualError(t, err, "55P03 canceling statement due to lock timeout")
		require.Equal(t, 3*sec+2*hop, s.w.Now())
	})
	s.run()
}

func TestAdvisoryOptions(t *testing.T) {
	for _, c := range []struct {
		lock Advisory
		says string
	}{
		{Advisory{Dialect: MySQL, Level: Transaction}, "dialect mysql: want level session, and another pool than pgbouncer"},
		{Advisory{Dialect: MariaDB, Pool: PgBouncer}, "dialect mariadb: want level session"},
		{Advisory{Autocommit: true}, "autocommit: want level transaction"},
		{Advisory{Routes: map[string][]int{"c1": {1}}}, "routes: want pool pgbouncer"},
		{Advisory{Pool: Unpinned, PerLock: true}, "per-lock: want pool pinned"},
		{Advisory{Backends: -1}, "backends -1, server-lifetime 1h0m0s: want at least 1"},
		{Advisory{Pool: PgBouncer, Routes: map[string][]int{"c1": {3}}}, "routes of c1: backend 3: want 1 to 2"},
		{Advisory{At: map[string]int{"c1": 2}}, "node of c1: 2: want 1 to 1"},
		{Advisory{Nodes: 10}, "nodes 10: want 0 to 9"},
		{Advisory{Standby: true, Nodes: 2}, "standby: want one node"},
		{Advisory{Standby: true, Pool: PgBouncer}, "standby: want one node, and another pool than pgbouncer"},
		{Advisory{Wait: -2}, "wait -2ns: want 0 for not at all"},
		{Advisory{Timeout: -1}, "timeout -1ns"},
		{Advisory{Keepalive: -1}, "keepalive -1ns, idle-timeout 0s: want 0"},
		{Advisory{Level: 9}, "level 9: want one of"},
		{Advisory{Pool: 9}, "pool 9: want one of"},
		{Advisory{Reconnect: 9}, "reconnect 9: want one of"},
	} {
		_, err := c.lock.Open(newStage(t).w)
		require.ErrorContains(t, err, "advisory lock: "+c.says)
	}
}

// TestProbesComeAfterSilence: what a client sends puts the next probe off.
func TestProbesComeAfterSilence(t *testing.T) {
	s := locked(t, Advisory{Keepalive: 10 * sec})
	s.client("c1", 0, func(u *user) {
		g, err := u.acquire()
		require.NoError(t, err)
		u.until(5 * sec)
		_, err = s.lock.(models.Extender).Extend(u.Process, "k", g)
		require.NoError(t, err)
		u.until(time.Minute)
	})
	s.apply("at 16s  partition c1|db")
	s.run()
	require.Equal(t, []string{"25.001s db.s1/1 session"}, s.freed())
}

// TestServerLifetime: a server connection whose time is over while it serves a
// transaction is closed when that has ended.
func TestServerLifetime(t *testing.T) {
	s := locked(t, Advisory{Pool: PgBouncer, Level: Transaction, Backends: 1, ServerLifetime: 2 * sec})
	s.client("c1", 0, func(u *user) {
		for _, want := range []string{"db.s1/1", "db.s2/2"} {
			g, err := u.acquire()
			require.NoError(t, err)
			require.Equal(t, want, g.Value)
			u.Sleep(5 * sec)
			require.NoError(t, u.release(g))
		}
	})
	s.run()
	require.Equal(t, []string{"5.005s db.s1/1 deleted", "10.011s db.s2/2 deleted"}, s.freed())
}

// TestWhoWaitsWhenTheServerGoes gets nothing.
func TestWhoWaitsWhenTheServerGoes(t *testing.T) {
	for _, system := range []models.System{Advisory{Wait: -1}, Row{}} {
		s := locked(t, system)
		s.client("c1", 0, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			u.until(9 * sec)
		})
		for _, name := range []string{"c2", "c3"} {
			s.client(name, sec, func(u *user) {
				_, err := u.acquire()
				require.ErrorContains(t, err, "connection reset")
			})
		}
		s.apply("at 2s  restart db kill")
		s.run()
		require.Len(t, s.freed(), 1, "c1's, and no lock of those who waited")
	}
}

// TestWhoWaitsAndIsGone gets nothing either.
func TestWhoWaitsAndIsGone(t *testing.T) {
	for _, system := range []models.System{Advisory{Wait: -1}, Row{}} {
		s := locked(t, system)
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			u.until(5 * sec)
			require.NoError(t, u.release(g))
		})
		var got time.Duration
		s.client("c2", sec, func(u *user) { _, _ = u.acquire() })
		s.client("c3", 2*sec, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			got = s.w.Now()
		})
		s.apply("at 3s  kill c2")
		s.run()
		require.Equal(t, 5*sec+2*hop, got)
	}
}
