package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/sim"
)

// host keeps a list of who is connected, and notes who goes.
type host struct {
	d     *diary
	conns []*sim.Conn
}

func (h *host) Serve(_ *sim.Server, r sim.Request) {
	if c := r.Conn(); c != nil && len(h.conns) == 0 {
		h.conns = append(h.conns, c)
	}
	r.Reply(r.Body)
}

func (h *host) Disconnected(_ *sim.Server, c *sim.Conn) {
	h.d.note("%s is gone", c.Client())
	h.conns = nil
}

// connected plays a story in which c1 asks db once, waits 10 s, and asks it again on
// the same connection; meanwhile happens what strikes.
func connected(t *testing.T, strikes func(w *sim.World, h *host)) []string {
	t.Helper()
	return play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		h := &host{d: d}
		db := w.Server("db", h)
		w.Go("c1", func(p *sim.Process) {
			c := p.Dial(db)
			for range 2 {
				n, err := sim.CallOn[int](p, c, 7, sec)
				d.note("%d %v", n, err)
				p.Sleep(10 * sec)
			}
		})
		strikes(w, h)
	})
}

// TestConnectionsEnd: who learns of it, and when.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	cut := func(w *sim.World) {
		w.AddRule("cut", func(sim.Message) sim.Ruling { return sim.Lose() })
	}
	for _, c := range []struct {
		name    string
		strikes func(w *sim.World, h *host)
		want    []string
	}{
		{"a process that ends hangs up", func(*sim.World, *host) {},
			[]string{"2ms 7 <nil>", "10.004s 7 <nil>", "20.005s c1 is gone"}},
		{"killed", func(w *sim.World, _ *host) { w.At(5*sec, w.Machine("c1").Kill) },
			[]string{"2ms 7 <nil>", "5.001s c1 is gone"}},
		{"killed behind a partition: nobody is told", func(w *sim.World, _ *host) {
			w.At(4*sec, func() { cut(w) })
			w.At(5*sec, w.Machine("c1").Kill)
		}, []string{"2ms 7 <nil>"}},
		{"reset: the process notices when it next uses it, and nothing is sent", func(w *sim.World, _ *host) {
			w.At(5*sec, func() { require.Equal(t, 1, w.ResetConns("c1", "db")) })
			w.At(6*sec, func() { require.Zero(t, w.ResetConns("c1", "db"), "there is none any more") })
		}, []string{"2ms 7 <nil>", "5s c1 is gone", "10.002s 0 db: connection closed"}},
		{"reset while an answer is awaited: it was done", func(w *sim.World, _ *host) {
			w.At(ms, func() { w.ResetConns("c1", "db") })
		}, []string{"1ms 0 db: connection reset", "1ms c1 is gone", "10.001s 0 db: connection closed"}},
		{"reset while the request is under way: it was not", func(w *sim.World, _ *host) {
			w.At(ms/2, func() { w.ResetConns("c1", "db") })
		}, []string{"500µs 0 db: connection reset", "10.0005s 0 db: connection closed"}},
		{"closed by the server: the kernel is told", func(w *sim.World, h *host) {
			w.At(5*sec, func() { h.conns[0].Close(); h.conns[0].Close() })
		}, []string{"2ms 7 <nil>", "10.002s 0 db: connection closed"}},
		{"closed by the server behind a partition: the answer to the next request says so", func(w *sim.World, h *host) {
			w.At(5*sec, func() {
				rule := w.AddRule("cut", func(sim.Message) sim.Ruling { return sim.Lose() })
				h.conns[0].Close()
				w.RemoveRule(rule)
			})
		}, []string{"2ms 7 <nil>", "10.004s 0 db: connection reset"}},
		{"a crash of the server ends them all", func(w *sim.World, _ *host) {
			w.At(5*sec, func() { w.Machine("db").Server().Crash(true) })
			w.At(6*sec, w.Machine("db").Server().Start)
		}, []string{"2ms 7 <nil>", "10.004s 0 db: connection reset"}},
		{"a server that is down resets them", func(w *sim.World, _ *host) {
			w.At(5*sec, func() { w.Machine("db").Server().Crash(false) })
		}, []string{"2ms 7 <nil>", "10.004s 0 db: connection reset"}},
		{"a frozen server is told later", func(w *sim.World, _ *host) {
			w.At(4*sec, func() { w.Machine("db").Pause(sim.GC, 4*sec) })
			w.At(5*sec, w.Machine("c1").Kill)
		}, []string{"2ms 7 <nil>", "8s c1 is gone"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, connected(t, c.strikes))
		})
	}
}

