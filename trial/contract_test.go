package trial_test

import (
	"fmt"
	"math"
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

// given is a lock that gives the same grant to everybody.
type given struct{ grant models.Grant }

func (g given) Open(*sim.World) (models.Lock, error) { return g, nil }

func (g given) Acquire(*sim.Process, string) (models.Grant, error) { return g.grant, nil }

func (g given) Release(*sim.Process, string, models.Grant) error { return nil }

func TestImpossibleGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grant models.Grant
		says  string
	}{
		{models.Grant{Term: -1}, "term -1ns: want 0, for none, or more"},
		{models.Grant{Term: 1, Allowance: 2}, "allowance 2ns of a term of 1ns: want 0 to the term"},
		{models.Grant{Anchor: time.Hour}, "anchor 1h0m0s at 1s: want an instant that is not in the future"},
		{models.Grant{Delay: -1}, "delay -1ns: want 0 or more"},
		{models.Grant{Decided: 999}, "decided at position 999"},
		{models.Grant{Deadline: &models.Deadline{Clock: 9}}, "deadline on clock 9: there is none"},
	} {
		_, err := trial.Run(trial.Spec{System: given{c.grant}, Cast: cast(client("c1", "until 1s; acquire"))})
		require.NotErrorIs(t, err, trial.ErrSpec)
		require.ErrorContains(t, err, `process c1 panicked: the lock returned an impossible grant for acquire of "job": `+c.says)
	}
}

// TestTermBeyondTheEndOfTime is a term without an end, not one that is over.
func TestTermBeyondTheEndOfTime(t *testing.T) {
	t.Parallel()
	for _, term := range []time.Duration{0, math.MaxInt64} {
		r := trial.Test(t, trial.Spec{
			System: given{models.Grant{Term: term}},
			Cast:   cast(client("c1", "until 1s; acquire; work 5s; release"), client("c2", "until 2s; acquire; release")),
		})
		require.Equal(t, check.Broken, r.Promise.Status)
	}
}

// TestSpecsThatPanicked are errors about the spec.
func TestSpecsThatPanicked(t *testing.T) {
	t.Parallel()
	one := cast(client("c1", "acquire"))
	nobody := trial.Cast{Clients: one.Clients, Resources: []models.Resource{nil}}
	for _, c := range []struct {
		name string
		spec trial.Spec
		says string
	}{
		{"nil resource", trial.Spec{System: ideal(), Cast: nobody}, "cast: resource 1 is nil"},
		{"nil action", trial.Spec{System: ideal(), Cast: one, Schedule: faults.Schedule{{}}}, "schedule line 1 has no action"},
		{"unknown verb", trial.Spec{System: ideal(), Cast: trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.Script{{Verb: "fly"}}}}}}, `no verb "fly"`},
		{"negative work", trial.Spec{System: ideal(), Cast: trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.Script{{Verb: "work", For: -1}}}}}}, "a duration is negative"},
		{"negative times", trial.Spec{System: ideal(), Cast: trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.Script{{Verb: "watch", Every: 1, Times: -1}}}}}}, "or a number"},
		{"nil lock", trial.Spec{System: nothing{}, Cast: one}, "system: Open returned neither a lock nor an error"},
		{"link to nowhere", trial.Spec{System: ideal(), Cast: one, Latency: sim.Latency{Links: map[string][]time.Duration{"c1>r9": {1}}}}, `latency of link "c1>r9": no machine "r9"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trial.Run(c.spec)
			require.ErrorIs(t, err, trial.ErrSpec)
			require.ErrorContains(t, err, c.says)
		})
	}
}

type nothing struct{}

func (nothing) Open(*sim.World) (models.Lock, error) { return nil, nil }

// TestLateRepliesOfOthers: an operation on several servers took effect before the
// last of the replies that it read left its server, in whatever order they came.
func TestLateRepliesOfOthers(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:  redis.Redlock{Sends: redis.Parallel, Timeout: 500 * time.Millisecond},
		Cast:    cast(client("c1", "acquire; until 9890ms; extend; release")),
		Latency: sim.Every(time.Millisecond),
		Horizon: time.Minute,
		Schedule: faults.MustParse(`
			at 5s  restart r4 kill
			before c1.extend#1  delay c1>r1 120ms
			before c1.extend#1  delay c1>r2 120ms
			before c1.extend#1  delay c1>r3 120ms
			before c1.extend#1  delay r4>c1 400ms`),
	})
	require.Equal(t, check.Kept, r.Promise.Status)
}

