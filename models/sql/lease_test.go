package sql

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models"
)

// TestMeasuredLease: S53, as the document measured it on MySQL 8.0 and PostgreSQL
// 17, line by line: TTL 1 s, and 0.2 s more.
func TestMeasuredLease(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			s := locked(t, Lease{Dialect: d, TTL: sec})
			docs, err := Documents{Called: "doc", Check: ByFence}.Open(s.w)
			require.NoError(t, err)
			write := func(u *user, g models.Grant) bool {
				answer, err := u.Await(u.Send(docs, models.WriteRequest{Object: "doc", Value: u.Name(), Token: g.Token, Base: -1}), sec)
				require.NoError(t, err)
				return answer.(models.Written).OK
			}
			s.client("a", 0, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				require.EqualValues(t, 1, g.Token, "A takes the lease: token 1")
				u.until(2 * sec)
				require.False(t, write(u, g), "A's write: 0 rows")
				require.ErrorIs(t, u.release(g), models.ErrNotHeld, "A's release: 0 rows")
			})
			s.client("b", 500*hop, func(u *user) {
				_, err := u.acquire()
				require.ErrorIs(t, err, models.ErrHeld, "B meanwhile: 0 rows")
				u.until(1200 * hop)
				g, err := u.acquire()
				require.NoError(t, err)
				require.EqualValues(t, 2, g.Token, "B after the TTL: token 2")
				require.True(t, write(u, g))
				u.until(2100 * hop)
				require.NoError(t, u.release(g))
			})
			s.run()
			require.Equal(t, []string{"1.203s a:1 expired", "2.101s b:2 deleted"}, s.freed())
		})
	}
}

// TestTwentyAtOnce: S53, S52 and the measurement on PostgreSQL 15: of twenty that
// ask at once, exactly one wins, at every level; who loses in a transaction that
// repeats its reads is told 40001 by PostgreSQL. Without a row nobody wins.
func TestTwentyAtOnce(t *testing.T) {
	for _, d := range dialects {
		for _, begin := range []bool{false, true} {
			for _, i := range []Isolation{ReadCommitted, RepeatableRead} {
				for _, row := range []Seed{Insert, Exists, Missing} {
					t.Run(fmt.Sprintf("%s begin=%v %s %s", d, begin, i, row), func(t *testing.T) {
						s := locked(t, Lease{Dialect: d, Begin: begin, Isolation: i, Row: row})
						winners, serialization := 0, 0
						for n := range 20 {
							s.client(fmt.Sprintf("c%d", n), 0, func(u *user) {
								g, err := u.acquire()
								if err == nil {
									winners++
									require.EqualValues(t, 1, g.Token)
									return
								}
								require.ErrorIs(t, err, models.ErrHeld)
								if err != models.ErrHeld {
									require.ErrorContains(t, err, "40001")
									serialization++
								}
							})
						}
						s.run()
						require.Equal(t, map[Seed]int{Insert: 1, Exists: 1, Missing: 0}[row], winners)
						if d == Postgres && begin && i == RepeatableRead && row != Missing {
							require.Equal(t, 19, serialization)
						} else {
							require.Zero(t, serialization)
						}
					})
				}
			}
		}
	}
}

// TestLeaseBoundary: measured on PostgreSQL 15: not to be had at exactly expires_at,
// to be had a millisecond later.
func TestLeaseBoundary(t *testing.T) {
	s := served(t, Options{})
	take := func(u *user) int { return u.exec(&TakeLease{Name: "k", Owner: u.Name(), TTL: sec}).Rows }
	s.client("a", 0, func(u *user) {
		u.exec(&SeedLease{"k"})
		require.Equal(t, 1, take(u)) // at the server at 3 ms
		u.until(sec + 2*hop)
		require.Zero(t, take(u), "at expires_at")
		require.Equal(t, sec+4*hop, s.w.Now())
	})
	s.client("b", sec+3*hop, func(u *user) { require.Equal(t, 1, take(u), "a millisecond later") })
	s.run()
}

// TestLastInsertID: S54. It is what the session was given last: who changes no row
// and reads it all the same is told an old token; another session's is no help.
func TestLastInsertID(t *testing.T) {
	for _, d := range []Dialect{MySQL, MariaDB} {
		for _, ignore := range []bool{false, true} {
			s := locked(t, Lease{Dialect: d, TTL: sec, IgnoreRows: ignore})
			s.client("a", 0, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				require.NoError(t, u.release(g))
				u.until(2 * sec)
				g, err = u.acquire() // b has it
				require.ErrorIs(t, err, models.ErrHeld)
				require.Equal(t, ignore, g.Assumed)
				if ignore {
					require.EqualValues(t, 1, g.Token)
				}
			})
			s.client("b", 1500*hop, func(u *user) {
				g, err := u.acquire()
				require.NoError(t, err)
				require.EqualValues(t, 2, g.Token)
			})
			s.client("c", 1800*hop, func(u *user) {
				g, err := u.acquire()
				require.ErrorIs(t, err, models.ErrHeld)
				require.False(t, g.Assumed, "a session that has never taken a lease is told 0")
			})
			s.run()
		}
	}
}

