package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"locksim/check"
)

// words are the four words of a verdict, and how long two believed.
func words(v *check.Verdicts) string {
	return fmt.Sprintf("promise %s, belief %s%s, damage %s, progress %s",
		v.Promise.Status, v.Belief.Status, lasting(" ", overlap(v.Belief.Total)), v.Damage.Status, v.Progress.Status)
}

// overlap is a length of time, nothing for none.
func overlap(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return span(d)
}

// Tally counts what many runs of one scenario came out as. The zero value is
// empty.
type Tally struct {
	runs    int
	judged  [Undecided + 1]int
	results []outcome // in the order in which they first came up
}

// outcome is one way in which runs came out.
type outcome struct {
	words string
	runs  int
	seed  uint64 // of the first
}

// Add counts a run.
func (t *Tally) Add(r *Run) {
	t.runs++
	t.judged[r.Judgement()]++
	w := words(&r.Result.Verdicts)
	for i := range t.results {
		if t.results[i].words == w {
			t.results[i].runs++
			return
		}
	}
	t.results = append(t.results, outcome{w, 1, r.Seed})
}

// Count is how many runs were judged so.
func (t *Tally) Count(j Judgement) int { return t.judged[j] }

// Runs is how many runs there were.
func (t *Tally) Runs() int { return t.runs }

// Text writes how many runs came out as expected, and each different outcome with
// its number and the first seed that has it, the most frequent first.
func (t *Tally) Text(w io.Writer, o Options) error {
	p := newPage(w, o)
	parts := []string{}
	for _, part := range []struct {
		j     Judgement
		words string
		paint paint
	}{
		{AsExpected, "as expected", green},
		{NotAsExpected, "NOT as expected", red},
		{Undecided, "undecided", yellow},
		{Unjudged, "without an expectation", noPaint},
	} {
		if n := t.judged[part.j]; n > 0 {
			parts = append(parts, p.in(part.paint, fmt.Sprintf("%d %s", n, part.words)))
		}
	}
	p.line(p.in(bold, count(t.runs, "run")), ": ", strings.Join(parts, ", "))
	sorted := slices.Clone(t.results)
	slices.SortStableFunc(sorted, func(a, b outcome) int { return cmp.Compare(b.runs, a.runs) })
	for _, r := range sorted {
		p.line(fmt.Sprintf("%7d  %s", r.runs, r.words), p.in(dim, fmt.Sprintf("  (first with seed %d)", r.seed)))
	}
	return p.err
}