// session is a lock on a session that its own thread keeps alive. The service is
// an ideal lease; what is tested is what the recorder learns of it.
type session struct{ system models.System }

func (s session) Open(w *sim.World) (models.Lock, error) {
	inner, err := s.system.Open(w)
	return sessionLock{inner}, err
}

type sessionLock struct{ models.Lock }

func (l sessionLock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	g, err := l.Lock.Acquire(p, key)
	if err != nil {
		return g, err
	}
	s := &models.Session{}
	g.Session = s
	p.Go("beat", func(t *sim.Process) {
		for {
			t.Sleep(3 * time.Second)
			err := s.Renew(t, func() (models.Grant, error) { return l.Lock.(models.Extender).Extend(t, key, g) })
			if err == models.ErrNotHeld {
				return
			}
		}
	})
	return g, nil
}

// TestSession: what a lock renews by itself is promised, and a loss that it learns
// of ends the belief.
func TestSession(t *testing.T) {
	t.Parallel()
	beaten := cast(client("c1", "acquire; work 20s; release"), client("c2", "until 16s; acquire; release"))
	r := trial.Test(t, trial.Spec{System: session{ideal()}, Cast: beaten, Horizon: time.Minute})
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, 4*time.Second, r.Progress.Longest, "c2 waits from 16 s to 20 s")

	r = trial.Test(t, trial.Spec{
		System: session{redis.SetNX{}}, Cast: beaten, Horizon: time.Minute, Latency: sim.Every(time.Millisecond),
		Schedule: faults.MustParse("at 15s  clock-step r1 +1h"),
	})
	require.Equal(t, check.Broken, r.Promise.Status, "it was renewed at 15 s at the latest, and c2 got the lock at 16 s")
	var ends []string
	for _, e := range r.History.Events {
		if e.Kind == history.Doubt && e.Who == "c1" {
			ends = append(ends, e.Why)
		}
	}
	require.Equal(t, []string{history.DoubtLost}, ends)
}

// TestAnchorBeforeTheCall: a session that began before the lock was asked for
// promises no more than what is left of it.
func TestAnchorBeforeTheCall(t *testing.T) {
	t.Parallel()
	run := func(anchor time.Duration) check.Status {
		return trial.Test(t, trial.Spec{
			System: given{models.Grant{Term: 10 * time.Second, Anchor: anchor}},
			Cast:   cast(client("c1", "until 8s; acquire; work 1h"), client("c2", "until 12s; acquire; release")),
		}).Promise.Status
	}
	require.Equal(t, check.Kept, run(time.Second))
	require.Equal(t, check.Broken, run(0))
}

// TestNewestGrantOfAKey: a client that acquires again what it has lost releases
// the new grant.
func TestNewestGrantOfAKey(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: redis.SetNX{TTL: time.Second},
		Cast:   cast(client("c1", "acquire; work 3s; acquire; release; work 1s"), client("c2", "until 3500ms; acquire; release")),
	})
	require.Equal(t, []string{"acquire ok", "acquire ok", "release ok"}, calls(r, "c1"))
	require.Zero(t, r.Progress.Longest, "c2 finds the lock free")
}

// TestLossOfOneOfTwo ends the work at once.
func TestLossOfOneOfTwo(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:  redis.SetNX{TTL: time.Second, Deadline: true},
		Cast:    cast(client("c1", "acquire a; work 500ms; acquire b; work 1h; release b; release a")),
		Latency: sim.Every(time.Millisecond),
	})
	require.Less(t, r.Virtual, 2*time.Second)
}

