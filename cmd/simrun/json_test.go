package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/scenarios"
)

// run is the JSON object of a run.
type run struct {
	Scenario   string            `json:"scenario"`
	Seed       uint64            `json:"seed"`
	Claims     []string          `json:"claims"`
	Parameters map[string]string `json:"parameters"`
	Verdicts   struct {
		Promise struct {
			Status   string `json:"status"`
			Breaches []struct {
				Kind  string  `json:"kind"`
				Lock  string  `json:"lock"`
				Who   string  `json:"who"`
				Early float64 `json:"early_ms"`
				At    float64 `json:"at_ms"`
				Cause string  `json:"cause"`
				Blame string  `json:"blame"`
			} `json:"breaches"`
		} `json:"promise"`
		Belief struct {
			Status  string `json:"status"`
			Windows []struct {
				Lock    string   `json:"lock"`
				Holders []string `json:"holders"`
				From    float64  `json:"from_ms"`
				To      float64  `json:"to_ms"`
				Length  float64  `json:"ms"`
				Cause   string   `json:"cause"`
				Blame   string   `json:"blame"`
				Who     string   `json:"who"`
			} `json:"windows"`
			Total float64 `json:"total_ms"`
		} `json:"belief"`
		Damage struct {
			Status string `json:"status"`
			Events []struct {
				Kind   string  `json:"kind"`
				Class  string  `json:"class"`
				Client string  `json:"client"`
				At     float64 `json:"at_ms"`
				Cause  string  `json:"cause"`
				Blame  string  `json:"blame"`
				Who    string  `json:"who"`
			} `json:"events"`
		} `json:"damage"`
		Progress struct {
			Status  string  `json:"status"`
			Longest float64 `json:"longest_wait_ms"`
			Cause   string  `json:"cause"`
		} `json:"progress"`
	} `json:"verdicts"`
	Expected *struct {
		Promise  string   `json:"promise"`
		Breaches []string `json:"breaches"`
		Belief   string   `json:"belief"`
		Overlap  float64  `json:"overlap_ms"`
		Damage   []string `json:"damage"`
		Rejected []string `json:"rejected"`
		Progress string   `json:"progress"`
		Granted  []string `json:"granted"`
		Longest  float64  `json:"longest_wait_ms"`
		Figures  []struct {
			Of   string `json:"of"`
			Want string `json:"want"`
		} `json:"figures"`
		Because string `json:"because"`
	} `json:"expected"`
	AsExpected *bool    `json:"as_expected"`
	Missed     []string `json:"missed"`
	Events     int      `json:"events"`
	Virtual    float64  `json:"virtual_ms"`
	Trace      string   `json:"trace_sha256"`
}

func TestJSON(t *testing.T) {
	got := call(t, "--scenario", "redlock-restart", "--format", "json")
	require.Equal(t, 0, got.code)
	require.Empty(t, got.err)
	require.Equal(t, 1, strings.Count(got.out, "\n"))
	r := decode[run](t, got.out)[0]
	require.Equal(t, "redlock-restart", r.Scenario)
	require.Equal(t, []string{"S33", "K11", "H3"}, r.Claims)
	require.Equal(t, "power-loss", r.Parameters["crash"])
	require.Equal(t, "broken", r.Verdicts.Promise.Status)
	require.Equal(t, "double-grant", r.Verdicts.Promise.Breaches[0].Kind)
	require.Equal(t, "service", r.Verdicts.Promise.Breaches[0].Blame)
	require.Equal(t, "overlapping", r.Verdicts.Belief.Status)
	require.Equal(t, 7888.0, r.Verdicts.Belief.Total)
	w := r.Verdicts.Belief.Windows[0]
	require.Equal(t, []string{"c1", "c2"}, w.Holders)
	require.Equal(t, []float64{2010, 9898, 7888}, []float64{w.From, w.To, w.Length})
	require.Equal(t, "stale-write", r.Verdicts.Damage.Events[0].Kind)
	require.Equal(t, "ok", r.Verdicts.Progress.Status)
	require.Equal(t, 7888.0, r.Expected.Overlap)
	require.True(t, *r.AsExpected)
	require.Len(t, r.Trace, 64)
}

