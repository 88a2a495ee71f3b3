package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/scenarios"
	"locksim/trial"
)

// TestMatrix holds every cell of the matrix to its expectation, whatever the store
// checks.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, row := range scenarios.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			runner := trial.NewRunner()
			defer runner.Close()
			for _, fault := range append([]string{"none"}, scenarios.Faults()...) {
				for _, store := range []string{"none", "fence", "cas"} {
					s := scenarios.Find("matrix")
					require.NoError(t, s.Set("lock", row.Name))
					require.NoError(t, s.Set("fault", fault))
					require.NoError(t, s.Set("store", store))
					spec := s.SpecFor(0)
					r, err := runner.Run(&spec)
					require.NoError(t, err)
					want := s.Expect()
					require.Empty(t, want.Differences(&r), "%v\n%s", s.Settings(), want.Because)
					require.Empty(t, r.Missed, "%v", s.Settings())
					control, err := s.MakeControl()
					require.NoError(t, err)
					require.NotEqual(t, want.Belief, control.Expect().Belief, "the control of %v", s.Settings())
				}
			}
		})
	}
}
