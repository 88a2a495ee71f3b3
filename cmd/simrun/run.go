package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"locksim/faults"
	"locksim/history"
	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// batch is one call of simrun with a scenario: one run or many.
type batch struct {
	*app
	*options
	scenario *scenarios.Scenario
	faults   faults.Schedule // of --schedule
	text     string          // its source
	expected *scenarios.Expectation
	share    *report.Share // nil where each run is judged by itself

	lab   lab
	tally report.Tally
	// page is the report of the run that will be shown: the first that is not as
	// expected, or the first. bad: it is not.
	page bytes.Buffer
	bad  bool
	// failures counts the runs in which the simulator failed; failure is about the
	// first.
	failures int
	failure  error
}

// run is simrun --scenario.
func (a *app) run(ctx context.Context, o *options) error {
	b := &batch{app: a, options: o}
	defer b.lab.close()
	if err := b.prepare(); err != nil {
		return err
	}
	done, err := b.all(ctx)
	if err == nil {
		err = b.summary()
	}
	switch {
	case err != nil:
		return err
	case done < o.runs:
		return &exit{exitInterrupted, fmt.Sprintf("interrupted after %d of %d runs", done, o.runs)}
	}
	return b.outcome()
}

// prepare finds out what is to be run.
func (b *batch) prepare() error {
	var err error
	if b.scenario, err = b.find(b.options.scenario); err != nil {
		return err
	}
	if b.runs < 1 {
		return usage("--runs %d: want a whole number, 1 or more", b.runs)
	}
	if b.seed > math.MaxUint64-uint64(b.runs-1) {
		return usage("--seed %d --runs %d: the last seed would be greater than %d", b.seed, b.runs, uint64(math.MaxUint64))
	}
	if sameFile(b.trace, b.schedule) {
		return usage("--trace and --schedule name the same file, %s", b.trace)
	}
	for _, setting := range b.set {
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			return usage("--set %s: want KEY=VALUE, with a KEY such as %s", setting, keys(b.scenario))
		}
		if err := b.scenario.Set(key, value); err != nil {
			if strings.HasPrefix(err.Error(), key+"=") {
				return usage("--set %v", err)
			}
			return usage("--set %s: %v", setting, err)
		}
	}
	if b.schedule != "" {
		b.faults, err = b.readSchedule()
		return err
	}
	b.expect()
	return nil
}

// expect derives what must come out, of each run or of all together.
func (b *batch) expect() {
	if b.scenario.Expect != nil {
		e := b.scenario.Expect()
		b.expected = &e
	}
	if b.scenario.Share == nil {
		return
	}
	b.share = &report.Share{Scenario: b.scenario, Expected: b.scenario.Share()}
	if !b.counted {
		b.runs = b.share.Expected.Runs
	}
}

// keys lists the parameters of s.
func keys(s *scenarios.Scenario) string {
	var names []string
	for _, q := range s.Params {
		names = append(names, q.Name)
	}
	return strings.Join(names, ", ")
}

// readSchedule reads the schedule that takes the place of the scenario's own.
func (b *batch) readSchedule() (faults.Schedule, error) {
	var content []byte
	var err error
	if b.schedule == "-" {
		content, err = io.ReadAll(io.LimitReader(b.in, maxSchedule+1))
	} else {
		content, err = readFile(b.schedule)
	}
	if err == nil && len(content) > maxSchedule {
		err = fmt.Errorf("%s: more than %d bytes", b.source(), maxSchedule)
	}
	if err != nil {
		return nil, usage("--schedule: %v", err)
	}
	b.text = strings.TrimPrefix(string(content), "\ufeff")
	schedule, err := faults.Parse(b.text)
	if err != nil {
		return nil, usage("%s: %v", b.source(), err)
	}
	return schedule, nil
}

// sameFile tells whether two names are of one file that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, also := os.Stat(b)
	return err == nil && also == nil && os.SameFile(x, y)
}

// maxSchedule is how long a schedule may be: a thousand times what anybody writes.
const maxSchedule = 1 << 20

// readFile reads a file, but not much more than a schedule may take.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSchedule+1))
}

// source is how the schedule's file is called in an error.
func (b *batch) source() string {
	if b.schedule == "-" {
		return "standard input"
	}
	return b.schedule
}

// all does all runs, or those that come before the context is done, and returns
// how many that were.
func (b *batch) all(ctx context.Context) (done int, err error) {
	bar := newBar(b.err, b.runs)
	defer bar.clear()
	for done = range b.runs {
		if ctx.Err() != nil {
			return done, nil
		}
		if err := b.one(b.seed + uint64(done)); err != nil {
			return done, err
		}
		bar.show(done + 1)
	}
	return b.runs, nil
}

