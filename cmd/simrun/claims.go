package main

import (
	"slices"

	"github.com/spf13/cobra"

	"locksim/claims"
	"locksim/report"
)

// claims is the command that shows the claims ledger, and what shows each row.
func (a *app) claims() *cobra.Command {
	shown := text
	c := &cobra.Command{
		Use:   "claims [ID...]",
		Short: "List every claim, or those called ID, with the scenarios and tests that show it",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, ids []string) error {
			for _, id := range ids {
				if !row(id) {
					return usage("claims %s: want IDs of rows such as S7 or H14, or nothing for all", id)
				}
			}
			write := func() (int, error) { return report.Claims(a.out, a.all(), ids, a.layout()) }
			if shown == json {
				write = func() (int, error) { return report.ClaimsJSON(a.out, a.all(), ids) }
			}
			gaps, err := write()
			if err == nil && gaps > 0 {
				return &exit{code: exitUnexpected}
			}
			return wrote(err)
		},
	}
	c.Flags().Var(&shown, "format", "text or json")
	return c
}

// row tells whether the ledger has a row called id.
func row(id string) bool {
	for _, source := range claims.Sources() {
		if slices.ContainsFunc(source.Rows, func(r claims.Row) bool { return r.ID == id }) {
			return true
		}
	}
	return false
}
