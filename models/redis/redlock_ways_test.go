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
