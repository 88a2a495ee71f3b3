package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"

	"locksim/trial"
)

// Share is an expectation about many runs: in which share of them something
// happens.
type Share struct {
	// Of says what is counted, such as "runs with a stale write".
	Of string
	// Hit tells whether it happened in a run.
	Hit func(*trial.Result) bool
	// Runs is how many runs it takes to judge; fewer are not judged.
	Runs int
	// Want is the expected share, from 0 to 1, and Tolerance how far from it is
	// near enough.
	Want, Tolerance float64
	// Because is where Want comes from, and Tolerance.
	Because string
}

// fourSigma is a tolerance for a share of p in that many runs: four standard
// deviations, which is nothing where p is 0 or 1.
func fourSigma(p float64, runs int) float64 { return 4 * math.Sqrt(p*(1-p)/float64(runs)) }

// Verdict says whether hits of runs are near enough to what is expected; ok is
// false where there are too few runs to say.
func (s *Share) Verdict(hits, runs int) (near, ok bool) {
	if runs < s.Runs {
		return false, false
	}
	off := float64(hits)/float64(runs) - s.Want
	return -s.Tolerance <= off && off <= s.Tolerance, true
}

// String is the expectation in words: "37.0 % ± 2.5 % of 2000 runs".
func (s *Share) String() string {
	return fmt.Sprintf("%.1f %% ± %.1f %% of %d runs", 100*s.Want, 100*s.Tolerance, s.Runs)
}

// SpecFor is the run with a seed: the spec of the parameters, and where the
// scenario varies from run to run, what the seed makes of it.
func (s *Scenario) SpecFor(seed uint64) trial.Spec {
	spec := s.Spec()
	spec.Seed = seed
	if s.Vary != nil {
		// A stream of its own, apart from those of the processes and links.
		s.Vary(&spec, rand.New(rand.NewPCG(seed, 0x76617279)))
	}
	return spec
}
