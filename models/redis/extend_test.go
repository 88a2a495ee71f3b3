package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// H10: a is late, and b has the lock. A PEXPIRE that does not compare gives b's key a new
// term and tells a that it has one.
func TestPlainPExpire(t *testing.T) {
	tests := []struct {
		name string
		way  Extend
		err  error
		pttl Integer // of b's key, set at 11.001, when it is 13.003
	}{
		{"H10 compare", CompareFirst, models.ErrNotHeld, 7998},
		{"H10 pexpire", PlainPExpire, nil, 9998},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, SetNX{Extend: test.way})
			a, b := s.acquire("a", 0), s.acquire("b", 11*time.Second)
			s.client("a2", 13*time.Second, func(p *sim.Process) {
				longer, err := s.lock.(models.Extender).Extend(p, "k", a.grant)
				require.Equal(t, test.err, err)
				if err == nil {
					require.Equal(t, a.grant.Value, longer.Value)
				}
				require.Equal(t, test.pttl, ask[Integer](p, s.server("r1"), &PTTL{"k"}))
			})
			s.run()
			require.NoError(t, b.err)
			list := prolonged(s.w)
			require.Equal(t, test.err == nil, len(list) == 1)
			if len(list) == 1 {
				require.Equal(t, history.Event{
					At: 13*time.Second + hop, Kind: history.Prolonged, Who: "r1", Peer: "a2", Lock: "k", Value: b.grant.Value, Why: "PEXPIRE",
				}, list[0])
			}
		})
	}
	t.Run("when there is no key", func(t *testing.T) {
		s := newStage(t, SetNX{Extend: PlainPExpire})
		s.client("a", 0, func(p *sim.Process) {
			_, err := s.lock.(models.Extender).Extend(p, "k", models.Grant{Value: "mine"})
			require.Equal(t, models.ErrNotHeld, err)
		})
		s.run()
		require.Empty(t, prolonged(s.w))
	})
}

// A key that its own client prolongs is no event, nor is a number. Who set a key is
// known where the key is: after a restart from the file, and on a replica.
func TestWhoProlongs(t *testing.T) {
	ways := map[string]struct {
		system   SetNX
		schedule string
		server   string
	}{
		"as set":           {SetNX{}, "", "r1"},
		"after a restart":  {SetNX{Persistence: Always}, "at 50ms  restart r1 power-loss", "r1"},
		"after a failover": {SetNX{Replicas: 1}, "at 50ms  failover r1>r2", "r2"},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, way.system)
			s.faults(way.schedule)
			a := &attempt{}
			extend := func(p *sim.Process) {
				server := s.server(way.server)
				require.Equal(t, Integer(1), ask[Integer](p, server, &ExpireIfEqual{"k", a.grant.Value, ttl}))
				require.Equal(t, Integer(1), ask[Integer](p, server, &PExpire{"k", ttl}))
				ask[Integer](p, server, &Incr{"n"})
				ask[Integer](p, server, &PExpire{"n", ttl})
			}
			s.client("a", 0, func(p *sim.Process) {
				s.acquireNow(p, a)
				p.Sleep(100 * hop)
				extend(p)
			})
			s.client("b", 200*hop, extend)
			s.run()
			list := prolonged(s.w)
			require.Len(t, list, 2)
			for _, e := range list {
				require.Equal(t, "b", e.Peer)
			}
		})
	}
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		ask[Status](p, s, &Set{"k", "mine", ttl})
		ask[Status](p, s, &Put{"k", "mine too", ttl})
		ask[Integer](p, s, &PExpire{"k", ttl})
		require.Empty(t, prolonged(s.World()))
	})
}

// prolonged lists what was prolonged.
func prolonged(w *sim.World) []history.Event {
	var events []history.Event
	for _, e := range w.History().Events {
		if e.Kind == history.Prolonged {
			events = append(events, e)
		}
	}
	return events
}
