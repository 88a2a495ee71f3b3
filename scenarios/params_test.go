package scenarios_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/scenarios"
	"locksim/trial"
)

// TestExpectationsHoldForAnyParameters: the closed forms and the simulation agree
// everywhere, not only at the figures of the documents.
func TestExpectationsHoldForAnyParameters(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Expect == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			runner := trial.NewRunner()
			defer runner.Close()
			rapid.Check(t, func(t *rapid.T) {
				s := scenarios.Find(s.Name)
				for _, p := range s.Params {
					if rapid.Bool().Draw(t, "set "+p.Name) {
						set(t, s, p)
					}
				}
				spec := s.SpecFor(0)
				r, err := runner.Run(&spec)
				require.NoError(t, err)
				want := s.Expect()
				require.Empty(t, want.Differences(&r), "%v\n%s", s.Settings(), want.Because)
				control, err := s.MakeControl()
				require.NoError(t, err)
				spec = control.SpecFor(0)
				r, err = runner.Run(&spec)
				require.NoError(t, err)
				want = control.Expect()
				require.Empty(t, want.Differences(&r), "%v of %s\n%s", control.Settings(), control.Name, want.Because)
			})
		})
	}
}

// set draws a value that the parameter allows, near where verdicts turn: around
// the default of any duration, to the millisecond, and sometimes exactly there.
func set(t *rapid.T, s *scenarios.Scenario, p scenarios.Param) {
	if strings.Contains(p.Allowed, "|") {
		word := rapid.SampledFrom(strings.Split(p.Allowed, "|")).Draw(t, p.Name)
		require.NoError(t, s.Set(p.Name, word))
		return
	}
	whole := []int{0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 14, 20}
	for range 20 {
		ms := rapid.SampledFrom(whole).Draw(t, p.Name+" in seconds")*1000 + rapid.IntRange(-20, 20).Draw(t, "and milliseconds")
		if s.Set(p.Name, (time.Duration(ms)*time.Millisecond).String()) == nil {
			return
		}
	}
}

func TestDefaultsAreTheFiguresOfTheLedger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, set string
		overlap   time.Duration
		damage    int
	}{
		{"gc-pause", "", 1500 * time.Millisecond, 1},
		{"gc-pause", "pause=9s", 0, 0},
		{"gc-pause", "pause=9500ms", 500 * time.Millisecond, 0},
		{"gc-pause", "pause=10s", time.Second, 0},
		{"gc-pause", "pause=10500ms", 1500 * time.Millisecond, 1},
		{"gc-pause", "fencing=on", 1500 * time.Millisecond, 0},
		{"gc-pause", "kind=suspend", 1500 * time.Millisecond, 1},
		{"gc-pause", "kind=thread", 1500 * time.Millisecond, 1},
		{"gc-pause", "kind=loop", 1500 * time.Millisecond, 1},
		{"redlock-restart", "", 7888 * time.Millisecond, 1},
		{"redlock-restart", "persistence=everysec", 7888 * time.Millisecond, 1},
		{"redlock-restart", "crash=kill", 7888 * time.Millisecond, 1},
		{"redlock-restart-fsync", "", 0, 0},
		{"redlock-restart-delayed", "", 0, 0},
		{"redlock-clock-jump", "", 8888 * time.Millisecond, 1},
		{"redlock-clock-jump-monotonic", "", 0, 0},
		{"redlock-gc-in-flight", "", 0, 0},
		{"redlock-gc-after-grant", "", 4490 * time.Millisecond, 0},
	} {
		t.Run(c.name+" "+c.set, func(t *testing.T) {
			s := scenarios.Find(c.name)
			if key, value, ok := strings.Cut(c.set, "="); ok {
				require.NoError(t, s.Set(key, value))
			}
			r, err := trial.Run(s.SpecFor(0))
			require.NoError(t, err)
			require.Equal(t, c.overlap, r.Belief.Total)
			require.Len(t, r.Damage.Events, c.damage)
		})
	}
}

// TestControlsTurn: the control of every scenario comes out otherwise.
func TestControlsTurn(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios.All() {
		control, err := s.MakeControl()
		require.NoError(t, err, s.Name)
		if s.Share != nil {
			require.NotEqual(t, s.Share().Want, control.Share().Want, s.Name)
			continue
		}
		mine, theirs := s.Expect(), control.Expect()
		mine.Because, theirs.Because = "", ""
		require.NotEqual(t, mine, theirs, s.Name)
	}
}

func TestParametersSayWhatIsAllowed(t *testing.T) {
	t.Parallel()
	s := scenarios.Find("gc-pause")
	for _, c := range []struct{ set, says string }{
		{"paus=1s", `gc-pause has no parameter "paus": want one of ttl, pause, kind, fencing, c1-at, c2-at`},
		{"pause=-1s", "pause=-1s: want a duration from 0s to 1000h, such as 14s"},
		{"pause=soon", "pause=soon: want a duration from 0s to 1000h, such as 14s"},
		{"ttl=0s", "ttl=0s: want a duration from 1ms to 1000h, such as 10s"},
		{"kind=nap", "kind=nap: want one of gc, loop, thread, suspend"},
		{"fencing=maybe", "fencing=maybe: want one of on, off"},
	} {
		key, value, _ := strings.Cut(c.set, "=")
		require.EqualError(t, s.Set(key, value), c.says)
	}
	require.EqualError(t, scenarios.Find("gc-pause-redis").Set("ttl", "1.5ms"),
		"ttl=1.5ms: want a duration from 100ms to 1h in steps of 1ms, such as 10s")
	require.NoError(t, s.Set("pause", "9500ms"))
	require.Equal(t, []string{"pause=9.5s"}, s.Settings())
	require.Nil(t, scenarios.Find("gc-paus"))
}

// TestShares runs each scenario whose runs are judged together as often as that
// takes, and its control.
func TestShares(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Share == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			share(t, s)
			control, err := s.MakeControl()
			require.NoError(t, err)
			share(t, control)
		})
	}
}

func share(t *testing.T, s *scenarios.Scenario) {
	runner := trial.NewRunner()
	defer runner.Close()
	want, hits := s.Share(), 0
	for seed := range want.Runs {
		spec := s.SpecFor(uint64(seed))
		r, err := runner.Run(&spec)
		require.NoError(t, err)
		if want.Hit(&r) {
			hits++
		}
	}
	near, ok := want.Verdict(hits, want.Runs)
	require.True(t, ok && near, "%s %v: %d of %d, want %s", s.Name, s.Settings(), hits, want.Runs, want.String())
}

// TestPairs: every scenario's place in the argument is there, and every pair has
// something that was run.
func TestPairs(t *testing.T) {
	t.Parallel()
	runs := map[string]int{"": 0}
	for _, p := range scenarios.Pairs() {
		runs[p.ID] = 0
		for _, line := range []string{p.Question, p.Right} {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 85, "simrun argue has one line for it: %s", line)
		}
	}
	for _, s := range scenarios.All() {
		if s.Name != "matrix" { // which is about all of them
			require.NotEmpty(t, s.Pair, s.Name)
		}
		require.Contains(t, runs, s.Pair, s.Name)
		runs[s.Pair]++
	}
	for _, p := range scenarios.Pairs() {
		require.Positive(t, runs[p.ID], p.ID)
	}
}
