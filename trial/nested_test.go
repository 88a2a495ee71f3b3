package trial_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/history"
	"locksim/models"
	"locksim/models/resource"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// counting is a lock without a term that one client may acquire again and again. It
// is asked in no time, and forgets at forget what it had given.
type counting struct{ forget time.Duration }

func (c counting) Open(w *sim.World) (models.Lock, error) {
	l := &countingLock{w: w}
	if c.forget > 0 {
		w.At(c.forget, func() { l.holder, l.count = "", 0 })
	}
	return l, nil
}

type countingLock struct {
	w      *sim.World
	holder string
	count  int
}

func (l *countingLock) Acquire(p *sim.Process, _ string) (models.Grant, error) {
	if l.count > 0 && l.holder != p.Name() {
		return models.Grant{}, models.ErrHeld
	}
	l.holder, l.count = p.Name(), l.count+1
	return models.Grant{Value: l.holder, Nested: l.count > 1}, nil
}

func (l *countingLock) Release(p *sim.Process, _ string, _ models.Grant) error {
	if l.holder != p.Name() {
		return models.ErrNotHeld
	}
	l.count--
	if l.count == 0 {
		l.holder = ""
	}
	return nil
}

// TestNested: a nested acquire extends the grant that the client has, and the inner
// release gives nothing up.
func TestNested(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: counting{},
		Cast: cast(
			client("c1", "acquire; work 1s; acquire; work 1s; release; work 1s; release"),
			client("c2", "until 500ms; acquire every 1s; work 1s; release"),
		),
	})
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.Equal(t, 3*time.Second, r.Progress.Longest, "c2 waits from 0.5 on; its attempt at 3.5 is the first after 3")
	var whys []string
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb == history.Extend {
			require.Equal(t, int32(1), e.Grant)
			require.Equal(t, history.Forever, e.Until)
			whys = append(whys, e.Why)
		}
	}
	require.Equal(t, []string{history.ExtendAgain, history.ExtendInner}, whys)
}

// TestNestedLoss: a client whose inner release is refused has lost the lock, and
// goes on behind the outer one.
func TestNestedLoss(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: counting{forget: 1500 * time.Millisecond},
		Cast:   cast(client("c1", "acquire; acquire; work 2s; release; work 5s; release")),
	})
	require.Equal(t, 2*time.Second, r.Virtual, "it does not work on")
	require.Equal(t, []string{check.LostLease, check.LostLease}, breachKinds(r))
}

func breachKinds(r trial.Result) []string {
	var kinds []string
	for _, b := range r.Promise.Breaches {
		kinds = append(kinds, b.Kind)
	}
	return kinds
}

// TestNestedInNothing: a lock cannot say that a grant is nested in one that its
// client does not hold.
func TestNestedInNothing(t *testing.T) {
	t.Parallel()
	_, err := trial.Run(trial.Spec{System: given{models.Grant{Nested: true, Value: "v"}}, Cast: cast(client("c1", "acquire"))})
	require.ErrorContains(t, err, `impossible grant for acquire of "job": nested in "v": want the value of a grant that the client holds`)
}

// swallow is a library that takes an error for a grant (H11).
type swallow struct{ err error }

func (s swallow) Open(*sim.World) (models.Lock, error) { return s, nil }

func (s swallow) Acquire(p *sim.Process, _ string) (models.Grant, error) {
	if p.Name() == "c1" {
		return models.Grant{Value: "v1"}, nil
	}
	return models.Grant{Assumed: true}, s.err
}

func (s swallow) Release(*sim.Process, string, models.Grant) error { return models.ErrNotHeld }

// TestAssumed: what a client believes though the service never said so breaks no
// promise; the recipe is to blame.
func TestAssumed(t *testing.T) {
	t.Parallel()
	for _, err := range []error{models.ErrHeld, errors.New("no connection")} {
		r := trial.Test(t, trial.Spec{
			System: swallow{err},
			Cast:   cast(client("c1", "acquire; work 5s"), client("c2", "until 1s; try; work 1s; release")),
		})
		require.Equal(t, check.Kept, r.Promise.Status)
		require.Equal(t, time.Second, r.Belief.Total)
		require.Equal(t, check.Recipe, r.Belief.Windows[0].Blame)
		require.Equal(t, "c2", r.Belief.Windows[0].Who)
		require.Contains(t, r.Belief.Windows[0].Cause, "c2 believed from 1.000 on without having been granted the lock")
	}
}

// annex is a resource that another's server keeps.
type annex struct{ name, server string }

func (a annex) Name() string { return a.name }

func (a annex) Open(w *sim.World) (*sim.Server, error) {
	if a.server == "" {
		return nil, nil
	}
	if m := w.Machine(a.server); m != nil {
		return m.Server(), nil
	}
	return resource.Plain(a.server).Open(w)
}

// TestResourcesOnOneServer: a resource may be kept by a server of another name, which
// may be there already.
func TestResourcesOnOneServer(t *testing.T) {
	t.Parallel()
	members := cast(client("c1", "write doc; write notes"))
	members.Resources = []models.Resource{annex{"doc", "db"}, annex{"notes", "db"}}
	r := trial.Test(t, trial.Spec{Cast: members})
	var objects []string
	for _, e := range r.History.Events {
		if e.Kind == history.Write {
			require.Equal(t, "db", e.Who)
			objects = append(objects, e.Lock)
		}
	}
	require.Equal(t, []string{"doc", "notes"}, objects)

	for _, c := range []struct {
		resource models.Resource
		says     string
	}{
		{annex{"notes", ""}, "resource notes: Open returned no server of this world"},
		{annex{"doc", "doc"}, `cast: resource "doc": there is another machine of that name`},
	} {
		members.Resources = []models.Resource{resource.Plain("doc"), c.resource}
		members.Clients = []trial.Client{client("c1", "write doc")}
		_, err := trial.Run(trial.Spec{Cast: members})
		require.ErrorIs(t, err, trial.ErrSpec)
		require.ErrorContains(t, err, c.says)
	}
	members.Resources = []models.Resource{resource.Plain("doc"), annex{"notes", "doc"}, annex{"notes", "doc"}}
	_, err := trial.Run(trial.Spec{Cast: members})
	require.ErrorContains(t, err, `cast: resource "notes": there is another machine of that name`)
}

// TestNestedByAnotherName: S61. A lock that a script calls by its date, and by what that
// is today, is one lock: the last release gives it back, whichever name comes last.
func TestNestedByAnotherName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"a date", "acquire x-{date}; acquire x-1970-01-01; release x-{date}; work 1s; release x-1970-01-01"},
		{"two dates", "acquire x-{date}; try x-{date+7h}; release x-{date+7h}; work 1s; release x-{date}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trial.Test(t, trial.Spec{
				System:  sql.Advisory{},
				Cast:    cast(client("c1", c.script), client("c2", "until 500ms; acquire x-1970-01-01; release x-1970-01-01")),
				Latency: sim.Every(time.Millisecond),
				Horizon: time.Minute,
			})
			require.Equal(t, check.Kept, r.Promise.Status)
			require.Equal(t, check.Exclusive, r.Belief.Status)
			require.InDelta(t, .5, r.Progress.Longest.Seconds(), .2, "from 0.5 to 1")
		})
	}
}
