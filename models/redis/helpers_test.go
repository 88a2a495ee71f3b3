package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

const hop = time.Millisecond

// onNode lets f be the client "c1" of a lone node "r1", without delays between
// them, and returns what was freed.
func onNode(t *testing.T, c Config, f func(p *sim.Process, s *sim.Server)) []history.Event {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{})
	s, err := Open(w, "r1", c)
	require.NoError(t, err)
	w.Go("c1", func(p *sim.Process) { f(p, s) })
	require.NoError(t, w.Run())
	return freed(w)
}

// ask sends one command and returns the answer.
func ask[R any](p *sim.Process, s *sim.Server, command any) R {
	r, err := sim.Call[R](p, s, command, time.Second)
	if err != nil {
		panic(err)
	}
	return r
}

// stage is a run with a lock in it: hops of 1 ms, clients to be added.
type stage struct {
	t    *testing.T
	w    *sim.World
	lock models.Lock
}

func newStage(t *testing.T, system models.System) *stage {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	// Replicas that report every second never end by themselves.
	w.Reset(sim.Config{Seed: 1, Latency: sim.Every(hop), Horizon: 90 * time.Minute})
	l, err := system.Open(w)
	require.NoError(t, err)
	return &stage{t, w, l}
}

// attempt is what a call of the lock came to.
type attempt struct {
	grant  models.Grant
	err    error
	called time.Duration // true instants
	done   time.Duration
}

// acquire lets client make one attempt at true instant at.
func (s *stage) acquire(client string, at time.Duration) *attempt {
	a := &attempt{}
	s.client(client, at, func(p *sim.Process) { s.acquireNow(p, a) })
	return a
}

func (s *stage) acquireNow(p *sim.Process, a *attempt) {
	a.called = s.w.Now()
	a.grant, a.err = s.lock.Acquire(p, "k")
	a.done = s.w.Now()
}

// release lets p release what a granted.
func (s *stage) release(p *sim.Process, a *attempt) *attempt {
	r := &attempt{grant: a.grant, called: s.w.Now()}
	r.err = s.lock.Release(p, "k", a.grant)
	r.done = s.w.Now()
	return r
}

// client adds a client that begins at true instant at.
func (s *stage) client(name string, at time.Duration, f func(p *sim.Process)) {
	s.w.Go(name, func(p *sim.Process) {
		p.Sleep(at)
		f(p)
	})
}

func (s *stage) server(name string) *sim.Server { return s.w.Machine(name).Server() }

func (s *stage) node(name string) *Node {
	switch h := s.server(name).Handler().(type) {
	case member:
		return h.Node
	case *Node:
		return h
	}
	return nil
}

func (s *stage) run() []history.Event {
	s.t.Helper()
	require.NoError(s.t, s.w.Run())
	return freed(s.w)
}

func freed(w *sim.World) []history.Event {
	var events []history.Event
	for _, e := range w.History().Events {
		if e.Kind == history.Freed {
			events = append(events, e)
		}
	}
	return events
}
