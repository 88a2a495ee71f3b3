package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// Pause stops a machine, or the first thread of a process, for a while.
type Pause struct {
	Machine string
	Kind    sim.Pause
	For     time.Duration
}

func (f Pause) String() string { return fmt.Sprintf("pause %s %s %s", f.Machine, f.Kind, f.For) }

func (f Pause) check(w *sim.World) error {
	m, err := find(w, f.Machine, "machine", anyMachine)
	if err != nil {
		return err
	}
	if m.Server() != nil && f.Kind == sim.Thread {
		return fmt.Errorf("server %s has no threads of its own: want gc, loop or suspend", f.Machine)
	}
	if f.Kind > sim.Suspend {
		return fmt.Errorf("kind of pause %d: there is none", f.Kind)
	}
	return positive(f.For)
}

func (f Pause) strike(w *sim.World, line string) {
	m := w.Machine(f.Machine)
	if m.Dead() {
		record(w, history.Fault, f.Machine, "", line, "had ended before")
		return
	}
	why := "paused (" + f.Kind.String() + ")"
	record(w, history.Fault, f.Machine, "", line, why)
	// The end is noted just before the machine goes on; not when it died meanwhile.
	w.In(f.For, func() {
		switch n := m.Pauses(); {
		case m.Dead() || n == 0:
		case n == 1:
			record(w, history.Heal, f.Machine, "", line, why)
		default:
			record(w, history.Heal, f.Machine, "", line, "still paused")
		}
	})
	m.Pause(f.Kind, f.For)
}

// KillProcess ends a process.
type KillProcess struct{ Process string }

func (f KillProcess) String() string { return "kill " + f.Process }

func (f KillProcess) check(w *sim.World) error {
	_, err := find(w, f.Process, "process", isProcess)
	return err
}

func (f KillProcess) strike(w *sim.World, line string) {
	m := w.Machine(f.Process)
	if m.Dead() {
		record(w, history.Fault, f.Process, "", line, "had ended before")
		return
	}
	record(w, history.Fault, f.Process, "", line, "killed")
	w.Record(history.Event{Kind: history.End, Who: f.Process, Why: history.DoubtDeath})
	m.Kill()
}

// ClockStep moves a machine's wall clock.
type ClockStep struct {
	Machine string
	By      time.Duration
}

func (f ClockStep) String() string { return fmt.Sprintf("clock-step %s %s", f.Machine, signed(f.By)) }

// MaxStep is how far a clock can be stepped at once.
const MaxStep = 100_000 * time.Hour

func (f ClockStep) check(w *sim.World) error {
	if f.By < -MaxStep || f.By > MaxStep {
		return fmt.Errorf("step %v: want at most 100000h either way", f.By)
	}
	_, err := find(w, f.Machine, "machine", anyMachine)
	return err
}

func (f ClockStep) strike(w *sim.World, line string) {
	record(w, history.Fault, f.Machine, "", line, "stepped "+signed(f.By))
	w.Machine(f.Machine).StepClock(f.By)
}

// ClockRate lets a machine's clocks run fast or slow.
type ClockRate struct {
	Machine string
	Rate    clock.Rate
}

func (f ClockRate) String() string { return fmt.Sprintf("clock-rate %s %s", f.Machine, rate(f.Rate)) }

func (f ClockRate) check(w *sim.World) error {
	if f.Rate < clock.MinRate || f.Rate > clock.MaxRate {
		return fmt.Errorf("rate %s: want -90%% to +900%%", rate(f.Rate))
	}
	_, err := find(w, f.Machine, "machine", anyMachine)
	return err
}

func (f ClockRate) strike(w *sim.World, line string) {
	record(w, history.Fault, f.Machine, "", line, "ran at "+rate(f.Rate))
	w.Machine(f.Machine).SetClockRate(f.Rate)
}

// Restart crashes a server and brings it back after For: true time, or, with Wall,
// time as the server's own wall clock counts it, which a step of that clock cuts
// short or draws out.
type Restart struct {
	Server string
	How    Crash
	For    time.Duration // 0: it is back at once
	Wall   bool
}

func (f Restart) String() string {
	by := ""
	if f.Wall && f.For > 0 {
		by = " wall"
	}
	return fmt.Sprintf("restart %s %s%s%s", f.Server, f.How, optional(f.For), by)
}

func (f Restart) check(w *sim.World) error {
	if err := positive(f.For); err != nil {
		return err
	}
	_, err := find(w, f.Server, "server that can restart", isRestarter)
	return err
}

func (f Restart) strike(w *sim.World, line string) {
	s := w.Machine(f.Server).Server()
	if s.Down() {
		record(w, history.Fault, f.Server, "", line, "was down already")
		return
	}
	at := record(w, history.Fault, f.Server, "", line, "")
	s.Crash(f.How == PowerLoss)
	// What was lost is recorded after the fault that lost it.
	w.History().Events[at].Why = s.Handler().(Restarter).Crash(s, f.How)
	if f.For == 0 {
		start(s)
		return
	}
	back := func() {
		at := record(w, history.Heal, f.Server, "", line, "")
		w.History().Events[at].Why = start(s)
	}
	if f.Wall {
		s.After(clock.Wall, f.For, back)
		return
	}
	w.In(f.For, back)
}

// start brings a restarted server back.
func start(s *sim.Server) string {
	s.Start()
	return s.Handler().(Restarter).Restarted(s)
}

// Failover kills a primary and lets a replica take its place after After.
type Failover struct {
	Primary, Replica string
	After            time.Duration
}

func (f Failover) String() string {
	return fmt.Sprintf("failover %s>%s%s", f.Primary, f.Replica, optional(f.After))
}

func (f Failover) check(w *sim.World) error {
	if err := positive(f.After); err != nil {
		return err
	}
	m, err := find(w, f.Primary, "primary with a replica", isPrimary)
	if err != nil {
		return err
	}
	list := replicas(m)
	if slices.Contains(list, f.Replica) {
		return nil
	}
	return fmt.Errorf("no replica %q of %s: want one of %s", f.Replica, f.Primary, strings.Join(list, ", "))
}

func replicas(m *sim.Machine) []string {
	if m.Server() == nil {
		return nil
	}
	r, ok := m.Server().Handler().(Replicated)
	if !ok {
		return nil
	}
	return r.Replicas(m.Server())
}

func (f Failover) strike(w *sim.World, line string) {
	s, replica := w.Machine(f.Primary).Server(), w.Machine(f.Replica).Server()
	if s.Down() {
		record(w, history.Fault, f.Primary, f.Replica, line, "was down already")
		return
	}
	record(w, history.Fault, f.Primary, f.Replica, line, "died")
	s.Crash(true)
	promote := func() {
		at := record(w, history.Fault, f.Replica, f.Primary, line, "")
		w.History().Events[at].Why = s.Handler().(Replicated).Promote(s, replica)
	}
	if f.After == 0 {
		promote()
		return
	}
	w.In(f.After, promote)
}
