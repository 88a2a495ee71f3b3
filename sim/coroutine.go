package sim

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// coroutine runs the bodies of processes, one after another: it is kept when a
// process ends, because making one costs ten times a switch.
type coroutine struct {
	p     *Process
	next  func() (struct{}, bool)
	halt  func()
	yield func(struct{}) bool
	// lost: the process left its goroutine by runtime.Goexit; what is left of
	// the coroutine can only be given up.
	lost bool
}

// killed unwinds the stack of a dead process. Only this package throws it.
type killed struct{}

func (w *World) coroutine(p *Process) *coroutine {
	if n := len(w.idle); n > 0 {
		c := w.idle[n-1]
		w.idle = w.idle[:n-1]
		c.p = p
		return c
	}
	c := &coroutine{p: p}
	c.next, c.halt = iter.Pull(c.loop)
	return c
}

func (c *coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	over := false
	defer func() {
		if over {
			return
		}
		// Goexit would end the kernel's goroutine too, as soon as this one is done; so
		// it never is, until stop gives it up on a goroutine of its own.
		c.p.w.fail(c.p, "called runtime.Goexit (a FailNow of a test?)")
		c.lost = true
		c.p.end()
		c.yield(struct{}{})
	}()
	for {
		c.run()
		if !yield(struct{}{}) {
			over = true
			return
		}
	}
}

// run runs one process to its end, whatever way it ends.
func (c *coroutine) run() {
	p, returned := c.p, false
	defer func() {
		if returned {
			return
		}
		switch r := recover(); r.(type) {
		case killed:
		case nil: // Goexit, which no defer can stop: loop sees to it
		default:
			p.w.fail(p, fmt.Sprintf("panicked: %v\n%s", r, debug.Stack()))
		}
		p.end()
	}()
	p.body(p)
	p.passed()
	returned = true
	p.end()
}

// stop gives the coroutine up.
func (c *coroutine) stop() {
	if !c.lost {
		c.halt()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.halt()
	}()
	<-done
}
