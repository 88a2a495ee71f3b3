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
	// Tokens: it has a token.
	Tokens bool
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
// what it can, writes soon, and works on. A server that restarts is away for a second.
const (
	brief   = 100 * time.Millisecond
	resting = 20 * time.Second
	paused  = 14 * time.Second
	faultAt = 500 * time.Millisecond
	briefly = "power-loss 1s"
)

// attackers are the clients. The victim of a pause writes before c2 is there, or
// would.
func attackers(fault, store string) []trial.Client {
	claim := ""
	if store == "cas" {
		claim = "claim doc; "
	}
	c1 := fmt.Sprintf("try; %suntil %s; write doc; work %s; release", claim, writes(fault), resting)
	c2 := fmt.Sprintf("until %s; try; %swork %s; write doc; work %s; release", comes(fault), claim, brief, resting)
	return []trial.Client{{Name: "c1", Script: trial.MustScript(c1)}, {Name: "c2", Script: trial.MustScript(c2)}}
}

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
				Clients:   attackers(fault, store),
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
		case fault == "none":
			return Control{"matrix", []string{"fault=pause-after"}}
		case fault == "failover":
			return Control{"matrix", []string{"lock=redis-replica"}} // which has what takes over
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
		if c.replica {
			add("at %s  failover r1>r2", faultAt)
		} else {
			add("at %s  restart %s power-loss 1h", faultAt, c.victim)
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

// first is c1's. Where its clock drifts, so does all that it measures.
func (c *contender) first(fault, store string) tenure {
	rate := clock.Rate(0)
	if fault == "drift" || fault == "drift-ppm" {
		rate = -drifts[driftOf(fault)]
	}
	t := tenure{from: c.cost(store)}
	if fault == "pause-acquire" {
		t.from += paused
	}
	sent := max(countUp(writes(fault), rate), t.from+claiming(store))
	if fault == "pause-after" {
		sent += paused
	}
	t.write = sent + hop
	t.to = countUp(countDown(sent+ask, rate)+resting, rate)
	switch {
	case c.deadline > 0 && fault == "pause-after":
		t.to = sent // its deadline is over when it goes on, and it notices
	case c.deadline > 0:
		t.to = countUp(c.deadline, rate)
	}
	return t
}

// second is c2's.
func (c *contender) second(fault, store string) tenure {
	from := comes(fault) + c.cost(store)
	sent := from + claiming(store) + brief
	t := tenure{from, sent + hop, sent + ask + resting}
	if c.deadline > 0 {
		t.to = comes(fault) + c.deadline
	}
	return t
}

// claiming is how long it takes to put a mark on doc, where that is done.
func claiming(store string) time.Duration {
	if store == "cas" {
		return ask
	}
	return 0
}

func (c *contender) expect(fault, store string) Expectation {
	first, second := c.first(fault, store), c.second(fault, store)
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	switch {
	case fault == "pause-acquire" && c.deadline > 0:
		e.Granted = []string{"c2"}
		e.Because = fmt.Sprintf("c1 measures %s, more than %s, and refuses", short(paused+c.cost(store)), short(c.deadline))
	case !c.gives(fault):
		e.Granted = []string{"c1"}
		e.Because = "c2 gets nothing: the lock is c1's still"
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
	c.written(&e, fault, store, first)
	return e
}

// written is what becomes of the writes. c1's comes after c2's, unless c1 has
// stopped before.
func (c *contender) written(e *Expectation, fault, store string, first tenure) {
	stopped := c.deadline > 0 && fault != "pause-after" && first.write-hop >= first.to
	both := len(e.Granted) == 2 && !stopped
	switch {
	case store == "fence" && !c.Tokens:
		// Whoever has no token is rejected, c2 first.
		e.Rejected = slices.Sorted(slices.Values(e.Granted))
		slices.Reverse(e.Rejected)
		if stopped {
			e.Rejected = slices.DeleteFunc(e.Rejected, func(client string) bool { return client == "c1" })
		}
	case !both:
	case store == "fence" && c.askedLater && fault == "pause-acquire":
		e.Promise, e.Breaches = check.Broken, []string{check.TokenOrder}
		e.Damage = []string{check.StaleWrite}
		e.Because += "; c1 fetches its token after c2 has, and it is the greater"
	case store == "fence" && c.forgets(fault):
		e.Breaches = append(e.Breaches, check.TokenOrder)
		e.Damage = []string{check.StaleWrite}
		e.Because += "; the counter is lost with the key, and both have token 1"
	case store == "none":
		e.Damage = []string{check.StaleWrite}
	case store == "cas" && fault == "pause-acquire":
		// It claims and reads what c2 has written before it writes.
	default:
		e.Rejected = []string{"c1"}
	}
}

// forgets tells whether a fault takes the counter of tokens with the key.
func (c *contender) forgets(fault string) bool {
	return fault == "restart" || fault == "restart-jump" || fault == "failover"
}
