package trial_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/trial"
)

// TestDateInAKey: S61. A lock that is named for a day goes by the wall clock of the
// client that asks, in its time zone, at the instant at which it begins to ask.
func TestDateInAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, schedule, want string }{
		{"UTC", "acquire digest-{date}", "", "digest-1970-01-01"},
		{"the last nanosecond of a day", "until 23h59m59.999999999s; try digest-{date}", "", "digest-1970-01-01"},
		{"the first of the next", "until 24h; try digest-{date}", "", "digest-1970-01-02"},
		{"a zone that is ahead", "until 17h; look digest-{date+7h}", "", "digest-1970-01-02"},
		{"a zone that is behind", "try digest-{date-5h}", "", "digest-1969-12-31"},
		{"a zone of half an hour", "until 18h30m; try {date+5h30m}-digest", "", "1970-01-02-digest"},
		{"a clock that is ahead", "until 1s; try digest-{date}", "at 0s  clock-step c1 +24h", "digest-1970-01-02"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial.Test(t, trial.Spec{
				System: ideal(), Cast: cast(client("c1", c.script)), Schedule: faults.MustParse(c.schedule), Horizon: 48 * time.Hour,
			})
			var asked []string
			for _, e := range r.History.Events {
				if e.Kind == history.Call {
					asked = append(asked, e.Lock)
				}
			}
			require.Equal(t, []string{c.want}, asked)
		})
	}
}

// TestDateStaysWithTheGrant: who has a lock that is named for a day extends, checks
// and releases that one, also on the next day.
func TestDateStaysWithTheGrant(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: ideal(),
		Cast: cast(client("c1",
			"until 23h59m59s; acquire digest-{date}; work 2s; extend digest-{date}; check digest-{date}; release digest-{date}; try digest-{date}; release digest-{date}")),
		Horizon: 48 * time.Hour,
	})
	var locks []string
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Outcome == history.OK {
			locks = append(locks, e.Lock[len("digest-1970-01-"):])
		}
	}
	require.Equal(t, []string{"01", "01", "01", "01", "02", "02"}, locks)
	require.Equal(t, check.Kept, r.Promise.Status)
}
