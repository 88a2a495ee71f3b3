package scenarios_test

import (
	"testing"

	"locksim/scenarios"
	"locksim/trial"
)

func TestScenarios(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			r := trial.Test(t, s.Spec())
			e := s.Expect()
			t.Logf("%+v\n%s", r.Verdicts, e.Because)
			for _, d := range e.Differences(&r) {
				t.Error(d)
			}
		})
	}
}
