package sql

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// TestClaimOneRow: S2, T25: of two that claim one pending row, one gets it; who comes
// second is told at once, or when the first is done.
func TestClaimOneRow(t *testing.T) {
	for _, d := range dialects {
		for by, told := range map[Taking]time.Duration{ForUpdate: 5*sec + 6*hop, SkipLocked: sec + 6*hop, Conditional: sec + 2*hop} {
			s := locked(t, Row{Dialect: d, By: by, Once: true})
			s.client("c1", 0, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				u.until(5 * sec)
				require.NoError(t, u.release(g))
			})
			s.client("c2", sec, func(u *user) {
				_, err := u.acquire()
				require.ErrorIs(t, err, models.ErrHeld)
				// With FOR UPDATE its wait ends with c1's COMMIT, which is there at 5.003; then
				// comes its own ROLLBACK.
				require.Equal(t, told, s.w.Now(), by)
				u.until(10 * sec)
				_, err = u.acquire()
				require.ErrorIs(t, err, models.ErrHeld, "what is done is done")
			})
			s.run()
		}
	}
}

// TestWhatBecomesOfARow whose client dies: a transaction is undone, a state stays.
func TestWhatBecomesOfARow(t *testing.T) {
	for by, again := range map[Taking]bool{ForUpdate: true, SkipLocked: true, Conditional: false} {
		s := locked(t, Row{By: by, Once: true})
		s.client("c1", 0, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			u.until(5 * sec)
		})
		s.client("c2", 10*sec, func(u *user) {
			_, err := u.acquire()
			require.Equal(t, again, err == nil, by)
		})
		s.apply("at 2s  kill c1")
		s.run()
	}
}

// TestSplitAQueue: S3: workers that go through the jobs, each skipping what another
// has, do each once, and wait for nothing.
func TestSplitAQueue(t *testing.T) {
	s := locked(t, Row{By: SkipLocked, Once: true})
	did := map[string]int{}
	for n := range 3 {
		s.client(fmt.Sprintf("c%d", n), 0, func(u *user) {
			for j := range 9 {
				job := fmt.Sprintf("job-%d", j)
				asked := s.w.Now()
				g, err := s.lock.Acquire(u.Process, job)
				require.LessOrEqual(t, s.w.Now()-asked, 6*hop)
				if err != nil {
					continue
				}
				u.Sleep(100 * hop)
				did[job]++
				require.NoError(t, s.lock.Release(u.Process, job, g))
			}
		})
	}
	s.run()
	require.Len(t, did, 9)
	for job, n := range did {
		require.Equal(t, 1, n, job)
	}
}

// TestDeadlocks: S66, as measured: 1213 at once, in PostgreSQL 40P01 a second after
// the first has begun to wait; of user locks 3058 in MySQL. The victim's transaction is undone, so the
// other goes on.
func TestDeadlocks(t *testing.T) {
	rows := func(id string) statement { return &SelectTask{ID: id} }
	locks := func(id string) statement { return &AdvisoryLock{Name: id, Key: lockKey(id), Xact: true} }
	named := func(id string) statement { return &GetLock{id, 10 * sec} }
	for _, c := range []struct {
		name    string
		dialect Dialect
		take    func(id string) statement
		code    string
		victim  string
		at      time.Duration // when it is told
	}{
		{"rows", Postgres, rows, "40P01", "c1", 3*sec + 2*hop},
		{"advisory locks", Postgres, locks, "40P01", "c1", 3*sec + 2*hop},
		{"rows", MySQL, rows, "1213", "c2", 2500*hop + 2*hop},
		{"rows", MariaDB, rows, "1213", "c2", 2500*hop + 2*hop},
		{"GET_LOCK", MySQL, named, "3058", "c2", 2500*hop + 2*hop},
		{"GET_LOCK", MariaDB, named, "1213", "c2", 2500*hop + 2*hop},
	} {
		t.Run(c.dialect.String()+" "+c.name, func(t *testing.T) {
			s := served(t, Options{Dialect: c.dialect})
			told := map[string]string{}
			work := func(u *user, first, second string, at time.Duration) {
				u.exec(&Begin{})
				u.exec(c.take(first))
				u.until(at)
				r := u.exec(c.take(second))
				told[u.Name()] = code(r)
				if r.Err != nil {
					require.Equal(t, c.victim, u.Name())
					require.Equal(t, c.at, s.w.Now())
					u.exec(&End{})
					u.exec(&ReleaseLock{first}) // a user lock outlives the transaction
				}
			}
			s.client("c1", 0, func(u *user) { work(u, "a", "b", 2*sec) })
			s.client("c2", 0, func(u *user) { work(u, "b", "a", 2500*hop) })
			s.run()
			other := map[string]string{"c1": "c2", "c2": "c1"}[c.victim]
			require.Equal(t, map[string]string{c.victim: c.code, other: ""}, told)
		})
	}
}

