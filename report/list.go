package report

import (
	"io"
	"strings"

	"locksim/scenarios"
)

// List writes a line for each scenario: its name, then its claim, then the rows of
// the claims ledger that it shows.
func List(w io.Writer, all []*scenarios.Scenario, o Options) error {
	p := newPage(w, o)
	width := 0
	for _, s := range all {
		width = max(width, cells(s.Name))
	}
	for _, s := range all {
		p.line(p.in(bold, pad(s.Name, width)), "  ", s.Claim, p.in(dim, " ["+strings.Join(s.Claims, " ")+"]"))
	}
	return p.err
}

// entry is a scenario in the list, as JSON.
type entry struct {
	Name       string      `json:"name"`
	Claim      string      `json:"claim"`
	Claims     []string    `json:"claims"`
	Parameters []parameter `json:"parameters"`
	Control    *control    `json:"control"`
}

type parameter struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Allowed string `json:"allowed"`
	About   string `json:"about"`
}

// control is the scenario that is run beside another, and what is set in it.
type control struct {
	Scenario string   `json:"scenario"`
	Set      []string `json:"set"`
}

// ListJSON writes a line for each scenario: an object with its name, its claim,
// the claims of the ledger, its parameters, and its control, or null.
func ListJSON(w io.Writer, all []*scenarios.Scenario) error {
	for _, s := range all {
		e := entry{Name: s.Name, Claim: s.Claim, Claims: list(s.Claims), Parameters: []parameter{}}
		for i := range s.Params {
			q := &s.Params[i]
			e.Parameters = append(e.Parameters, parameter{q.Name, q.Default, q.Allowed, q.About})
		}
		if s.Control != nil {
			c := s.Control()
			e.Control = &control{c.Name, list(c.Set)}
		}
		if err := writeLine(w, e); err != nil {
			return err
		}
	}
	return nil
}
