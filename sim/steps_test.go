package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// TestAnchors: each anchor is before or after one step, counted by its label,
// for one thread.
func TestAnchors(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{Latency: sim.Every(ms)}, func(w *sim.World, d *diary) {
		db := w.Server("db", echo)
		for _, a := range []struct {
			process, step string
			count         int
		}{
			{"c1", "send", 1}, {"c1", "receive", 1}, {"c1", "now", 2}, {"c1", "sleep", 1},
			{"c1/renew", "sleep", 2}, {"c1", "write", 1},
			{"c1", "write", 2}, {"c2", "write", 1}, {"c1/r", "sleep", 1},
		} {
			w.Before(a.process, a.step, a.count, func() { d.note("< %s.%s#%d", a.process, a.step, a.count) })
			w.After(a.process, a.step, a.count, func() { d.note("  %s.%s#%d >", a.process, a.step, a.count) })
		}
		w.Go("c1", func(p *sim.Process) {
			p.Go("renew", func(p *sim.Process) {
				p.Sleep(10 * ms)
				p.Sleep(10 * ms)
			})
			_, err := sim.Call[string](p, db, "hi", sec)
			require.NoError(t, err)
			for range 4 {
				p.Now(clock.Wall)
			}
			p.Sleep(3 * ms)
			p.Step("write")
			d.note("     (c1 writes)")
		})
		w.At(time.Minute, func() {
			require.Equal(t, []string{
				"before c1.write#2", "after c1.write#2", "before c2.write#1", "after c2.write#1",
				"before c1/r.sleep#1", "after c1/r.sleep#1",
			}, w.Pending())
		})
	})
	require.Equal(t, []string{
		"0s < c1.send#1", "0s   c1.send#1 >", // not only when the reply comes
		"2ms < c1.receive#1", "2ms   c1.receive#1 >",
		"2ms < c1.now#2", "2ms   c1.now#2 >",
		"2ms < c1.sleep#1", "5ms   c1.sleep#1 >",
		"5ms < c1.write#1", "5ms      (c1 writes)", "5ms   c1.write#1 >", // at the end of its code
		"10ms < c1/renew.sleep#2", "20ms   c1/renew.sleep#2 >",
	}, got)
}

// TestPauseBeforeAStep: what the step asks, it asks after the pause.
func TestPauseBeforeAStep(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]time.Duration{"sleep": 11 * sec, "now": 10 * sec, "send": 10 * sec} {
		play(t, sim.Config{}, func(w *sim.World, _ *diary) {
			db := w.Server("db", echo)
			w.Go("c1", func(p *sim.Process) {
				switch step {
				case "sleep":
					p.Sleep(sec)
				case "now":
					require.Equal(t, 10*sec, p.Now(clock.Monotonic))
				case "send":
					_, err := sim.Call[string](p, db, "hi", sec)
					require.NoError(t, err)
				}
				require.Equal(t, want, w.Now(), step)
			})
			w.Before("c1", step, 1, func() { w.Machine("c1").Pause(sim.GC, 10*sec) })
		})
	}
}

// ghost asks of the world all that a process can.
func ghost(p *sim.Process, db *sim.Server) error {
	p.Sleep(sec)
	p.SleepUntil(clock.Wall, time.Hour)
	p.Step("write")
	p.Now(clock.Wall)
	p.Wait(&sim.Signal{}, sec)
	p.Go("thread", func(*sim.Process) { panic("a dead process has a thread") })
	_, _, err := p.AwaitAny([]sim.Ticket{p.Send(db, "any")}, sec)
	_, e := sim.Call[string](p, db, "bye", sec)
	return errors.Join(err, e)
}

