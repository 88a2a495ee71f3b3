package clock_test

import (
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/clock"
)

// TestTimelineIsASortedSlice holds a timeline against the plainest one there is:
// a slice, sorted by instant, where equals stay in the order of scheduling.
func TestTimelineIsASortedSlice(t *testing.T) {
	t.Parallel()
	type entry struct {
		at    time.Duration
		id    int
		timer clock.Timer
	}
	rapid.Check(t, func(t *rapid.T) {
		var (
			line  clock.Timeline[int]
			want  []entry
			stale = []clock.Timer{{}} // those of events taken, cancelled or reset away
			now   time.Duration
			id    int
			lent  *int // the event taken last
			whose int
		)
		next := func(t *rapid.T, limit time.Duration) {
			got := line.Next(limit)
			lent = got
			if len(want) == 0 || want[0].at > limit {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			whose = want[0].id
			require.Equal(t, whose, *got)
			now, stale, want = want[0].at, append(stale, want[0].timer), want[1:]
		}
		t.Repeat(map[string]func(*rapid.T){
			"schedule": func(t *rapid.T) {
				at := now + time.Duration(rapid.IntRange(0, 6).Draw(t, "after"))
				id++
				i := sort.Search(len(want), func(i int) bool { return want[i].at > at })
				want = slices.Insert(want, i, entry{at, id, line.Schedule(at, id)})
			},
			"schedule in the past": func(t *rapid.T) {
				require.Panics(t, func() { line.Schedule(now-1, -1) })
			},
			"cancel": func(t *rapid.T) {
				if len(want) == 0 {
					return
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				require.True(t, line.Cancel(want[i].timer))
				stale = append(stale, want[i].timer)
				want = slices.Delete(want, i, i+1)
			},
			"cancel a stale timer": func(t *rapid.T) {
				require.False(t, line.Cancel(rapid.SampledFrom(stale).Draw(t, "timer")))
			},
			"next": func(t *rapid.T) {
				next(t, now+time.Duration(rapid.IntRange(0, 6).Draw(t, "limit")))
			},
			"advance": func(t *rapid.T) {
				at := now + time.Duration(rapid.IntRange(0, 6).Draw(t, "by"))
				free := len(want) == 0 || want[0].at > at
				require.Equal(t, free, line.Advance(at))
				if free {
					now = at
				}
			},
			"reset": func(t *rapid.T) {
				line.Reset()
				lent = nil
				for _, e := range want {
					stale = append(stale, e.timer)
				}
				now, want = 0, nil
			},
			"": func(t *rapid.T) {
				require.Equal(t, now, line.Now())
				require.Equal(t, len(want), line.Len())
				if lent != nil {
					require.Equal(t, whose, *lent)
				}
			},
		})
		for range len(want) + 1 {
			next(t, 1<<62)
		}
	})
}

func TestTimelineKeepsTheOrderOfEqualInstants(t *testing.T) {
	t.Parallel()
	var line clock.Timeline[int]
	for i := range 1000 {
		line.Schedule(time.Second, i)
	}
	for i := range 1000 {
		got := line.Next(time.Second)
		require.NotNil(t, got)
		require.Equal(t, i, *got)
	}
}

func TestTimelineDoesNotAllocateInSteadyState(t *testing.T) {
	var line clock.Timeline[[4]*int]
	round := func() {
		for i := range 100 {
			line.Schedule(line.Now()+time.Duration(i%7), [4]*int{})
			line.Cancel(line.Schedule(line.Now()+time.Duration(i%5), [4]*int{}))
			line.Next(1 << 62)
		}
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
	require.Zero(t, testing.AllocsPerRun(100, func() { line.Reset(); round() }))
}
