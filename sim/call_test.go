package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// slow replies with its request's own duration, that much later.
var slow = serve(func(s *sim.Server, r sim.Request) {
	d := r.Body.(time.Duration)
	s.After(clock.Monotonic, d, func() { r.Reply(d) })
})

// TestCall is one call, of 20 ms, to a server that something happens to.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		at      time.Duration
		strike  func(*sim.Server)
		timeout time.Duration
		err     error
		end     time.Duration
	}{
		{"answered", 0, func(*sim.Server) {}, 50 * ms, nil, 20 * ms},
		{"timeout", 0, func(*sim.Server) {}, 19 * ms, sim.ErrTimeout, 19 * ms},
		{"at once or never", 0, func(*sim.Server) {}, 0, sim.ErrTimeout, 0},
		{"refused", 0, func(s *sim.Server) { s.Crash(false) }, 50 * ms, sim.ErrRefused, 10 * ms},
		{"refused on arrival", 4 * ms, func(s *sim.Server) { s.Crash(true); s.Start(); s.Crash(false) }, 50 * ms, sim.ErrReset, 9 * ms},
		{"reset", 8 * ms, func(s *sim.Server) { s.Crash(false) }, 50 * ms, sim.ErrReset, 13 * ms},
		{"reset, although back", 8 * ms, func(s *sim.Server) { s.Crash(false); s.Start() }, 50 * ms, sim.ErrReset, 13 * ms},
		{"silent", 8 * ms, func(s *sim.Server) { s.Crash(true) }, 50 * ms, sim.ErrTimeout, 50 * ms},
		{"silent before", 0, func(s *sim.Server) { s.Crash(true) }, 50 * ms, sim.ErrTimeout, 50 * ms},
		{"crashed after the reply", 16 * ms, func(s *sim.Server) { s.Crash(false) }, 50 * ms, nil, 20 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, sim.Config{Latency: sim.Every(5 * ms)}, func(w *sim.World, _ *diary) {
				db := w.Server("db", slow)
				w.At(c.at, func() { c.strike(db) })
				w.Go("c1", func(p *sim.Process) {
					d, err := sim.Call[time.Duration](p, db, 10*ms, c.timeout)
					require.ErrorIs(t, err, c.err)
					require.Equal(t, c.end, w.Now())
					if err == nil {
						require.Equal(t, 10*ms, d)
					}
				})
			})
		})
	}
}

// TestLateReply: after a time-out, the reply does not answer the next call.
func TestLateReply(t *testing.T) {
	t.Parallel()
	play(t, sim.Config{}, func(w *sim.World, _ *diary) {
		db := w.Server("db", slow)
		w.Go("c1", func(p *sim.Process) {
			_, err := sim.Call[time.Duration](p, db, 20*ms, 10*ms)
			require.ErrorIs(t, err, sim.ErrTimeout)
			d, err := sim.Call[time.Duration](p, db, 30*ms, sec)
			require.NoError(t, err)
			require.Equal(t, 30*ms, d)
			require.Equal(t, 40*ms, w.Now())
		})
	})
}

func TestAwaitAny(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		db := w.Server("db", slow)
		w.Go("c1", func(p *sim.Process) {
			var calls []sim.Ticket
			for _, n := range []time.Duration{30, 10, 20, 90} {
				calls = append(calls, p.Send(db, n*ms))
			}
			p.Sleep(15 * ms) // the reply of 10 ms lies there already
			for {
				i, body, err := p.AwaitAny(calls, 40*ms)
				d.note("%d %v %v", i, body, err)
				if err != nil {
					break
				}
			}
			require.Equal(t, make([]sim.Ticket, 4), calls)
			p.Sleep(100 * ms) // the reply of 90 ms goes nowhere
		})
	})
	require.Equal(t, []string{
		"15ms 1 10ms <nil>", "20ms 2 20ms <nil>", "30ms 0 30ms <nil>", "70ms -1 <nil> no reply in time",
	}, got)
}

// TestDuplicateAcrossCrash: the second copy of a request finds the server dead,
// but the first may have taken effect; so the call was not refused.
func TestDuplicateAcrossCrash(t *testing.T) {
	t.Parallel()
	play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, _ *diary) {
		served := 0
		db := w.Server("db", serve(func(*sim.Server, sim.Request) { served++ }))
		w.AddRule("duplicate", func(m sim.Message) sim.Ruling {
			if !m.Reply {
				return sim.Twice(10 * ms)
			}
			if w.Now() < 8*ms {
				return sim.Lose() // the reset
			}
			return sim.Pass()
		})
		w.At(5*ms, func() { db.Crash(false) })
		w.Go("c1", func(p *sim.Process) {
			_, err := p.Await(p.Send(db, nil), sec)
			require.ErrorIs(t, err, sim.ErrReset)
			require.Equal(t, 12*ms, w.Now())
			require.Equal(t, 1, served)
		})
	})
}

func TestLeft(t *testing.T) {
	t.Parallel()
	play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, _ *diary) {
		a, b := w.Server("a", echo), w.Server("b", echo)
		w.Go("c1", func(p *sim.Process) {
			require.Zero(t, p.Left())
			for _, s := range []*sim.Server{a, b, a} {
				_, err := sim.Call[string](p, s, "hi", sec)
				require.NoError(t, err)
				left := w.History().Events[p.Left()]
				require.Equal(t, history.Event{
					At: w.Now() - ms, Kind: history.Send, Verb: history.Reply, Who: s.Name(), Peer: "c1", Until: w.Now(),
				}, left)
			}
		})
	})
}

func TestCallOfTheWrongType(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	db := w.Server("db", echo)
	w.Go("c1", func(p *sim.Process) { _, _ = sim.Call[int](p, db, "one", sec) })
	require.ErrorContains(t, w.Run(), "db replied with a string, c1 wants a int")
}

// TestForward: a request that a server sent on has no call to answer.
func TestForward(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		replica := w.Server("replica", serve(func(_ *sim.Server, r sim.Request) {
			d.note("%v from %s", r.Body, r.From())
			r.Reply("nobody listens")
		}))
		primary := w.Server("primary", echo)
		primary.Forward(replica, "x=1", 5*ms)
		primary.Forward(replica, "x=2", 0) // on the same connection
		w.At(10*ms, func() { replica.Crash(false); primary.Forward(replica, "x=3", 0) })
	})
	require.Equal(t, []string{"6ms x=1 from primary", "6ms x=2 from primary"}, got)
}

func TestSignal(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		var s sim.Signal
		w.Go("c1", func(p *sim.Process) {
			d.note("main %v", p.Wait(&s, sec))
			d.note("main %v", p.Wait(&s, 4*sec))
			d.note("main %v", p.Wait(&s, time.Hour)) // for ever after, at once
			p.Sleep(sec)
			d.note("main slept")
		})
		m := w.Machine("c1")
		m.SetAlarm(clock.Wall, 3*sec, func() { s.Fire(); s.Fire() })
		w.Go("c2", func(p *sim.Process) {
			d.note("c2 %v", p.Wait(&s, 3*sec)) // its patience ends at that very instant
			p.Sleep(sec)                       // and the signal comes too late to end this
			d.note("c2 slept")
		})
	})
	require.Equal(t, []string{
		"1s main false", "3s c2 true", "3s main true", "3s main true", "4s c2 slept", "4s main slept",
	}, got)
}
