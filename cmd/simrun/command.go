package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/models/catalog"
	"locksim/report"
	"locksim/scenarios"
)

const long = `simrun runs a scenario on a deterministic simulator and judges it four times:
did the lock service keep its promise, did two clients believe at once that
they hold the lock, was there damage, was there progress.

Exit codes: 0 as expected (or nothing can be expected), 1 not as expected,
2 bad usage or input, 3 a verdict is unknown, 4 the simulator failed,
130 interrupted.`

// brief is what simrun alone says.
const brief = `simrun runs a distributed lock's scenario and says what went wrong, and who is to blame.

` + examples + `

simrun --help shows every flag.
`

const examples = `  simrun list
  simrun --scenario redlock-restart
  simrun --scenario gc-pause --set pause=9.5s --set fencing=on
  simrun --scenario gc-pause --runs 1000 --format json`

// options are the flags of a run.
type options struct {
	scenario string
	seed     uint64
	runs     int
	counted  bool // runs was given
	set      []string
	schedule string
	trace    string
	format   format
}

// root is the command line. Each call makes a fresh one.
func (a *app) root() *cobra.Command {
	o := options{format: text}
	c := &cobra.Command{
		Use:     "simrun --scenario NAME",
		Short:   "Run a scenario and judge it",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.stray(args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().NFlag() == 0 {
				_, err := io.WriteString(a.out, brief)
				return wrote(err)
			}
			o.counted = c.Flags().Changed("runs")
			return a.run(c.Context(), &o)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.scenario, "scenario", "", "the `NAME` of the scenario; simrun list shows all")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of the first run")
	f.IntVar(&o.runs, "runs", 1, "how many runs, each with the next seed; where a share of many is\nexpected, the default is as many as that takes")
	f.StringArrayVar(&o.set, "set", nil, "set a parameter: `KEY=VALUE`; may be repeated")
	f.StringVar(&o.schedule, "schedule", "", "a `FILE` with a schedule of faults in the place of the scenario's own, - for stdin")
	f.StringVar(&o.trace, "trace", "", "write the first run's history to `FILE` as JSON Lines")
	f.Var(&o.format, "format", "text or json")
	c.SetIn(a.in)
	c.SetOut(a.out)
	c.SetErr(a.err)
	c.SetFlagErrorFunc(flagError)
	c.CompletionOptions.HiddenDefaultCmd = true
	c.AddCommand(a.list(), a.argue(), a.report(), a.claims())
	return c
}

// list is the command that lists the scenarios.
func (a *app) list() *cobra.Command {
	shown, systems := text, false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios, or the lock systems",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("list %s: want nothing behind list but --systems and --format", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			switch {
			case systems && shown == json:
				return wrote(report.SystemsJSON(a.out, catalog.Systems()))
			case systems:
				return wrote(report.Systems(a.out, catalog.Systems(), a.layout()))
			case shown == json:
				return wrote(report.ListJSON(a.out, a.all()))
			}
			return wrote(report.List(a.out, a.all(), a.layout()))
		},
	}
	c.Flags().BoolVar(&systems, "systems", false, "list the lock systems instead: where their tokens come from, their clocks, what\nsurvives a restart, what they stand on")
	c.Flags().Var(&shown, "format", "text or json")
	return c
}

// stray is the error about a word that is not a flag.
func (a *app) stray(word string) error {
	for _, s := range a.all() {
		if s.Name == word {
			return usage("%s is a scenario: want simrun --scenario %s", word, word)
		}
	}
	return usage("no command %q: want list, or --scenario NAME", word)
}

// find makes the scenario called name, or names the nearest one.
func (a *app) find(name string) (*scenarios.Scenario, error) {
	if name == "" {
		return nil, usage("want --scenario NAME; simrun list shows all")
	}
	var best *scenarios.Scenario
	for _, s := range a.all() {
		if s.Name == name {
			return s, nil
		}
		if best == nil || levenshtein.ComputeDistance(name, s.Name) < levenshtein.ComputeDistance(name, best.Name) {
			best = s
		}
	}
	if best == nil {
		return nil, usage("no scenario %q: there is none at all", name)
	}
	return nil, usage("no scenario %q: the nearest is %s; simrun list shows all", name, best.Name)
}

// format is how the output looks; the value of a flag.
type format string

const (
	text format = "text"
	json format = "json"
)

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "FORMAT" }

// Set accepts text and json.
func (f *format) Set(word string) error {
	if !slices.Contains([]format{text, json}, format(word)) {
		return errors.New("want text or json")
	}
	*f = format(word)
	return nil
}

// flagError says what is wrong with a flag, and what is allowed.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return usage("no flag %q: want one of %s", dashed(unknown.GetSpecifiedName()), flags(c))
	case errors.As(err, &invalid):
		return usage("--%s %s: want %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag()))
	case errors.As(err, &missing):
		return usage("--%s: want %s behind it", missing.GetSpecifiedName(), wanted(missing.GetFlag()))
	}
	return usage("%v", err)
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// flags lists the flags of c.
func flags(c *cobra.Command) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return strings.Join(names, ", ")
}

// wanted is what a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "uint64":
		return "a whole number, 0 or more"
	case "int":
		return "a whole number, 1 or more"
	case "FORMAT":
		return "text or json"
	case "bool":
		return "true or false"
	}
	name, about := pflag.UnquoteUsage(f)
	return fmt.Sprintf("%s (%s)", name, about)
}
