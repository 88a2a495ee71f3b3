package main

import (
	"bytes"
	"context"
	encoding "encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/history"
	"locksim/models"
	"locksim/models/catalog"
	"locksim/models/lease"
	"locksim/scenarios"
	"locksim/sim"
	"locksim/trial"
)

// output is what a call of simrun gave.
type output struct {
	code     int
	out, err string
}

// call runs simrun in this process.
func call(t *testing.T, args ...string) output {
	t.Helper()
	return with(t, scenarios.All, "", args...)
}

// with runs simrun with scenarios of its own and a standard input.
func with(t *testing.T, all func() []*scenarios.Scenario, in string, args ...string) output {
	t.Helper()
	var out, err bytes.Buffer
	a := &app{all: all, in: strings.NewReader(in), out: &out, err: &err}
	code := a.main(context.Background(), args)
	return output{code, out.String(), err.String()}
}

// file makes a file with content and returns its name.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// altered makes gc-pause, changed.
func altered(change func(s *scenarios.Scenario)) func() []*scenarios.Scenario {
	return func() []*scenarios.Scenario {
		s := scenarios.Find("gc-pause")
		change(s)
		return []*scenarios.Scenario{s}
	}
}

// spec changes the spec of s.
func spec(s *scenarios.Scenario, change func(*trial.Spec)) {
	build := s.Spec
	s.Spec = func() trial.Spec {
		spec := build()
		change(&spec)
		return spec
	}
}

// broken is a system whose simulation fails.
type broken struct{}

func (broken) Open(*sim.World) (models.Lock, error) { panic("boom") }

func wrong(s *scenarios.Scenario) {
	s.Expect = func() scenarios.Expectation {
		return scenarios.Expectation{Promise: check.Broken, Because: "it is wrong"}
	}
}

func bounded(s *scenarios.Scenario)  { spec(s, func(x *trial.Spec) { x.Bound = 3 }) }
func breaking(s *scenarios.Scenario) { spec(s, func(x *trial.Spec) { x.System = broken{} }) }

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		all  func() []*scenarios.Scenario
		args []string
		code int
		err  string // a part of what is said on standard error
	}{
		{"as expected", scenarios.All, nil, 0, ""},
		{"as expected with --set", scenarios.All, []string{"--set", "pause=9.5s"}, 0, ""},
		{"not as expected", altered(wrong), nil, 1, ""},
		{"unknown", altered(bounded), nil, 3, ""},
		{"unknown with a schedule", altered(bounded), []string{"--schedule", "-"}, 3, ""},
		{"no expectation", altered(func(s *scenarios.Scenario) { s.Expect = nil }), nil, 0, ""},
		{"a simulator that panics", altered(breaking), []string{"--seed", "5"}, 4,
			"simrun: the simulator failed: gc-pause with seed 5: panic: boom\n"},
		{"a simulator that panics again and again", altered(breaking), []string{"--runs", "3"}, 4,
			"simrun: the simulator failed in 3 of 3 runs, first: gc-pause with seed 0: panic: boom\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, format := range []string{"text", "json"} {
				got := with(t, c.all, "", append([]string{"--scenario", "gc-pause", "--format", format}, c.args...)...)
				require.Equal(t, c.code, got.code, got.err)
				require.True(t, strings.HasPrefix(got.err, c.err), got.err)
				require.Equal(t, c.err == "", got.err == "", got.err)
			}
		})
	}
}

// TestWorstExitCode: of several runs, the simulator's failure counts most, then a
// run that is not as expected, then an unknown verdict.
func TestWorstExitCode(t *testing.T) {
	b := &batch{options: &options{runs: 3}}
	code := func() int {
		var e *exit
		if !errors.As(b.outcome(), &e) {
			return 0
		}
		return e.code
	}
	one := func(change func(*scenarios.Scenario)) {
		s := altered(change)()[0]
		x := &batch{app: &app{out: &bytes.Buffer{}, all: scenarios.All}, options: &options{runs: 1, format: json}, scenario: s}
		defer x.lab.close()
		e := s.Expect()
		x.expected = &e
		x.tally, x.failures = b.tally, b.failures
		require.NoError(t, x.one(0))
		b.tally, b.failures = x.tally, x.failures
	}
	require.Equal(t, 0, code())
	one(bounded)
	require.Equal(t, exitUndecided, code())
	one(wrong)
	require.Equal(t, exitUnexpected, code())
	one(breaking)
	require.Equal(t, exitFailed, code())
}

