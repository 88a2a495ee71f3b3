package claims_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/claims"
	"locksim/scenarios"
)

// update writes tests.txt anew.
var update = flag.Bool("update", false, "write tests.txt anew")

// shown are the scenarios that name each row.
func shown() map[string][]string {
	names := map[string][]string{}
	for _, s := range scenarios.All() {
		for _, id := range s.Claims {
			names[id] = append(names[id], s.Name)
		}
	}
	return names
}

// TestEveryRowIsShown by a scenario or a test, or weighed in REPORT.md; and what
// scenarios show are rows.
func TestEveryRowIsShown(t *testing.T) {
	t.Parallel()
	report, err := os.ReadFile("../REPORT.md")
	require.NoError(t, err)
	names := shown()
	for _, source := range claims.Sources() {
		for _, row := range source.Rows {
			weighed := claims.Weighed(row.ID)
			if weighed != "" {
				require.Contains(t, string(report), "\n## "+weighed+"\n", row.ID)
			}
			require.True(t, len(names[row.ID])+len(claims.Tests(row.ID)) > 0 || weighed != "", "nothing shows %s: %s", row.ID, row.Says)
			delete(names, row.ID)
		}
	}
	require.Empty(t, names, "scenarios name rows that do not exist")
}

// TestTheLedgerIsWhole: as many rows as the sources have, numbered from 1 without a
// gap.
func TestTheLedgerIsWhole(t *testing.T) {
	t.Parallel()
	want := map[string]int{"S": 74, "T": 26, "K": 14, "A": 11, "R": 9, "E": 5, "J": 4, "H": 22}
	for _, source := range claims.Sources() {
		require.Len(t, source.Rows, want[source.Letter], source.Title)
		for i, row := range source.Rows {
			require.Equal(t, fmt.Sprint(source.Letter, i+1), row.ID)
		}
		delete(want, source.Letter)
	}
	require.Empty(t, want)
}

// TestTestsThatNameRows holds tests.txt against the tests themselves.
func TestTestsThatNameRows(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	naming := naming(t)
	for _, source := range claims.Sources() {
		for _, row := range source.Rows {
			for _, test := range naming[row.ID] {
				fmt.Fprintln(&b, row.ID, test)
			}
			delete(naming, row.ID)
		}
	}
	require.Empty(t, naming, "tests name rows that do not exist")
	if *update {
		require.NoError(t, os.WriteFile("tests.txt", []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile("tests.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "write it anew with: go test ./claims -update")
}

// naming are the tests that name each row. Scenarios name theirs themselves, and what
// is tested above them is how they are shown.
func naming(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	for _, room := range []string{"check", "clock", "faults", "history", "models", "sim", "trial"} {
		require.NoError(t, filepath.WalkDir("../"+room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
					continue
				}
				for _, id := range rows(f) {
					tests[id] = append(tests[id], folder+"."+f.Name.Name)
				}
			}
			return nil
		}))
	}
	return tests
}

var (
	inText = regexp.MustCompile(`\b[STKAREJH][1-9][0-9]?\b`)
	atHead = regexp.MustCompile("^[\"`]((?:[STKAREJH][1-9][0-9]? ?)+)\\b")
)

// rows are those that a test names: in its comment, in its own name, or at the head
// of a case's name.
func rows(f *ast.FuncDecl) []string {
	ids := inText.FindAllString(f.Doc.Text(), -1)
	if id := regexp.MustCompile(`^Test([STKAREJH][1-9][0-9]?)`).FindStringSubmatch(f.Name.Name); id != nil {
		ids = append(ids, id[1])
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if head := atHead.FindStringSubmatch(text.Value); head != nil {
				ids = append(ids, inText.FindAllString(head[1], -1)...)
			}
		}
		return true
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}
