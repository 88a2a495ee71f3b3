package scenarios_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// update writes the goldens anew. Read them before you keep them.
var update = flag.Bool("update", false, "write the golden timelines in testdata anew")

// TestScenarios runs each scenario and its control, and holds them to what is
// expected of them.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			hold(t, s)
			control, err := s.MakeControl()
			require.NoError(t, err)
			hold(t, control)
			for _, settings := range s.Also {
				variant, err := s.MakeVariant(settings)
				require.NoError(t, err)
				hold(t, variant)
			}
		})
	}
}

// hold runs s, shows its timeline, and fails with the command that shows it again
// when it is not as expected.
func hold(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	result := trial.Test(t, s.SpecFor(0))
	run := &report.Run{Scenario: s, Result: &result}
	t.Logf("%s %v: %s\n%s", s.Name, s.Settings(), s.Claim, timeline(t, &result))
	require.Empty(t, result.Missed)
	if s.Expect == nil {
		return // see TestShares
	}
	want := s.Expect()
	if wrong := want.Differences(&result); len(wrong) > 0 {
		t.Errorf("%s\nexpected, since %s\nagain: %s", strings.Join(wrong, "\n"), want.Because, run.Command())
	}
}

func timeline(t *testing.T, r *trial.Result) string {
	var b bytes.Buffer
	require.NoError(t, report.Timeline(&b, r.History, report.Options{}))
	return b.String()
}

// TestGolden holds each scenario's timeline, which a person has read, from commit
// to commit.
func TestGolden(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			r, err := trial.Run(s.SpecFor(0))
			require.NoError(t, err)
			golden(t, s.Name+".txt", timeline(t, &r))
		})
	}
}

// TestTraces holds every event of each scenario, byte for byte, by its hash.
func TestTraces(t *testing.T) {
	golden(t, "traces.sha256", traces(t))
}

func traces(t *testing.T) string {
	var b strings.Builder
	for _, s := range scenarios.All() {
		r, err := trial.Run(s.SpecFor(0))
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s  %s\n", r.TraceSHA256(), s.Name)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with: go test ./scenarios -run 'TestGolden|TestTraces' -update")
	require.Equal(t, string(want), got)
}

// TestSameTraceInAnotherProcess, with one processor and with eight.
func TestSameTraceInAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, processors := range []string{"1", "8"} {
		again := exec.Command(os.Args[0], "-test.run=^TestTraces$", "-test.count=1")
		again.Env = append(os.Environ(), "GOMAXPROCS="+processors)
		out, err := again.CombinedOutput()
		require.NoError(t, err, "GOMAXPROCS=%s\n%s", processors, out)
	}
}

// TestSameTraceInParallel: worlds know nothing of each other, nor of what was run
// before in the same one, in whatever order.
func TestSameTraceInParallel(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, s := range scenarios.All() {
		r, err := trial.Run(s.SpecFor(0))
		require.NoError(t, err)
		want[s.Name] = r.TraceSHA256()
	}
	for worker := range 8 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			runner := trial.NewRunner()
			defer runner.Close()
			all := scenarios.All()
			for i := range 3 * len(all) {
				s := all[(i*(worker+1)+worker)%len(all)]
				spec := s.SpecFor(0)
				r, err := runner.Run(&spec)
				require.NoError(t, err)
				require.Equal(t, want[s.Name], r.TraceSHA256(), s.Name)
			}
		})
	}
}

// TestCanary: an expectation that is wrong must be noticed, or nothing is.
func TestCanary(t *testing.T) {
	t.Parallel()
	s := scenarios.Find("gc-pause")
	r, err := trial.Run(s.SpecFor(0))
	require.NoError(t, err)
	innocent := scenarios.Expectation{Promise: "broken", Breaches: []string{"double-grant"}, Belief: "exclusive", Progress: "stalled", Figures: []scenarios.Figure{{Of: "messages", Want: "7"}}}
	require.Equal(t, []string{
		"promise: expected broken, got kept",
		"breaches: expected [double-grant], got []",
		"belief: expected exclusive, got overlapping",
		"overlap: expected 0s, got 1.5s",
		"damage: expected [], got [stale-write]",
		"progress: expected stalled, got ok",
		"messages: expected 7, got 12",
	}, innocent.Differences(&r))
	require.False(t, scenarios.Undecided(&r))
}
