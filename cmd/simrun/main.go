// Command simrun runs the scenarios and shows what comes out.
//
//	simrun list
//	simrun --scenario redlock-restart
//	simrun --scenario gc-pause --set pause=9.5s --runs 100 --format json
//
// Exit codes, the first that applies:
//
//	130  interrupted (Ctrl-C): what was done by then has been printed
//	  2  bad usage or input, or a fault that the system cannot have
//	  4  the simulator itself failed
//	  1  a run was not as expected
//	  3  a verdict is unknown
//	  0  every run was as expected, or nothing can be expected
package main

import (
	"context"
	"os"
	"os/signal"

	"locksim/scenarios"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// The first Ctrl-C lets the run at hand come to its end, the second does not.
	context.AfterFunc(ctx, stop)
	a := &app{all: scenarios.All, in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(a.main(ctx, os.Args[1:]))
}
