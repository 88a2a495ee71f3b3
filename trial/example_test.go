package trial_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// Mine is a user's own lock: a row in a database that is free when it has
// expired, with a fencing number that rises with each holder.
type Mine struct{ TTL time.Duration }

// Open is called once a run.
func (m Mine) Open(w *sim.World) (models.Lock, error) {
	return &lock{w.Server("db", &table{}), m.TTL}, nil
}

type lock struct {
	db  *sim.Server
	ttl time.Duration
}

const timeout = 50 * time.Millisecond

func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) { // one attempt
	r, err := sim.Call[claimed](p, l.db, claim{p.Name(), l.ttl}, timeout)
	if err != nil {
		return models.Grant{}, err // outcome unknown
	}
	if !r.OK {
		return models.Grant{}, models.ErrHeld // definite refusal
	}
	return models.Grant{Term: l.ttl, Token: r.Fence}, nil
}

func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	ok, err := sim.Call[bool](p, l.db, free{p.Name(), g.Token}, timeout)
	if err == nil && !ok {
		err = models.ErrNotHeld
	}
	return err
}

type (
	claim struct {
		owner string
		ttl   time.Duration
	}
	claimed struct {
		OK    bool
		Fence int64
	}
	free struct {
		owner string
		fence int64
	}
)

// table is the database's side: one row.
type table struct {
	owner   string
	fence   int64
	expires time.Duration // on the database's wall clock
}

func (t *table) Serve(s *sim.Server, r sim.Request) {
	now := s.Now(clock.Wall)
	switch q := r.Body.(type) {
	case claim:
		if t.owner != "" && now <= t.expires {
			r.Reply(claimed{})
			return
		}
		t.owner, t.expires = q.owner, now+q.ttl
		t.fence++
		r.Reply(claimed{true, t.fence})
	case free:
		mine := t.owner == q.owner && t.fence == q.fence
		if mine {
			t.owner = ""
		}
		r.Reply(mine)
	}
}

// A test of one's own lock: a pause that every lease has, which a fence survives.
func TestMine(t *testing.T) {
	r := trial.Test(t, trial.Spec{
		System:   Mine{TTL: 10 * time.Second},
		Cast:     trial.Writers(2, resource.Fenced("doc")),
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
	})
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, 1500*time.Millisecond, r.Belief.Total)
	require.Empty(t, r.Damage.Events)
}

// The same lock when the clock of its database jumps.
func Example() {
	r, err := trial.Run(trial.Spec{
		System:   Mine{TTL: 10 * time.Second},
		Cast:     trial.Writers(2, resource.Fenced("doc")),
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 5s\nat 2s  clock-step db +11s"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Promise.Status, r.Belief.Total, r.Damage.Status)
	fmt.Println(r.Promise.Breaches[0].Cause)
	// Output:
	// broken 1.5s none
	// db's clock stepped +11s at 2.000; c2 was granted the lock at 3.000 while c1's term ran to 11.000
}
