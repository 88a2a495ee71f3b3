package report

import (
	"fmt"
	"io"

	"locksim/scenarios"
)

// Share is what many runs showed of what is expected of them together.
type Share struct {
	Scenario *scenarios.Scenario
	Expected scenarios.Share
	Hits     int
	Runs     int
}

// Judgement judges the runs together: Unjudged when they were too few.
func (s *Share) Judgement() Judgement {
	near, ok := s.Expected.Verdict(s.Hits, s.Runs)
	switch {
	case !ok:
		return Unjudged
	case near:
		return AsExpected
	}
	return NotAsExpected
}

// Text writes the share, what was expected, and whether that fits.
func (s *Share) Text(w io.Writer, o Options) error {
	p := newPage(w, o)
	p.entry("share", bold, s.percent(), fmt.Sprintf(" of %s: %s", count(s.Runs, "run"), s.Expected.Of))
	switch s.Judgement() {
	case AsExpected:
		p.entry("expected", green, "this", ": "+s.Expected.String()+", since "+s.Expected.Because)
	case NotAsExpected:
		p.entry("expected", red, "NOT THIS", ", but: "+s.Expected.String()+", since "+s.Expected.Because)
	default:
		p.entry("expected", noPaint, "too few runs to judge", ": "+s.Expected.String()+", since "+s.Expected.Because)
	}
	return p.err
}

// finding is what came out, in a line.
func (s *Share) finding() string {
	return fmt.Sprintf("%s of %s: %s", s.percent(), count(s.Runs, "run"), s.Expected.Of)
}

// percent is the share in percent.
func (s *Share) percent() string {
	return fmt.Sprintf("%.1f %%", 100*float64(s.Hits)/float64(max(s.Runs, 1)))
}

// JSON writes the share as one object on a line of its own, behind those of the
// runs. as_expected is null where they were too few.
func (s *Share) JSON(w io.Writer) error {
	type share struct {
		Of        string  `json:"of"`
		Hits      int     `json:"hits"`
		Runs      int     `json:"runs"`
		Share     float64 `json:"share"`
		Expected  float64 `json:"expected"`
		Tolerance float64 `json:"tolerance"`
		Because   string  `json:"because"`
	}
	e := &s.Expected
	o := struct {
		Scenario   string `json:"scenario"`
		Share      share  `json:"share"`
		AsExpected *bool  `json:"as_expected"`
	}{
		Scenario: s.Scenario.Name,
		Share:    share{e.Of, s.Hits, s.Runs, float64(s.Hits) / float64(max(s.Runs, 1)), e.Want, e.Tolerance, e.Because},
	}
	if j := s.Judgement(); j != Unjudged {
		yes := j == AsExpected
		o.AsExpected = &yes
	}
	return writeLine(w, o)
}
