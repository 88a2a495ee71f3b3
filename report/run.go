package report

import (
	"fmt"
	"strconv"
	"strings"

	"locksim/check"
	"locksim/scenarios"
	"locksim/trial"
)

// Run is a run to be shown, and what it is held against.
type Run struct {
	// Scenario has the parameters of the run.
	Scenario *scenarios.Scenario
	Seed     uint64
	Result   *trial.Result
	// Expected is what had to come out; nil where that cannot be derived.
	Expected *scenarios.Expectation
	// Measured is what came out besides the verdicts, of what is expected.
	Measured []scenarios.Figure
	// Control is what was run beside it; nil for nothing.
	Control *Control
	// Schedule is the file whose schedule took the place of the scenario's own,
	// "-" for standard input; empty for none.
	Schedule string
}

// Control is the verdicts on the scenario's control.
type Control struct {
	Name string
	// Settings are its parameters that differ from their defaults.
	Settings []string
	Verdicts check.Verdicts
	Measured []scenarios.Figure
	// Share is what many of its runs showed, where it is judged by those.
	Share *Share
	// Err says why there are no verdicts: it cannot be run with these parameters.
	Err error
}

// title is the control's name and settings.
func (c *Control) title() string {
	return strings.Join(append([]string{c.Name}, c.Settings...), " ")
}

// outcome is the control's verdicts in a line, or why there are none.
func (c *Control) outcome() string {
	if c.Err != nil {
		return c.Err.Error()
	}
	if c.Share != nil {
		return c.Share.finding()
	}
	return words(&c.Verdicts) + figures(c.Measured)
}

// outcome is the run's verdicts in a line.
func (r *Run) outcome() string { return words(&r.Result.Verdicts) + figures(r.Measured) }

// figures are figures behind the verdicts.
func figures(list []scenarios.Figure) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "; %s: %s", f.Of, f.Want)
	}
	return b.String()
}

// told is what a case from the field says besides, where the run is the case as it
// was reported.
func (r *Run) told() *scenarios.Case {
	if r.Schedule != "" || len(r.Scenario.Settings()) > 0 {
		return nil
	}
	return r.Scenario.Case
}

// Judgement says whether a run came out as it had to.
type Judgement uint8

// The judgements.
const (
	// Unjudged: there is no expectation, and every verdict is decided.
	Unjudged Judgement = iota
	AsExpected
	NotAsExpected
	// Undecided: a verdict is unknown, and those that are decided contradict no
	// expectation.
	Undecided
)

// Judgement judges the run.
func (r *Run) Judgement() Judgement {
	e := r.Expected
	switch {
	case e != nil && contradicts(e, &r.Result.Verdicts):
		return NotAsExpected
	case scenarios.Undecided(r.Result):
		return Undecided
	case e == nil:
		return Unjudged
	case len(e.Differences(r.Result)) > 0:
		return NotAsExpected
	}
	return AsExpected
}

// contradicts tells whether one of the four words is decided, and is another than
// the expected one.
func contradicts(e *scenarios.Expectation, v *check.Verdicts) bool {
	differ := func(got, want check.Status) bool { return got != check.Unknown && got != want }
	damage := check.None
	if len(e.Damage) > 0 {
		damage = check.Damaged
	}
	return differ(v.Promise.Status, e.Promise) || differ(v.Belief.Status, e.Belief) ||
		differ(v.Damage.Status, damage) || differ(v.Progress.Status, e.Progress)
}

// Command is the command line that makes the run again, quoted for a POSIX shell.
// A schedule from standard input has to be put there again.
func (r *Run) Command() string {
	words := []string{"simrun", "--scenario", r.Scenario.Name}
	for _, setting := range r.Scenario.Settings() {
		words = append(words, "--set", setting)
	}
	words = append(words, "--seed", strconv.FormatUint(r.Seed, 10))
	if r.Schedule != "" {
		words = append(words, "--schedule", r.Schedule)
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

// quote makes a word of text for a POSIX shell.
func quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
