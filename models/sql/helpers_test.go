package sql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

const (
	hop = time.Millisecond
	sec = time.Second
)

var (
	_ models.Extender   = (*leaseTable)(nil)
	_ models.Extender   = (*advisory)(nil)
	_ models.Inspector  = (*jobRuns)(nil)
	_ faults.Restarter  = (*Database)(nil)
	_ faults.Replicated = (*Database)(nil)
	_ sim.ConnHandler   = (*Database)(nil)
)

var dialects = []Dialect{Postgres, MySQL, MariaDB}

// stage is a run with hops of 1 ms, to which clients are added.
type stage struct {
	t    *testing.T
	w    *sim.World
	db   *sim.Server // where there is no lock
	lock models.Lock
}

func newStage(t *testing.T) *stage {
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{Seed: 1, Latency: sim.Every(hop), Horizon: 24 * time.Hour})
	return &stage{t: t, w: w}
}

// locked is a stage with a lock in it.
func locked(t *testing.T, system models.System) *stage {
	t.Helper()
	s := newStage(t)
	l, err := system.Open(s.w)
	require.NoError(t, err)
	s.lock = l
	return s
}

// served is a stage with a database in it.
func served(t *testing.T, o Options) *stage {
	t.Helper()
	s := newStage(t)
	db, err := Open(s.w, "db", o)
	require.NoError(t, err)
	s.db = db
	return s
}

// user is a client whose code is at it.
type user struct {
	*sim.Process
	s    *stage
	conn *sim.Conn
}

// client adds a client that begins at true instant at.
func (s *stage) client(name string, at time.Duration, f func(u *user)) {
	s.w.Go(name, func(p *sim.Process) {
		p.Sleep(at)
		u := &user{Process: p, s: s}
		if s.db != nil {
			u.conn = p.Dial(s.db)
		}
		f(u)
	})
}

// exec executes a statement on the user's connection.
func (u *user) exec(stmt statement) Result {
	res, err := sim.CallOn[Result](u.Process, u.conn, stmt, -1)
	require.NoError(u.s.t, err)
	return res
}

// acquire makes one attempt at lock "k".
func (u *user) acquire() (models.Grant, error) { return u.s.lock.Acquire(u.Process, "k") }

func (u *user) release(g models.Grant) error { return u.s.lock.Release(u.Process, "k", g) }

// until waits for a true instant.
func (u *user) until(at time.Duration) { u.Sleep(at - u.s.w.Now()) }

func (s *stage) run() {
	s.t.Helper()
	require.NoError(s.t, s.w.Run())
}

// freed lists what was freed: "1.000s s1/1 session".
func (s *stage) freed() []string {
	var list []string
	for _, e := range s.w.History().Events {
		if e.Kind == history.Freed {
			list = append(list, e.At.String()+" "+e.Value+" "+e.Why)
		}
	}
	return list
}

// apply lets a schedule strike.
func (s *stage) apply(schedule string) {
	s.t.Helper()
	require.NoError(s.t, faults.MustParse(schedule).Apply(s.w))
}

func code(r Result) string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Code
}
