package trial_test

import (
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

// Each bug planted here must be caught by a verdict, and its control must not be
// accused.

// client is a member of a cast.
func client(name, script string) trial.Client {
	return trial.Client{Name: name, Script: trial.MustScript(script)}
}

func cast(clients ...trial.Client) trial.Cast { return trial.Cast{Clients: clients} }

// ends is the node lists of clients that begin from different ends, so that each
// of the first two can have nodes before the other asks for them.
func ends() map[string][]string {
	return map[string][]string{
		"c2": {"r5", "r4", "r3", "r2", "r1"},
		"c3": {"r3", "r5", "r4", "r2", "r1"},
	}
}

func TestPlantedTwoOfFiveAsMajority(t *testing.T) {
	t.Parallel()
	run := func(quorum int) trial.Result {
		return trial.Test(t, trial.Spec{
			System:  redis.Redlock{Quorum: quorum, Order: ends()},
			Cast:    cast(client("c1", "try; work 1s; release"), client("c2", "until 1ms; try; work 1s; release")),
			Latency: sim.Every(time.Millisecond),
		})
	}
	bad := run(2)
	require.Equal(t, check.Broken, bad.Promise.Status)
	require.Equal(t, check.DoubleGrant, bad.Promise.Breaches[0].Kind)
	require.Equal(t, check.Overlapping, bad.Belief.Status)
	good := run(3)
	require.Equal(t, check.Kept, good.Promise.Status)
	require.Equal(t, check.Exclusive, good.Belief.Status)
}

func TestPlantedNoStepThree(t *testing.T) {
	t.Parallel()
	run := func(skip bool) trial.Result {
		return trial.Test(t, trial.Spec{
			System:   redis.Redlock{SkipValidity: skip},
			Cast:     cast(client("c1", "try; work 1s; release"), client("c2", "until 10500ms; try; work 8s; release")),
			Schedule: faults.MustParse("before c1.receive#5  pause c1 gc 14s"),
			Latency:  sim.Every(time.Millisecond),
		})
	}
	require.Equal(t, time.Second, run(true).Belief.Total)
	require.Zero(t, run(false).Belief.Total)
}

// Three clients get one or two nodes each, and nobody a majority. If nobody
// gives them back, all wait until they expire.
func TestPlantedMinorityIsKept(t *testing.T) {
	t.Parallel()
	run := func(cleanup redis.Cleanup) trial.Result {
		const again = "; acquire every 50ms jitter 50ms; work 1s; release"
		return trial.Test(t, trial.Spec{
			System:  redis.Redlock{Cleanup: cleanup, Sends: redis.Parallel, Order: ends()},
			Cast:    cast(client("c1", "until 0s"+again), client("c2", "until 0s"+again), client("c3", "until 0s"+again)),
			Latency: sim.Latency{Default: []time.Duration{2 * time.Millisecond}, Links: nearest()},
		})
	}
	bad, good := run(redis.OnRelease), run(redis.OnAll)
	require.GreaterOrEqual(t, bad.Progress.Longest, 10*time.Second)
	require.Less(t, good.Progress.Longest, 4*time.Second)
	require.Equal(t, check.Kept, bad.Promise.Status)
}

// nearest gives each client a millisecond to its own nodes: c1 to r1 and r2, c2 to
// r4 and r5, c3 to r3.
func nearest() map[string][]time.Duration {
	near := map[string][]time.Duration{}
	for _, link := range []string{"c1>r1", "c1>r2", "c2>r4", "c2>r5", "c3>r3"} {
		near[link] = []time.Duration{time.Millisecond}
	}
	return near
}

func TestPlantedReleaseWithoutComparison(t *testing.T) {
	t.Parallel()
	run := func(how redis.Release) trial.Result {
		return trial.Test(t, trial.Spec{
			System:   redis.SetNX{Release: how},
			Cast:     trial.Writers(2, resource.Plain("doc")),
			Schedule: faults.MustParse("before c1.release#1  pause c1 gc 9500ms"),
			Latency:  sim.Every(time.Millisecond),
		})
	}
	bad := run(redis.PlainDel)
	require.Equal(t, []string{check.WrongRelease}, kinds(bad))
	require.Equal(t, "c1", bad.Damage.Events[0].Client)
	require.Empty(t, run(redis.Compare).Damage.Events)
}

// amnesiac is a fence that forgets what it has seen.
type amnesiac struct{ models.Resource }

func (a amnesiac) Open(w *sim.World) (*sim.Server, error) {
	return w.Server(a.Name(), &forgetful{}), nil
}

type forgetful struct{ version int64 }

func (f *forgetful) Serve(s *sim.Server, r sim.Request) {
	q := r.Body.(models.WriteRequest)
	f.version++
	s.Record(history.Event{
		Kind: history.Write, Peer: r.From(), Lock: q.Object, Outcome: history.OK,
		Grant: q.Grant, Token: q.Token, Base: q.Base, Version: f.version,
	})
	r.Reply(models.Written{OK: true})
}

func TestPlantedFenceAcceptsOlderToken(t *testing.T) {
	t.Parallel()
	run := func(fence models.Resource) trial.Result {
		members := trial.Writers(2, resource.Fenced("doc"))
		members.Resources = []models.Resource{fence}
		return trial.Test(t, trial.Spec{
			System:   lease.Ideal{TTL: 10 * time.Second, Tokens: true},
			Cast:     members,
			Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
		})
	}
	bad := run(amnesiac{resource.Fenced("doc")})
	require.Equal(t, []string{check.StaleWrite}, kinds(bad))
	require.Equal(t, check.Resource, bad.Damage.Events[0].Blame)
	require.Empty(t, run(resource.Fenced("doc")).Damage.Events)
}

func kinds(r trial.Result) []string {
	var list []string
	for _, e := range r.Damage.Events {
		list = append(list, e.Kind)
	}
	return list
}

// patient polls inside Acquire, as many libraries do. With honest it says when
// the attempt that won was sent; without, its promise seems to start with the
// first attempt, which is field case H13 inside a checker.
type patient struct {
	redis.SetNX
	honest bool
}

func (s patient) Open(w *sim.World) (models.Lock, error) {
	once, err := s.SetNX.Open(w)
	return patientLock{once, s.honest}, err
}

type patientLock struct {
	models.Lock
	honest bool
}

func (l patientLock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	for {
		sent := p.World().Now()
		g, err := l.Lock.Acquire(p, key)
		if err == nil {
			if l.honest {
				g.Anchor = sent
			}
			return g, nil
		}
		p.Sleep(100 * time.Millisecond)
	}
}

// c1 holds until 8 s; c2 waits from the start and wins then, until 18 s; the
// clock jumps, and c3 is granted the lock at 12 s.
func TestPlantedPromiseFromFirstAttempt(t *testing.T) {
	t.Parallel()
	run := func(honest bool) trial.Result {
		return trial.Test(t, trial.Spec{
			System: patient{redis.SetNX{Clock: redis.Wall}, honest},
			Cast: cast(
				client("c1", "acquire; work 8s; release"),
				client("c2", "until 10ms; acquire; work 1h"),
				client("c3", "until 12s; acquire; work 1s; release")),
			Schedule: faults.MustParse("at 11s  clock-step r1 +1h"),
			Horizon:  time.Minute,
		})
	}
	require.Equal(t, check.Broken, run(true).Promise.Status)
	require.Equal(t, check.Kept, run(false).Promise.Status, "the planted bug hides the double grant: this is what it costs")
}

// The canary: a lock that grants to everybody. If this is not caught, nothing is.
type open struct{}

func (open) Open(*sim.World) (models.Lock, error) { return open{}, nil }

func (open) Acquire(*sim.Process, string) (models.Grant, error) {
	return models.Grant{Term: time.Minute}, nil
}

func (open) Release(*sim.Process, string, models.Grant) error { return nil }

func TestCanary(t *testing.T) {
	t.Parallel()
	r := trial.Test(t, trial.Spec{System: open{}, Cast: trial.Writers(2, resource.Plain("doc"))})
	require.Equal(t, check.Kept, r.Promise.Status, "the two do not meet: c1 releases at 2 s")
	r = trial.Test(t, trial.Spec{
		System:   open{},
		Cast:     trial.Writers(2, resource.Plain("doc")),
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
	})
	require.Equal(t, check.Broken, r.Promise.Status)
	require.Equal(t, check.Overlapping, r.Belief.Status)
	require.Equal(t, check.Damaged, r.Damage.Status)
}
