package faults_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// echo is a server that can crash, has a replica, and can be full: then it answers
// nothing.
type echo struct {
	full     bool
	served   int
	crashed  []faults.Crash
	back     []time.Duration // true instants
	promoted string
}

func (e *echo) Serve(_ *sim.Server, r sim.Request) {
	if e.full {
		return
	}
	e.served++
	r.Reply(r.Body)
}

func (e *echo) Crash(_ *sim.Server, how faults.Crash) string {
	e.crashed = append(e.crashed, how)
	return "restarted empty"
}

func (e *echo) Restarted(s *sim.Server) string {
	e.back = append(e.back, s.World().Now())
	return "back up with 1 key"
}

func (e *echo) Fill(*sim.Server) (string, func()) {
	e.full = true
	return "takes no more", func() { e.full = false }
}

func (e *echo) Replicas(*sim.Server) []string { return []string{"r2"} }

func (e *echo) Promote(_, replica *sim.Server) string {
	e.promoted = replica.Name()
	return "was promoted"
}

// plain can do nothing but serve.
type plain struct{}

func (plain) Serve(_ *sim.Server, r sim.Request) { r.Reply(r.Body) }

// stage is a world with a client c1 that asks r1 every 10 ms and notes what came
// of it, for 100 ms.
type stage struct {
	w       *sim.World
	echo    *echo
	answers []string
	mono    []time.Duration
}

func setUp(t *testing.T) *stage {
	s := &stage{w: sim.New(), echo: &echo{}}
	t.Cleanup(s.w.Close)
	s.w.Reset(sim.Config{Seed: 1, Horizon: 200 * time.Millisecond, Latency: sim.Every(time.Millisecond)})
	r1 := s.w.Server("r1", s.echo)
	s.w.Server("r2", plain{})
	s.w.LocalServer("lease", plain{})
	s.w.Go("c1", func(p *sim.Process) {
		for i := range 10 {
			p.SleepUntil(clock.Monotonic, time.Duration(i)*10*time.Millisecond)
			p.Step("ask")
			_, err := sim.Call[int](p, r1, i, 5*time.Millisecond)
			s.answers = append(s.answers, word(err))
			s.mono = append(s.mono, p.Now(clock.Monotonic))
		}
	})
	return s
}

func word(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, sim.ErrTimeout):
		return "timeout"
	case errors.Is(err, sim.ErrReset):
		return "reset"
	default:
		return "refused"
	}
}

// run applies a schedule and runs to the end.
func (s *stage) run(t *testing.T, schedule string) *stage {
	t.Helper()
	require.NoError(t, faults.MustParse(schedule).Apply(s.w))
	require.NoError(t, s.w.Run())
	return s
}

// count is how many answers of each kind there were.
func (s *stage) count() map[string]int {
	n := map[string]int{}
	for _, a := range s.answers {
		n[a]++
	}
	return n
}

func TestFaultsStrike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schedule string
		want     map[string]int
	}{
		{"", map[string]int{"ok": 10}},
		{"at 15ms  kill c1", map[string]int{"ok": 2}},
		{"before c1.ask#4  kill c1", map[string]int{"ok": 3}},
		{"at 15ms  restart r1 kill 20ms", map[string]int{"ok": 8, "refused": 2}},
		{"at 15ms  restart r1 power-loss 20ms", map[string]int{"ok": 8, "timeout": 2}},
		{"at 15ms  restart r1 power-loss", map[string]int{"ok": 10}},
		{"at 15ms  partition c1|r1 20ms", map[string]int{"ok": 8, "timeout": 2}},
		{"at 15ms  partition r1|c1", map[string]int{"ok": 2, "timeout": 8}},
		{"at 15ms  cut r1>c1 20ms", map[string]int{"ok": 8, "timeout": 2}},
		{"at 15ms  cut r2>c1 20ms", map[string]int{"ok": 10}},
		{"at 15ms  drop c1>r1", map[string]int{"ok": 9, "timeout": 1}},
		{"at 15ms  drop r1>c1", map[string]int{"ok": 9, "timeout": 1}},
		{"at 15ms  lose-reply r1>c1", map[string]int{"ok": 9, "timeout": 1}},
		{"at 15ms  delay c1>r1 2ms", map[string]int{"ok": 10}},
		{"at 15ms  delay c1>r1 3ms", map[string]int{"ok": 9, "timeout": 1}},
		{"at 15ms  duplicate c1>r1 1ms", map[string]int{"ok": 10}},
		{"at 15ms  pause r1 gc 20ms", map[string]int{"ok": 8, "timeout": 2}},
		{"at 15ms  fill r1", map[string]int{"ok": 2, "timeout": 8}},
		{"at 15ms  fill r1 20ms", map[string]int{"ok": 8, "timeout": 2}},
		{"at 15ms  failover r1>r2 10ms", map[string]int{"ok": 2, "timeout": 8}},
	} {
		t.Run(c.schedule, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, setUp(t).run(t, c.schedule).count())
		})
	}
}

