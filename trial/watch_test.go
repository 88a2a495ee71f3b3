package trial_test

import (
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

// watched is a run in which c1 holds a lock of 10 s for longer than that, under a
// watch, and c2 wants it from 3 s on.
func watched(t *testing.T, watch, schedule string) trial.Result {
	return trial.Test(t, trial.Spec{
		System: redis.SetNX{},
		Cast: trial.Cast{
			Resources: []models.Resource{resource.Plain("doc")},
			Clients: []trial.Client{
				client("c1", "acquire; "+watch+"; work 25s; write doc; release"),
				client("c2", "until 3s; acquire; write doc; work 1s; release"),
			},
		},
		Schedule: faults.MustParse(schedule),
		Latency:  sim.Every(time.Millisecond),
		Horizon:  time.Minute,
	})
}

// TestWatch: S11 and S65. A watch helps work that is long; not a process that
// stands still, unless only one of its threads does.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, watch, schedule string
		belief                check.Status
		damage                int
	}{
		{"long work", "watch every 3300ms", "", check.Exclusive, 0},
		{"long work, by the main thread", "watch every 3300ms main", "", check.Exclusive, 0},
		{"the process stands still", "watch every 3300ms", "before c1.write#1  pause c1 gc 14s", check.Overlapping, 1},
		{"its main thread does, which watches", "watch every 3300ms main", "before c1.write#1  pause c1 thread 14s", check.Overlapping, 1},
		{"its main thread does, another watches", "watch every 3300ms", "before c1.write#1  pause c1 thread 14s", check.Exclusive, 0},
		{"renewals fail, and that ends the work", "watch every 3300ms", "at 6s  partition c1|r1", check.Exclusive, 0},
		{"renewals fail, and nobody cares", "watch every 3300ms ignore", "at 6s  partition c1|r1", check.Overlapping, 1},
		{"a renewal fails, and the watch ends unheard", "watch every 3300ms quit", "at 6s  partition c1|r1 1s", check.Overlapping, 1},
		{"a renewal fails, and the next one does it", "watch every 3300ms ignore", "at 6s  partition c1|r1 1s", check.Exclusive, 0},
		{"the main thread's ends unheard", "watch every 3300ms main quit", "at 6s  partition c1|r1 1s", check.Overlapping, 1},
		{"no watch at all", "work 0s", "", check.Overlapping, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := watched(t, c.watch, c.schedule)
			require.Equal(t, check.Kept, r.Promise.Status)
			require.Equal(t, c.belief, r.Belief.Status)
			require.Len(t, r.Damage.Events, c.damage)
		})
	}
}

// TestWatchTimes: R5. After so many extensions the watch is over, and the lock with
// its term: c1 goes on, since nobody tells it.
func TestWatchTimes(t *testing.T) {
	t.Parallel()
	for watch, want := range map[string]int{
		"watch every 3300ms times 1": 1, "watch every 3300ms times 1 main": 1,
		"watch every 3300ms times 4": 4, "watch every 3300ms times 4 main": 4,
		"watch every 3300ms times 9": 7, // the work is done before
	} {
		r := watched(t, watch, "")
		extensions := 0
		for _, e := range r.History.Events {
			if e.Kind == history.Return && e.Verb == history.Extend {
				extensions++
			}
		}
		require.Equal(t, want, extensions, watch)
		require.Equal(t, want < 5, r.Belief.Total > 0, watch)
	}
}

// TestCheck: S10. A client that asks before it writes is safe from what happened
// before it asked, and from nothing that happens after.
func TestCheck(t *testing.T) {
	t.Parallel()
	for schedule, damage := range map[string]int{
		"before c1.check#1  pause c1 gc 14s": 0,
		"before c1.write#1  pause c1 gc 14s": 1,
	} {
		r := trial.Test(t, trial.Spec{
			System: redis.SetNX{},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					client("c1", "acquire; work 1s; check; write doc; release"),
					client("c2", "until 3s; acquire; write doc; work 1s; release"),
				},
			},
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Every(time.Millisecond),
		})
		require.Len(t, r.Damage.Events, damage, schedule)
		require.Equal(t, check.Overlapping, r.Belief.Status, schedule)
	}
}

// TestTwoWatches: one that ends unheard ends the other too, also where that is asking,
// or about to.
func TestTwoWatches(t *testing.T) {
	t.Parallel()
	for _, watches := range []string{"watch every 3s; watch every 3s quit", "watch every 4s; watch every 3s quit", "watch every 4s main; watch every 3s quit"} {
		r := watched(t, watches, "at 5s  partition c1|r1 2s")
		require.Equal(t, check.Overlapping, r.Belief.Status)
		last := time.Duration(0)
		for _, e := range r.History.Events {
			if e.Kind == history.Call && e.Verb == history.Extend {
				last = e.At
			}
		}
		require.Less(t, last, 7*time.Second)
	}
}