func TestBadUsage(t *testing.T) {
	bad := file(t, "bad.txt", "# a comment\nat 500ms  pause c1 gc\n")
	nobody := file(t, "nobody.txt", "at 1s  pause c9 gc 1s\n")
	cannot := file(t, "cannot.txt", "at 1s  restart lease kill\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--scenario", "gc-pose"}, `no scenario "gc-pose": the nearest is gc-pause; simrun list shows all`},
		{[]string{"--seed", "1"}, "want --scenario NAME; simrun list shows all"},
		{[]string{"gc-pause"}, "gc-pause is a scenario: want simrun --scenario gc-pause"},
		{[]string{"lst"}, `no command "lst": want list, or --scenario NAME`},
		{[]string{"list", "all"}, "list all: want nothing behind list but --systems and --format"},
		{[]string{"list", "--format", "xml"}, "--format xml: want text or json"},
		{[]string{"--scenario", "gc-pause", "--format", "xml"}, "--format xml: want text or json"},
		{[]string{"--scenario", "gc-pause", "--runs", "0"}, "--runs 0: want a whole number, 1 or more"},
		{[]string{"--scenario", "gc-pause", "--runs", "many"}, "--runs many: want a whole number, 1 or more"},
		{[]string{"--scenario", "gc-pause", "--seed", "-1"}, "--seed -1: want a whole number, 0 or more"},
		{[]string{"--scenario", "gc-pause", "--seed", "18446744073709551615", "--runs", "2"},
			"--seed 18446744073709551615 --runs 2: the last seed would be greater than 18446744073709551615"},
		{[]string{"--scenario"}, "--scenario: want NAME (the NAME of the scenario; simrun list shows all) behind it"},
		{[]string{"--scenari", "gc-pause"},
			`no flag "--scenari": want one of --scenario, --seed, --runs, --set, --schedule, --trace, --format, --help`},
		{[]string{"-x"}, `no flag "-x": want one of --scenario, --seed, --runs, --set, --schedule, --trace, --format, --help`},
		{[]string{"--scenario", "gc-pause", "--set", "pause"},
			"--set pause: want KEY=VALUE, with a KEY such as ttl, pause, kind, fencing, c1-at, c2-at"},
		{[]string{"--scenario", "gc-pause", "--set", "pose=1s"},
			`--set pose=1s: gc-pause has no parameter "pose": want one of ttl, pause, kind, fencing, c1-at, c2-at`},
		{[]string{"--scenario", "gc-pause", "--set", "pause=-1s"},
			"--set pause=-1s: want a duration from 0s to 1000h, such as 14s"},
		{[]string{"--scenario", "gc-pause", "--set", "kind=nap"},
			"--set kind=nap: want one of gc, loop, thread, suspend"},
		{[]string{"--scenario", "gc-pause", "--schedule", "/no/such/file"},
			"--schedule: open /no/such/file: no such file or directory"},
		{[]string{"--scenario", "gc-pause", "--schedule", bad},
			bad + ": line 2, column 22: the line ends: want a duration such as 14s"},
		{[]string{"--scenario", "gc-pause", "--schedule", nobody},
			nobody + `: line 1: "at 1s  pause c9 gc 1s": no machine "c9": want one of lease, doc, c1, c2`},
		{[]string{"--scenario", "gc-pause", "--schedule", cannot},
			cannot + `: line 1: "at 1s  restart lease kill": there is no server that can restart here, so no "lease": what can go wrong here is pause, kill, clock-step, clock-rate, partition, cut, delay, drop, duplicate, lose-reply`},
		{[]string{"--scenario", "gc-pause", "--trace", "/no/such/dir/trace"},
			"--trace: open /no/such/dir/trace: no such file or directory"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			got := call(t, c.args...)
			require.Equal(t, output{2, "", "simrun: " + c.want + "\n"}, got)
		})
	}
}

func TestScheduleFromStandardInput(t *testing.T) {
	got := with(t, scenarios.All, "at 1s  pause c1 gc 2s\nbefore c1.write#9  kill c2\n",
		"--scenario", "gc-pause", "--schedule", "-")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, "c1   is paused (gc) for 2s")
	require.Contains(t, got.out, "expected  nothing: no expectation can be derived\n"+
		"missed    never reached: before c1.write#9\n")
	require.NotContains(t, got.out, "control")

	got = with(t, scenarios.All, "at x", "--scenario", "gc-pause", "--schedule", "-")
	require.Equal(t, output{2, "", "simrun: standard input: line 1, column 4: there is \"x\": want an instant such as 500ms\n"}, got)
}

func TestBareAndHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"list", "--help"}, {"help"}} {
		got := call(t, args...)
		require.Equal(t, 0, got.code)
		require.Contains(t, got.out, "simrun")
		require.Empty(t, got.err)
	}
	require.Contains(t, call(t).out, "simrun --scenario redlock-restart\n")
	require.Contains(t, call(t, "--help").out, "Exit codes:")
}

func TestList(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(call(t, "list").out), "\n")
	all := scenarios.All()
	require.Len(t, lines, len(all))
	column := strings.Index(lines[0], all[0].Claim)
	for i, s := range all {
		require.True(t, strings.HasPrefix(lines[i], s.Name+" "), lines[i])
		require.Equal(t, s.Claim+" ["+strings.Join(s.Claims, " ")+"]", lines[i][column:])
	}
}