// TestReleaseMatches: S55. By less than owner and fence, a late release ends a lease
// that is not the client's, or not the one that it means.
func TestReleaseMatches(t *testing.T) {
	for _, c := range []struct {
		match    Match
		ownLater bool // it ends a later lease of its own
		anothers bool
	}{{ByOwnerAndFence, false, false}, {ByOwner, true, false}, {ByName, true, true}} {
		for _, next := range []string{"a", "b"} {
			s := locked(t, Lease{TTL: sec, Release: c.match})
			s.client("a", 0, func(u *user) {
				first, err := u.acquire()
				require.NoError(t, err)
				u.until(2 * sec)
				if next == "a" {
					_, err = u.acquire()
					require.NoError(t, err)
				}
				u.until(2500 * hop)
				ended := u.release(first) == nil
				require.Equal(t, next == "a" && c.ownLater || next == "b" && c.anothers, ended)
			})
			if next == "b" {
				s.client("b", 2*sec, func(u *user) {
					_, err := u.acquire()
					require.NoError(t, err)
				})
			}
			s.run()
		}
	}
}

// TestWhoseClock: S56, H12, and a TIMESTAMP without time zone as it was measured: b
// asks a second after a, for a lease of 10 s.
func TestWhoseClock(t *testing.T) {
	for _, c := range []struct {
		name     string
		lease    Lease
		schedule string
		why      string // why a's lease ended; empty where it did not
	}{
		{"the database's: clients an hour off", Lease{}, "at 0s  clock-step a -1h\nat 0s  clock-step b +1h", ""},
		{"the database's, which jumps", Lease{}, "at 500ms  clock-step db +30s", "expired"},
		{"the database's, which jumps back", Lease{}, "at 500ms  clock-step db -30s", ""},
		{"the application's: b is ahead", Lease{Clock: App}, "at 0s  clock-step b +180s", "overwritten"},
		{"the application's: a is behind", Lease{Clock: App}, "at 0s  clock-step a -180s", "overwritten"},
		{"the application's: b is behind", Lease{Clock: App}, "at 0s  clock-step b -180s", ""},
		{"the application's: the database's jumps", Lease{Clock: App}, "at 500ms  clock-step db +30s", ""},
		{"without time zone: b is east of a", Lease{Naive: true, Zones: map[string]time.Duration{"b": 7 * time.Hour}}, "", "overwritten"},
		{"without time zone: b is west of a", Lease{Naive: true, Zones: map[string]time.Duration{"b": -7 * time.Hour}}, "", ""},
		{"without time zone, both in one", Lease{Naive: true}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := locked(t, c.lease)
			s.client("a", 0, func(u *user) {
				_, err := u.acquire()
				require.NoError(t, err)
			})
			s.client("b", sec, func(u *user) {
				_, err := u.acquire()
				require.Equal(t, c.why != "", err == nil)
			})
			s.apply(c.schedule)
			s.run()
			var want []string
			if c.why != "" {
				want = []string{"1.003s a:1 " + c.why}
			}
			require.Equal(t, want, s.freed())
		})
	}
}

// TestNow is the begin of the transaction in PostgreSQL (measured), and of the
// statement in MySQL: a pause of 4 s behind BEGIN costs the lease 4 s or nothing.
func TestNow(t *testing.T) {
	for _, d := range dialects {
		s := locked(t, Lease{Dialect: d, Begin: true, Row: Exists})
		s.w.Before("a", "send", 2, func() { s.w.Machine("a").Pause(0, 4*sec) })
		s.client("a", 0, func(u *user) {
			g, err := u.acquire()
			require.NoError(t, err)
			require.Equal(t, map[bool]time.Duration{true: 0, false: 2 * hop}[d == Postgres], g.Anchor, d)
			u.until(15 * sec)
		})
		s.client("b", 10*sec+hop, func(u *user) {
			_, err := u.acquire()
			require.Equal(t, d == Postgres, err == nil, d)
		})
		s.run()
	}
}

// TestWatchedLease: H22: b takes the lease when it has seen the same record for a
// TTL; a beat puts that off.
func TestWatchedLease(t *testing.T) {
	s := locked(t, Lease{Clock: Watched, TTL: 2 * sec})
	s.client("a", 0, func(u *user) {
		g, err := u.acquire()
		require.NoError(t, err)
		u.until(2500 * hop)
		_, err = u.s.lock.(models.Extender).Extend(u.Process, "k", g)
		require.NoError(t, err)
	})
	var got []time.Duration
	s.client("b", sec, func(u *user) {
		for {
			if g, err := u.acquire(); err == nil {
				require.EqualValues(t, 2, g.Token)
				require.NoError(t, u.release(g))
				got = append(got, s.w.Now())
				_, err = u.acquire()
				require.NoError(t, err, "what nobody has is taken at once")
				return
			}
			u.Sleep(500 * hop)
		}
	})
	s.run()
	// It looks every 502 ms, sees the beat of 2.501 first with the look of 2.506, for the
	// last time with that of 4.514; then come an INSERT, an UPDATE and the release.
	require.Equal(t, []time.Duration{4514*hop + 2*hop + 3*2*hop}, got)
}

