package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/sim"
)

// TestPauseRowByRow is the table of pauses in the design, a row for each kind:
// the same client, stopped from 1.5 s to 4.5 s. It has three threads (main,
// watch, io), an alarm at 2.5 s, and a call on its way: sent at 1.4 s, it is
// served at 1.6 s, and the reply is there at 1.8 s.
func TestPauseRowByRow(t *testing.T) {
	t.Parallel()
	pause := func(k sim.Pause) func(*sim.Machine) {
		return func(m *sim.Machine) { m.Pause(k, 3*sec) }
	}
	for _, row := range []struct {
		name   string
		strike func(*sim.Machine)
		want   []string
		clocks [3]time.Duration // monotonic, boottime, wall at 10 s
	}{{
		"none", func(*sim.Machine) {}, []string{
			"1s main", "1s watch", "1.6s served", "1.8s reply", "2s main", "2s watch", "2.5s alarm", "3s main", "3s watch",
		}, [3]time.Duration{10 * sec, 10 * sec, 10 * sec},
	}, {
		"gc", pause(sim.GC), []string{
			"1s main", "1s watch", "1.6s served", "4.5s reply", "4.5s main", "4.5s watch", "4.5s alarm", "5.5s main", "5.5s watch",
		}, [3]time.Duration{10 * sec, 10 * sec, 10 * sec},
	}, {
		"loop", pause(sim.Loop), []string{
			"1s main", "1s watch", "1.6s served", "4.5s main", "4.5s watch", "4.5s alarm", "4.5s reply", "5.5s main", "5.5s watch",
		}, [3]time.Duration{10 * sec, 10 * sec, 10 * sec},
	}, {
		"thread", pause(sim.Thread), []string{
			"1s main", "1s watch", "1.6s served", "1.8s reply", "2s watch", "2.5s alarm", "3s watch", "4.5s main", "5.5s main",
		}, [3]time.Duration{10 * sec, 10 * sec, 10 * sec},
	}, {
		"suspend", pause(sim.Suspend), []string{
			"1s main", "1s watch", "1.6s served", "4.5s reply", "5s main", "5s watch", "5.5s alarm", "6s main", "6s watch",
		}, [3]time.Duration{7 * sec, 10 * sec, 10 * sec},
	}, {
		"kill", (*sim.Machine).Kill, []string{
			"1s main", "1s watch", "1.5s main ends", "1.5s watch ends", "1.5s io ends", "1.6s served",
		}, [3]time.Duration{10 * sec, 10 * sec, 10 * sec},
	}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := play(t, sim.Config{Latency: sim.Every(200 * ms)}, func(w *sim.World, d *diary) {
				db := w.Server("db", serve(func(_ *sim.Server, r sim.Request) {
					d.note("served")
					r.Reply(r.Body)
				}))
				ends := func(who string) { d.note("%s ends", who) }
				ticks := func(p *sim.Process, who string) {
					defer ends(who)
					for range 3 {
						p.Sleep(sec)
						d.note("%s", who)
					}
					p.Sleep(time.Hour)
				}
				main := w.Go("c1", func(p *sim.Process) {
					p.Go("watch", func(p *sim.Process) { ticks(p, "watch") })
					p.Go("io", func(p *sim.Process) {
						defer ends("io")
						p.Sleep(1400 * ms)
						_, err := sim.Call[string](p, db, "hi", time.Hour)
						require.NoError(t, err)
						d.note("reply")
						p.Sleep(time.Hour)
					})
					ticks(p, "main")
				})
				m := main.Machine()
				m.SetAlarm(clock.Monotonic, 2500*ms, func() { d.note("alarm") })
				w.At(1500*ms, func() { row.strike(m) })
				w.At(10*sec, func() {
					require.Equal(t, row.clocks, [3]time.Duration{
						m.Read(clock.Monotonic), m.Read(clock.Boottime), m.Read(clock.Wall),
					})
					m.Kill()
				})
			})
			if row.name != "kill" { // the threads end at 10 s
				got = got[:len(got)-3]
			}
			require.Equal(t, row.want, got)
		})
	}
}

