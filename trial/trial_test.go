package trial_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

func ideal() models.System { return lease.Ideal{TTL: 10 * time.Second} }

func TestBadSpecs(t *testing.T) {
	t.Parallel()
	writers := trial.Writers(2, resource.Plain("doc"))
	for _, c := range []struct {
		name string
		spec trial.Spec
		says string
	}{
		{"no client", trial.Spec{}, "cast: there is no client"},
		{"no system", trial.Spec{Cast: writers}, `client c1, step 2, "acquire": the spec has no system to lock with`},
		{"nothing to mint for", trial.Spec{Cast: trial.Cast{Resources: []models.Resource{resource.Plain("doc")}, Clients: []trial.Client{client("c1", "mint doc")}}}, `client c1, step 1, "mint doc": the spec has no system to lock with`},
		{"nothing to retry", trial.Spec{System: ideal(), Cast: cast(client("c1", "acquire b; release retry 1s"))}, `client c1, step 2, "release retry 1s": there is nothing to do again: want an acquire or a try of job before it`},
		{"no date", trial.Spec{System: ideal(), Cast: cast(client("c1", "try digest-{day}"))}, `client c1, step 1, "try digest-{day}": lock "digest-{day}": want no braces, or once {date} or {date+7h}, less than 24h off`},
		{"no sign", trial.Spec{System: ideal(), Cast: cast(client("c1", "try digest-{date7h}"))}, "want no braces, or once {date}"},
		{"no zone", trial.Spec{System: ideal(), Cast: cast(client("c1", "look digest-{date+noon}"))}, "want no braces, or once {date}"},
		{"too far off", trial.Spec{System: ideal(), Cast: cast(client("c1", "acquire digest-{date+24h}"))}, "want no braces, or once {date}"},
		{"two dates", trial.Spec{System: ideal(), Cast: cast(client("c1", "acquire {date}{date}"))}, "want no braces, or once {date}"},
		{"a brace too few", trial.Spec{System: ideal(), Cast: cast(client("c1", "release digest-date}"))}, "want no braces, or once {date}"},
		{"a brace too many", trial.Spec{System: ideal(), Cast: cast(client("c1", "release digest-{date"))}, "want no braces, or once {date}"},
		{"no resource", trial.Spec{System: ideal(), Cast: cast(client("c1", "write doc"))}, `client c1, step 1, "write doc": no resource "doc": want one in the cast, which has none`},
		{"no second resource", trial.Spec{System: ideal(), Cast: trial.Cast{Resources: []models.Resource{resource.Plain("doc")}, Clients: []trial.Client{client("c1", "write doc and b")}}}, `client c1, step 1, "write doc and b": no resource "b": want one of doc`},
		{"twice", trial.Spec{System: ideal(), Cast: cast(client("c1", "acquire"), client("c1", "acquire"))}, `cast: client "c1": there is another machine of that name`},
		{"a server's name", trial.Spec{System: redis.SetNX{}, Cast: cast(client("r1", "acquire"))}, `cast: client "r1": there is another machine of that name`},
		{"bad name", trial.Spec{System: ideal(), Cast: cast(client("c 1", "acquire"))}, `cast: client "c 1": want a name without any of " .,;#|>/:"`},
		{"horizon", trial.Spec{System: ideal(), Cast: writers, Horizon: -1}, "horizon -1ns, bound 0: want 0 or more"},
		{"latency", trial.Spec{System: ideal(), Cast: writers, Latency: sim.Every(-1)}, "latency -1ns: want 0 or more"},
		{"link", trial.Spec{System: ideal(), Cast: writers, Latency: sim.Latency{Links: map[string][]time.Duration{"c1": {1}}}}, `latency of link "c1": want a name such as c1>r3`},
		{"options", trial.Spec{System: lease.Ideal{}, Cast: writers}, "system: lease: ttl 0s: want more than 0"},
		{"what the lock cannot do", trial.Spec{System: open{}, Cast: cast(client("c1", "acquire; extend"))}, `client c1, step 2, "extend": this lock cannot do that`},
		{"a fault it cannot have", trial.Spec{System: ideal(), Cast: writers, Schedule: faults.MustParse("at 1s  restart lease kill")}, `there is no server that can restart here, so no "lease": what can go wrong here is pause, kill, clock-step, clock-rate, partition`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trial.Run(c.spec)
			require.ErrorIs(t, err, trial.ErrSpec)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestUnknownOutcomes: what a client was not told, nobody may hold against the
// service, and nobody may believe.
func TestUnknownOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schedule string
		calls          []string // what c1's calls came to
	}{
		{"the reply to SET is lost", "at 0s  lose-reply r1>c1", []string{"acquire unknown", "acquire refused", "acquire ok", "release ok"}},
		{"the reply to the release is lost", "before c1.release#1  lose-reply r1>c1", []string{"acquire ok", "release unknown"}},
		{"c1 dies in the middle of its release", "after c1.send#2  kill c1", []string{"acquire ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trial.Test(t, trial.Spec{
				System:   redis.SetNX{TTL: time.Second},
				Cast:     cast(client("c1", "acquire every 500ms; work 100ms; release"), client("c2", "until 150ms; acquire every 20ms; release")),
				Schedule: faults.MustParse(c.schedule),
				Latency:  sim.Every(time.Millisecond),
			})
			require.Equal(t, check.Kept, r.Promise.Status)
			require.Equal(t, check.Exclusive, r.Belief.Status)
			require.Equal(t, c.calls, calls(r, "c1"))
		})
	}
}

