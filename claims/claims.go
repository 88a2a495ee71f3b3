// Package claims is the ledger: every technical claim that locksim set out to show,
// row by row, in our own words.
//
// The rows come from what people have said and written of distributed locks: two
// articles that retell the argument (S, T), the two essays that it began with (K, A),
// the documentation of Redis and of etcd (R, E), Jepsen's analysis of etcd (J), and
// failures that were reported in public (H). A scenario names the rows that it shows,
// and so does a test, in its doc comment or at the head of a case's name; Tests lists
// the latter. A row that is an opinion names the heading of REPORT.md under which it
// is weighed.
//
// A row that nothing shows fails the tests, as does a name of what does not exist.
package claims

import (
	_ "embed"
	"strings"
)

// Source is where rows come from.
type Source struct {
	// Letter begins the IDs of its rows.
	Letter string
	Title  string
	Rows   []Row
}

// Row is one claim.
type Row struct {
	// ID is what scenarios and tests call it by, such as "S7".
	ID string
	// Says is the claim.
	Says string
}

// Sources is the ledger.
func Sources() []Source {
	return []Source{article(), tran(), kleppmann(), antirez(), redis(), etcd(), jepsen(), field()}
}

// Weighed is the heading of REPORT.md under which the row is weighed, where it is an
// opinion: a run can speak for it or against it, and not show that it is right. Else
// it is empty.
func Weighed(id string) string {
	switch id {
	case "K2", "T19", // five nodes are too many
		"T20", "T23", // no Redlock; Redlock
		"A9",         // always measure
		"K14", "T21", // consensus, and a fence
		"A11", "K13", // Jepsen
		"R9", "S42", "T18": // what Redis says
		return "What is a matter of opinion"
	}
	return ""
}

//go:embed tests.txt
var named string

// Tests are the tests that name the row, each as the package's folder and the test's
// name: "models/sql.TestDocuments".
func Tests(id string) []string {
	var tests []string
	for line := range strings.Lines(named) {
		if row, test, _ := strings.Cut(strings.TrimSpace(line), " "); row == id {
			tests = append(tests, test)
		}
	}
	return tests
}
