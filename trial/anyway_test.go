package trial_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/models/catalog"
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

// TestAnywayOfEverySystem: whatever an acquire that failed has left behind, a client that
// goes on can call the release, and what else its lock can do.
func TestAnywayOfEverySystem(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.Systems() {
		if e.Name == "lease" { // nothing can come between
			continue
		}
		nodes := map[string]string{
			"lease": "lease", "set-nx": "r1", "redlock": "r1 r2 r3 r4 r5", "quorum": "r1 r2 r3", "lease-table": "db", "advisory": "db", "row": "db", "job-runs": "db",
		}[e.Name]
		if nodes == "" {
			nodes = "n1 n2 n3"
		}
		for _, fault := range [...]string{"restart %s kill 1m", "restart %s power-loss 3s", "cut c2>%s", "cut %s>c2", "cut %s>c2 8s"} {
			for after := range time.Duration(9) {
				t.Run(fmt.Sprintf("%s/%s/%d", e.Name, fault, after), func(t *testing.T) {
					t.Parallel()
					var schedule strings.Builder
					for n := range strings.FieldsSeq(nodes) {
						fmt.Fprintf(&schedule, "at %v  %s\n", time.Second+after*time.Millisecond, fmt.Sprintf(fault, n))
					}
					spec := trial.Spec{
						System:   e.New(),
						Cast:     cast(client("c2", "until 1s; try anyway; work 2s; release; try anyway; work 1s; release")),
						Schedule: faults.MustParse(schedule.String()),
						Latency:  sim.Every(time.Millisecond),
						Horizon:  2 * time.Minute,
					}
					_, err := trial.Run(spec)
					require.NoError(t, err)
				})
			}
		}
	}
}
