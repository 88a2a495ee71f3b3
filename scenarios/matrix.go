package scenarios

import (
	"slices"
	"time"

	"locksim/models"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// Row is a lock in the matrix of the argument: every lock under the same faults,
// one at a time.
type Row struct {
	// Name is the value of the scenario matrix's parameter lock.
	Name string
	// Predicted is, for each of [Faults], what we expected before anything ran.
	Predicted []Mark
	// Fenced and Compared are what we expected of the data under all of these faults,
	// with a store that checks the lock's token, or its random value.
	Fenced, Compared Mark
	// Tokens: it has a token.
	Tokens bool
	// Unlocked: it is no lock, and nobody believes anything.
	Unlocked bool
}

// Mark is what a lock does under a fault.
type Mark string

// The marks.
const (
	Holds   Mark = "holds"  // never two holders; of data: no damage
	Breaks  Mark = "breaks" // two holders; of data: damage
	Nothing Mark = "–"      // does not apply
)

// Faults are the columns of the matrix: values of the scenario matrix's parameter
// fault.
func Faults() []string {
	return []string{"pause-after", "pause-acquire", "server-jump", "drift", "drift-ppm", "restart", "restart-jump", "failover"}
}

// Rows are the rows of the matrix, with what was predicted.
func Rows() []Row {
	var rows []Row
	for _, c := range contenders() {
		rows = append(rows, c.Row)
	}
	return rows
}

// The attack: c1 asks at 0, and works until it writes to doc, when c2 has written if
// it got the lock; then it works on. c2 makes one attempt, when the fault has done
// what it can, or waits for the lock; it writes soon, and works on. A server that
// restarts is away for a second.
const (
	brief   = 100 * time.Millisecond
	resting = 20 * time.Second
	paused  = 14 * time.Second
	faultAt = 500 * time.Millisecond
	early   = 2 * time.Second
	briefly = "power-loss 1s"
)

// writes is what c1's clock shows when it writes, if it is not paused.
func writes(fault string) time.Duration {
	switch fault {
	case "pause-after", "pause-acquire":
		return time.Second
	case "drift":
		return 9500 * time.Millisecond // 10.555... s in truth
	case "drift-ppm":
		return 10200 * time.Millisecond
	}
	return 3 * time.Second
}

// comes is when c2 asks: after the keys of a paused or drifting c1 have expired,
// or once the server has had its accident.
func comes(fault string) time.Duration {
	switch fault {
	case "pause-after", "pause-acquire":
		return 10500 * time.Millisecond
	case "drift":
		return 9500 * time.Millisecond
	case "drift-ppm":
		return 9998 * time.Millisecond
	}
	return early
}

// matrix is section 3b of the ledger: every lock under every fault, alone.
func matrix() *Scenario {
	rows := contenders()
	var names []string
	for _, c := range rows {
		names = append(names, c.Name)
	}
	lock, fault, store := names[0], "pause-after", "none"
	s := &Scenario{
		Name:   "matrix",
		Claim:  "every lock under every fault, one at a time: which of them let a second holder in",
		Claims: []string{"S43", "S41", "K13", "A1", "A9"},
	}
	s.Params = []Param{
		choice("lock", &lock, names, "which lock, or none"),
		choice("fault", &fault, append([]string{"none"}, Faults()...), "what goes wrong"),
		choice("store", &store, []string{"none", "fence", "cas"}, "what the store checks: nothing, a token, or the lock's random value"),
	}
	row := func() contender { return rows[slices.Index(names, lock)] }
	s.Spec = func() trial.Spec {
		c := row()
		docs := map[string]resource.Store{"none": resource.Plain("doc"), "fence": resource.Fenced("doc"), "cas": resource.CompareAndSet("doc")}
		return trial.Spec{
			System: c.system(store),
			Cast: trial.Cast{
				Resources: []models.Resource{docs[store]},
				Clients:   c.clients(fault, store),
			},
			Schedule: c.attack(fault),
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	s.Expect = func() Expectation {
		c := row()
		return c.expect(fault, store)
	}
	s.Control = func() Control {
		c := row()
		return Control{"matrix", c.control(fault, store)}
	}
	return s
}