// TestKill: a process that dies, however it dies, runs its defers, and nothing
// of what they ask happens.
func TestKill(t *testing.T) {
	t.Parallel()
	write := func(p *sim.Process) { p.Step("write") }
	for _, c := range []struct {
		name string
		body func(p *sim.Process) // dies in it
		kill func(w *sim.World)
		at   time.Duration
	}{
		{"before a step", write, func(w *sim.World) { w.Before("c1", "write", 1, w.Machine("c1").Kill) }, 0},
		{"after a step", func(p *sim.Process) { write(p); p.Step("next") }, func(w *sim.World) { w.After("c1", "write", 1, w.Machine("c1").Kill) }, 0},
		{"at a step of another thread", func(p *sim.Process) {
			p.Go("renew", func(p *sim.Process) { p.Sleep(sec); write(p) })
			p.Sleep(time.Hour)
		}, func(w *sim.World) { w.Before("c1/renew", "write", 1, w.Machine("c1").Kill) }, sec},
		{"asleep", func(p *sim.Process) { p.Sleep(time.Hour) },
			func(w *sim.World) { w.At(sec, w.Machine("c1").Kill) }, sec},
		{"waiting for a signal", func(p *sim.Process) { p.Wait(&sim.Signal{}, time.Hour) },
			func(w *sim.World) { w.At(sec, w.Machine("c1").Kill) }, sec},
		{"waiting for a reply", func(p *sim.Process) {
			_, _ = p.Await(p.Send(p.World().Server("mute", serve(func(*sim.Server, sim.Request) {})), nil), time.Hour)
		}, func(w *sim.World) { w.At(sec, w.Machine("c1").Kill) }, sec},
		{"frozen", func(p *sim.Process) { p.Sleep(sec) }, func(w *sim.World) {
			w.At(0, func() { w.Machine("c1").Pause(sim.GC, time.Hour) })
			w.At(2*sec, w.Machine("c1").Kill)
		}, 2 * sec},
		{"stopped at a step", write, func(w *sim.World) {
			w.Before("c1", "write", 1, func() { w.Machine("c1").Pause(sim.Thread, time.Hour) })
			w.At(sec, w.Machine("c1").Kill)
		}, sec},
		{"by itself", func(p *sim.Process) { p.Machine().Kill(); write(p) }, func(*sim.World) {}, 0},
		{"by itself, asleep", func(p *sim.Process) { p.Machine().Kill(); p.Sleep(sec) }, func(*sim.World) {}, 0},
		{"by itself, at the end", func(p *sim.Process) { p.Machine().Kill() }, func(*sim.World) {}, 0},
		{"with a recover", func(p *sim.Process) {
			defer func() { _ = recover() }()
			p.Sleep(time.Hour)
		}, func(w *sim.World) { w.At(sec, w.Machine("c1").Kill) }, sec},
		{"by the horizon", func(p *sim.Process) { p.Sleep(time.Hour) }, func(*sim.World) {}, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			unwound := false
			events := 0
			play(t, sim.Config{Horizon: time.Minute}, func(w *sim.World, _ *diary) {
				db := w.LocalServer("db", echo)
				m := w.Go("c1", func(p *sim.Process) {
					defer func() {
						defer func() { unwound = true }()
						require.Equal(t, c.at, w.Now())
						require.True(t, p.Machine().Dead())
						events = len(w.History().Events)
						require.ErrorIs(t, ghost(p, db), sim.ErrReset)
						require.Len(t, w.History().Events, events)
						p.Machine().SetAlarm(clock.Wall, time.Second, func() { t.Error("a dead machine has an alarm") })
					}()
					_, err := sim.Call[string](p, db, "hi", sec)
					require.NoError(t, err)
					c.body(p)
					require.Contains(t, []string{"by itself, at the end", "with a recover"}, c.name)
				}).Machine()
				for _, step := range []string{"receive", "sleep"} {
					w.After("c1", step, 1, func() { require.False(t, m.Dead()) })
				}
				m.SetAlarm(clock.Wall, 10*time.Second, func() { require.Equal(t, "by the horizon", c.name) })
				w.Before("c1", "write", 2, func() { t.Error("a dead process takes a step") })
				c.kill(w)
				w.At(time.Minute, func() {
					require.Equal(t, c.name != "by the horizon", unwound)
				})
			})
			require.True(t, unwound)
		})
	}
}

// TestKillClosesCalls: a reply to a dead process goes nowhere, also when the
// place of its call has been taken.
func TestKillClosesCalls(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		db := w.Server("db", slow)
		w.Go("c1", func(p *sim.Process) {
			_, err := sim.Call[time.Duration](p, db, 5*sec, time.Hour)
			d.note("c1 %v", err)
		})
		w.Go("c3", func(p *sim.Process) { _, _ = p.Await(p.Send(db, time.Hour), time.Hour) })
		w.At(sec, w.Machine("c1").Kill)
		w.At(sec, w.Machine("c3").Kill)
		w.At(9*sec, func() {
			sent := len(w.History().Events)
			db.Crash(false) // has nobody to reset
			require.Len(t, w.History().Events, sent)
		})
		w.At(2*sec, func() {
			w.Go("c2", func(p *sim.Process) {
				n, err := sim.Call[time.Duration](p, db, 6*sec, time.Hour)
				d.note("c2 %v %v", n, err)
			})
		})
	})
	require.Equal(t, []string{"8s c2 6s <nil>"}, got)
}

// TestLoopAfterDeath: a defer that tries until it succeeds would never end.
func TestLoopAfterDeath(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Horizon: sec})
	db := w.Server("db", echo)
	w.Go("c1", func(p *sim.Process) {
		defer func() {
			for {
				if _, err := sim.Call[string](p, db, "unlock", sec); err == nil {
					return
				}
			}
		}()
		p.Sleep(time.Hour)
	})
	require.ErrorContains(t, w.Run(), "process c1 goes on after its death")
	require.Equal(t, history.Horizon, w.History().Stopped)
}
