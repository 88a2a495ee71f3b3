package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/scenarios"
	"locksim/trial"
)

// TestCases: a case has the row's number for its name and the report's in its claim,
// says what was seen, and its cure makes a verdict, or the longest wait, better, and
// none worse.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios.All() {
		if s.Pair != "field" {
			require.Nil(t, s.Case, s.Name)
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			require.Equal(t, s.Name, "case-h"+two(strings.TrimPrefix(s.Claims[0], "H")))
			require.NotEmpty(t, s.Case.Report)
			require.Contains(t, s.Claim, s.Case.Report)
			require.NotEmpty(t, s.Case.Seen)
			require.NotEmpty(t, s.Case.Means)
			require.Equal(t, scenarios.Control{Name: s.Name, Set: strings.Fields(s.Case.Cure)}, s.Control())
			cured, err := s.MakeControl()
			require.NoError(t, err)
			sick, well := verdicts(t, s), verdicts(t, cured)
			better := sick.Progress.Longest > well.Progress.Longest
			for i, bad := range wrong(sick) {
				require.False(t, wrong(well)[i] && !bad, "verdict %d is worse with the cure", i)
				better = better || bad && !wrong(well)[i]
			}
			require.True(t, better, "the cure changes nothing")
			back, err := cured.MakeControl()
			require.NoError(t, err)
			require.Equal(t, s.Expect(), back.Expect(), "the control of the cured case is the case")
		})
	}
}

// TestTheFieldInNumbers holds what the argument says of all cases together: there are
// as many as rows, and so many of each kind.
func TestTheFieldInNumbers(t *testing.T) {
	t.Parallel()
	var names []string
	of := map[string]int{}
	for _, s := range scenarios.All() {
		if s.Case == nil {
			continue
		}
		names = append(names, s.Name)
		v := verdicts(t, s)
		of["promise "+string(v.Promise.Status)]++
		of["belief "+string(v.Belief.Status)]++
		of["promise "+string(v.Promise.Status)+", belief "+string(v.Belief.Status)]++
		of["cured by the "+string(s.Case.By)]++
		if v.Promise.Status == check.Broken && v.Promise.Breaches[0].Blame == check.Service {
			of["the service's fault"]++
		}
	}
	var want []string
	for n := range 22 {
		want = append(want, fmt.Sprintf("case-h%02d", n+1))
	}
	require.Equal(t, want, names)
	require.Equal(t, map[string]int{
		"promise kept": 8, "promise broken": 14, "the service's fault": 6,
		"belief overlapping": 17, "belief exclusive": 5,
		"promise kept, belief overlapping": 5, "promise kept, belief exclusive": 3,
		"promise broken, belief overlapping": 12, "promise broken, belief exclusive": 2,
		"cured by the client": 16, "cured by the operators": 4, "cured by the store": 2,
	}, of)
}

// two is a number in two digits.
func two(number string) string { return strings.Repeat("0", 2-len(number)) + number }

func verdicts(t *testing.T, s *scenarios.Scenario) check.Verdicts {
	t.Helper()
	r, err := trial.Run(s.SpecFor(0))
	require.NoError(t, err)
	return r.Verdicts
}

// wrong says of each of the four verdicts whether it is bad.
func wrong(v check.Verdicts) [4]bool {
	return [4]bool{
		v.Promise.Status != check.Kept, v.Belief.Status != check.Exclusive,
		v.Damage.Status != check.None, v.Progress.Status != check.OK,
	}
}
