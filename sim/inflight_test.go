package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/sim"
)

// counter counts what reaches it.
type counter struct{ served int }

func (c *counter) Serve(_ *sim.Server, r sim.Request) {
	c.served++
	r.Reply(c.served)
}

// TestRequestUnderWayDuringACrash: it is lost with its connection, although the
// server is back before it would arrive; one sent while the server is down, which
// arrives when it is back, is a new connection and is served.
func TestRequestUnderWayDuringACrash(t *testing.T) {
	t.Parallel()
	const hop = 10 * time.Millisecond
	for _, c := range []struct {
		name           string
		crash, start   time.Duration
		silent, served bool
		err            error
	}{
		{"killed while it is under way", 105 * time.Millisecond, 106 * time.Millisecond, false, false, sim.ErrReset},
		{"no power while it is under way", 105 * time.Millisecond, 106 * time.Millisecond, true, false, sim.ErrTimeout},
		{"killed before it is sent", 95 * time.Millisecond, 105 * time.Millisecond, false, true, nil},
		{"no power before it is sent", 95 * time.Millisecond, 105 * time.Millisecond, true, true, nil},
		{"killed after it arrived", 115 * time.Millisecond, 116 * time.Millisecond, false, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := sim.New()
			defer w.Close()
			w.Reset(sim.Config{Latency: sim.Every(hop)})
			handler := &counter{}
			db := w.Server("db", handler)
			w.At(c.crash, func() { db.Crash(c.silent) })
			w.At(c.start, db.Start)
			w.Go("c1", func(p *sim.Process) {
				p.Sleep(100 * time.Millisecond)
				_, err := sim.Call[int](p, db, "hello", 50*time.Millisecond)
				require.ErrorIs(t, err, c.err)
			})
			require.NoError(t, w.Run())
			require.Equal(t, c.served, handler.served == 1)
		})
	}
}
