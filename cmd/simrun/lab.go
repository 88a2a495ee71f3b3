package main

import (
	"fmt"
	"runtime/debug"

	"locksim/trial"
)

// lab runs specs, and outlives a simulator that panics. The zero value is ready;
// it is to be closed.
type lab struct{ runner *trial.Runner }

// run runs spec. A panic becomes an error with its stack. The result's history
// stands until the next run.
func (l *lab) run(spec *trial.Spec) (result trial.Result, err error) {
	if l.runner == nil {
		l.runner = trial.NewRunner()
	}
	defer func() {
		if r := recover(); r != nil {
			// Its world may be broken: the next run gets another.
			l.runner = nil
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return l.runner.Run(spec)
}

func (l *lab) close() {
	if l.runner != nil {
		l.runner.Close()
	}
}
