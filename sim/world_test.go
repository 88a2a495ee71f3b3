package sim_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// city is a world with some of everything, most of it random: five clients with a
// watchdog each, three servers that crash, pauses of all kinds, clocks that go
// wrong, a bad network.
func city(w *sim.World, seed uint64) {
	w.Reset(sim.Config{Seed: seed, Horizon: 2 * sec, Latency: sim.Latency{
		Default: []time.Duration{ms, 2 * ms, 3 * ms, 20 * ms},
		Links:   map[string][]time.Duration{"c1>s1": {5 * ms, 50 * ms}},
	}})
	var servers []*sim.Server
	for i := range 3 {
		servers = append(servers, w.Server(fmt.Sprint("s", i), serve(func(s *sim.Server, r sim.Request) {
			s.Record(history.Event{Kind: history.Effect, Peer: r.From()})
			if i == 2 {
				s.After(clock.Wall, 30*ms, func() { r.Reply(r.Body) })
				return
			}
			r.Reply(r.Body)
		})))
	}
	note := func(p *sim.Process, format string, args ...any) {
		w.Record(history.Event{Kind: history.Step, Who: p.Name(), Value: fmt.Sprintf(format, args...)})
	}
	for i := range 5 {
		w.Go(fmt.Sprint("c", i), func(p *sim.Process) {
			var stop sim.Signal
			defer stop.Fire()
			p.Go("watch", func(p *sim.Process) {
				for !p.Wait(&stop, time.Duration(1+p.Rand().IntN(100))*ms) {
					note(p, "watch at %v", p.Now(clock.Wall))
				}
			})
			for {
				p.Sleep(time.Duration(p.Rand().IntN(40)) * ms)
				var calls []sim.Ticket
				for _, s := range servers {
					calls = append(calls, p.Send(s, p.Rand().IntN(100)))
				}
				for range 2 {
					n, body, err := p.AwaitAny(calls, 40*ms)
					note(p, "%d %v %v", n, body, err)
				}
			}
		})
	}
	for i, m := range w.Machines() {
		at := time.Duration(100+70*i) * ms
		w.At(at, func() { m.Pause(sim.Pause(i%4), 60*ms) })
		w.At(at+30*ms, func() { m.StepClock(time.Duration(i-4) * 10 * ms); m.Pause(sim.Pause((i+1)%4), 60*ms) })
		w.At(at+300*ms, func() { m.SetClockRate(clock.Rate(i-4) * 10_000_000) })
	}
	for i, s := range servers {
		w.At(time.Duration(300+400*i)*ms, func() { s.Crash(i == 0) })
		w.At(time.Duration(400+400*i)*ms, s.Start)
	}
	w.AddRule("every fifth", func(m sim.Message) sim.Ruling {
		return []sim.Ruling{sim.Pass(), sim.Pass(), sim.Lose(), sim.Twice(ms), sim.Deliver(9 * ms)}[w.Events()%5]
	})
	w.Before("c3", "receive", 9, func() { w.Machine("c3").Kill() })
	w.After("c4", "send", 7, func() { w.Machine("c4").Pause(sim.GC, 100*ms) })
}

// TestOneSeedIsOneTrace: in a fresh world and in one that has seen others, on one
// processor and on eight, alone and in parallel.
func TestOneSeedIsOneTrace(t *testing.T) {
	const seeds = 8
	fresh := func(seed uint64) string {
		w := sim.New()
		defer w.Close()
		city(w, seed)
		text, err := trace(w)
		require.NoError(t, err)
		return text
	}
	var want [seeds]string
	for seed := range want {
		want[seed] = fresh(uint64(seed))
		require.Greater(t, len(want[seed]), 50_000)
		require.NotEqual(t, want[seed], fresh(uint64(seed+1)))
	}
	for _, procs := range []int{1, 8} {
		before := runtime.GOMAXPROCS(procs)
		var all sync.WaitGroup
		var got [4][seeds]string
		for i := range got {
			all.Go(func() {
				w := sim.New()
				defer w.Close()
				for n := range seeds {
					seed := (n*(2*i+1) + i) % seeds // each world in another order
					city(w, uint64(seed))
					got[i][seed], _ = trace(w)
				}
			})
		}
		all.Wait()
		runtime.GOMAXPROCS(before)
		for i := range got {
			require.Equal(t, want, got[i])
		}
	}
}

