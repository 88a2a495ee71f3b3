package report

import (
	"fmt"
	"io"
	"strings"

	"locksim/scenarios"
)

// Point is a pair of the argument, with what was run for it.
type Point struct {
	Number int // from 1
	Pair   scenarios.Pair
	Runs   []Evidence
}

// Evidence is one scenario that was run for a pair: a run, or the share of many.
type Evidence struct {
	Run      *Run // its history is gone
	Share    *Share
	Timeline string
	Also     []*Run // variants of the run
}

// AsExpected tells whether it came out as expected, and its variants did.
func (e *Evidence) AsExpected() bool {
	for _, r := range e.Also {
		if r.Judgement() != AsExpected {
			return false
		}
	}
	if e.Share != nil {
		return e.Share.Judgement() == AsExpected
	}
	return e.Run.Judgement() == AsExpected
}

// finding is what came out, in a line.
func (e *Evidence) finding() string {
	if e.Share != nil {
		return e.Share.finding()
	}
	return e.Run.outcome()
}

// because is where its figures come from.
func (e *Evidence) because() string {
	if e.Share != nil {
		return e.Share.Expected.String() + ", since " + e.Share.Expected.Because
	}
	return e.Run.Expected.Because
}

// asExpected counts the runs that came out as expected.
func (t *Point) asExpected() int {
	n := 0
	for i := range t.Runs {
		if t.Runs[i].AsExpected() {
			n++
		}
	}
	return n
}

// Argue writes the whole argument on a screen: for each pair the question, both
// sides, and who is right; of those beyond the two essays only the question, so that
// it stays a screen.
func Argue(w io.Writer, points []Point, o Options) error {
	p := newPage(w, o)
	for i := range points {
		t := &points[i]
		p.line(p.in(bold, fmt.Sprintf("%2d  %s", t.Number, t.Pair.Question)))
		if !t.Pair.Beyond {
			p.side(t.Pair.Claim)
			p.side(t.Pair.Answer)
		}
		right := p.in(green, t.Pair.Right)
		if n := t.asExpected(); n < len(t.Runs) {
			right = p.in(red, fmt.Sprintf("%d of %d runs NOT as expected", len(t.Runs)-n, len(t.Runs)))
		} else if t.Pair.Beyond {
			continue
		}
		p.line(pad("", indent), p.in(dim, pad("right", side)), right)
	}
	p.paragraph(noPaint, "simrun argue N opens a pair with its runs; simrun report writes all of it to REPORT.md.")
	return p.err
}

// The columns of the argument: how far it is indented, and how wide a name is.
const (
	indent = 4
	side   = 11
)

// side writes what one side says.
func (p *page) side(s scenarios.Statement) {
	for i, line := range wrap(s.Says, max(p.width-indent-side, 20)) {
		name := s.Who
		if i > 0 {
			name = ""
		}
		p.line(pad("", indent), p.in(dim, pad(name, side)), line)
	}
}

// Open writes one pair with all that was run for it, and how to run it again.
func Open(w io.Writer, t *Point, o Options) error {
	p := newPage(w, o)
	p.paragraph(bold, fmt.Sprintf("%d  %s", t.Number, t.Pair.Question))
	p.line()
	for _, s := range []scenarios.Statement{t.Pair.Claim, t.Pair.Answer} {
		p.entry(s.Who, noPaint, "", s.Says+" ("+s.Where+")")
	}
	p.entry("right", green, "", t.Pair.Right)
	p.entry("found", noPaint, "", t.Pair.Found)
	p.entry("decides", noPaint, "", t.Pair.Decides)
	for i := range t.Runs {
		p.line()
		p.evidence(&t.Runs[i])
	}
	return p.err
}

func (p *page) evidence(e *Evidence) {
	r := e.Run
	p.paragraph(bold, r.Scenario.Name+": "+r.Scenario.Claim)
	word, c := "as expected", green
	if !e.AsExpected() {
		word, c = "NOT as expected", red
	}
	p.entry("found", noPaint, "", e.finding())
	p.entry("expected", c, word, ": "+e.because())
	for _, v := range e.Also {
		p.entry("also", noPaint, "", variant(v)+": "+v.outcome())
	}
	if k := r.Control; k != nil {
		p.entry("control", noPaint, "", k.title()+": "+k.outcome())
	}
	p.line(p.in(dim, pad("again", label)), r.Command())
}

// variant is what is different in a variant of a run.
func variant(r *Run) string { return strings.Join(r.Scenario.Settings(), " ") }
