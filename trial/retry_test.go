package trial_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// TestReleaseRetry: S59. A caller that takes a failed release for a failed job does
// the job again, from where it asked for that lock; a lock it holds besides stays.
func TestReleaseRetry(t *testing.T) {
	t.Parallel()
	const job = "acquire other; do mailer setup; try; do mailer report; release retry 1s; do mailer thanks; release other"
	for _, c := range []struct {
		name, script, schedule string
		want                   []string
	}{
		{"it is told so", job, "", []string{"setup", "report", "thanks"}},
		{"the answer is lost", job, "before c1.release#1  lose-reply r1>c1", []string{"setup", "report", "report", "thanks"}},
		{"twice", job, "before c1.release#1  lose-reply r1>c1\nbefore c1.release#2  lose-reply r1>c1", []string{"setup", "report", "report", "report", "thanks"}},
		{"the request is lost, and the lock stands", job, "before c1.release#1  drop c1>r1", []string{"setup", "report", "thanks"}},
		{"its lock was over", "acquire; do mailer report; work 11s; release retry 1s", "", []string{"report", "report", "report"}},
		{"nobody cares", "try; do mailer report; release; do mailer thanks", "before c1.release#1  lose-reply r1>c1", []string{"report", "thanks"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial.Test(t, trial.Spec{
				System:   redis.SetNX{},
				Cast:     trial.Cast{Resources: []models.Resource{resource.Mailer{Called: "mailer"}}, Clients: []trial.Client{client("c1", c.script)}},
				Schedule: faults.MustParse(c.schedule),
				Latency:  sim.Every(time.Millisecond),
				Horizon:  30 * time.Second,
			})
			var done []string
			for _, e := range r.History.Events {
				if e.Kind == history.Effect {
					done = append(done, e.Lock)
				}
			}
			require.Equal(t, c.want, done)
			require.Equal(t, check.Kept, r.Promise.Status)
		})
	}
}

// TestLossEndsTheWaitToRetry: S59, S66. Who waits to do a job again when it loses the lock
// around it gives that back at once.
func TestLossEndsTheWaitToRetry(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:   redis.SetNX{TTL: 2 * time.Second, Deadline: true},
		Cast:     cast(client("c1", "acquire a; work 1s; acquire b; release b retry 5s; work 9s; release a")),
		Schedule: faults.MustParse("before c1.release#1  drop c1>r1"),
		Latency:  sim.Every(time.Millisecond),
	})
	var released []string
	for _, e := range r.History.Events {
		if e.Kind == history.Call && e.Verb == history.Release {
			released = append(released, fmt.Sprint(e.Lock, " ", e.At))
		}
	}
	require.Equal(t, []string{"b 1.004s", "a 2s"}, released)
}