func TestListJSON(t *testing.T) {
	type item struct {
		Name, Claim string
		Claims      []string
		Parameters  []struct{ Name, Default, Allowed, About string }
		Control     *struct {
			Scenario string
			Set      []string
		}
	}
	items := decode[item](t, call(t, "list", "--format", "json").out)
	require.Len(t, items, len(scenarios.All()))
	first := items[0]
	require.Equal(t, "gc-pause", first.Name)
	require.Contains(t, first.Claims, "S7")
	require.Equal(t, "ttl", first.Parameters[0].Name)
	require.Equal(t, "10s", first.Parameters[0].Default)
	require.Equal(t, "gc-pause", first.Control.Scenario)
	require.Equal(t, []string{"pause=9s"}, first.Control.Set)
}

func TestListSystems(t *testing.T) {
	type item struct{ Name, Token, Clock, Restart, Assumes string }
	items := decode[item](t, call(t, "list", "--systems", "--format", "json").out)
	text := call(t, "list", "--systems").out
	require.Len(t, items, len(catalog.Systems()))
	for i, e := range catalog.Systems() {
		require.Equal(t, item{e.Name, e.About.Token, e.About.Clock, e.About.Restart, e.About.Assumes}, items[i])
		require.Contains(t, text, e.Name+"\ntoken     ")
	}
}

// decode reads JSON lines and accepts no field that T has not.
func decode[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(text) {
		dec := encoding.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var v T
		require.NoError(t, dec.Decode(&v), line)
		all = append(all, v)
	}
	return all
}

func TestTraceIsTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	got := call(t, "--scenario", "gc-pause", "--runs", "2", "--trace", path, "--format", "json")
	require.Equal(t, 0, got.code, got.err)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	h, err := history.Decode(f)
	require.NoError(t, err)
	result := trial.Result{History: h}
	require.Equal(t, decode[run](t, got.out)[0].Trace, result.TraceSHA256())
}

func TestManyRuns(t *testing.T) {
	got := call(t, "--scenario", "gc-pause", "--runs", "3", "--seed", "4")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.out, "--seed 4\n\n3 runs: 3 as expected\n      3  promise kept, ")
	require.Equal(t, 1, strings.Count(got.out, "again "))

	runs := decode[run](t, call(t, "--scenario", "gc-pause", "--runs", "3", "--seed", "4", "--format", "json").out)
	require.Len(t, runs, 3)
	require.Equal(t, uint64(6), runs[2].Seed)
}

// fickle is a lock that keeps its term only with some seeds.
type fickle struct{ lease.Ideal }

func (f fickle) Open(w *sim.World) (models.Lock, error) {
	if w.Seed()%4 >= 2 {
		f.TTL = time.Minute
	}
	return f.Ideal.Open(w)
}

func TestTheFirstBadRunIsShown(t *testing.T) {
	all := altered(func(s *scenarios.Scenario) {
		spec(s, func(x *trial.Spec) { x.System = fickle{x.System.(lease.Ideal)} })
	})
	got := with(t, all, "", "--scenario", "gc-pause", "--runs", "10")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "belief: expected overlapping, got exclusive")
	require.Contains(t, got.out, "again     simrun --scenario gc-pause --seed 2\n\n"+
		"10 runs: 6 as expected, 4 NOT as expected\n"+
		"      6  promise kept, belief overlapping 1.500 s, damage damaged, progress ok  (first with seed 0)\n"+
		"      4  promise kept, belief exclusive, damage none, progress ok  (first with seed 2)\n")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var err bytes.Buffer
	out := &canceling{cancel: cancel}
	a := &app{all: scenarios.All, in: strings.NewReader(""), out: out, err: &err}
	code := a.main(ctx, []string{"--scenario", "gc-pause", "--runs", "10", "--format", "json"})
	require.Equal(t, 130, code)
	require.Equal(t, "simrun: interrupted after 1 of 10 runs\n", err.String())
	require.Len(t, decode[run](t, out.String()), 1)
}

// canceling cancels with the first thing that is written.
type canceling struct {
	bytes.Buffer
	cancel func()
}

func (c *canceling) Write(b []byte) (int, error) {
	c.cancel()
	return c.Buffer.Write(b)
}

func TestClosedOutput(t *testing.T) {
	for _, args := range [][]string{
		{}, {"list"}, {"list", "--format", "json"}, {"--scenario", "gc-pause"}, {"--scenario", "gc-pause", "--format", "json"},
	} {
		var err bytes.Buffer
		a := &app{all: scenarios.All, in: strings.NewReader(""), out: closed{}, err: &err}
		require.Equal(t, 4, a.main(context.Background(), args))
		require.Equal(t, "simrun: writing the output: it is closed\n", err.String())
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("it is closed") }

func TestControlThatCannotBeRun(t *testing.T) {
	got := with(t, altered(func(s *scenarios.Scenario) {
		s.Control = func() scenarios.Control { return scenarios.Control{Name: "nowhere"} }
	}), "", "--scenario", "gc-pause")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.out, "control   nowhere: gc-pause: no control \"nowhere\"\n")
}

func TestSpecThatCannotBeRun(t *testing.T) {
	got := with(t, altered(func(s *scenarios.Scenario) {
		spec(s, func(x *trial.Spec) { x.Cast.Clients = nil })
	}), "", "--scenario", "gc-pause")
	require.Equal(t, output{2, "", "simrun: gc-pause: cast: there is no client\n"}, got)
}
