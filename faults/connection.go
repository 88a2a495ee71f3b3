package faults

import (
	"fmt"

	"locksim/history"
	"locksim/sim"
)

// Reset cuts the connections that a process has to a server, at both ends: the
// server knows at once, the process when it next uses one.
type Reset struct{ Process, Server string }

func (f Reset) String() string { return fmt.Sprintf("reset %s %s", f.Process, f.Server) }

func (f Reset) check(w *sim.World) error {
	if _, err := find(w, f.Process, "process", isProcess); err != nil {
		return err
	}
	_, err := find(w, f.Server, "server that keeps connections", keepsConns)
	return err
}

func (f Reset) strike(w *sim.World, line string) {
	at := record(w, history.Fault, f.Process, f.Server, line, "")
	why := "had no connection"
	if w.ResetConns(f.Process, f.Server) > 0 {
		why = "lost its connection"
	}
	w.History().Events[at].Why = why
}

func keepsConns(m *sim.Machine) bool {
	if m.Server() == nil {
		return false
	}
	_, ok := m.Server().Handler().(sim.ConnHandler)
	return ok
}
