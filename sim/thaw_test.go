package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/sim"
)

// TestOrderAfterThaw: what came during a pause is seen in the order in which it
// came, except after a blocked loop, whose timers come first.
func TestOrderAfterThaw(t *testing.T) {
	t.Parallel()
	for kind, want := range map[sim.Pause][]string{
		sim.GC:      {"reply", "alarm"},
		sim.Suspend: {"reply", "alarm"},
		sim.Loop:    {"alarm", "reply"},
	} {
		w := sim.New()
		w.Reset(sim.Config{Latency: sim.Every(5 * ms)})
		db := w.Server("db", serve(func(_ *sim.Server, r sim.Request) { r.Reply(nil) }))
		var got []string
		w.Go("c1", func(p *sim.Process) {
			p.Machine().SetAlarm(clock.Wall, 20*ms, func() { got = append(got, "alarm") })
			_, err := p.Await(p.Send(db, nil), -1)
			require.NoError(t, err)
			got = append(got, "reply")
			p.Sleep(sec) // a process that has ended has no alarms
		})
		w.At(7*ms, func() { w.Machine("c1").Pause(kind, 50*ms) })
		require.NoError(t, w.Run())
		require.Equal(t, want, got, kind)
		w.Close()
	}
}

// TestCrashEndsAPause: a server that was killed while it stood still does not stand
// still when it is back, nor is it woken by the end of that pause.
func TestCrashEndsAPause(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	served := 0
	db := w.Server("db", serve(func(_ *sim.Server, r sim.Request) { served++; r.Reply(nil) }))
	w.At(10*ms, func() { db.Machine().Pause(sim.GC, 100*ms) })
	w.At(20*ms, func() { db.Crash(true) })
	w.At(30*ms, db.Start)
	w.At(90*ms, func() { db.Machine().Pause(sim.GC, 100*ms) })
	w.Go("c1", func(p *sim.Process) {
		p.Sleep(40 * ms)
		_, err := p.Await(p.Send(db, nil), ms)
		require.NoError(t, err)
		p.Sleep(80 * ms) // behind the end of the first pause, inside the second
		_, err = p.Await(p.Send(db, nil), ms)
		require.ErrorIs(t, err, sim.ErrTimeout)
	})
	require.NoError(t, w.Run())
	require.Equal(t, 2, served)
}
