package main

import (
	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// matrix runs every lock under every fault: once with a store that checks nothing,
// for who believes, and then with each check, for the data.
func (a *app) matrix() (*report.Matrix, error) {
	m := &report.Matrix{Faults: scenarios.Faults()}
	runner := trial.NewRunner()
	defer runner.Close()
	for _, row := range scenarios.Rows() {
		r := report.MatrixRow{Row: row}
		r.Unchecked.Found, r.ByValue.Found = scenarios.Holds, scenarios.Holds
		if r.ByToken.Found = scenarios.Nothing; row.Tokens {
			r.ByToken.Found = scenarios.Holds
		}
		for _, fault := range m.Faults {
			plain, err := a.cell(runner, row.Name, fault, "none")
			if err != nil {
				return nil, err
			}
			belief := report.Cell{Found: scenarios.Nothing}
			if !row.Unlocked {
				belief = report.BeliefCell(&plain.Verdicts)
			}
			r.Cells = append(r.Cells, belief)
			r.Unchecked.Suffer(&plain.Verdicts)
			if err := a.suffer(runner, &r, fault); err != nil {
				return nil, err
			}
		}
		m.Rows = append(m.Rows, r)
	}
	return m, nil
}

// suffer adds what a fault does to the data.
func (a *app) suffer(runner *trial.Runner, r *report.MatrixRow, fault string) error {
	by, err := a.cell(runner, r.Name, fault, "cas")
	if err != nil {
		return err
	}
	r.ByValue.Suffer(&by.Verdicts)
	if !r.Tokens {
		return nil
	}
	if by, err = a.cell(runner, r.Name, fault, "fence"); err != nil {
		return err
	}
	r.ByToken.Suffer(&by.Verdicts)
	return nil
}

// cell runs one cell, and fails when it does not come out as expected.
func (a *app) cell(runner *trial.Runner, lock, fault, store string) (trial.Result, error) {
	s := scenarios.Find("matrix")
	for _, set := range [][2]string{{"lock", lock}, {"fault", fault}, {"store", store}} {
		if err := s.Set(set[0], set[1]); err != nil {
			return trial.Result{}, failed("%v", err)
		}
	}
	spec := s.SpecFor(0)
	result, err := runner.Run(&spec)
	if err != nil {
		return result, a.blunder(s, err)
	}
	want := s.Expect()
	if wrong := want.Differences(&result); len(wrong) > 0 {
		return result, &exit{exitUnexpected, s.Name + ": not as expected: " + wrong[0]}
	}
	return result, nil
}