// TestReplyOrTimeout: a call's reply comes at 20 ms and its time-out at 50 ms,
// both during a pause. Which of them counts depends on the kind.
func TestReplyOrTimeout(t *testing.T) {
	t.Parallel()
	for kind, want := range map[sim.Pause]error{
		sim.GC: nil, sim.Loop: sim.ErrTimeout, sim.Thread: nil, sim.Suspend: nil,
	} {
		play(t, sim.Config{Latency: sim.Every(10 * ms)}, func(w *sim.World, _ *diary) {
			db := w.Server("db", echo)
			w.At(5*ms, func() { w.Machine("c1").Pause(kind, 95*ms) })
			w.Go("c1", func(p *sim.Process) {
				_, err := sim.Call[string](p, db, "hi", 50*ms)
				require.ErrorIs(t, err, want, kind.String())
				require.Equal(t, 100*ms, w.Now(), kind.String())
				p.Sleep(sec) // the other of the two does not end this
				require.Equal(t, 1100*ms, w.Now(), kind.String())
			})
		})
	}
}

// TestPauseInTheCode: code that a pause has caught between two steps goes on
// before anything that came in the meantime is seen.
func TestPauseInTheCode(t *testing.T) {
	t.Parallel()
	for _, kind := range []sim.Pause{sim.GC, sim.Loop, sim.Suspend} {
		got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
			c1 := w.Go("c1", func(p *sim.Process) {
				p.Go("watch", func(p *sim.Process) {
					p.SleepUntil(clock.Wall, 2*sec)
					d.note("watch")
				})
				p.Sleep(sec)
				p.Step("write")
				d.note("write")
			})
			w.Before("c1", "write", 1, func() { c1.Machine().Pause(kind, 9*sec) })
		})
		require.Equal(t, []string{"10s write", "10s watch"}, got, kind.String())
	}
}

// TestPauseOfOneself: no anchor is needed to be stopped at the next step.
func TestPauseOfOneself(t *testing.T) {
	t.Parallel()
	for _, kind := range []sim.Pause{sim.GC, sim.Loop, sim.Thread, sim.Suspend} {
		play(t, sim.Config{}, func(w *sim.World, _ *diary) {
			w.Go("c1", func(p *sim.Process) {
				p.Machine().Pause(kind, 14*sec)
				p.Step("write")
				require.Equal(t, 14*sec, w.Now(), kind.String())
			})
		})
	}
}

func TestPausesOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second sim.Pause
		at            time.Duration // where a sleep of 2 s ends
	}{
		{sim.GC, sim.GC, 5 * sec},
		{sim.GC, sim.Loop, 5 * sec},
		{sim.GC, sim.Thread, 5 * sec},
		{sim.Thread, sim.GC, 5 * sec},
		{sim.Suspend, sim.Suspend, 6 * sec}, // stands still from 1 s to 5 s
		{sim.Suspend, sim.GC, 5 * sec},      // ... to 3 s
		{sim.GC, sim.Suspend, 5 * sec},      // the timer fires at 2 s
	} {
		play(t, sim.Config{}, func(w *sim.World, _ *diary) {
			m := w.Go("c1", func(p *sim.Process) {
				p.Sleep(2 * sec)
				require.Equal(t, c.at, w.Now(), "%v then %v", c.first, c.second)
			}).Machine()
			w.At(1*sec, func() { m.Pause(c.first, 2*sec) })
			w.At(2*sec, func() { m.Pause(c.second, 3*sec) })
		})
	}
}

// TestPauseDuringCatchUp: what is left over when a machine freezes anew, while it
// catches up, waits once more, in its order.
func TestPauseDuringCatchUp(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		m := w.Go("c1", func(p *sim.Process) {
			p.Sleep(4 * sec)
			d.note("main")
			p.Sleep(time.Hour)
		}).Machine()
		m.SetAlarm(clock.Wall, 2*sec, func() {
			d.note("first")
			m.Pause(sim.GC, 10*sec)
		})
		m.SetAlarm(clock.Wall, 3*sec, func() { d.note("second") })
		m.SetAlarm(clock.Wall, 12*sec, func() { d.note("third") })
		w.At(1*sec, func() { m.Pause(sim.GC, 9*sec) })
	})
	require.Equal(t, []string{"10s first", "20s second", "20s main", "20s third"}, got)
}

