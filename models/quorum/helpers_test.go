package quorum

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

const hop = time.Millisecond

// stage is a run with a lock in it: hops of 1 ms unless a link says otherwise,
// clients to be added.
type stage struct {
	t    *testing.T
	w    *sim.World
	lock models.Lock
}

func newStage(t *testing.T, system models.System, links map[string]time.Duration) *stage {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	s := &stage{t: t, w: w}
	s.reset(system, links)
	return s
}

// reset begins another run in the same world.
func (s *stage) reset(system models.System, links map[string]time.Duration) {
	latency := sim.Every(hop)
	latency.Links = map[string][]time.Duration{}
	for link, d := range links {
		latency.Links[link] = []time.Duration{d}
	}
	s.w.Reset(sim.Config{Seed: 1, Latency: latency})
	l, err := system.Open(s.w)
	require.NoError(s.t, err)
	s.lock = l
}

// client adds a client that begins at true instant at.
func (s *stage) client(name string, at time.Duration, f func(p *sim.Process)) {
	s.w.Go(name, func(p *sim.Process) {
		p.Sleep(at)
		f(p)
	})
}

// attempt is what an acquire came to.
type attempt struct {
	grant models.Grant
	err   error
}

// acquire lets a client make one attempt at true instant at.
func (s *stage) acquire(name string, at time.Duration) *attempt {
	a := &attempt{}
	s.client(name, at, func(p *sim.Process) { a.grant, a.err = s.lock.Acquire(p, "k") })
	return a
}

// look lets a client ask at true instant at who holds the lock.
func (s *stage) look(name string, at time.Duration) *string {
	holder := new(string)
	s.client(name, at, func(p *sim.Process) {
		value, err := s.lock.(models.Inspector).Holder(p, "k")
		if *holder = value; err != nil {
			*holder = err.Error()
		}
	})
	return holder
}

// cut lets nothing pass between a client and some nodes from true instant at on.
func (s *stage) cut(at time.Duration, client string, nodes ...string) {
	s.w.At(at, func() {
		for _, node := range nodes {
			s.w.AddRule("cut", func(m sim.Message) sim.Ruling {
				if m.From == client && m.To == node || m.From == node && m.To == client {
					return sim.Lose()
				}
				return sim.Pass()
			})
		}
	})
}

// loseSecond loses a client's second message to a node.
func (s *stage) loseSecond(client, node string) {
	sent := 0
	s.w.AddRule("lost", func(m sim.Message) sim.Ruling {
		if m.From == client && m.To == node {
			if sent++; sent == 2 {
				return sim.Lose()
			}
		}
		return sim.Pass()
	})
}

func (s *stage) server(name string) *sim.Server { return s.w.Machine(name).Server() }

func (s *stage) run() {
	s.t.Helper()
	require.NoError(s.t, s.w.Run())
}

// facts are what the nodes recorded of their keys: "r2 overwritten c1".
func (s *stage) facts() []string {
	var list []string
	for _, e := range s.w.History().Events {
		if e.Kind == history.Freed {
			list = append(list, e.Who+" "+e.Why+" "+e.Value[:2])
		}
	}
	return list
}

// slow gives a link that much more than a hop, both ways.
func slow(links map[string]time.Duration, a, b string, by time.Duration) map[string]time.Duration {
	if links == nil {
		links = map[string]time.Duration{}
	}
	links[a+">"+b], links[b+">"+a] = hop+by, hop+by
	return links
}
