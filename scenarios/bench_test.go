package scenarios_test

import (
	"testing"

	"locksim/scenarios"
	"locksim/trial"
)

// BenchmarkRun is a whole run with all four verdicts, without the trace's hash.
// Its yardstick is sim's BenchmarkSwitch.
func BenchmarkRun(b *testing.B) {
	for _, s := range scenarios.All() {
		b.Run(s.Name, func(b *testing.B) {
			r := trial.NewRunner()
			defer r.Close()
			spec := s.SpecFor(0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Run(&spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
