package trial_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
	"locksim/trial"
)

// failing is a lock that c1 gets, and anybody else an error for.
type failing struct{ err error }

func (f failing) Open(*sim.World) (models.Lock, error) { return f, nil }

func (f failing) Acquire(p *sim.Process, _ string) (models.Grant, error) {
	if p.Name() == "c1" {
		return models.Grant{Value: "v1"}, nil
	}
	return models.Grant{Value: "v2"}, f.err
}

func (f failing) Release(_ *sim.Process, _ string, g models.Grant) error {
	if g.Value == "v1" {
		return nil
	}
	return models.ErrNotHeld
}

// TestAnyway (H11): who goes on after an error believes in what it was never granted;
// the recipe is to blame, and the service has kept its promise. A refusal is no error.
func TestAnyway(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection closed by server")
	for _, c := range []struct {
		name, try string
		err       error
		believes  bool
	}{
		{"H11 an error", "try anyway", broken, true},
		{"H11 no connection, which is definite", "try anyway", fmt.Errorf("r1: %w", sim.ErrRefused), true},
		{"H11 fail-closed", "try", broken, false},
		{"held", "try anyway", models.ErrHeld, false},
		{"refused for another reason", "try anyway", models.Refused("2 of 5 nodes"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial.Test(t, trial.Spec{
				System: failing{c.err},
				Cast:   cast(client("c1", "acquire; work 5s; release"), client("c2", "until 1s; "+c.try+"; work 2s; release; work 1s")),
			})
			require.Equal(t, check.Kept, r.Promise.Status)
			told := 0
			for _, e := range r.History.Events {
				if e.Kind == history.Return && e.Verb == history.Release && e.Who == "c2" {
					told++
					require.Equal(t, history.NotHeld, e.Outcome)
				}
			}
			if !c.believes {
				require.Equal(t, check.Exclusive, r.Belief.Status)
				require.Zero(t, told, "it is on behind the release")
				return
			}
			require.Equal(t, 2*time.Second, r.Belief.Total)
			require.Equal(t, check.Recipe, r.Belief.Windows[0].Blame)
			require.Equal(t, "c2 believed from 1.000 on without having been granted the lock", r.Belief.Windows[0].Cause)
			require.Equal(t, 1, told)
		})
	}
}
