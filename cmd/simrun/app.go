package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"locksim/report"
	"locksim/scenarios"
)

// app is the command line with all that it touches.
type app struct {
	// all makes every scenario, afresh each time.
	all      func() []*scenarios.Scenario
	in       io.Reader
	out, err io.Writer
}

// The exit codes besides 0.
const (
	exitUnexpected  = 1
	exitUsage       = 2
	exitUndecided   = 3
	exitFailed      = 4
	exitInterrupted = 130
)

// exit is an error that ends the program with a code. Without a message, all has
// been said.
type exit struct {
	code    int
	message string
}

func (e *exit) Error() string { return e.message }

// usage is an error in what the user has given.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Sprintf(format, args...)}
}

// failed is an error that is not the user's.
func failed(format string, args ...any) error {
	return &exit{exitFailed, fmt.Sprintf(format, args...)}
}

// main does what args want and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	e := &exit{exitUsage, err.Error()} // what cobra itself refuses
	errors.As(err, &e)
	if e.message != "" {
		fmt.Fprintf(a.err, "simrun: %s\n", e.message)
	}
	return e.code
}

// layout is how texts are laid out on the standard output: in colour only on a
// terminal, and not where NO_COLOR is set.
func (a *app) layout() report.Options {
	fd, ok := terminal(a.out)
	if !ok {
		return report.Options{}
	}
	o := report.Options{Color: os.Getenv("NO_COLOR") == "", Width: report.DefaultWidth}
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		o.Width = min(o.Width, width)
	}
	return o
}

// terminal tells whether w is a terminal.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// wrote makes an error of the program's from one of writing.
func wrote(err error) error {
	if err == nil {
		return nil
	}
	return failed("writing the output: %v", err)
}
