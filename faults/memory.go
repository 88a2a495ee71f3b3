package faults

import (
	"time"

	"locksim/history"
	"locksim/sim"
)

// Fill lets other data fill the memory of a server, for a while. What gives way, and
// whether the server still takes writes, is up to its own policy.
type Fill struct {
	Server string
	For    time.Duration // 0: to the end of the run
}

func (f Fill) String() string { return "fill " + f.Server + optional(f.For) }

func (f Fill) check(w *sim.World) error {
	if err := positive(f.For); err != nil {
		return err
	}
	_, err := find(w, f.Server, "server with a bound on its memory", isBounded)
	return err
}

func (f Fill) strike(w *sim.World, line string) {
	s := w.Machine(f.Server).Server()
	if s.Down() {
		record(w, history.Fault, f.Server, "", line, "was down")
		return
	}
	at := record(w, history.Fault, f.Server, "", line, "")
	// What had to go is recorded after the fault that drove it out.
	why, drain := s.Handler().(Bounded).Fill(s)
	w.History().Events[at].Why = why
	if f.For == 0 || drain == nil {
		return
	}
	w.In(f.For, func() {
		record(w, history.Heal, f.Server, "", line, why)
		drain()
	})
}

func isBounded(m *sim.Machine) bool {
	if m.Server() == nil {
		return false
	}
	_, ok := m.Server().Handler().(Bounded)
	return ok
}
