package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/sim"
)

// H4: one node after another restarts empty between c1's extensions. By default each
// stays lost to it, and c2 finds two of three free; set anew, c2 finds one. What is
// c2's by then, no extension takes.
func TestRedlockSetOnExtend(t *testing.T) {
	for _, test := range []struct {
		name     string
		set      bool
		restarts [2]time.Duration // of r1 and of r2; c1 extends at 4 s and at 6 s, c2 asks at 5.5 s
		extended []string         // at 4 s
		c2       bool
	}{
		{"H4 by default", false, [2]time.Duration{3 * time.Second, 5 * time.Second}, []string{"r2", "r3"}, true},
		{"H4 set anew", true, [2]time.Duration{3 * time.Second, 5 * time.Second}, []string{"r1", "r2", "r3"}, false},
		{"both within one period", true, [2]time.Duration{4500 * time.Millisecond, 5 * time.Second}, []string{"r1", "r2", "r3"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, Redlock{Nodes: 3, TTL: 8 * time.Second, Sends: Parallel, SetOnExtend: test.set})
			for i, at := range test.restarts {
				r := s.server(nodeName(i))
				s.w.At(at, func() { r.Handler().(*Node).Crash(r, faults.Kill) })
			}
			var errs [2]error
			s.client("c1", 0, func(p *sim.Process) {
				extend := s.lock.(models.Extender).Extend
				g, err := s.lock.Acquire(p, "k")
				require.NoError(t, err)
				p.SleepUntil(clock.Monotonic, 4*time.Second)
				g, errs[0] = extend(p, "k", g)
				require.Equal(t, test.extended, g.Votes)
				p.SleepUntil(clock.Monotonic, 6*time.Second)
				_, errs[1] = extend(p, "k", g)
			})
			b := s.acquire("c2", 5500*hop)
			s.run()
			require.NoError(t, errs[0])
			if !test.c2 {
				require.ErrorIs(t, b.err, models.ErrHeld)
				require.NoError(t, errs[1])
				return
			}
			require.NoError(t, b.err)
			require.Equal(t, []string{"r1", "r2"}, b.grant.Votes)
			require.ErrorIs(t, errs[1], models.ErrNotHeld)
		})
	}
}

// H13: c1's first attempt is at 1 ms, the nodes are free from 1.2 s on, and it has the
// lock at its seventh attempt. A lock that counts from the first is over by then, and
// yet stands on all nodes.
func TestRedlockRetries(t *testing.T) {
	const seventh = hop + 6*(4*hop+200*hop)
	for _, test := range []struct {
		name     string
		system   Redlock
		deadline time.Duration // its reading; 0: refused
		done     time.Duration
	}{
		{"H13 from the first", Redlock{Retries: 10, FromFirst: true}, hop + 988*hop, seventh + 2*hop},
		{"H13 from the last", Redlock{Retries: 10}, seventh + 988*hop, seventh + 2*hop},
		{"too few", Redlock{Retries: 5}, 0, seventh - 200*hop},
		{"none", Redlock{}, 0, 5 * hop},
		{"another delay", Redlock{Retries: 1, RetryDelay: 1200 * hop}, 1205*hop + 988*hop, 1207 * hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.system.TTL, test.system.Sends = time.Second, Parallel
			s := newStage(t, test.system)
			s.takes("r1", "r2", "r3", "r4", "r5")
			s.w.At(1200*hop, func() {
				for i := range 5 {
					r := s.server(nodeName(i))
					s.node(r.Name()).del(r, &Del{"k"}, "c2")
				}
			})
			a := &attempt{}
			s.client("c1", hop, func(p *sim.Process) {
				s.acquireNow(p, a)
				if a.err != nil {
					return
				}
				longer, err := s.lock.(models.Extender).Extend(p, "k", a.grant)
				if test.system.FromFirst {
					require.Equal(t, models.ErrNotHeld, err)
					require.Equal(t, a.done, s.w.Now(), "it asks nobody")
					require.NoError(t, s.lock.Release(p, "k", a.grant))
					return
				}
				require.NoError(t, err)
				require.Equal(t, a.done+988*hop, longer.Deadline.Reading)
			})
			s.run()
			require.Equal(t, test.done, a.done)
			if test.deadline == 0 {
				require.ErrorIs(t, a.err, models.ErrHeld)
				return
			}
			require.NoError(t, a.err)
			require.Equal(t, test.deadline, a.grant.Deadline.Reading)
			require.Equal(t, a.done-2*hop, a.grant.Anchor, "the promise is that of the nodes")
		})
	}
}
