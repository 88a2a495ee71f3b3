package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
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
	// Failover: it has a replica that can take over. Tokens: it has a token.
	Failover, Tokens bool
}

// Applies tells whether the lock can meet the fault at all.
func (r *Row) Applies(fault string) bool { return fault != "failover" || r.Failover }

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

// The attack: c1 asks at 0, works, writes after a second, and works on; c2 makes
// one attempt, when the fault has done what it can, and does the same. A server
// that restarts is away for a second.
const (
	working = time.Second
	resting = 20 * time.Second
	paused  = 14 * time.Second
	faultAt = 500 * time.Millisecond
	briefly = "power-loss 1s"
)

// attacker is what a client does from start on.
func attacker(name string, start time.Duration, store string) trial.Client {
	claim := ""
	if store == "cas" {
		claim = "claim doc; "
	}
	script := fmt.Sprintf("until %s; try; %swork %s; write doc; work %s; release", start, claim, working, resting)
	return trial.Client{Name: name, Script: trial.MustScript(script)}
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
	return 2 * time.Second
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
		choice("lock", &lock, names, "which lock"),
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
				Clients:   []trial.Client{attacker("c1", 0, store), attacker("c2", comes(fault), store)},
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
		switch e := c.expect(fault, store); {
		case e.Overlap > 0:
			return Control{"matrix", []string{"fault=none"}}
		case fault == "none" || !c.Applies(fault):
			return Control{"matrix", []string{"fault=pause-after"}}
		}
		return Control{"matrix", []string{"lock=redlock-unmeasured"}} // which holds under nothing
	}
	return s
}

// attack is the schedule of a fault.
func (c *contender) attack(fault string) faults.Schedule {
	var f faults.Schedule
	add := func(line string, args ...any) { f = append(f, faults.MustParse(fmt.Sprintf(line, args...))...) }
	switch fault {
	case "pause-after":
		add("before c1.write#1  pause c1 gc %s", paused)
	case "pause-acquire":
		add("before c1.receive#%d  pause c1 gc %s", c.deciding, paused)
	case "server-jump":
		add("at %s  clock-step %s +11s", faultAt, c.victim)
	case "drift", "drift-ppm":
		rate := drifts[driftOf(fault)]
		f = append(f, faults.Fault{Action: faults.ClockRate{Machine: "c1", Rate: -rate}})
		for _, s := range c.servers {
			f = append(f, faults.Fault{Action: faults.ClockRate{Machine: s, Rate: rate}})
		}
	case "restart":
		add("at %s  restart %s %s", faultAt, c.victim, c.restart)
	case "restart-jump":
		add("at %s  restart %s %s", faultAt, c.victim, c.restart)
		add("at %s  clock-step %s +12s", 2*faultAt, c.victim)
	case "failover":
		if c.Failover {
			add("at %s  failover r1>r2", faultAt)
		}
	}
	return f
}

func driftOf(fault string) string {
	if fault == "drift" {
		return "10%"
	}
	return "500ppm"
}

// tenure is when a client believes, and when its write reaches the store.
type tenure struct{ from, write, to time.Duration }

// tenure is that of a client that asks at start, with its clock true and nothing in
// its way.
func (c *contender) tenure(start time.Duration, store string) tenure {
	from := start + c.cost(store)
	sent := from + claiming(store) + working
	to := sent + ask + resting
	if c.deadline > 0 {
		to = min(to, start+c.deadline)
	}
	return tenure{from, sent + hop, to}
}

// claiming is how long it takes to put a mark on doc, where that is done.
func claiming(store string) time.Duration {
	if store == "cas" {
		return ask
	}
	return 0
}

func (c *contender) expect(fault, store string) Expectation {
	first, second := c.tenure(0, store), c.tenure(comes(fault), store)
	switch fault {
	case "pause-after":
		woken := first.write - hop + paused
		first.write, first.to = woken+hop, first.to+paused
		if c.deadline > 0 {
			first.to = woken // its deadline is over by then, and it notices
		}
	case "pause-acquire":
		first.from, first.write, first.to = first.from+paused, first.write+paused, first.to+paused
	case "drift", "drift-ppm":
		rate := -drifts[driftOf(fault)]
		first.to = c.slow(first.from+claiming(store), rate)
	}
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	switch {
	case fault == "pause-acquire" && c.deadline > 0:
		e.Granted = []string{"c2"}
		e.Because = fmt.Sprintf("c1 measures %s, more than %s, and refuses", short(paused+c.cost(store)), short(c.deadline))
	case !c.gives(fault):
		e.Granted = []string{"c1"}
		e.Because = "c2 is refused: the lock is c1's still"
	default:
		e.Granted = []string{"c1", "c2"}
		if first.from > second.from {
			e.Granted = []string{"c2", "c1"}
		}
		e.Overlap = max(0, min(first.to, second.to)-max(first.from, second.from))
		e.Belief = overlapping(e.Overlap)
		e.Because = fmt.Sprintf("c1 believes from %s to %s, c2 from %s to %s", short(first.from), short(first.to), short(second.from), short(second.to))
		if comes(fault)+hop < c.promised {
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
		}
	}
	c.writes(&e, store, fault)
	return e
}

// slow is when a client stops whose clock runs at that rate, and who began to work
// at from.
func (c *contender) slow(from time.Duration, rate clock.Rate) time.Duration {
	if c.deadline > 0 {
		return countUp(c.deadline, rate)
	}
	sleep := func(at, d time.Duration) time.Duration { return countUp(countDown(at, rate)+d, rate) }
	return sleep(sleep(from, working)+ask, resting)
}

// writes is what becomes of the two writes: c1's comes late where it was paused.
func (c *contender) writes(e *Expectation, store, fault string) {
	late := fault == "pause-after" || fault == "pause-acquire"
	switch {
	case store == "fence" && !c.Tokens:
		// Whoever has no token is rejected.
		e.Rejected = slices.Clone(e.Granted)
		if late {
			slices.Sort(e.Rejected)
			slices.Reverse(e.Rejected)
		}
	case late && len(e.Granted) == 2:
		c.lateWrite(e, store, fault)
	}
}

func (c *contender) lateWrite(e *Expectation, store, fault string) {
	swapped := store == "fence" && c.askedLater && fault == "pause-acquire"
	switch {
	case swapped:
		e.Promise, e.Breaches = check.Broken, []string{check.TokenOrder}
		e.Damage = []string{check.StaleWrite}
		e.Because += "; c1 fetches its token after c2 has, and it is the greater"
	case store == "none":
		e.Damage = []string{check.StaleWrite}
	case store == "cas" && fault == "pause-acquire":
		// It claims and reads what c2 has written before it writes.
	default:
		e.Rejected = []string{"c1"}
	}
}