// TestKillDuringCatchUp: what is left over is gone.
func TestKillDuringCatchUp(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		db := w.Server("db", echo)
		m := w.Go("c1", func(p *sim.Process) {
			p.Go("io", func(p *sim.Process) {
				_, _ = sim.Call[string](p, db, "hi", time.Hour)
				d.note("io")
			})
			p.Sleep(2 * sec)
			d.note("main")
		}).Machine()
		m.SetAlarm(clock.Wall, ms, func() {
			d.note("kill")
			m.Kill()
		})
		m.SetAlarm(clock.Wall, sec, func() { d.note("alarm") })
		w.At(0, func() { m.Pause(sim.GC, 5*sec) })
	})
	require.Equal(t, []string{"5s kill"}, got)
}

// TestCatchUpIsAtOneInstant: whoever catches up first and then sleeps does not
// move the time of those who catch up after it.
func TestCatchUpIsAtOneInstant(t *testing.T) {
	t.Parallel()
	for _, kind := range []sim.Pause{sim.GC, sim.Loop} {
		got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
			sleeps := func(p *sim.Process, name string) {
				p.Sleep(2 * sec)
				d.note("%s", name)
				p.Sleep(5 * sec)
				d.note("%s", name)
			}
			m := w.Go("c1", func(p *sim.Process) {
				p.Go("watch", func(p *sim.Process) { sleeps(p, "watch") })
				sleeps(p, "main")
			}).Machine()
			m.SetAlarm(clock.Wall, 3*sec, func() { d.note("alarm") })
			w.At(sec, func() { m.Pause(kind, 9*sec) })
		})
		require.Equal(t, []string{"10s main", "10s watch", "10s alarm", "15s main", "15s watch"}, got, kind.String())
	}
}

// TestStallThenFreeze: what a stalled thread has missed is older than what the
// machine misses after.
func TestStallThenFreeze(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		fast, slow := w.Server("fast", echo), w.Server("slow", serve(func(s *sim.Server, r sim.Request) {
			s.After(clock.Wall, 4*sec, func() { r.Reply(r.Body) })
		}))
		m := w.Go("c1", func(p *sim.Process) {
			calls := []sim.Ticket{p.Send(slow, "slow"), p.Send(fast, "fast")}
			for range calls {
				_, body, err := p.AwaitAny(calls, time.Hour)
				require.NoError(t, err)
				d.note("%v", body)
			}
		}).Machine()
		w.At(0, func() { m.Pause(sim.Thread, 5*sec) }) // the fast reply at 0
		w.At(3*sec, func() { m.Pause(sim.GC, 3*sec) }) // the slow one at 4 s
	})
	require.Equal(t, []string{"6s fast", "6s slow"}, got)
}

// TestPauseOfServer: requests queue, and what its wall clock decides goes on.
func TestPauseOfServer(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		const expiry = 5 * sec
		db := w.Server("db", serve(func(s *sim.Server, r sim.Request) {
			d.note("%v, expired: %v", r.Body, s.Now(clock.Wall) > expiry)
			r.Reply(nil)
		}))
		for i, name := range []string{"c1", "c2", "c3"} {
			w.Go(name, func(p *sim.Process) {
				p.Sleep(time.Duration(4-i) * sec)
				_, err := p.Await(p.Send(db, name), sec)
				d.note("%s: %v", name, err)
			})
		}
		w.At(2500*ms, func() { db.Machine().Pause(sim.GC, 7500*ms) })
	})
	require.Equal(t, []string{
		"2.001s c3, expired: false", "2.002s c3: <nil>",
		"4s c2: no reply in time", "5s c1: no reply in time",
		"10s c2, expired: true", "10s c1, expired: true",
	}, got)
}

func TestPauseText(t *testing.T) {
	t.Parallel()
	for _, k := range []sim.Pause{sim.GC, sim.Loop, sim.Thread, sim.Suspend} {
		text, err := k.MarshalText()
		require.NoError(t, err)
		var back sim.Pause
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, k, back)
	}
	var k sim.Pause
	require.EqualError(t, k.UnmarshalText([]byte("nap")), `no kind of pause "nap": want one of gc, loop, thread, suspend`)
}