// TestNoDeadlock: a circle that the database cannot see, since each client takes its
// two locks on two connections, is none to it.
func TestNoDeadlock(t *testing.T) {
	for perLock, progress := range map[bool]bool{false: true, true: false} {
		s := locked(t, Advisory{Wait: -1, PerLock: perLock})
		done := 0
		work := func(u *user, first, second string) {
			_, err := s.lock.Acquire(u.Process, first)
			require.NoError(t, err)
			u.until(sec)
			if g, err := s.lock.Acquire(u.Process, second); err == nil {
				require.NoError(t, s.lock.Release(u.Process, second, g))
			}
			done++
		}
		s.client("c1", 0, func(u *user) { work(u, "a", "b") })
		s.client("c2", 0, func(u *user) { work(u, "b", "a") })
		s.run()
		require.Equal(t, progress, done == 2)
	}
}

// TestTransactions: what is visible to whom.
func TestTransactions(t *testing.T) {
	for _, i := range []Isolation{ReadCommitted, RepeatableRead} {
		s := served(t, Options{Isolation: i})
		owner := func(u *user) string { return u.exec(&SelectLease{"k"}).Text }
		s.client("a", 0, func(u *user) {
			u.exec(&SeedLease{"k"})
			u.exec(&Begin{})
			u.exec(&TakeLease{Name: "k", Owner: "a", TTL: sec})
			require.Equal(t, "a", owner(u), "its own draft")
			u.until(2 * sec)
			u.exec(&End{Commit: true})
		})
		s.client("b", 0, func(u *user) {
			u.until(500 * hop)
			u.exec(&Begin{})
			require.Empty(t, owner(u))
			u.until(3 * sec)
			if i == ReadCommitted {
				require.Equal(t, "a", owner(u))
			} else {
				require.Empty(t, owner(u), "what was committed when it began to read")
			}
			u.exec(&End{})
			require.Equal(t, "a", owner(u))
		})
		s.client("c", 0, func(u *user) {
			u.until(sec)
			require.Equal(t, 1, u.exec(&SeedLease{"n"}).Rows)
			u.exec(&Begin{})
			u.exec(&TakeLease{Name: "n", Owner: "c", TTL: sec})
			u.exec(&End{})
			require.Empty(t, u.exec(&SelectLease{"n"}).Text, "undone")
		})
		s.run()
	}
}

// TestTwoInserts of one key: the second waits for what becomes of the first.
func TestTwoInserts(t *testing.T) {
	for _, commit := range []bool{true, false} {
		s := served(t, Options{})
		s.client("a", 0, func(u *user) {
			u.exec(&Begin{})
			require.Equal(t, 1, u.exec(&InsertRun{"nightly"}).Rows)
			u.until(2 * sec)
			u.exec(&End{commit})
		})
		s.client("b", sec, func(u *user) {
			r := u.exec(&InsertRun{"nightly"})
			require.Equal(t, 2*sec+2*hop, s.w.Now())
			require.Equal(t, map[bool]string{true: "23505", false: ""}[commit], code(r))
		})
		s.run()
	}
}