// one does the run with a seed.
func (b *batch) one(seed uint64) error {
	spec := b.scenario.SpecFor(seed)
	if b.schedule != "" {
		spec.Schedule = b.faults
	}
	result, err := b.lab.run(&spec)
	switch {
	case errors.Is(err, trial.ErrSpec):
		return b.refused(err)
	case err != nil:
		if b.failures++; b.failures == 1 {
			b.failure = fmt.Errorf("%s with seed %d: %w", b.scenario.Name, seed, err)
		}
		return nil
	}
	if b.trace != "" && seed == b.seed {
		if err := writeTrace(b.trace, result.History); err != nil {
			return usage("--trace: %v", err)
		}
	}
	r := &report.Run{Scenario: b.scenario, Seed: seed, Result: &result, Expected: b.expected, Schedule: b.schedule}
	b.tally.Add(r)
	b.tick(&result)
	if b.format == json {
		return wrote(report.JSON(b.out, r))
	}
	return b.keep(r)
}

// tick counts a run for the share.
func (b *batch) tick(r *trial.Result) {
	if b.share == nil {
		return
	}
	b.share.Runs++
	if b.share.Expected.Hit(r) {
		b.share.Hits++
	}
}

// refused is the error about a spec that cannot be run.
func (b *batch) refused(err error) error {
	what := strings.TrimPrefix(err.Error(), trial.ErrSpec.Error()+": ")
	var misfit *faults.FitError
	switch {
	case b.schedule != "" && errors.As(err, &misfit):
		return usage("%s: line %d: %v", b.source(), faults.LineOf(b.text, misfit.Index), misfit)
	case b.schedule != "":
		return usage("%s: %s", b.source(), what)
	}
	return usage("%s: %s", b.scenario.Name, what)
}

// keep writes the page on r, if it is to be shown.
func (b *batch) keep(r *report.Run) error {
	bad := r.Judgement() == report.NotAsExpected
	if b.bad || b.page.Len() > 0 && !bad {
		return nil
	}
	if b.schedule == "" {
		var err error
		if r.Control, err = b.control(r.Seed); err != nil {
			return err
		}
	}
	b.bad = bad
	b.page.Reset()
	return report.Text(&b.page, r, b.layout())
}

// control runs the scenario's control; nil where it has none.
func (b *batch) control(seed uint64) (*report.Control, error) {
	if b.scenario.Control == nil {
		return nil, nil
	}
	c, err := b.scenario.MakeControl()
	if err != nil {
		return &report.Control{Name: b.scenario.Control().Name, Err: err}, nil
	}
	shown := &report.Control{Name: c.Name, Settings: c.Settings()}
	spec := c.SpecFor(seed)
	var own lab // the history of the run beside it must stand
	defer own.close()
	result, err := own.run(&spec)
	switch {
	case errors.Is(err, trial.ErrSpec):
		shown.Err = err
		return shown, nil
	case err != nil:
		return nil, failed("the simulator failed: control %s with seed %d: %v", c.Name, seed, err)
	}
	shown.Verdicts = result.Verdicts
	if c.Expect != nil {
		want := c.Expect()
		shown.Measured = want.Measured(&result)
	}
	if c.Share == nil || b.share == nil {
		return shown, nil
	}
	return shown, b.controlShare(c, shown, &own)
}

// controlShare runs a control that is judged by many runs, as often as that takes.
func (b *batch) controlShare(c *scenarios.Scenario, shown *report.Control, own *lab) error {
	shown.Share = &report.Share{Scenario: c, Expected: c.Share()}
	for seed := range uint64(shown.Share.Expected.Runs) {
		spec := c.SpecFor(seed)
		result, err := own.run(&spec)
		if err != nil {
			return failed("the simulator failed: control %s with seed %d: %v", c.Name, seed, err)
		}
		shown.Share.Runs++
		if shown.Share.Expected.Hit(&result) {
			shown.Share.Hits++
		}
	}
	return nil
}

// summary writes the page, and with more than one run how they all came out.
func (b *batch) summary() error {
	switch {
	case b.tally.Runs() == 0:
		return nil
	case b.format == json && b.share != nil:
		return wrote(b.share.JSON(b.out))
	case b.format == json:
		return nil
	}
	if b.runs > 1 {
		b.page.WriteByte('\n')
		if err := b.tally.Text(&b.page, b.layout()); err != nil {
			return err
		}
	}
	if b.share != nil {
		if err := b.share.Text(&b.page, b.layout()); err != nil {
			return err
		}
	}
	_, err := b.out.Write(b.page.Bytes())
	return wrote(err)
}

// outcome is the exit code of the runs: what is worst comes first.
func (b *batch) outcome() error {
	switch {
	case b.failures > 1:
		return failed("the simulator failed in %d of %d runs, first: %v", b.failures, b.runs, b.failure)
	case b.failures == 1:
		return failed("the simulator failed: %v", b.failure)
	case b.tally.Count(report.NotAsExpected) > 0, b.share != nil && b.share.Judgement() == report.NotAsExpected:
		return &exit{code: exitUnexpected}
	case b.tally.Count(report.Undecided) > 0:
		return &exit{code: exitUndecided}
	}
	return nil
}

// writeTrace writes h to a file.
func writeTrace(name string, h *history.History) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(history.Encode(f, h), f.Close())
}