// TestRefusedConnection: a server that is down refuses a new connection; nothing
// was done.
func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		db := w.Server("db", &host{d: d})
		db.Crash(false)
		w.Go("c1", func(p *sim.Process) {
			_, err := sim.CallOn[int](p, p.Dial(db), 7, sec)
			require.ErrorIs(t, err, sim.ErrRefused)
			d.note("refused")
		})
	})
	require.Equal(t, []string{"2ms refused"}, got)
}

// TestProbe: what a probe of the kernel's finds of a client that is struck at 5 s
// and whose process ends at 20 s.
func TestProbe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		strike func(w *sim.World)
		want   []sim.Liveness // at 4 s, 6 s, 14 s and 24 s
	}{
		{"nothing", func(*sim.World) {}, []sim.Liveness{sim.Alive, sim.Alive, sim.Alive, sim.Gone}},
		{"stopped: its kernel answers", func(w *sim.World) { w.Machine("c1").Pause(sim.GC, 5*sec) },
			[]sim.Liveness{sim.Alive, sim.Alive, sim.Alive, sim.Gone}},
		{"suspended", func(w *sim.World) { w.Machine("c1").Pause(sim.Suspend, 5*sec) },
			[]sim.Liveness{sim.Alive, sim.Silent, sim.Alive, sim.Alive}},
		{"killed", func(w *sim.World) { w.Machine("c1").Kill() }, []sim.Liveness{sim.Alive, sim.Gone, sim.Gone, sim.Gone}},
		{"cut off one way", func(w *sim.World) {
			w.AddRule("cut", func(m sim.Message) sim.Ruling {
				if m.From == "c1" {
					return sim.Lose()
				}
				return sim.Pass()
			})
		}, []sim.Liveness{sim.Alive, sim.Silent, sim.Silent, sim.Silent}},
		{"reset", func(w *sim.World) { w.ResetConns("c1", "db") }, []sim.Liveness{sim.Alive, sim.Gone, sim.Gone, sim.Gone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []sim.Liveness
			play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
				var conn *sim.Conn
				db := w.Server("db", &host{d: d})
				w.Go("c1", func(p *sim.Process) {
					conn = p.Dial(db)
					_, err := sim.CallOn[int](p, conn, 7, sec)
					require.NoError(t, err)
					p.SleepUntil(0, 20*sec)
				})
				w.At(5*sec, func() { c.strike(w) })
				for _, at := range []time.Duration{4 * sec, 6 * sec, 14 * sec, 24 * sec} {
					w.At(at, func() { got = append(got, conn.Probe()) })
				}
			})
			require.Equal(t, c.want, got)
		})
	}
}

// TestHangup: the server is told a hop later, and a request on the connection fails
// at once.
func TestHangup(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		db := w.Server("db", &host{d: d})
		w.Go("c1", func(p *sim.Process) {
			c := p.Dial(db)
			_, err := sim.CallOn[int](p, c, 7, sec)
			require.NoError(t, err)
			p.Hangup(c)
			p.Hangup(c)
			_, err = sim.CallOn[int](p, c, 7, sec)
			require.ErrorIs(t, err, sim.ErrClosed)
			p.Sleep(sec)
		})
	})
	require.Equal(t, []string{"3ms c1 is gone"}, got)
}