// TestJobRuns: S63: a run is begun once; one that was begun and not ended shows, and
// can be begun again.
func TestJobRuns(t *testing.T) {
	const key = "mails/2026-01-01"
	for retake, again := range map[time.Duration]bool{0: false, 10 * sec: true} {
		s := locked(t, JobRuns{Retake: retake})
		holder := func(u *user) string {
			value, err := s.lock.(models.Inspector).Holder(u.Process, key)
			require.NoError(t, err)
			return value
		}
		s.client("c1", 0, func(u *user) {
			require.Empty(t, holder(u))
			_, err := s.lock.Acquire(u.Process, key)
			require.NoError(t, err)
			u.until(5 * sec)
		})
		s.client("c2", 3*sec, func(u *user) {
			_, err := s.lock.Acquire(u.Process, key)
			require.ErrorIs(t, err, models.ErrHeld)
			u.until(12 * sec)
			require.Equal(t, "c1#1", holder(u), "the alarm")
			g, err := s.lock.Acquire(u.Process, key)
			require.Equal(t, again, err == nil)
			if again {
				require.EqualValues(t, 2, g.Token)
				require.NoError(t, s.lock.Release(u.Process, key, g))
				require.ErrorIs(t, s.lock.Release(u.Process, key, g), models.ErrNotHeld)
				require.Empty(t, holder(u))
			}
			u.until(time.Minute)
			_, err = s.lock.Acquire(u.Process, key)
			require.ErrorIs(t, err, models.ErrHeld, "once it has ended nobody begins it again")
		})
		s.apply("at 2s  kill c1")
		s.run()
	}
}

// TestDocuments: S13, S58: an UPDATE with a condition changes the row or does not.
func TestDocuments(t *testing.T) {
	write := func(token int64, match string) models.WriteRequest {
		return models.WriteRequest{Object: "doc", Token: token, IfMatch: match, Base: -1}
	}
	for _, c := range []struct {
		name   string
		check  Check
		writes []models.WriteRequest
		want   []bool
	}{
		{"no condition", Unchecked, []models.WriteRequest{write(34, ""), write(33, "")}, []bool{true, true}},
		{"S13: 33 after 34", ByFence, []models.WriteRequest{write(34, ""), write(33, ""), write(35, "")}, []bool{true, false, true}},
		{"S13: the same token twice", ByFence, []models.WriteRequest{write(34, ""), write(34, "")}, []bool{true, true}},
		{"no token", ByFence, []models.WriteRequest{write(0, "")}, []bool{false}},
		{"WHERE version = :v", ByVersion, []models.WriteRequest{write(0, "0"), write(0, "0"), write(0, "1"), write(0, "")}, []bool{true, false, true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			db, err := Documents{Called: "doc", Check: c.check}.Open(s.w)
			require.NoError(t, err)
			s.client("c1", 0, func(u *user) {
				var got []bool
				for _, q := range c.writes {
					answer, err := u.Await(u.Send(db, q), sec)
					require.NoError(t, err)
					got = append(got, answer.(models.Written).OK)
				}
				require.Equal(t, c.want, got)
			})
			s.run()
			var recorded []bool
			for _, e := range s.w.History().Events {
				if e.Kind == history.Write {
					recorded = append(recorded, e.Outcome == history.OK)
				}
			}
			require.Equal(t, c.want, recorded)
		})
	}
}

