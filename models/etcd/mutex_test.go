package etcd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/sim"
)

// TestReentrant: a session that locks again finds its own key, and has the lock, with
// the revision that it had, at once.
func TestReentrant(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Horizon: 10 * time.Second, Latency: sim.Every(time.Millisecond)})
	opened, err := Etcd{}.Open(w)
	require.NoError(t, err)
	var revisions []int64
	w.Go("c1", func(p *sim.Process) {
		s, err := opened.(*lock).open(p)
		require.NoError(t, err)
		s.grant.Value = "job/mine"
		for range 2 {
			revision, err := s.queue(p, "job/")
			require.NoError(t, err)
			revisions = append(revisions, revision)
		}
	})
	require.NoError(t, w.Run())
	require.Equal(t, []int64{2, 2}, revisions)
}
