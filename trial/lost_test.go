package trial_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/history"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// TestLostOuterLock: S66. Who learns that it has lost the lock that it took first gives
// back what it took since, and does nothing more until it has given back that one.
func TestLostOuterLock(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: redis.SetNX{Deadline: true, TTLs: map[string]time.Duration{"c1": 2 * time.Second}},
		Cast: trial.Cast{
			Resources: []models.Resource{resource.Mailer{Called: "mailer"}},
			Clients: []trial.Client{
				client("c1", "acquire a; work 1s; acquire b; work 5s; do mailer x; release b; do mailer y; release a; do mailer z"),
			},
		},
		Latency: sim.Every(time.Millisecond),
	})
	var done []string
	for _, e := range r.History.Events {
		switch {
		case e.Kind == history.Effect:
			done = append(done, e.Lock)
		case e.Kind == history.Return && e.Verb == history.Release:
			done = append(done, "release "+e.Lock)
		}
	}
	require.Equal(t, []string{"release b", "release a", "z"}, done)
	require.Equal(t, check.Exclusive, r.Belief.Status)
}

// TestLossEndsTheWaitForAnother: S66. Who waits for a second lock when it loses the
// first waits no more: it wakes at that instant, or when its attempt is over.
func TestLossEndsTheWaitForAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		ttl    time.Duration
		leaves time.Duration // when c1 calls the release of a
	}{
		{"between two attempts", 2 * time.Second, 2 * time.Second},
		{"within an attempt", 2023 * time.Millisecond, 2024 * time.Millisecond}, // the eleventh, from 2.022 on
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial.Test(t, trial.Spec{
				System: redis.SetNX{Deadline: true, TTLs: map[string]time.Duration{"c1": c.ttl}},
				Cast: cast(client("c1", "acquire a; work 1s; acquire b; work 1s; release b; release a"),
					client("c2", "acquire b; work 8s; release b")),
				Latency: sim.Every(time.Millisecond),
			})
			for _, e := range r.History.Events {
				if e.Kind == history.Call && e.Verb == history.Release && e.Who == "c1" {
					require.Equal(t, []any{"a", c.leaves}, []any{e.Lock, e.At})
					return
				}
			}
			require.Fail(t, "c1 released nothing")
		})
	}
}
