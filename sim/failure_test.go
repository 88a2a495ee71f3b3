package sim_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// TestFailure: what goes wrong in a process is an error that says where, and the
// world can be used again.
func TestFailure(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	for _, c := range []struct {
		name string
		body func(p *sim.Process)
		want string
	}{
		{"panic", func(*sim.Process) { panic("boom") }, "panicked: boom"},
		{"nil", func(*sim.Process) { panic(nil) }, "panicked: panic called with nil argument"},
		{"bug", func(p *sim.Process) { _ = p.World().Machines()[9] }, "index out of range [9]"},
		{"goexit", func(*sim.Process) { runtime.Goexit() }, "called runtime.Goexit"},
		{"in a defer", func(p *sim.Process) {
			defer func() { panic("boom") }()
			p.Sleep(time.Hour)
		}, "panicked: boom"},
		{"goexit in a defer", func(p *sim.Process) {
			defer runtime.Goexit()
			p.Sleep(time.Hour)
		}, "called runtime.Goexit"},
	} {
		w.Reset(sim.Config{Seed: 42, Horizon: 2 * sec})
		w.Go("c1", func(p *sim.Process) {
			p.Go("renew", func(p *sim.Process) {
				p.Sleep(sec)
				c.body(p)
			})
			p.Sleep(time.Hour)
		})
		err := w.Run()
		for _, part := range []string{"process c1/renew ", c.want, "s of virtual time", "seed 42"} {
			require.ErrorContains(t, err, part, c.name)
		}
		w.Reset(sim.Config{})
		woken := false
		w.Go("c1", func(p *sim.Process) { p.Sleep(sec); woken = true })
		require.NoError(t, w.Run(), c.name)
		require.True(t, woken, c.name)
	}
}

// TestOutsideItsBody: a callback that waits in a process's name is a mistake.
func TestOutsideItsBody(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	p := w.Go("c1", func(p *sim.Process) { p.Sleep(time.Hour) })
	p.Machine().SetAlarm(clock.Wall, sec, func() { p.Sleep(sec) })
	require.ErrorContains(t, w.Run(), "c1 panicked: sim: a method of process c1 is called outside its own body")
}

// TestPanicOutsideProcesses names the server, the instant and the seed.
func TestPanicOutsideProcesses(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	for name, start := range map[string]func(db *sim.Server){
		"db":                func(*sim.Server) {},
		"a fault or a hook": func(*sim.Server) { w.At(ms, func() { panic("boom") }) },
	} {
		w.Reset(sim.Config{Seed: 42})
		db := w.Server("db", serve(func(*sim.Server, sim.Request) { panic("boom") }))
		start(db)
		w.Go("c1", func(p *sim.Process) { p.Sleep(2 * ms); _, _ = p.Await(p.Send(db, nil), -1) })
		require.ErrorContains(t, w.Run(), "seed 42: "+name+" panicked: boom")
	}
}

// TestGoexitThroughADyingProcess: what a dying process's defer asks for must not
// let a Goexit out into the kernel.
func TestGoexitThroughADyingProcess(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Horizon: sec})
	w.Go("c1", func(p *sim.Process) {
		defer p.Sleep(2 * time.Hour)
		runtime.Goexit()
	})
	require.ErrorContains(t, w.Run(), "process c1 called runtime.Goexit")
}

// TestLoopsOfStepsEndAtTheBound, even those that take no time.
func TestLoopsOfStepsEndAtTheBound(t *testing.T) {
	t.Parallel()
	for name, loop := range map[string]func(*sim.Process, *sim.Server){
		"clock": func(p *sim.Process, _ *sim.Server) { p.Now(clock.Wall) },
		"send":  func(p *sim.Process, db *sim.Server) { p.Send(db, nil) },
	} {
		w := sim.New()
		w.Reset(sim.Config{Bound: 1000})
		db := w.Server("db", serve(func(*sim.Server, sim.Request) {}))
		w.Go("c1", func(p *sim.Process) {
			for {
				loop(p, db)
			}
		})
		require.NoError(t, w.Run(), name)
		require.Equal(t, history.Bound, w.History().Stopped, name)
		w.Close()
	}
}

// TestPanicSaysWhere: the stack is that of the process, not of the kernel.
func TestPanicSaysWhere(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	w.Go("c1", func(*sim.Process) { explode() })
	require.ErrorContains(t, w.Run(), "sim_test.explode")
}

func explode() { panic("boom") }

// TestNoLeak: ten thousand runs, in which processes end, are killed, fail, never
// start, or are cut off, leave no goroutine and no memory behind.
func TestNoLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		w := sim.New()
		for i := range 1000 {
			w.Reset(sim.Config{Seed: uint64(i), Horizon: sec, Bound: 50})
			mute := w.Server("mute", serve(func(*sim.Server, sim.Request) {}))
			w.Go("ends", func(p *sim.Process) { p.Sleep(ms) })
			w.Go("cut off", func(p *sim.Process) { p.Sleep(time.Hour) })
			w.Go("waits", func(p *sim.Process) { _, _ = p.Await(p.Send(mute, nil), -1) })
			w.Go("killed", func(p *sim.Process) {
				defer p.Sleep(sec)
				p.Go("thread", func(p *sim.Process) { p.Wait(&sim.Signal{}, time.Hour) })
				p.Sleep(time.Hour)
			})
			w.At(2*ms, w.Machine("killed").Kill)
			w.At(3*ms, func() { w.Machine("cut off").Pause(sim.Pause(i%4), time.Hour) })
			w.At(sec, func() { w.Go("never starts", func(*sim.Process) {}).Machine().Kill() })
			switch i % 10 {
			case 0:
				w.Go("panics", func(p *sim.Process) { p.Sleep(4 * ms); panic("boom") })
			case 1:
				w.Go("exits", func(p *sim.Process) { p.Sleep(4 * ms); runtime.Goexit() })
			case 2:
				continue // not run at all
			}
			require.Equal(t, i%10 < 2, w.Run() != nil)
		}
		w.Close()
	}
	// A goroutine that has been given up may still be on its way out.
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestResetKeepsItsMemory: after the first runs, one costs no allocation at all,
// as long as its bodies and handlers are made once.
func TestResetKeepsItsMemory(t *testing.T) {
	w := sim.New()
	defer w.Close()
	var db *sim.Server
	table := []time.Duration{ms, 2 * ms}
	client := func(p *sim.Process) {
		for range 10 {
			if _, err := p.Await(p.Send(db, nil), 3*ms); err != nil {
				p.Sleep(time.Duration(p.Rand().IntN(10)) * ms)
			}
		}
		p.Sleep(time.Hour)
	}
	nobody := serve(func(_ *sim.Server, r sim.Request) { r.Reply(nil) })
	seed := uint64(0)
	run := func() {
		seed++
		w.Reset(sim.Config{Seed: seed, Horizon: sec, Latency: sim.Latency{Default: table}})
		db = w.Server("db", nobody)
		for _, name := range []string{"c1", "c2", "c3"} {
			w.Go(name, client)
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		run()
	}
	require.Zero(t, testing.AllocsPerRun(1000, run))
}
