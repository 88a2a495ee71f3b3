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
		other := w.Server("other", mute.Handler())
		w.Go("c4", func(p *sim.Process) {
			_, err := p.Await(p.Send(other, nil), sec)
			require.ErrorIs(t, err, sim.ErrTimeout)
		})
		w.At(ms, func() { mute.Crash(false) })
		text, err := trace(w)
		require.NoError(t, err)
		require.Equal(t, []int{1, 0}, []int{mute.Lives(), other.Lives()})
		if i == 0 {
			first = text
		}
		require.Equal(t, first, text)
	}
}

// TestResetLeavesNothing: whatever was going on when a run ended, the next one in
// that world is as in a fresh one.
func TestResetLeavesNothing(t *testing.T) {
	t.Parallel()
	simple := func(w *sim.World) string {
		w.Reset(sim.Config{Latency: sim.Every(ms)})
		db := w.Server("db", echo)
		w.Go("c1", func(p *sim.Process) {
			p.Machine().Pause(sim.GC, sec)
			p.Step("write")
			_, err := sim.Call[string](p, db, "hi", sec)
			w.Record(history.Event{Kind: history.Step, Who: "c1", Anchor: p.Now(clock.Wall), Value: fmt.Sprint(err)})
		})
		w.At(0, func() { db.Machine().Pause(sim.GC, sec) })
		text, err := trace(w)
		require.NoError(t, err)
		require.Empty(t, w.Pending())
		return text
	}
	w := sim.New()
	defer w.Close()
	want := simple(w)
	w.Reset(sim.Config{Horizon: sec})
	c1, db := w.Go("c1", func(p *sim.Process) { p.Step("write"); p.Sleep(time.Hour) }), w.Server("db", echo)
	w.Go("c2", func(p *sim.Process) {
		defer w.Record(history.Event{Kind: history.End, Who: "c2"})
		_, _ = p.Await(p.Send(db, "from another life"), time.Hour)
	})
	for _, m := range w.Machines() {
		w.At(0, func() { m.Pause(sim.Suspend, time.Hour); m.Pause(sim.Thread, time.Hour) })
		w.At(ms, func() { m.StepClock(time.Hour); m.SetClockRate(clock.MaxRate) })
		m.SetAlarm(clock.Wall, 2*sec, func() { panic("rung in another life") })
	}
	w.Before("c1", "write", 2, c1.Machine().Kill)
	w.At(2*ms, func() {
		w.AddRule("lose", func(sim.Message) sim.Ruling { return sim.Lose() })
	})
	require.NoError(t, w.Run())
	for _, e := range w.History().Events {
		require.Equal(t, history.Send, e.Kind)
	}
	require.Equal(t, want, simple(w))
}

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
		{"no timer is left", sim.Config{}, func(p *sim.Process) {
			var s sim.Signal
			p.Go("thread", func(p *sim.Process) { p.Sleep(sec); s.Fire() })
			p.Wait(&s, time.Hour)
		}, history.Quiet, sec, 4},
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
