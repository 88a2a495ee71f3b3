package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/claims"
	"locksim/scenarios"
)

// proof is a row of the ledger with what shows it.
type proof struct {
	ID        string   `json:"id"`
	Says      string   `json:"says"`
	Source    string   `json:"source"`
	Scenarios []string `json:"scenarios"`
	Tests     []string `json:"tests"`
	// Weighed is the heading of REPORT.md that weighs an opinion; left out for a fact.
	Weighed string `json:"weighed,omitempty"`
}

// proofs are the rows called ids, or all, in the order of the ledger.
func proofs(all []*scenarios.Scenario, ids []string) []proof {
	var list []proof
	for _, source := range claims.Sources() {
		for _, row := range source.Rows {
			if len(ids) > 0 && !slices.Contains(ids, row.ID) {
				continue
			}
			p := proof{row.ID, row.Says, source.Title, []string{}, claims.Tests(row.ID), claims.Weighed(row.ID)}
			for _, s := range all {
				if slices.Contains(s.Claims, row.ID) {
					p.Scenarios = append(p.Scenarios, s.Name)
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// Claims writes rows of the claims ledger, all where ids is empty: each with its
// claim, and below it the scenarios and the tests that show it, or the heading of
// REPORT.md that weighs it. It returns how many of them nothing shows.
func Claims(w io.Writer, all []*scenarios.Scenario, ids []string, o Options) (gaps int, err error) {
	p := newPage(w, o)
	source := ""
	for _, row := range proofs(all, ids) {
		if row.Source != source {
			if source != "" {
				p.line()
			}
			source = row.Source
			p.paragraph(bold, source)
		}
		p.entry(row.ID, noPaint, "", row.Says)
		for _, shown := range []struct {
			how string
			by  []string
		}{
			{"run", row.Scenarios},
			{"test", row.Tests},
			{"weighed", headings(row.Weighed)},
		} {
			if len(shown.by) > 0 {
				p.entry("  "+shown.how, dim, strings.Join(shown.by, " "), "")
			}
		}
		if row.gap() {
			gaps++
			p.entry("", red, "NOTHING", " shows it")
		}
	}
	return gaps, p.err
}

// gap tells whether nothing shows the row and nothing weighs it.
func (p *proof) gap() bool { return len(p.Scenarios)+len(p.Tests) == 0 && p.Weighed == "" }

// headings is a heading of REPORT.md as a list: none for an empty one.
func headings(heading string) []string {
	if heading == "" {
		return nil
	}
	return []string{fmt.Sprintf("REPORT.md, %q", heading)}
}

// ClaimsJSON writes a line for each of the rows that Claims writes.
func ClaimsJSON(w io.Writer, all []*scenarios.Scenario, ids []string) (gaps int, err error) {
	for _, row := range proofs(all, ids) {
		if row.gap() {
			gaps++
		}
		row.Tests = list(row.Tests)
		if err := writeLine(w, row); err != nil {
			return gaps, err
		}
	}
	return gaps, nil
}