// TestConnectionRefused: nothing was done, where one request was all there was.
func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:   redis.SetNX{Persistence: redis.Always},
		Cast:     cast(client("c1", "acquire; work 1s; release"), client("c2", "until 2s; acquire; release")),
		Latency:  sim.Every(time.Millisecond),
		Schedule: faults.MustParse("at 500ms  restart r1 kill 1s"),
		Horizon:  time.Minute,
	})
	require.Equal(t, []string{"acquire ok", "release refused"}, calls(r, "c1"))
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Greater(t, r.Progress.Longest, 7*time.Second, "the key stays until it expires")
}

// TestDuplicatedRelease: the answer to the second copy says nothing of the first.
func TestDuplicatedRelease(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:  redis.SetNX{},
		Cast:    cast(client("c1", "acquire; work 1s; release"), client("c2", "until 2s; acquire; release")),
		Latency: sim.Every(time.Millisecond),
		Schedule: faults.MustParse(`
			before c1.release#1  duplicate c1>r1 10ms
			before c1.release#1  lose-reply r1>c1`),
	})
	require.Equal(t, []string{"acquire ok", "release unknown"}, calls(r, "c1"))
	require.Equal(t, check.Kept, r.Promise.Status)
}

func doubts(r trial.Result) []history.Event {
	var list []history.Event
	for _, e := range r.History.Events {
		if e.Kind == history.Doubt {
			list = append(list, history.Event{At: e.At, Who: e.Who, Why: e.Why})
		}
	}
	return list
}

// TestExtensionMovesTheDeadline of the client too.
func TestExtensionMovesTheDeadline(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: redis.SetNX{TTL: time.Second, Deadline: true},
		Cast:   cast(client("c1", "acquire; work 800ms; extend; work 800ms; release")),
	})
	require.Equal(t, []history.Event{{At: 1600 * time.Millisecond, Who: "c1", Why: history.DoubtRelease}}, doubts(r))
}

// TestExtensionThatFindsTheLockLost ends the belief; one that is confirmed does not
// begin it anew.
func TestExtensionThatFindsTheLockLost(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: redis.SetNX{TTL: time.Second},
		Cast:   cast(client("c1", "acquire; work 2s; extend; work 5s; release")),
	})
	require.Equal(t, []history.Event{{At: 2 * time.Second, Who: "c1", Why: history.DoubtLost}}, doubts(r))
	require.Less(t, r.Virtual, 3*time.Second, "the work is over with it")
}

// backdated extends by what its last acknowledged heartbeat was worth.
type backdated struct{ given }

func (b backdated) Open(*sim.World) (models.Lock, error) { return b, nil }

func (b backdated) Extend(*sim.Process, string, models.Grant) (models.Grant, error) {
	return models.Grant{Term: 10 * time.Second, Anchor: time.Second}, nil
}

// TestPromiseIsNotShortened by a reply that is about an earlier heartbeat.
func TestPromiseIsNotShortened(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: backdated{given{models.Grant{Term: 10 * time.Second}}},
		Cast:   cast(client("c1", "until 5s; acquire; extend; release")),
	})
	var until []time.Duration
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb != history.Release {
			until = append(until, e.Until)
		}
	}
	require.Equal(t, []time.Duration{15 * time.Second, 15 * time.Second}, until)
}

// TestEndOfAScript ends a belief that was not given up.
func TestEndOfAScript(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{System: ideal(), Cast: cast(client("c1", "acquire; work 1s"))})
	require.Equal(t, []history.Event{{At: time.Second, Who: "c1", Why: history.DoubtAbort}}, doubts(r))
}

// TestBaseIsUsedUp: a second write after one read is a blind one.
func TestBaseIsUsedUp(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{Cast: trial.Cast{
		Resources: []models.Resource{resource.Plain("doc")},
		Clients:   []trial.Client{client("c1", "read doc; write doc; write doc")},
	}})
	var bases []int64
	for _, e := range r.History.Events {
		if e.Kind == history.Write {
			bases = append(bases, e.Base)
		}
	}
	require.Equal(t, []int64{0, -1}, bases)
	require.Empty(t, r.Damage.Events)
}