// TestCrashInAReusedWorld: the resets of a crash go out in the order of the calls,
// whatever memory those calls lie in.
func TestCrashInAReusedWorld(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	var first string
	for i := range 4 {
		w.Reset(sim.Config{})
		mute := w.Server("mute", serve(func(*sim.Server, sim.Request) {}))
		for _, name := range []string{"c1", "c2", "c3"} {
			w.Go(name, func(p *sim.Process) { _, _ = p.Await(p.Send(mute, nil), sec) })
		}
		w.At(ms, func() { mute.Crash(false) })
		text, err := trace(w)
		require.NoError(t, err)
		if i == 0 {
			first = text
		}
		require.Equal(t, first, text)
	}
}

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
	require.PanicsWithValue(t, "sim: a method of process c1 is called outside its own body", func() { _ = w.Run() })
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

func TestStopped(t *testing.T) {
	t.Parallel()
	sleep := func(d time.Duration) func(*sim.Process) {
		return func(p *sim.Process) {
			for range 3 {
				p.Sleep(d)
			}
		}
	}
	for _, c := range []struct {
		name   string
		config sim.Config
		body   func(*sim.Process)
		want   history.Stop
		end    time.Duration
		events int
	}{
		{"done", sim.Config{}, sleep(sec), history.Quiet, 3 * sec, 4},
		{"waits for ever", sim.Config{}, func(p *sim.Process) { _, _, _ = p.AwaitAny(nil, -1) }, history.Quiet, 0, 1},
		{"at the horizon", sim.Config{Horizon: 3 * sec}, sleep(sec), history.Quiet, 3 * sec, 4},
		{"beyond it", sim.Config{Horizon: 2500 * ms}, sleep(sec), history.Horizon, 2500 * ms, 3},
		{"bound", sim.Config{Bound: 3}, sleep(sec), history.Bound, 2 * sec, 3},
		{"livelock", sim.Config{Bound: 1000, Horizon: sec}, func(p *sim.Process) {
			for {
				p.Sleep(0)
			}
		}, history.Bound, 0, 1000},
	} {
		for _, neighbour := range []bool{false, true} { // with one, no sleep runs ahead
			w := sim.New()
			w.Reset(c.config)
			w.Go("c1", c.body)
			if neighbour {
				w.At(0, func() {})
			}
			require.NoError(t, w.Run())
			require.Equal(t, c.want, w.History().Stopped, c.name)
			if !neighbour {
				require.Equal(t, c.end, w.History().End, c.name)
				require.Equal(t, c.events, w.Events(), c.name)
			}
			w.Close()
		}
	}
}

// TestBoundIsExact: a run takes the same events, up to the same bound, whether or
// not sleeps run ahead.
func TestBoundIsExact(t *testing.T) {
	t.Parallel()
	for bound := 1; bound < 30; bound++ {
		w := sim.New()
		w.Reset(sim.Config{Bound: bound})
		w.Go("a", func(p *sim.Process) {
			for {
				p.Sleep(sec)
			}
		})
		w.Go("b", func(p *sim.Process) {
			for {
				p.Sleep(3 * sec)
			}
		})
		require.NoError(t, w.Run())
		require.Equal(t, bound, w.Events())
		require.Equal(t, history.Bound, w.History().Stopped)
		w.Close()
	}
}

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

// TestResetKeepsItsMemory: after the first few runs, a run costs four allocations
// for each process that the test itself makes (closures), and none of the world's.
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
	require.LessOrEqual(t, testing.AllocsPerRun(1000, run), 1.0) // the handler's interface
}

func TestKeep(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	made := 0
	engine := func() *int {
		return sim.Keep(w, "engine", func() *int { made++; return new(int) })
	}
	first := engine()
	w.Reset(sim.Config{})
	require.Same(t, first, engine())
	require.Equal(t, 1, made)
	sim.Keep(w, "engine", func() string { return "of another type" })
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{})
	w.Server("db", echo)
	require.Panics(t, func() { w.Go("db", func(*sim.Process) {}) })
	require.Panics(t, func() { w.Go("", func(*sim.Process) {}) })
	require.Nil(t, w.Machine("c1"))
	w.Reset(sim.Config{})
	require.Empty(t, w.Machines())
	w.Go("db", func(*sim.Process) {})
	require.Nil(t, w.Machine("db").Server())
}
