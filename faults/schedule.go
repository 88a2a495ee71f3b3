package faults

import (
	"fmt"
	"strings"
	"time"

	"locksim/history"
	"locksim/sim"
)

// Schedule is what goes wrong in a run, line by line.
type Schedule []Fault

// Fault is one line: an action at an anchor.
type Fault struct {
	Anchor Anchor
	Action Action
}

// Anchor is when a fault strikes: at the true instant At, or, when Process is
// set, at the Count-th step called Step of that process.
type Anchor struct {
	At      time.Duration
	Process string
	Step    string
	Count   int
	After   bool
}

// Action is one thing that goes wrong. Its String is its canonical text.
type Action interface {
	String() string
	// check says why w cannot have this fault, and what it can have.
	check(w *sim.World) error
	// strike does it. line is its text.
	strike(w *sim.World, line string)
}

// At is the anchor at a true instant.
func At(instant time.Duration) Anchor { return Anchor{At: instant} }

// Before is the anchor just before a step.
func Before(process, step string, count int) Anchor {
	return Anchor{Process: process, Step: step, Count: count}
}

// After is the anchor after a step, before the process's next one.
func After(process, step string, count int) Anchor {
	return Anchor{Process: process, Step: step, Count: count, After: true}
}

// String is the anchor as a schedule writes it: "at 500ms", "before c1.write#1".
func (a Anchor) String() string {
	if a.Process == "" {
		return "at " + a.At.String()
	}
	word := "before"
	if a.After {
		word = "after"
	}
	return fmt.Sprintf("%s %s.%s#%d", word, a.Process, a.Step, a.Count)
}

// String is the fault's line.
func (f Fault) String() string { return f.Anchor.String() + "  " + f.Action.String() }

// String is the schedule's canonical text, a line a fault. [Parse] reads it back.
func (s Schedule) String() string {
	var b strings.Builder
	for _, f := range s {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// FitError says which fault of a schedule a world cannot have, and which it can.
type FitError struct {
	Index int // in the schedule, from 0
	Fault Fault
	Err   error
}

func (e *FitError) Error() string { return fmt.Sprintf("%q: %v", e.Fault, e.Err) }

func (e *FitError) Unwrap() error { return e.Err }

// Apply puts the schedule into w, whose machines must all be there. The error, a
// *FitError, is about the first fault that w cannot have.
func (s Schedule) Apply(w *sim.World) error {
	for i, f := range s {
		if err := f.check(w); err != nil {
			return &FitError{i, f, err}
		}
	}
	for _, f := range s {
		f.apply(w)
	}
	return nil
}

func (f Fault) check(w *sim.World) error {
	if err := f.Anchor.check(w); err != nil {
		return err
	}
	return f.Action.check(w)
}

func (a Anchor) check(w *sim.World) error {
	switch {
	case a.Process == "" && a.At < 0:
		return fmt.Errorf("at %v: want an instant from 0 on", a.At)
	case a.Process == "":
		return nil
	case a.Step == "" || a.Count < 1:
		return fmt.Errorf("step %q, count %d: want a name, and 1 or more", a.Step, a.Count)
	}
	name, _, _ := strings.Cut(a.Process, "/")
	_, err := find(w, name, "process", isProcess)
	return err
}

// Unreached lists the instants of the schedule after end: their faults did not
// strike.
func (s Schedule) Unreached(end time.Duration) []string {
	var list []string
	for _, f := range s {
		if f.Anchor.Process == "" && f.Anchor.At > end {
			list = append(list, f.Anchor.String())
		}
	}
	return list
}

// positive is an error about a duration that is negative.
func positive(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("duration %v: want 0 or more", d)
	}
	return nil
}

func (f Fault) apply(w *sim.World) {
	line := f.Action.String()
	strike := func() { f.Action.strike(w, line) }
	switch a := f.Anchor; {
	case a.Process == "":
		w.At(a.At, strike)
	case a.After:
		w.After(a.Process, a.Step, a.Count, strike)
	default:
		w.Before(a.Process, a.Step, a.Count, strike)
	}
}

// record notes a fault, or its end, about a target.
func record(w *sim.World, kind history.Kind, target, peer, line, why string) int {
	return w.Record(history.Event{Kind: kind, Who: target, Peer: peer, Value: line, Why: why})
}

func isProcess(m *sim.Machine) bool { return m.Server() == nil }
func isServer(m *sim.Machine) bool  { return m.Server() != nil }
func isRemote(m *sim.Machine) bool  { return m.Server() == nil || !m.Server().Local() }
func anyMachine(*sim.Machine) bool  { return true }

func isRestarter(m *sim.Machine) bool {
	if m.Server() == nil {
		return false
	}
	_, ok := m.Server().Handler().(Restarter)
	return ok
}

func isPrimary(m *sim.Machine) bool      { return len(replicas(m)) > 0 }
func isRemoteServer(m *sim.Machine) bool { return isServer(m) && isRemote(m) }

// names lists the machines of w that are of a kind, for an error.
func names(w *sim.World, kind func(*sim.Machine) bool) string {
	var list []string
	for _, m := range w.Machines() {
		if kind(m) {
			list = append(list, m.Name())
		}
	}
	return strings.Join(list, ", ")
}

// find gets a machine of a kind, or says which there are.
func find(w *sim.World, name, what string, kind func(*sim.Machine) bool) (*sim.Machine, error) {
	if m := w.Machine(name); m != nil && kind(m) {
		return m, nil
	}
	if list := names(w, kind); list != "" {
		return nil, fmt.Errorf("no %s %q: want one of %s", what, name, list)
	}
	return nil, fmt.Errorf("there is no %s here, so no %q: what can go wrong here is %s", what, name, abilities(w))
}

// abilities lists the faults that w can have.
func abilities(w *sim.World) string {
	list := []string{"pause", "kill", "clock-step", "clock-rate"}
	if names(w, isRestarter) != "" {
		list = append(list, "restart")
	}
	if names(w, isPrimary) != "" {
		list = append(list, "failover")
	}
	if names(w, isBounded) != "" {
		list = append(list, "fill")
	}
	if names(w, keepsConns) != "" {
		list = append(list, "reset")
	}
	if names(w, isRemoteServer) != "" {
		list = append(list, "partition", "cut", "delay", "drop", "duplicate", "lose-reply")
	}
	return strings.Join(list, ", ")
}