func TestClocksAreStruck(t *testing.T) {
	t.Parallel()
	s := setUp(t).run(t, "at 0s  clock-rate c1 +100%\nat 0s  clock-step r1 +11s\nat 5ms  clock-step r1 -1s")
	require.Equal(t, 94*time.Millisecond, s.mono[9], "two hops are 4 ms on a clock of double speed")
	require.Equal(t, 10*time.Second+s.w.Now(), s.w.Machine("r1").Read(clock.Wall))
}

// K11: a delay that is meant to outlast the keys ends early where it is counted
// by a clock that jumps.
func TestRestartByWallClock(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		schedule string
		back     time.Duration
	}{
		{"at 15ms  restart r1 kill", 15 * ms},
		{"at 15ms  restart r1 kill 20ms", 35 * ms},
		{"at 15ms  restart r1 kill 20ms wall", 35 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 20ms  clock-step r1 +5ms", 30 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 20ms  clock-step r1 +1h", 20 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 20ms  clock-step r1 -5ms", 40 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 10ms  clock-step r1 +1h", 35 * ms},
		{"at 15ms  restart r1 kill 20ms\nat 20ms  clock-step r1 +1h", 35 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 15ms  clock-rate r1 +100%", 25 * ms},
		{"at 15ms  restart r1 kill 20ms wall\nat 20ms  restart r1 kill", 35 * ms},
	} {
		t.Run(c.schedule, func(t *testing.T) {
			t.Parallel()
			s := setUp(t).run(t, c.schedule)
			require.Equal(t, []time.Duration{c.back}, s.echo.back)
			require.False(t, s.w.Machine("r1").Server().Down())
		})
	}
}

func TestWhatIsRecorded(t *testing.T) {
	t.Parallel()
	s := setUp(t).run(t, `
		at 11ms  pause c1 gc 5ms
		at 15ms  restart r1 power-loss 5ms
		at 30ms  partition c1|r1 5ms
		at 40ms  clock-step r1 +11s
		at 42ms  fill r1 3ms
		at 50ms  failover r1>r2`)
	var got []history.Event
	for _, e := range s.w.History().Events {
		if e.Kind == history.Fault || e.Kind == history.Heal {
			got = append(got, e)
		}
	}
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	require.Equal(t, []history.Event{
		{At: at(11), Kind: history.Fault, Who: "c1", Value: "pause c1 gc 5ms", Why: "paused (gc)"},
		{At: at(15), Kind: history.Fault, Who: "r1", Value: "restart r1 power-loss 5ms", Why: "restarted empty"},
		{At: at(16), Kind: history.Heal, Who: "c1", Value: "pause c1 gc 5ms", Why: "paused (gc)"},
		{At: at(20), Kind: history.Heal, Who: "r1", Value: "restart r1 power-loss 5ms", Why: "back up with 1 key"},
		{At: at(30), Kind: history.Fault, Who: "c1", Peer: "r1", Value: "partition c1|r1 5ms", Why: "cut off"},
		{At: at(35), Kind: history.Heal, Who: "c1", Peer: "r1", Value: "partition c1|r1 5ms", Why: "cut off"},
		{At: at(40), Kind: history.Fault, Who: "r1", Value: "clock-step r1 +11s", Why: "stepped +11s"},
		{At: at(42), Kind: history.Fault, Who: "r1", Value: "fill r1 3ms", Why: "takes no more"},
		{At: at(45), Kind: history.Heal, Who: "r1", Value: "fill r1 3ms", Why: "takes no more"},
		{At: at(50), Kind: history.Fault, Who: "r1", Peer: "r2", Value: "failover r1>r2", Why: "died"},
		{At: at(50), Kind: history.Fault, Who: "r2", Peer: "r1", Value: "failover r1>r2", Why: "was promoted"},
	}, got)
	require.Equal(t, []faults.Crash{faults.PowerLoss}, s.echo.crashed)
	require.Equal(t, "r2", s.echo.promoted)
}

