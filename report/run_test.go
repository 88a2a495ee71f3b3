package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/history"
	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// fine is a run in which nothing went wrong, as was expected.
func fine() *report.Run {
	return &report.Run{
		Scenario: &scenarios.Scenario{Name: "fine", Claim: "nothing goes wrong"},
		Seed:     7,
		Result: &trial.Result{
			History: &history.History{Stopped: history.Quiet},
			Verdicts: check.Verdicts{
				Promise:  check.Promise{Status: check.Kept, Breaches: []check.Breach{}},
				Belief:   check.Belief{Status: check.Exclusive, Windows: []check.Window{}},
				Damage:   check.Damage{Status: check.None, Events: []check.Wound{}},
				Progress: check.Progress{Status: check.OK},
			},
		},
		Expected: &scenarios.Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "nothing happens",
		},
	}
}

func TestJudgement(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *report.Run)
		want   report.Judgement
	}{
		{"as expected", func(*report.Run) {}, report.AsExpected},
		{"no expectation", func(r *report.Run) { r.Expected = nil }, report.Unjudged},
		{"another word", func(r *report.Run) { r.Result.Progress.Status = check.Stalled }, report.NotAsExpected},
		{"another figure", func(r *report.Run) { r.Expected.Overlap = time.Second }, report.NotAsExpected},
		{"unknown", func(r *report.Run) { r.Result.Promise.Status = check.Unknown }, report.Undecided},
		{"unknown, no expectation", func(r *report.Run) {
			r.Result.Promise.Status, r.Expected = check.Unknown, nil
		}, report.Undecided},
		{"unknown, and another is wrong", func(r *report.Run) {
			r.Result.Promise.Status, r.Result.Damage.Status = check.Unknown, check.Damaged
		}, report.NotAsExpected},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fine()
			c.change(r)
			require.Equal(t, c.want, r.Judgement())
		})
	}
}

func TestCommandIsQuoted(t *testing.T) {
	r := fine()
	require.Equal(t, "simrun --scenario fine --seed 7", r.Command())
	r.Schedule = "it's a file.txt"
	r.Scenario.Params = []scenarios.Param{{Name: "ttl", Default: "10s", Value: func() string { return "1 s" }}}
	require.Equal(t, `simrun --scenario fine --set 'ttl=1 s' --seed 7 --schedule 'it'\''s a file.txt'`, r.Command())
}

func TestVerdicts(t *testing.T) {
	show := func(r *report.Run) string {
		var b strings.Builder
		require.NoError(t, report.Verdicts(&b, r, report.Options{}))
		return b.String()
	}
	r := fine()
	r.Control = &report.Control{Name: "other", Settings: []string{"a=b"}, Verdicts: check.Verdicts{
		Promise: check.Promise{Status: check.Broken},
		Belief:  check.Belief{Status: check.Overlapping, Total: 1500 * time.Millisecond},
		Damage:  check.Damage{Status: check.None}, Progress: check.Progress{Status: check.Stalled},
	}}
	r.Result.Missed = []string{"before c1.write#9"}
	require.Equal(t, `promise   kept
belief    exclusive
damage    none: nothing was written
progress  ok, longest wait 0.000 s
expected  all of this, since nothing happens
control   other a=b: promise broken, belief overlapping 1.500 s, damage none, progress stalled
missed    never reached: before c1.write#9
again     simrun --scenario fine --seed 7
`, show(r))

	r = fine()
	r.Expected.Promise, r.Expected.Breaches = check.Broken, []string{check.DoubleGrant}
	r.Result.Progress = check.Progress{Status: check.Deadlocked, Longest: 102 * time.Millisecond, Cause: "they wait for each other"}
	require.Equal(t, `promise   kept
belief    exclusive
damage    none: nothing was written
progress  deadlocked, longest wait 102 ms
          they wait for each other
expected  NOT THIS, but promise broken (double-grant), belief exclusive, damage none, progress ok
          promise: expected broken, got kept
          breaches: expected [double-grant], got []
          progress: expected ok, got deadlocked
          since nothing happens
again     simrun --scenario fine --seed 7
`, show(r))

	r = fine()
	r.Expected = nil
	cause := "r3 lost the key"
	breach := check.Breach{Kind: check.DoubleGrant, At: time.Second, Early: 2 * time.Second, Cause: cause, Blame: check.Service, Who: "r3"}
	r.Result.Promise = check.Promise{Status: check.Broken, Breaches: []check.Breach{breach, breach, breach, breach, breach}}
	r.Result.Damage = check.Damage{Status: check.Damaged, Events: []check.Wound{{
		Kind: check.LostUpdate, Class: check.Correctness, Client: "c1", At: time.Second, Cause: "c1 wrote; " + cause, Blame: check.Recipe,
	}}}
	require.Equal(t, `promise   broken: double-grant at 1.000, 2.000 s before the term was over [blame: service r3]
          r3 lost the key
          broken: double-grant at 1.000, 2.000 s before the term was over [blame: service r3]
          r3 lost the key
          broken: double-grant at 1.000, 2.000 s before the term was over [blame: service r3]
          r3 lost the key
          and 2 more
belief    exclusive
damage    damaged: lost-update by c1 at 1.000 (correctness) [blame: recipe]
          c1 wrote; the cause is the same
progress  ok, longest wait 0.000 s
expected  nothing: no expectation can be derived
again     simrun --scenario fine --seed 7
`, show(r))
}

func TestJSONHasNoNullLists(t *testing.T) {
	r := fine()
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, r))
	require.Equal(t, `{"scenario":"fine","seed":7,"claims":[],"parameters":{},"verdicts":{`+
		`"promise":{"status":"kept","breaches":[]},"belief":{"status":"exclusive","windows":[],"total_ms":0},`+
		`"damage":{"status":"none","events":[]},"progress":{"status":"ok","longest_wait_ms":0}},`+
		`"expected":{"promise":"kept","breaches":[],"belief":"exclusive","overlap_ms":0,"damage":[],"rejected":[],"progress":"ok","because":"nothing happens"},`+
		`"as_expected":true,"missed":[],"events":0,"virtual_ms":0,"trace_sha256":"`+r.Result.TraceSHA256()+"\"}\n", b.String())

	r.Expected.Figures = []scenarios.Figure{{Of: "tokens", Want: "1, 2"}}
	b.Reset()
	require.NoError(t, report.JSON(&b, r))
	require.Contains(t, b.String(), `"progress":"ok","figures":[{"of":"tokens","want":"1, 2"}],"because":"nothing happens"}`)

	r.Expected = nil
	b.Reset()
	require.NoError(t, report.JSON(&b, r))
	require.Contains(t, b.String(), `"expected":null,"as_expected":null,`)
	require.True(t, json.Valid(b.Bytes()))
}

func TestTally(t *testing.T) {
	var tally report.Tally
	good, bad := fine(), fine()
	bad.Seed, bad.Result.Progress.Status = 9, check.Stalled
	tally.Add(bad)
	tally.Add(good)
	tally.Add(good)
	require.Equal(t, 3, tally.Runs())
	require.Equal(t, 1, tally.Count(report.NotAsExpected))
	var b strings.Builder
	require.NoError(t, tally.Text(&b, report.Options{}))
	require.Equal(t, `3 runs: 2 as expected, 1 NOT as expected
      2  promise kept, belief exclusive, damage none, progress ok  (first with seed 7)
      1  promise kept, belief exclusive, damage none, progress stalled  (first with seed 9)
`, b.String())
}
