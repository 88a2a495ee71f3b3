package main

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// argue is the command that shows the argument, or one pair of it.
func (a *app) argue() *cobra.Command {
	return &cobra.Command{
		Use:   "argue [N]",
		Short: "Show the argument on a screen, or open pair N with its runs",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			pairs := scenarios.Pairs()
			only := 0
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 1 || n > len(pairs) || len(args) > 1 {
					return usage("argue %s: want one number from 1 to %d, or nothing", strings.Join(args, " "), len(pairs))
				}
				only = n
			}
			points, err := a.points(pairs, only)
			switch {
			case err != nil:
				return err
			case only > 0:
				err = report.Open(a.out, &points[0], a.layout())
			default:
				err = report.Argue(a.out, points, a.layout())
			}
			if err != nil {
				return wrote(err)
			}
			return held(points)
		},
	}
}

// reportFile is where the report goes.
const reportFile = "REPORT.md"

// report is the command that writes REPORT.md.
func (a *app) report() *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "report",
		Short: "Write REPORT.md: the argument with all that was run for it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("report %s: want nothing behind report but --check", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			points, err := a.points(scenarios.Pairs(), 0)
			if err != nil {
				return err
			}
			matrix, err := a.matrix()
			if err != nil {
				return err
			}
			var page bytes.Buffer
			if err := report.Markdown(&page, points, matrix); err != nil {
				return wrote(err)
			}
			if check {
				old, err := os.ReadFile(reportFile)
				if err != nil || !bytes.Equal(old, page.Bytes()) {
					return &exit{exitUnexpected, reportFile + " is stale: write it anew with simrun report, and read what changed"}
				}
			} else if err := os.WriteFile(reportFile, page.Bytes(), 0o644); err != nil {
				return failed("%v", err)
			}
			return held(points)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing, but fail when "+reportFile+" in this folder is not what would be written")
	return c
}

// held is an error when a run did not come out as expected.
func held(points []report.Point) error {
	for i := range points {
		for k := range points[i].Runs {
			if !points[i].Runs[k].AsExpected() {
				return &exit{code: exitUnexpected}
			}
		}
	}
	return nil
}

// points runs every scenario of the pairs, or of one of them.
func (a *app) points(pairs []scenarios.Pair, only int) ([]report.Point, error) {
	var points []report.Point
	for i, pair := range pairs {
		if only > 0 && only != i+1 {
			continue
		}
		t := report.Point{Number: i + 1, Pair: pair}
		for _, s := range a.all() {
			if s.Pair != pair.ID {
				continue
			}
			e, err := a.evidence(s)
			if err != nil {
				return nil, err
			}
			t.Runs = append(t.Runs, e)
		}
		points = append(points, t)
	}
	return points, nil
}

// evidence runs a scenario: once, or as often as its share takes.
func (a *app) evidence(s *scenarios.Scenario) (report.Evidence, error) {
	b := &batch{app: a, options: &options{runs: 1, format: text}, scenario: s}
	defer b.lab.close()
	b.expect()
	spec := s.SpecFor(0)
	result, err := b.lab.run(&spec)
	if err != nil {
		return report.Evidence{}, a.blunder(s, err)
	}
	var e report.Evidence
	var line bytes.Buffer
	if err := report.Timeline(&line, result.History, report.Options{}); err != nil {
		return e, err
	}
	e.Timeline = line.String()
	first := result // the runner's next run overwrites its history alone
	e.Run = &report.Run{Scenario: s, Result: &first, Expected: b.expected, Measured: measured(b.expected, &first)}
	if e.Run.Control, err = b.control(0); err != nil {
		return e, err
	}
	if e.Also, err = a.variants(s); err != nil {
		return e, err
	}
	e.Share = b.share
	return e, a.many(b)
}

// variants runs what is shown beside a scenario.
func (a *app) variants(s *scenarios.Scenario) ([]*report.Run, error) {
	var runs []*report.Run
	for _, settings := range s.Also {
		v, err := s.MakeVariant(settings)
		if err != nil {
			return nil, failed("%v", err)
		}
		result, err := trial.Run(v.SpecFor(0))
		if err != nil {
			return nil, a.blunder(v, err)
		}
		want := v.Expect()
		runs = append(runs, &report.Run{Scenario: v, Result: &result, Expected: &want, Measured: measured(&want, &result)})
	}
	return runs, nil
}

// measured is what came out of a run besides the verdicts, where that is expected.
func measured(e *scenarios.Expectation, r *trial.Result) []scenarios.Figure {
	if e == nil {
		return nil
	}
	return e.Measured(r)
}

// many runs a scenario as often as its share takes.
func (a *app) many(b *batch) error {
	if b.share == nil {
		return nil
	}
	for seed := range b.runs {
		spec := b.scenario.SpecFor(uint64(seed))
		result, err := b.lab.run(&spec)
		if err != nil {
			return a.blunder(b.scenario, err)
		}
		b.tick(&result)
	}
	return nil
}

// blunder is the error about a scenario of ours that cannot be run.
func (a *app) blunder(s *scenarios.Scenario, err error) error {
	if errors.Is(err, trial.ErrSpec) {
		return failed("%s: %v", s.Name, err)
	}
	return failed("the simulator failed: %s: %v", s.Name, err)
}
