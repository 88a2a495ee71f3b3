package zookeeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

const (
	ms  = time.Millisecond
	sec = time.Second
	hop = ms
)

// stage is a run with an ensemble in it: hops of 1 ms, clients to be added.
type stage struct {
	t    *testing.T
	w    *sim.World
	lock *lock
}

func newStage(t *testing.T, system Mutex) *stage {
	t.Helper()
	return newSlowStage(t, system, nil)
}

// newSlowStage has links that take longer, by "from>to".
func newSlowStage(t *testing.T, system Mutex, links map[string][]time.Duration) *stage {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{Seed: 1, Latency: sim.Latency{Default: []time.Duration{hop}, Links: links}, Horizon: 200 * sec})
	l, err := system.Open(w)
	require.NoError(t, err)
	return &stage{t, w, l.(*lock)}
}

// client adds a client that begins at a true instant.
func (s *stage) client(name string, at time.Duration, f func(p *sim.Process, c *client)) {
	s.w.Go(name, func(p *sim.Process) {
		p.Sleep(at)
		f(p, s.lock.client(p))
	})
}

// run runs the stage to its end, with a schedule.
func (s *stage) run(schedule string) {
	s.t.Helper()
	require.NoError(s.t, faults.MustParse(schedule).Apply(s.w))
	require.NoError(s.t, s.w.Run())
}

// must makes a request that has to be answered.
func (s *stage) must(p *sim.Process, c *client, body func(on) any) reply {
	r, err := c.call(p, body)
	require.NoError(s.t, err)
	return r
}

// sends are the instants at which a machine sent a message called label.
func (s *stage) sends(who, label string) []time.Duration {
	var list []time.Duration
	for _, e := range s.w.History().Events {
		if e.Kind == history.Send && e.Who == who && e.Value == label {
			list = append(list, e.At)
		}
	}
	return list
}

// server is the present state of a server.
func (s *stage) server(name string) *server {
	return s.w.Machine(name).Server().Handler().(*raft.Node).Replica().(*server)
}
