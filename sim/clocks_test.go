package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/sim"
)

// TestClockChangeSetsTimersAnew: a sleep and an alarm, both due when a clock
// shows 10 s, and a change of the clocks at 4 s.
func TestClockChangeSetsTimersAnew(t *testing.T) {
	t.Parallel()
	jump := func(d time.Duration) func(*sim.Machine) {
		return func(m *sim.Machine) { m.StepClock(d) }
	}
	rate := func(r clock.Rate) func(*sim.Machine) {
		return func(m *sim.Machine) { m.SetClockRate(r) }
	}
	for _, c := range []struct {
		name   string
		change func(*sim.Machine)
		by     clock.Kind
		at     time.Duration
	}{
		{"wall jumps ahead", jump(5 * sec), clock.Wall, 5 * sec},
		{"wall jumps beyond", jump(time.Hour), clock.Wall, 4 * sec},
		{"wall jumps back", jump(-5 * sec), clock.Wall, 15 * sec},
		{"monotonic never jumps", jump(time.Hour), clock.Monotonic, 10 * sec},
		{"boottime never jumps", jump(time.Hour), clock.Boottime, 10 * sec},
		{"twice as fast", rate(1_000_000_000), clock.Wall, 7 * sec},
		{"half as fast", rate(-500_000_000), clock.Monotonic, 16 * sec},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
				m := w.Go("c1", func(p *sim.Process) {
					p.SleepUntil(c.by, 10*sec)
					d.note("woken")
					p.Sleep(time.Hour)
				}).Machine()
				m.SetAlarm(c.by, 10*sec, func() { d.note("alarm") })
				w.At(4*sec, func() { c.change(m) })
			})
			require.ElementsMatch(t, []string{c.at.String() + " woken", c.at.String() + " alarm"}, got)
		})
	}
}

func TestAlarm(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		s := w.Server("db", echo)
		ring := func(name string) func() { return func() { d.note("%s", name) } }
		late := s.After(clock.Monotonic, 3*sec, ring("cancelled"))
		first := s.After(clock.Monotonic, sec, ring("first"))
		w.At(2*sec, func() {
			again := s.After(clock.Monotonic, 2*sec, ring("in the place of first"))
			first.Cancel() // it has rung: this must not hit the one in its place
			late.Cancel()
			late.Cancel()
			_ = again
			sim.Alarm{}.Cancel()
		})
		s.After(clock.Monotonic, 10*sec, ring("dropped by the crash"))
		s.After(clock.Monotonic, math.MaxInt64, ring("never"))
		w.At(9*sec, func() { s.Crash(false); s.Start() })
	})
	require.Equal(t, []string{"1s first", "4s in the place of first"}, got)
}

// TestAlarmTakenBackWhileHeld: it does not ring the one that has its place.
func TestAlarmTakenBackWhileHeld(t *testing.T) {
	t.Parallel()
	got := play(t, sim.Config{}, func(w *sim.World, d *diary) {
		s := w.Server("db", echo)
		old := s.After(clock.Wall, sec, func() { d.note("old") })
		w.At(0, func() { s.Machine().Pause(sim.GC, 5*sec) })
		w.At(2*sec, func() {
			old.Cancel()
			s.After(clock.Wall, 8*sec, func() { d.note("new") })
		})
	})
	require.Equal(t, []string{"10s new"}, got)
}

// TestAlarmOfAnEarlierRun: whoever still has one cannot take back another's.
func TestAlarmOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	rung := 0
	alarm := func() sim.Alarm {
		return w.Machine("db").SetAlarm(clock.Wall, sec, func() { rung++ })
	}
	w.Reset(sim.Config{})
	w.Server("db", echo)
	old := []sim.Alarm{alarm(), alarm()}
	w.Reset(sim.Config{})
	w.Server("db", echo)
	alarm()
	for _, a := range old {
		a.Cancel()
	}
	require.NoError(t, w.Run())
	require.Equal(t, 1, rung)
}

// TestNoLimit: the longest durations do not wrap around into the past.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	const forever = time.Duration(math.MaxInt64)
	for name, wait := range map[string]func(p *sim.Process, s *sim.Server){
		"sleep":  func(p *sim.Process, _ *sim.Server) { p.Sleep(forever) },
		"until":  func(p *sim.Process, _ *sim.Server) { p.SleepUntil(clock.Wall, forever) },
		"signal": func(p *sim.Process, _ *sim.Server) { p.Wait(&sim.Signal{}, forever) },
		"await":  func(p *sim.Process, s *sim.Server) { _, _ = p.Await(p.Send(s, nil), forever) },
		"patience": func(p *sim.Process, s *sim.Server) {
			_, _ = p.Await(p.Send(s, nil), -1)
		},
		"pause": func(p *sim.Process, _ *sim.Server) {
			p.Machine().Pause(sim.GC, forever)
			p.Sleep(sec)
		},
	} {
		got := play(t, sim.Config{Horizon: time.Hour}, func(w *sim.World, d *diary) {
			mute := w.Server("mute", serve(func(*sim.Server, sim.Request) {}))
			m := w.Go("c1", func(p *sim.Process) {
				p.Sleep(sec)
				wait(p, mute)
				d.note("woken")
			}).Machine()
			w.At(2*sec, func() { m.StepClock(-time.Minute); m.SetClockRate(-200_000) })
		})
		require.Empty(t, got, name)
	}
}
