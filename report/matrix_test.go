package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/check"
	"locksim/scenarios"
	"locksim/trial"
)

func TestMatrixSaysWhatWasPredictedOtherwise(t *testing.T) {
	t.Parallel()
	m := &Matrix{
		Faults: []string{"pause-after", "failover"},
		Rows: []MatrixRow{{
			Row:       scenarios.Row{Name: "mine", Predicted: []scenarios.Mark{scenarios.Breaks, scenarios.Nothing}, Fenced: scenarios.Holds, Compared: scenarios.Holds},
			Cells:     []Cell{{Found: scenarios.Holds}, {scenarios.Breaks, 1500 * time.Millisecond}},
			Unchecked: Cell{Found: scenarios.Breaks},
			ByToken:   Cell{Found: scenarios.Holds},
		}},
	}
	var b bytes.Buffer
	p := newPage(&b, Options{})
	p.matrix(m)
	require.NoError(t, p.err)
	require.Contains(t, b.String(), "| lock | pause after grant | failover | data, unchecked | data: token | data: random value |\n|---|---|---|---|---|---|\n")
	require.Contains(t, b.String(), "| `mine` | ✓ (predicted ✗) | ✗ 1.500 s | ✗ | ✓ | ? (predicted ✓) |\n")
	require.Contains(t, b.String(), "\n2 of the 4 cells that we had predicted came out so;")
}

// TestUncheckedIsPredictedByWhoBelieves: data that nothing checks was expected to suffer
// wherever two can hold the lock, and only there.
func TestUncheckedIsPredictedByWhoBelieves(t *testing.T) {
	t.Parallel()
	const y, n, na = scenarios.Holds, scenarios.Breaks, scenarios.Nothing
	for want, predicted := range map[scenarios.Mark][]scenarios.Mark{n: {y, n, na}, y: {y, na, y}, na: {na, na, na}} {
		require.Equal(t, want, unchecked(predicted), "%v", predicted)
	}
}

func TestCellIsNeverBetterThanItsVerdict(t *testing.T) {
	t.Parallel()
	belief := func(s check.Status, total time.Duration) *check.Verdicts {
		return &check.Verdicts{Belief: check.Belief{Status: s, Total: total}}
	}
	require.Equal(t, Cell{Found: scenarios.Holds}, BeliefCell(belief(check.Exclusive, 0)))
	require.Equal(t, Cell{scenarios.Breaks, time.Second}, BeliefCell(belief(check.Overlapping, time.Second)))
	require.Equal(t, Cell{}, BeliefCell(belief(check.Unknown, 0)))
	require.Equal(t, Cell{}, BeliefCell(belief(check.None, 0)))

	c := Cell{Found: scenarios.Holds}
	for _, step := range []struct {
		damage check.Status
		found  scenarios.Mark
	}{
		{check.None, scenarios.Holds}, {check.Unknown, ""}, {check.None, ""}, {check.Damaged, scenarios.Breaks}, {check.Unknown, scenarios.Breaks},
	} {
		c.Suffer(&check.Verdicts{Damage: check.Damage{Status: step.damage}})
		require.Equal(t, step.found, c.Found)
	}
}

// TestEvidenceIsNoBetterThanItsVariants: a variant that comes out otherwise is not
// hidden behind a run that is as expected.
func TestEvidenceIsNoBetterThanItsVariants(t *testing.T) {
	t.Parallel()
	as := func(settings string) *Run {
		s, err := scenarios.Find("gc-pause").MakeVariant(settings)
		require.NoError(t, err)
		result, err := trial.Run(s.SpecFor(0))
		require.NoError(t, err)
		want := s.Expect()
		return &Run{Scenario: s, Result: &result, Expected: &want}
	}
	e := Evidence{Run: as(""), Also: []*Run{as("kind=suspend")}}
	require.True(t, e.AsExpected())
	e.Also[0].Expected.Overlap++
	require.False(t, e.AsExpected())
}