// TestUnknownHolder: a read that names an attempt whose outcome nobody knows is
// about that attempt's grant.
func TestUnknownHolder(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:   redis.SetNX{TTL: time.Second},
		Cast:     cast(client("c1", "try; release"), client("c2", "look; until 500ms; look")),
		Schedule: faults.MustParse("at 0s  lose-reply r1>c1"),
		Latency:  sim.Every(time.Millisecond),
	})
	require.Equal(t, []string{"acquire unknown"}, calls(r, "c1"))
	// At the first c1 still waits for the answer, and its attempt has no number yet.
	require.Equal(t, []string{"read unknown", "read ok"}, calls(r, "c2"))
	var named []int32
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb == history.Read {
			named = append(named, e.Grant)
		}
	}
	require.Equal(t, []int32{0, 1}, named)
	require.Equal(t, check.Kept, r.Promise.Status)
}

func calls(r trial.Result, who string) []string {
	var list []string
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Who == who {
			list = append(list, fmt.Sprint(e.Verb, " ", e.Outcome))
		}
	}
	return list
}

// TestLossIsHandled: a client that learns that it has lost the lock does no more
// work under it.
func TestLossIsHandled(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:  redis.SetNX{TTL: time.Second, Deadline: true},
		Cast:    trial.Cast{Resources: []models.Resource{resource.Plain("doc")}, Clients: []trial.Client{client("c1", "acquire; work 5s; write doc; release; work 1s; write doc")}},
		Latency: sim.Every(time.Millisecond),
	})
	var writes []time.Duration
	for _, e := range r.History.Events {
		if e.Kind == history.Write {
			writes = append(writes, e.At)
		}
	}
	require.Len(t, writes, 1, "only the one after the release")
	require.Equal(t, []string{"acquire ok", "release ok"}, calls(r, "c1"), "at 1.001 s the key still stands")
	require.Equal(t, check.Kept, r.Promise.Status)
}

func TestExtendMovesThePromise(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: ideal(),
		Cast: cast(client("c1", "acquire; work 8s; extend; work 8s; release"),
			client("c2", "until 1s; acquire; release")),
	})
	require.Equal(t, check.Kept, r.Promise.Status)
	require.Equal(t, check.Exclusive, r.Belief.Status)
	require.Equal(t, 15*time.Second, r.Progress.Longest, "c2 waits from 1 s until c1 releases at 16 s")
}

func TestReadModifyWrite(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: ideal(),
		Cast: trial.Cast{Resources: []models.Resource{resource.Plain("doc")}, Clients: []trial.Client{
			client("c1", "acquire; read doc; work 1s; write doc; release"),
			client("c2", "until 11s; acquire; read doc; write doc; release"),
		}},
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
	})
	require.Equal(t, []string{check.LostUpdate}, kinds(r))
	require.Equal(t, "c1", r.Damage.Events[0].Client)
}

func TestCompareAndSetByTheLocksValue(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System: redis.SetNX{},
		Cast: trial.Cast{Resources: []models.Resource{resource.CompareAndSet("doc")}, Clients: []trial.Client{
			client("c1", "acquire; claim doc; work 1s; write doc; release"),
			client("c2", "until 11s; acquire; claim doc; work 1s; write doc; release"),
		}},
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
	})
	require.Empty(t, r.Damage.Events, "c2 has claimed the document: c1's mark is gone")
	require.Equal(t, check.Overlapping, r.Belief.Status)
}

func TestMailerSendsTwiceWithoutALock(t *testing.T) {
	t.Parallel()
	for once, want := range map[bool][]string{false: {check.DuplicateEffect}, true: nil} {
		r := trial.Test(t, trial.Spec{Cast: trial.Cast{
			Resources: []models.Resource{resource.Mailer{Called: "mailer", Idempotent: once}},
			Clients:   []trial.Client{client("c1", "do mailer invoice-1"), client("c2", "do mailer invoice-1")},
		}})
		require.Equal(t, want, kinds(r))
		require.Equal(t, check.None, r.Promise.Status)
		require.Equal(t, check.None, r.Belief.Status)
	}
}