// TestOneTransactionOrTwoStores: T25: a crash between two writes under one lock
// leaves one of them where there are two stores, and neither where both are in the
// lock's transaction.
func TestOneTransactionOrTwoStores(t *testing.T) {
	for together, left := range map[bool]string{true: "", false: "a"} {
		s := locked(t, Row{})
		a, b := Documents{Called: "a"}, Documents{Called: "b", Server: "db9"}
		if together {
			a, b = Documents{Called: "a", Transaction: true}, Documents{Called: "b", Transaction: true}
		}
		dbA, err := a.Open(s.w)
		require.NoError(t, err)
		dbB, err := b.Open(s.w)
		require.NoError(t, err)
		s.client("c1", 0, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			u.Await(u.Send(dbA, models.WriteRequest{Object: "a", Value: "new", Base: -1}), sec)
			u.Step("between")
			u.Await(u.Send(dbB, models.WriteRequest{Object: "b", Value: "new", Base: -1}), sec)
		})
		s.client("c2", sec, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
			changed := ""
			for _, d := range []struct {
				name string
				db   *sim.Server
			}{{"a", dbA}, {"b", dbB}} {
				o, err := u.Await(u.Send(d.db, models.ReadRequest{Object: d.name}), sec)
				require.NoError(t, err)
				if o.(models.Object).Value == "new" {
					changed += d.name
				}
			}
			require.Equal(t, left, changed)
		})
		s.apply("before c1.between#1  kill c1")
		s.run()
	}
}

// TestInbox: T25: a message that comes again has one effect, where its id is unique.
func TestInbox(t *testing.T) {
	for unique, want := range map[bool]int{true: 1, false: 2} {
		s := newStage(t)
		db, err := Inbox{Called: "consumer", Unique: unique}.Open(s.w)
		require.NoError(t, err)
		s.client("c1", 0, func(u *user) {
			for range 2 {
				u.Await(u.Send(db, models.EffectRequest{Key: "message-1"}), sec)
			}
		})
		s.run()
		effects := 0
		for _, e := range s.w.History().Events {
			if e.Kind == history.Effect {
				effects++
			}
		}
		require.Equal(t, want, effects)
	}
}

func TestKeepers(t *testing.T) {
	s := newStage(t)
	_, err := Documents{Called: "doc", Check: 9}.Open(s.w)
	require.ErrorContains(t, err, "check 9: want one of")
	s.w.Go("db", nil)
	_, err = Documents{Called: "doc"}.Open(s.w)
	require.EqualError(t, err, "db is no database")
	_, err = Inbox{Called: "consumer"}.Open(s.w)
	require.EqualError(t, err, "db is no database")
	for _, system := range []models.System{Row{By: 9}, Row{Timeout: -1}, JobRuns{Retake: -1}, JobRuns{Timeout: -1}, Row{Keepalive: -1}} {
		_, err := system.Open(newStage(t).w)
		require.Error(t, err, system)
	}
}

// TestRowThatDoesNotFit: who has waited for a row, and finds it changed so that it
// does not fit, does not keep it from the next, though its transaction goes on.
func TestRowThatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		name                string
		first, second, last statement
	}{
		{"update", &FinishTask{ID: "k", State: doneTask}, &SelectTask{ID: "k"}, &FinishTask{ID: "k", State: doneTask}},
		{"insert", &SeedLease{"k"}, &SeedLease{"k"}, &DropLease{Name: "k", Match: ByName}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := served(t, Options{})
			s.client("a", 0, func(u *user) {
				u.exec(&Begin{})
				require.Equal(t, 1, u.exec(c.first).Rows)
				u.until(2 * sec)
				u.exec(&End{Commit: true})
			})
			s.client("b", sec, func(u *user) {
				u.exec(&Begin{})
				require.Zero(t, u.exec(c.second).Rows)
				require.Equal(t, 2*sec+2*hop, s.w.Now())
				u.until(9 * sec)
			})
			s.client("c", 1500*hop, func(u *user) {
				if c.name == "insert" { // it sees no row before there is one
					u.until(3 * sec)
				}
				asked := s.w.Now()
				require.Equal(t, 1, u.exec(c.last).Rows)
				require.Equal(t, max(asked, 2*sec)+2*hop, s.w.Now())
			})
			s.run()
		})
	}
}

