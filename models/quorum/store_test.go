package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// storing is a run with a store "doc" in it and hops of 1 ms.
func storing(t *testing.T, s Store) (*sim.World, *sim.Server) {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{Latency: sim.Every(hop)})
	server, err := s.Open(w)
	require.NoError(t, err)
	return w, server
}

// writes are what the replicas decided: "doc1 c2 ok".
func writes(w *sim.World) []string {
	var list []string
	for _, e := range w.History().Events {
		if e.Kind == history.Write {
			list = append(list, fmt.Sprint(e.Who, " ", e.Peer, " ", e.Outcome))
		}
	}
	return list
}

// DDIA, 2nd edition, figure 9-7: client 2, with token 34, does not reach replica 3,
// and the zombie with 33 writes after it. Replica 3 takes that; a quorum read prefers
// 34, and repairs.
func TestFencingWithReplicas(t *testing.T) {
	for _, c := range []struct {
		tokens bool
		zombie []string // what the replicas made of the zombie's write
		read   string
		repair []string
	}{
		{true, []string{"doc1 c1 refused", "doc2 c1 refused", "doc3 c1 ok"}, "c2", []string{"doc3 c2 ok"}},
		{false, []string{"doc1 c1 ok", "doc2 c1 ok", "doc3 c1 ok"}, "c1", nil},
	} {
		t.Run(fmt.Sprint("K7 tokens ", c.tokens), func(t *testing.T) {
			w, doc := storing(t, Store{Called: "doc", Tokens: c.tokens})
			cut := w.AddRule("cut", func(m sim.Message) sim.Ruling {
				if m.To == "doc3" {
					return sim.Lose()
				}
				return sim.Pass()
			})
			w.At(time.Second, func() { w.RemoveRule(cut) })
			write := func(client string, at time.Duration, token int64) {
				w.Go(client, func(p *sim.Process) {
					p.Sleep(at)
					q := models.WriteRequest{Object: "doc", Value: client, Token: token, Base: -1}
					answer, err := sim.Call[models.Written](p, doc, q, time.Second)
					require.NoError(t, err)
					require.True(t, answer.OK, "a replica acknowledges what it drops")
				})
			}
			write("c2", 0, 34)
			write("c1", 2*time.Second, 33)
			var read models.Object
			w.Go("c3", func(p *sim.Process) {
				p.Sleep(3 * time.Second)
				var err error
				read, err = sim.Call[models.Object](p, doc, models.ReadRequest{Object: "doc"}, time.Second)
				require.NoError(t, err)
			})
			require.NoError(t, w.Run())
			require.Equal(t, models.Object{Value: c.read, Version: -1}, read)
			want := append([]string{"doc1 c2 ok", "doc2 c2 ok"}, c.zombie...)
			require.Equal(t, append(want, c.repair...), writes(w))
		})
	}
}

// A quorum of two decides; with one replica nobody is answered.
func TestStoreQuorum(t *testing.T) {
	for down, answered := range []bool{true, true, false, false} {
		w, doc := storing(t, Store{Called: "doc"})
		for i := range down {
			w.Machine(fmt.Sprint("doc", i+1)).Server().Crash(true)
		}
		w.Go("c1", func(p *sim.Process) {
			for _, q := range []any{models.WriteRequest{Object: "doc"}, models.ReadRequest{Object: "doc"}} {
				_, err := p.Await(p.Send(doc, q), time.Second)
				require.Equal(t, answered, err == nil, "%d down, %T", down, q)
			}
		})
		require.NoError(t, w.Run())
	}
}

func TestStoreOfNothing(t *testing.T) {
	w, doc := storing(t, Store{Called: "doc"})
	w.Go("c1", func(p *sim.Process) {
		object, err := sim.Call[models.Object](p, doc, models.ReadRequest{Object: "doc"}, time.Second)
		require.NoError(t, err)
		require.Equal(t, models.Object{Version: -1}, object)
		answer, err := sim.Call[models.Written](p, doc, models.ClaimRequest{Object: "doc"}, time.Second)
		require.NoError(t, err)
		require.False(t, answer.OK)
	})
	require.NoError(t, w.Run())
	require.Empty(t, writes(w))
}

func TestStoreNames(t *testing.T) {
	w, _ := storing(t, Store{Called: "doc"})
	_, err := Store{Called: "x"}.Open(w)
	require.NoError(t, err)
	w.Server("y2", &replica{})
	_, err = Store{Called: "y"}.Open(w)
	require.EqualError(t, err, `replica "y2": there is another machine of that name`)
}