// TestOnce: who finds the work done releases the lock and does what comes behind;
// without a lock it is at its end.
func TestOnce(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"acquire; once doc; do mailer x; release; do mailer y":   1, // y
		"acquire; once other; do mailer x; release; do mailer y": 2,
		"once doc; do mailer x":                                  0,
		"once other; do mailer x":                                1,
		"once mailer; do mailer x":                               0, // which can tell nothing
	} {
		r := trial.Test(t, trial.Spec{System: ideal(), Cast: trial.Cast{
			Resources: []models.Resource{resource.Plain("doc"), resource.Plain("other"), resource.Mailer{Called: "mailer"}},
			Clients:   []trial.Client{client("c1", "write doc; "+script)},
		}})
		done := 0
		for _, e := range r.History.Events {
			if e.Kind == history.Effect {
				done++
			}
		}
		require.Equal(t, want, done, script)
		require.Empty(t, r.Damage.Events)
	}
}

func TestLookAsksWhoHolds(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:  redis.SetNX{},
		Cast:    cast(client("c1", "acquire; work 1s; release"), client("c2", "until 500ms; look; until 2s; look")),
		Latency: sim.Every(time.Millisecond),
	})
	var holders []int32
	for _, e := range r.History.Events {
		if e.Kind == history.Return && e.Verb == history.Read {
			holders = append(holders, e.Grant)
		}
	}
	require.Equal(t, []int32{1, 0}, holders)
	require.Equal(t, check.Kept, r.Promise.Status)
}

func TestMissedAnchorsAreNamed(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{
		System:   ideal(),
		Cast:     trial.Writers(1, resource.Plain("doc")),
		Schedule: faults.MustParse("before c1.write#9  kill c1"),
	})
	require.Equal(t, []string{"before c1.write#9"}, r.Missed)
}

func TestBoundLeavesUnknown(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{System: ideal(), Cast: trial.Writers(2, resource.Plain("doc")), Bound: 3})
	require.Equal(t, check.Unknown, r.Promise.Status)
	require.Equal(t, check.Unknown, r.Progress.Status)
}

// witness is a testing.TB that notes its failure.
type witness struct {
	testing.TB
	failed string
}

func (*witness) Helper() {}

func (w *witness) Fatalf(format string, args ...any) {
	w.failed = fmt.Sprintf(format, args...)
	panic(w) // as FailNow, it does not return
}

// moody is a lock that draws from a source which the spec does not know.
type moody struct{ open }

func (m moody) Open(*sim.World) (models.Lock, error) { return m, nil }

func (moody) Acquire(p *sim.Process, _ string) (models.Grant, error) {
	p.Sleep(time.Duration(rand.Int64()) % time.Hour)
	return models.Grant{Term: time.Minute}, nil
}

func TestTestShowsTheFirstDifference(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t}
	require.Panics(t, func() {
		trial.Test(w, trial.Spec{System: moody{}, Cast: cast(client("c1", "acquire; release"))})
	})
	require.Contains(t, w.failed, "two runs of the same spec differ: the lock depends on more than the spec")
	require.Contains(t, w.failed, "first difference, event ")
}

func TestRunnerKeepsNothingFromRunToRun(t *testing.T) {
	t.Parallel()
	specs := []trial.Spec{
		{System: redis.Redlock{}, Cast: trial.Writers(2, resource.Plain("doc")), Latency: sim.Every(time.Millisecond), Schedule: faults.MustParse("at 1500ms  restart r3 power-loss 2s")},
		{System: ideal(), Cast: trial.Writers(3, resource.Plain("doc")), Schedule: faults.MustParse("before c1.write#1  pause c1 suspend 14s\nat 5s  kill c2")},
		{System: redis.SetNX{Replicas: 1, Lag: time.Second}, Cast: trial.Writers(2, resource.Plain("doc")), Schedule: faults.MustParse("at 1100ms  failover r1>r2")},
	}
	r := trial.NewRunner()
	defer r.Close()
	for range 3 {
		for i := range specs {
			kept, err := r.Run(&specs[i])
			require.NoError(t, err)
			fresh, err := trial.Run(specs[i])
			require.NoError(t, err)
			require.Equal(t, fresh.TraceSHA256(), kept.TraceSHA256())
			require.Equal(t, fresh.Verdicts, kept.Verdicts)
		}
	}
}