// TestUndoneWrites: what a transaction writes is accepted when it is committed, and
// refused when it is undone; a client without one, or with another's, is refused.
func TestUndoneWrites(t *testing.T) {
	for schedule, want := range map[string][]history.Outcome{
		"":                   {history.OK, history.Refused},
		"at 2s  kill c1":     {history.Refused, history.Refused},
		"at 2s  reset c1 db": {history.Refused, history.Refused},
	} {
		s := locked(t, Row{})
		doc, err := Documents{Called: "doc", Transaction: true}.Open(s.w)
		require.NoError(t, err)
		write := func(u *user) {
			u.Await(u.Send(doc, models.WriteRequest{Object: "doc", Value: u.Name(), Base: -1}), sec)
		}
		s.client("c1", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			write(u)
			u.until(5 * sec)
			if u.release(g) != nil {
				require.NotEmpty(t, schedule)
			}
		})
		s.client("c2", sec, func(u *user) {
			u.until(6 * sec)
			write(u)
		})
		if schedule != "" {
			s.apply(schedule)
		}
		s.run()
		var got []history.Outcome
		var at []time.Duration
		for _, e := range s.w.History().Events {
			if e.Kind == history.Write {
				got, at = append(got, e.Outcome), append(at, e.At)
			}
		}
		require.Equal(t, want, got, schedule)
		require.Equal(t, map[bool]time.Duration{true: 5*sec + hop, false: at[0]}[schedule == ""], at[0], "with the COMMIT")
	}
}

// TestAnothersTransaction is not a client's own.
func TestAnothersTransaction(t *testing.T) {
	s := locked(t, Row{})
	doc, err := Documents{Called: "doc", Transaction: true}.Open(s.w)
	require.NoError(t, err)
	s.client("c1", 0, func(u *user) {
		_, err := u.acquire()
		require.NoError(t, err)
		u.until(5 * sec)
	})
	s.client("c2", sec, func(u *user) {
		answer, err := u.Await(u.Send(doc, models.WriteRequest{Object: "doc", Base: -1}), sec)
		require.NoError(t, err)
		require.Equal(t, models.Written{}, answer)
	})
	s.run()
}

// TestADeadlocksVictimIsUndone: in InnoDB its whole transaction is, so the other
// sees nothing of it.
func TestADeadlocksVictimIsUndone(t *testing.T) {
	s := served(t, Options{Dialect: MySQL})
	s.client("c1", 0, func(u *user) {
		u.exec(&Begin{})
		u.exec(&SelectTask{ID: "a"})
		u.until(sec)
		require.Equal(t, 1, u.exec(&SelectTask{ID: "b"}).Rows, "as it was")
		require.Equal(t, 1500*hop+2*hop, s.w.Now(), "as soon as c2 is the victim")
	})
	s.client("c2", 0, func(u *user) {
		u.exec(&Begin{})
		u.exec(&FinishTask{ID: "b", State: doneTask})
		u.until(1500 * hop)
		require.Equal(t, "1213", code(u.exec(&SelectTask{ID: "a"})))
		u.until(5 * sec)
	})
	s.run()
}

// TestThreeInACircle: a circle need not be of two.
func TestThreeInACircle(t *testing.T) {
	s := served(t, Options{Dialect: MySQL})
	victims := 0
	for i, rows := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "a"}} {
		s.client(rows[0], 0, func(u *user) {
			u.exec(&Begin{})
			u.exec(&SelectTask{ID: rows[0]})
			u.until(time.Duration(i+1) * sec)
			if code(u.exec(&SelectTask{ID: rows[1]})) == "1213" {
				victims++
				require.Equal(t, 2, i, "who closes it")
			}
			u.exec(&End{Commit: true})
		})
	}
	s.run()
	require.Equal(t, 1, victims)
}

// TestALateEnd: a run that was begun again is not ended by who began it first.
func TestALateEnd(t *testing.T) {
	s := locked(t, JobRuns{Retake: sec})
	s.client("c1", 0, func(u *user) {
		g, err := u.acquire()
		require.NoError(t, err)
		u.until(3 * sec)
		require.ErrorIs(t, u.release(g), models.ErrNotHeld)
	})
	s.client("c2", 2*sec, func(u *user) {
		_, err := u.acquire()
		require.NoError(t, err)
	})
	s.run()
}
