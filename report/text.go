package report

import (
	"fmt"
	"io"
	"strings"

	"locksim/check"
	"locksim/history"
	"locksim/scenarios"
)

// Text writes the whole report on a run: what was run, its [Timeline], its
// [Verdicts], and the command that makes it again.
func Text(w io.Writer, r *Run, o Options) error {
	p := newPage(w, o)
	p.paragraph(bold, r.Scenario.Name+": "+r.Scenario.Claim)
	p.paragraph(dim, r.settings())
	p.line()
	p.timeline(r.Result.History)
	p.line()
	p.verdicts(r)
	return p.err
}

// settings are all parameters and the seed.
func (r *Run) settings() string {
	var words []string
	for i := range r.Scenario.Params {
		q := &r.Scenario.Params[i]
		words = append(words, q.Name+"="+q.Value())
	}
	words = append(words, fmt.Sprintf("seed=%d", r.Seed))
	if r.Schedule != "" {
		words = append(words, "schedule="+r.Schedule+" in the place of its own faults")
	}
	return strings.Join(words, " ")
}

// Verdicts writes the four verdicts with figures, cause and blame, what was
// expected, what the control showed, the anchors that were never reached, and
// last the command that makes the run again.
func Verdicts(w io.Writer, r *Run, o Options) error {
	p := newPage(w, o)
	p.verdicts(r)
	return p.err
}

func (p *page) verdicts(r *Run) {
	v := &r.Result.Verdicts
	p.promise(&v.Promise)
	p.belief(v)
	p.damage(v, touched(r.Result.History))
	p.verdict("progress", v.Progress.Status, ", longest wait "+span(v.Progress.Longest))
	if v.Progress.Cause != "" {
		p.more(v.Progress.Cause)
	}
	told := r.told()
	if told != nil {
		p.entry("seen", noPaint, "", told.Seen)
	}
	p.expected(r)
	if told != nil {
		p.entry("cure", noPaint, "", fmt.Sprintf("by the %s, %s: %s", told.By, told.Cure, told.Means))
	}
	if c := r.Control; c != nil {
		p.entry("control", noPaint, c.title(), ": "+c.outcome())
	}
	if len(r.Result.Missed) > 0 {
		p.entry("missed", yellow, "never reached", ": "+strings.Join(r.Result.Missed, ", "))
	}
	p.line(p.in(dim, pad("again", label)), r.Command())
}

// label is how wide the first column of the verdicts is.
const label = 10

// entry writes a name, and beside it a text that begins with a word in a colour.
func (p *page) entry(name string, c paint, word, text string) {
	for i, line := range wrap(word+text, max(p.width-label, 20)) {
		if rest, ok := strings.CutPrefix(line, word); ok && i == 0 {
			line = p.in(c, word) + rest
		}
		p.line(p.in(dim, pad(name, label)), line)
		name = ""
	}
}

// verdict writes an entry that begins with a verdict's word.
func (p *page) verdict(name string, s check.Status, text string) {
	p.entry(name, colour(s), string(s), text)
}

// more writes what belongs to the entry before.
func (p *page) more(text string) { p.entry("", noPaint, "", text) }

// most is how many breaches, windows or wounds are shown of each.
const most = 3

// rest says how many of n are not shown.
func (p *page) rest(n int) {
	if n > most {
		p.more(fmt.Sprintf("and %d more", n-most))
	}
}

func (p *page) promise(v *check.Promise) {
	name := "promise"
	if len(v.Breaches) == 0 {
		p.verdict(name, v.Status, "")
	}
	for _, b := range v.Breaches[:min(most, len(v.Breaches))] {
		text := fmt.Sprintf(": %s at %s", b.Kind, seconds(b.At))
		if b.Early > 0 {
			text += fmt.Sprintf(", %s before the term was over", span(b.Early))
		}
		p.verdict(name, v.Status, text+blame(b.Blame, b.Who))
		p.more(b.Cause)
		name = ""
	}
	p.rest(len(v.Breaches))
}

func (p *page) belief(v *check.Verdicts) {
	b := &v.Belief
	name := "belief"
	if len(b.Windows) == 0 {
		p.verdict(name, b.Status, "")
	}
	total := " for " + span(b.Total)
	for _, w := range b.Windows[:min(most, len(b.Windows))] {
		p.verdict(name, b.Status, fmt.Sprintf("%s: %s from %s to %s%s",
			total, and(w.Holders), seconds(w.From), seconds(w.To), blame(w.Blame, w.Who)))
		p.more(briefly(w.Cause, &v.Promise))
		name, total = "", ""
	}
	p.rest(len(b.Windows))
}

// touched tells whether anything reached a resource, so that there could be damage.
func touched(h *history.History) bool {
	for i := range h.Events {
		if k := h.Events[i].Kind; k == history.Write || k == history.Effect {
			return true
		}
	}
	return false
}

func (p *page) damage(v *check.Verdicts, touched bool) {
	d := &v.Damage
	name := "damage"
	switch {
	case len(d.Events) == 0 && !touched:
		p.verdict(name, d.Status, ": nothing was written")
	case len(d.Events) == 0:
		p.verdict(name, d.Status, "")
	}
	for _, e := range d.Events[:min(most, len(d.Events))] {
		p.verdict(name, d.Status, fmt.Sprintf(": %s by %s at %s (%s)%s",
			e.Kind, e.Client, seconds(e.At), e.Class, blame(e.Blame, e.Who)))
		p.more(briefly(e.Cause, &v.Promise))
		name = ""
	}
	p.rest(len(d.Events))
}

// briefly is a cause without what has just been read as the cause of a breach.
func briefly(cause string, v *check.Promise) string {
	for _, b := range v.Breaches[:min(most, len(v.Breaches))] {
		if rest, ok := strings.CutSuffix(cause, b.Cause); ok {
			return rest + "the cause is the same"
		}
	}
	return cause
}

// blame says whom a cause blames.
func blame(b check.Blame, who string) string {
	if b == "" {
		return ""
	}
	return " [blame: " + strings.TrimSpace(string(b)+" "+who) + "]"
}

// colour is green for what is good, red for what is bad.
func colour(s check.Status) paint {
	switch s {
	case check.Kept, check.Exclusive, check.None, check.OK:
		return green
	case check.Unknown:
		return yellow
	}
	return red
}

func (p *page) expected(r *Run) {
	e := r.Expected
	if e == nil && r.Scenario.Share != nil && r.Schedule == "" {
		p.entry("expected", noPaint, "nothing", " of one run: its seed decides; many are judged together")
		return
	}
	if e == nil {
		p.entry("expected", noPaint, "nothing", ": no expectation can be derived")
		return
	}
	switch r.Judgement() {
	case AsExpected:
		p.entry("expected", green, "all of this", ", since "+e.Because)
		return
	case Undecided:
		p.entry("expected", yellow, "UNDECIDED", ", wanted "+wanted(e))
	default:
		p.entry("expected", red, "NOT THIS", ", but "+wanted(e))
		for _, d := range e.Differences(r.Result) {
			p.entry("", red, d, "")
		}
	}
	p.more("since " + e.Because)
}

// wanted is an expectation in words.
func wanted(e *scenarios.Expectation) string {
	damage := check.None
	if len(e.Damage) > 0 {
		damage = check.Damaged
	}
	return fmt.Sprintf("promise %s%s, belief %s%s, damage %s%s, progress %s",
		e.Promise, kinds(e.Breaches), e.Belief, lasting(" ", overlap(e.Overlap)), damage, kinds(e.Damage), e.Progress)
}

// kinds lists kinds in brackets.
func kinds(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