// TestReadUnanswered: what is to be computed from a read is not written without it, and
// not from what was read under an earlier lock either.
func TestReadUnanswered(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: ideal(),
		Cast: trial.Cast{
			Resources: []models.Resource{resource.Plain("doc")},
			Clients: []trial.Client{
				client("c1", "acquire; read doc; release; until 2s; acquire; read doc; write doc; release; write doc"),
				client("c2", "until 1s; write doc"),
			},
		},
		Schedule: faults.MustParse("before c1.read#2  drop c1>doc"),
	})
	var writes []history.Event
	for _, e := range r.History.Events {
		if e.Kind == history.Write {
			writes = append(writes, history.Event{At: e.At, Who: e.Peer, Base: e.Base})
		}
	}
	require.Equal(t, []history.Event{{At: time.Second, Who: "c2", Base: -1}, {At: 12 * time.Second, Who: "c1", Base: -1}}, writes)
	require.Empty(t, r.Damage.Events)
}

// noticed is a lock that knows something two seconds after the grant.
type noticed struct {
	given
	what func(s *models.Session, p *sim.Process)
}

func (n noticed) Open(*sim.World) (models.Lock, error) { return n, nil }

func (n noticed) Acquire(p *sim.Process, _ string) (models.Grant, error) {
	g := n.grant
	g.Session = &models.Session{}
	p.Go("watch", func(t *sim.Process) {
		t.Sleep(2 * time.Second)
		n.what(g.Session, t)
	})
	return g, nil
}

func (noticed) Release(*sim.Process, string, models.Grant) error { return models.ErrNotHeld }

// TestLossNotice ends the belief and the work; that it came before the term was
// over is the service's breach, and not one when it came after.
func TestLossNotice(t *testing.T) {
	t.Parallel()
	for term, want := range map[time.Duration]check.Status{10 * time.Second: check.Broken, time.Second: check.Kept} {
		r := trial.Test(t, trial.Spec{
			System: noticed{given{models.Grant{Term: term}}, (*models.Session).Lost},
			Cast:   cast(client("c1", "acquire; work 1h; release")),
		})
		require.Equal(t, []history.Event{{At: 2 * time.Second, Who: "c1", Why: history.DoubtLost}}, doubts(r))
		require.Equal(t, 2*time.Second, r.Virtual)
		require.Equal(t, want, r.Promise.Status)
		if want == check.Broken {
			require.Equal(t, check.LostLease, r.Promise.Breaches[0].Kind)
		}
	}
}

// TestGiveUp: a lock that gives up by itself ends the belief and the work, and says
// nothing of the service.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: noticed{given{models.Grant{Term: 10 * time.Second}}, (*models.Session).GiveUp},
		Cast:   cast(client("c1", "acquire; work 1h")),
	})
	require.Equal(t, []history.Event{{At: 2 * time.Second, Who: "c1", Why: history.DoubtAbort}}, doubts(r))
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, 2*time.Second, r.Virtual)
}

// TestJeopardy: a client that cannot tell whether it holds the lock does nothing
// until it can: then it goes on, or gives up.
func TestJeopardy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(s *models.Session, p *sim.Process)
		want []string
		ends time.Duration
	}{
		"safe":     {(*models.Session).Safe, []string{"believe 0s", "doubt 2s", "believe 5s", "write 5s", "doubt 5s"}, 5 * time.Second},
		"given up": {(*models.Session).GiveUp, []string{"believe 0s", "doubt 2s"}, 5 * time.Second},
	} {
		r := trial.Test(t, trial.Spec{
			System: noticed{given{models.Grant{Term: 10 * time.Second}}, func(s *models.Session, p *sim.Process) {
				s.Safe(p) // of what is not in jeopardy it says nothing
				s.Jeopardy(p)
				p.Sleep(3 * time.Second)
				c.then(s, p)
			}},
			Cast: trial.Cast{
				Clients:   []trial.Client{client("c1", "acquire; work 3s; write doc")},
				Resources: []models.Resource{resource.Plain("doc")},
			},
		})
		var got []string
		for _, e := range r.History.Events {
			switch e.Kind {
			case history.Believe, history.Doubt, history.Write:
				got = append(got, fmt.Sprintf("%v %v", e.Kind, e.At))
			}
		}
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.ends, r.Virtual, name)
		require.Equal(t, check.Kept, r.Promise.Status, name)
	}
}