func TestJSONFollowsTheParameters(t *testing.T) {
	got := call(t, "--scenario", "gc-pause", "--set", "pause=9.5s", "--format", "json")
	r := decode[run](t, got.out)[0]
	require.Equal(t, 500.0, r.Verdicts.Belief.Total)
	require.Equal(t, 500.0, r.Expected.Overlap)
	require.Contains(t, got.out, `"parameters":{"ttl":"10s","pause":"9.5s","kind":"gc","fencing":"off","c1-at":"1s","c2-at":"3s"}`)

	got = call(t, "--scenario", "gc-pause", "--set", "pause=9500.25ms", "--format", "json")
	require.Contains(t, got.out, `"total_ms":500.25`)
}

func TestJSONWithoutExpectation(t *testing.T) {
	path := file(t, "nothing.txt", "# nothing goes wrong\n")
	got := call(t, "--scenario", "gc-pause", "--schedule", path, "--format", "json")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.out, `"expected":null,"as_expected":null`)
}

// TestTheCommandMakesTheRunAgain takes the last line of a report, as a shell reads
// it, and holds the run that it makes to the trace of the first.
func TestTheCommandMakesTheRunAgain(t *testing.T) {
	path := file(t, "it's a schedule.txt", "at 1.5s  pause c1 gc 3s\n")
	for _, args := range [][]string{
		{"--scenario", "gc-pause-redis", "--set", "every=7ms", "--seed", "12"},
		{"--scenario", "gc-pause", "--set", "fencing=on", "--schedule", path},
	} {
		lines := strings.Split(strings.TrimSpace(call(t, args...).out), "\n")
		words := split(strings.TrimPrefix(lines[len(lines)-1], "again"))
		require.Equal(t, "simrun", words[0])
		first := decode[run](t, call(t, append(args, "--format", "json")...).out)
		again := decode[run](t, call(t, append(words[1:], "--format", "json")...).out)
		require.Equal(t, first[0].Trace, again[0].Trace)
	}
}

// split makes words of a command line as a POSIX shell does with single quotes and
// backslashes.
func split(line string) []string {
	var words []string
	word, in, quoted := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, in = !quoted, true
		case c == ' ' && !quoted:
			if in {
				words = append(words, word)
			}
			word, in = "", false
		default:
			if c == '\\' && !quoted {
				i++
			}
			word, in = word+string(line[i]), true
		}
	}
	if in {
		words = append(words, word)
	}
	return words
}

func TestEveryScenarioIsAsExpected(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if s.Share != nil {
				got := call(t, "--scenario", s.Name)
				require.Equal(t, 0, got.code, got.out)
				require.Contains(t, got.out, "\nexpected  this: ")
				return
			}
			got := call(t, "--scenario", s.Name, "--runs", "3")
			require.Equal(t, 0, got.code, got.out)
			require.Contains(t, got.out, "3 runs: 3 as expected")
			require.Contains(t, got.out, "\ncontrol ")
		})
	}
}

// TestShares are judged by the exit code, and in JSON by an object behind those of
// the runs.
func TestShares(t *testing.T) {
	wrong := func() []*scenarios.Scenario {
		s := scenarios.Find("invoices")
		right := s.Share()
		s.Share = func() scenarios.Share { right.Want = 0.5; return right }
		return []*scenarios.Scenario{s}
	}
	got := with(t, wrong, "", "--scenario", "invoices")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "expected  NOT THIS, but: 50.0 % ± 0.0 % of 100 runs")

	got = call(t, "--scenario", "invoices", "--runs", "3")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.out, "too few runs to judge")

	got = call(t, "--scenario", "invoices", "--format", "json")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	require.Len(t, lines, 101)
	require.Equal(t, `{"scenario":"invoices","share":{"of":"a mail that was sent twice","hits":100,"runs":100,"share":1,`+
		`"expected":1,"tolerance":0,"because":"each instance sends all three: 6 mails in each of 100 rounds"},"as_expected":true}`, lines[100])
}

