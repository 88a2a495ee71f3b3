package faults_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// keeper is a server that keeps connections, and counts those that have ended.
type keeper struct{ plain }

func (k *keeper) Disconnected(s *sim.Server, c *sim.Conn) {
	s.Record(history.Event{Kind: history.Freed, Peer: c.Client()})
}

// TestReset: the connections of one process to one server end, and no others; what
// drops one message leaves the kernels' own alone.
func TestReset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schedule string
		gone     []time.Duration // when the server is told that c1 is gone
		why      string
	}{
		{"at 10ms  reset c1 db", []time.Duration{10 * time.Millisecond}, "lost its connection"},
		{"at 0s  reset c1 db", []time.Duration{51 * time.Millisecond}, "had no connection"},
		{"at 10ms  reset c2 db", []time.Duration{51 * time.Millisecond}, "had no connection"},
		{"at 10ms  drop c1>db", []time.Duration{51 * time.Millisecond}, ""},
		{"at 10ms  partition c1|db", nil, "cut off"},
	} {
		t.Run(c.schedule, func(t *testing.T) {
			t.Parallel()
			w := sim.New()
			defer w.Close()
			w.Reset(sim.Config{Latency: sim.Every(time.Millisecond)})
			db := w.Server("db", &keeper{})
			w.Go("c1", func(p *sim.Process) {
				p.SleepUntil(0, time.Millisecond)
				_, err := sim.CallOn[int](p, p.Dial(db), 7, time.Second)
				require.NoError(t, err)
				p.SleepUntil(0, 50*time.Millisecond)
			})
			w.Go("c2", func(*sim.Process) {})
			require.NoError(t, faults.MustParse(c.schedule).Apply(w))
			require.NoError(t, w.Run())
			var gone []time.Duration
			for _, e := range w.History().Events {
				switch e.Kind {
				case history.Freed:
					require.Equal(t, "c1", e.Peer)
					gone = append(gone, e.At)
				case history.Fault:
					require.Equal(t, c.why, e.Why)
				}
			}
			require.Equal(t, c.gone, gone)
		})
	}
}

func TestWhatCannotBeReset(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, faults.MustParse("at 1s  reset c1 r1").Apply(setUp(t).w),
		"there is no server that keeps connections here, so no \"r1\": what can go wrong here is pause, kill")
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	w.Server("db", &keeper{})
	w.Go("c1", func(*sim.Process) {})
	require.ErrorContains(t, faults.MustParse("at 1s  reset c1 r1").Apply(w), `no server that keeps connections "r1": want one of db`)
	require.ErrorContains(t, faults.MustParse("at 1s  reset db db").Apply(w), `no process "db": want one of c1`)
	require.ErrorContains(t, faults.MustParse("at 1s  restart db kill").Apply(w), "delay, drop, duplicate, lose-reply")
	require.ErrorContains(t, faults.MustParse("at 1s  restart db kill").Apply(w), "clock-rate, reset, partition")
}