// TestLeaseExtendsAndGivesUp: an extension needs the lease; a client that measures
// refuses one that came too late, and gives it back.
func TestLeaseExtendsAndGivesUp(t *testing.T) {
	s := locked(t, Lease{TTL: sec, Deadline: true})
	s.client("a", 0, func(u *user) {
		g, err := u.acquire()
		require.NoError(t, err)
		require.Equal(t, sec, g.Deadline.Reading)
		u.until(900 * hop)
		longer, err := u.s.lock.(models.Extender).Extend(u.Process, "k", g)
		require.NoError(t, err)
		require.Equal(t, 1900*hop, longer.Deadline.Reading)
		u.until(3 * sec)
		_, err = u.s.lock.(models.Extender).Extend(u.Process, "k", g)
		require.ErrorIs(t, err, models.ErrNotHeld, "b has had it since")
	})
	s.client("b", 1500*hop, func(u *user) {
		_, err := u.acquire()
		require.ErrorIs(t, err, models.ErrHeld)
		u.until(2 * sec)
		s.w.After("b", "send", 2, func() { s.w.Machine("b").Pause(0, 2*sec) })
		_, err = u.acquire()
		require.ErrorContains(t, err, "after 2.002s of 1s")
	})
	s.run()
	require.Equal(t, []string{"2.003s a:1 expired", "4.003s b:2 deleted"}, s.freed())
}

// TestStandby: S57: what the standby has not heard of is lost with the primary, and
// the token comes again.
func TestStandby(t *testing.T) {
	for lag, token := range map[time.Duration]int64{0: 0, 200 * hop: 1} {
		s := locked(t, Lease{Standby: true, Lag: lag})
		s.client("a", 0, func(u *user) {
			_, err := u.acquire()
			require.NoError(t, err)
		})
		s.client("b", sec, func(u *user) {
			g, err := u.acquire()
			require.Equal(t, token, g.Token)
			require.Equal(t, token == 0, err != nil)
		})
		s.apply("at 100ms  failover db>db2")
		s.run()
		if token == 0 {
			require.Empty(t, s.freed())
		} else {
			require.Equal(t, []string{"100ms a:1 failover"}, s.freed())
		}
	}
}

func TestLeaseOptions(t *testing.T) {
	for _, c := range []struct {
		lease Lease
		says  string
	}{
		{Lease{TTL: -1}, "ttl -1ns: want whole milliseconds, at least 1ms"},
		{Lease{TTL: 1500 * time.Microsecond}, "ttl 1.5ms: want whole milliseconds, at least 1ms"},
		{Lease{Timeout: -1}, "timeout -1ns: want 0, for none, or more"},
		{Lease{Lag: sec}, "lag 1s: want 0 or more, and only with a standby"},
		{Lease{IgnoreRows: true}, "ignore-rows: want it with mysql or mariadb"},
		{Lease{Zones: map[string]time.Duration{"a": 1}}, "zones: want them with naive"},
		{Lease{Clock: Watched, Begin: true}, "clock watched: want it without begin, naive and ignore-rows"},
		{Lease{Clock: 9}, `clock 9: want one of db, app, watched`},
		{Lease{Row: 9}, `row 9: want one of insert, exists, missing`},
		{Lease{Release: 9}, `release 9: want one of`},
		{Lease{Dialect: 9}, `dialect 9: want one of postgres, mysql, mariadb`},
		{Lease{Isolation: 9}, `isolation 9: want one of`},
	} {
		_, err := c.lease.Open(newStage(t).w)
		require.ErrorContains(t, err, "lease table: "+c.says)
	}
}

// TestWhatAStandbyNeverHeard is no loss where it was over, and no part of its history
// once it has taken over.
func TestWhatAStandbyNeverHeard(t *testing.T) {
	s := locked(t, Lease{TTL: sec, Standby: true, Lag: 5 * sec})
	s.client("a", 0, func(u *user) {
		_, err := u.acquire()
		require.NoError(t, err)
	})
	s.apply("at 3s  failover db>db2")
	s.run()
	require.Empty(t, s.freed(), "the lease was over by then")

	s = locked(t, Lease{Standby: true})
	s.client("a", 0, func(u *user) {
		_, err := u.acquire()
		require.NoError(t, err)
	})
	s.apply("at 0s  delay db>db2 1ms\nat 2ms  delay db>db2 10ms\nat 5ms  failover db>db2")
	s.run()
	db2 := s.w.Machine("db2").Server().Handler().(*Database)
	require.Empty(t, db2.tables.leases.row("k").latest().value.(lease).owner, "it comes too late")
}