func TestArgue(t *testing.T) {
	got := call(t, "argue")
	require.Equal(t, 0, got.code, got.out)
	require.LessOrEqual(t, strings.Count(got.out, "\n"), 52, "one screen")
	require.NotContains(t, got.out, "NOT as expected")
	for i, pair := range scenarios.Pairs() {
		require.Contains(t, got.out, pair.Question)
		one := call(t, "argue", strconv.Itoa(i+1))
		require.Equal(t, 0, one.code, one.out)
		require.Contains(t, one.out, pair.Found[:20])
		require.Contains(t, one.out, "\nagain     simrun --scenario ", "every pair has been run")
	}
	for _, args := range [][]string{{"argue", "0"}, {"argue", "x"}, {"argue", "99"}, {"argue", "1", "2"}} {
		got := call(t, args...)
		require.Equal(t, 2, got.code)
		require.Contains(t, got.err, fmt.Sprintf("want one number from 1 to %d, or nothing", len(scenarios.Pairs())))
	}
}

// TestClaims: each row stands with what shows it; a row that nothing shows is told by
// the exit code.
func TestClaims(t *testing.T) {
	got := call(t, "claims", "S13", "A11")
	require.Equal(t, output{0, `The article "Distributed lock"
S13       an UPDATE whose condition is fence <= token changes no row when a newer holder has
          written, and takes the same token twice
  run     second-write lease-table lease-db-jump
  test    models/resource.TestChecks models/sql.TestDocuments

Salvatore Sanfilippo (antirez), "Is Redlock safe?", 2016
A11       Redlock should be analysed and tested by others, as Jepsen does
  weighed REPORT.md, "What is a matter of opinion"
`, ""}, got)

	got = call(t, "claims", "S13", "--format", "json")
	require.Equal(t, 0, got.code)
	require.JSONEq(t, `{"id": "S13", "source": "The article \"Distributed lock\"",
		"says": "an UPDATE whose condition is fence <= token changes no row when a newer holder has written, and takes the same token twice",
		"scenarios": ["second-write", "lease-table", "lease-db-jump"],
		"tests": ["models/resource.TestChecks", "models/sql.TestDocuments"]}`, got.out)

	all := call(t, "claims")
	require.Equal(t, 0, all.code)
	require.Equal(t, 0, strings.Count(all.out, "NOTHING"))

	none := func() []*scenarios.Scenario { return nil }
	got = with(t, none, "", "claims", "S7")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "NOTHING shows it")
	require.Equal(t, 1, with(t, none, "", "claims", "S7", "--format", "json").code)

	got = call(t, "claims", "S7", "S75")
	require.Equal(t, output{2, "", "simrun: claims S75: want IDs of rows such as S7 or H14, or nothing for all\n"}, got)
}

// TestCase: a failure from the field says what was seen and what cures it, unless it
// runs otherwise than it was reported.
func TestCase(t *testing.T) {
	told := scenarios.Find("case-h21").Case
	got := call(t, "--scenario", "case-h21")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.out, "\nseen      "+told.Seen[:40])
	require.Contains(t, got.out, "\ncure      by the operators, "+told.Cure+": "+told.Means[:20])
	require.Contains(t, got.out, "\ncontrol   case-h21 "+told.Cure+": ")
	require.Contains(t, call(t, "--scenario", "case-h21", "--format", "json").out, `"case":{"report":"github/gh-ost#224","seen":"GET_LOCK returned 1`)

	file := file(t, "none.txt", "")
	for _, args := range [][]string{{"--set", told.Cure}, {"--schedule", file}} {
		got = call(t, append([]string{"--scenario", "case-h21"}, args...)...)
		require.Equal(t, 0, got.code, got.err)
		require.NotContains(t, got.out, "\nseen ")
		require.NotContains(t, got.out, "\ncure ")
	}
	require.NotContains(t, call(t, "--scenario", "get-lock-galera", "--format", "json").out, `"case"`)
}