func TestWhatAWorldCannotHave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, says string }{
		{"at 1s  kill r1", `"at 1s  kill r1": no process "r1": want one of c1`},
		{"at 1s  pause c9 gc 1s", `no machine "c9": want one of r1, r2, lease, c1`},
		{"at 1s  pause r1 thread 1s", "server r1 has no threads of its own: want gc, loop or suspend"},
		{"at 1s  clock-step c9 +1s", `no machine "c9"`},
		{"at 1s  clock-rate c9 +1%", `no machine "c9"`},
		{"at 1s  restart r2 kill", `no server that can restart "r2": want one of r1`},
		{"at 1s  restart c1 kill", `no server that can restart "c1": want one of r1`},
		{"at 1s  failover r2>r1", `no primary with a replica "r2": want one of r1`},
		{"at 1s  fill r2", `no server with a bound on its memory "r2": want one of r1`},
		{"at 1s  failover r1>c1", `no replica "c1" of r1: want one of r2`},
		{"at 1s  partition c1|lease", `no machine on the network "lease": want one of r1, r2, c1`},
		{"at 1s  drop lease>c1", `no sender on the network "lease": want one of r1, r2, c1`},
		{"at 1s  delay c1>lease 1s", `no receiver on the network "lease": want one of r1, r2, c1`},
		{"at 1s  lose-reply c1>r1", `no sender on the network "c1": want one of r1, r2`},
		{"before r1.ask#1  kill c1", `no process "r1": want one of c1`},
		{"at 1s  drop c1>c1", "c1 and c1 send each other nothing: want a server at one end"},
		{"at 1s  partition c1,r1|r1", "r1 is on both sides"},
	} {
		require.ErrorContains(t, faults.MustParse(c.line).Apply(setUp(t).w), c.says)
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault faults.Fault
		says  string
	}{
		{faults.Fault{Anchor: faults.At(-1), Action: faults.KillProcess{Process: "c1"}}, "at -1ns: want an instant from 0 on"},
		{faults.Fault{Anchor: faults.Before("c1", "ask", 0), Action: faults.KillProcess{Process: "c1"}}, `step "ask", count 0: want a name, and 1 or more`},
		{faults.Fault{Action: faults.Pause{Machine: "c1", For: -1}}, "duration -1ns: want 0 or more"},
		{faults.Fault{Action: faults.Pause{Machine: "c1", Kind: 9}}, "kind of pause 9: there is none"},
		{faults.Fault{Action: faults.ClockStep{Machine: "c1", By: 1 << 62}}, "want at most 100000h either way"},
		{faults.Fault{Action: faults.ClockRate{Machine: "c1", Rate: -1e9}}, "rate -100%: want -90% to +900%"},
		{faults.Fault{Action: faults.Restart{Server: "r1", For: -1}}, "duration -1ns: want 0 or more"},
		{faults.Fault{Action: faults.Failover{Primary: "r1", Replica: "r2", After: -1}}, "duration -1ns: want 0 or more"},
		{faults.Fault{Action: faults.Fill{Server: "r1", For: -1}}, "duration -1ns: want 0 or more"},
		{faults.Fault{Action: faults.Partition{A: []string{"c1"}, B: []string{"r1"}, For: -1}}, "duration -1ns: want 0 or more"},
		{faults.Fault{Action: faults.Message{From: "c1", To: "r1", By: -1}}, "duration -1ns: want 0 or more"},
	} {
		require.ErrorContains(t, faults.Schedule{c.fault}.Apply(setUp(t).w), c.says)
	}
}

// TestForEver: a duration beyond the end of time is one without an end.
func TestForEver(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"at 50ms  pause c1 gc 2562047h", "at 50ms  restart r1 kill 2562047h", "at 50ms  fill r1 2562047h", "at 50ms  failover r1>r2 2562047h",
		"at 50ms  partition c1|r1 2562047h", "at 50ms  delay c1>r1 2562047h", "at 50ms  duplicate c1>r1 2562047h",
	} {
		setUp(t).run(t, line)
	}
}

func TestWhatIsOverAlready(t *testing.T) {
	t.Parallel()
	s := setUp(t).run(t, "at 10ms  restart r1 kill 50ms\nat 15ms  fill r1 1ms\nat 20ms  restart r1 kill 50ms\nat 30ms  kill c1\nat 40ms  kill c1")
	var whys []string
	for _, e := range s.w.History().Events {
		if e.Kind == history.Fault {
			whys = append(whys, e.Why)
		}
	}
	require.Equal(t, []string{"restarted empty", "was down", "was down already", "killed", "had ended before"}, whys)
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	const text = "# first\n\nat 1s  kill c1\n  # second\nat 2s  kill c2"
	require.Equal(t, 3, faults.LineOf(text, 0))
	require.Equal(t, 5, faults.LineOf(text, 1))
}

// TestDirections: what is cut one way passes the other.
func TestDirections(t *testing.T) {
	t.Parallel()
	for schedule, served := range map[string]int{
		"at 15ms  partition c1|r1":  2,
		"at 15ms  partition r1|c1":  2,
		"at 15ms  cut c1>r1":        2,
		"at 15ms  cut r1>c1":        10,
		"at 15ms  drop c1>r1":       9,
		"at 15ms  lose-reply r1>c1": 10,
		"at 15ms  duplicate c1>r1":  11,
	} {
		s := setUp(t).run(t, schedule)
		require.Equal(t, served, s.echo.served, schedule)
	}
}

func TestDeathAndPromotion(t *testing.T) {
	t.Parallel()
	s := setUp(t).run(t, "at 15ms  kill c1\nat 20ms  failover r1>r2 10ms")
	var got []history.Event
	for _, e := range s.w.History().Events {
		if e.Kind == history.End || e.Why == "was promoted" {
			got = append(got, history.Event{At: e.At, Kind: e.Kind, Who: e.Who, Why: e.Why})
		}
	}
	require.Equal(t, []history.Event{
		{At: 15 * time.Millisecond, Kind: history.End, Who: "c1", Why: history.DoubtDeath},
		{At: 30 * time.Millisecond, Kind: history.Fault, Who: "r2", Why: "was promoted"},
	}, got)
}
