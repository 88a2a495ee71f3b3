package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/trial"
)

// contender is a row with what it takes to attack it, and what comes of that.
type contender struct {
	Row
	target
	// system is the lock for a store with that check.
	system func(store string) models.System
	// fate is what becomes of the clients, by the system's own figures.
	fate func(fault, store string) fate
}

// tokened is a row of a lock with tokens: what was predicted of data that they fence, and
// of who believes. A random value was always thought enough.
func tokened(name string, fenced Mark, predicted []Mark) Row {
	return Row{Name: name, Predicted: predicted, Fenced: fenced, Compared: Holds, Tokens: true}
}

// target is where faults strike a system.
type target struct {
	// servers are those whose clocks drift; victim is the one that jumps, restarts or
	// fails over.
	servers []string
	victim  string // nobody where it is empty
	// restart is how the victim restarts, in a schedule's words.
	restart string
	// heir takes over when the victim dies; nobody where it is empty.
	heir string
	// deciding is which reply makes the client believe.
	deciding int
	// cut is what is wrong whatever the fault, in a schedule's words; nothing where it is
	// empty. spared is the row without it.
	cut, spared string
	// dies is how the victim dies where it has no heir, in a schedule's words; for an hour
	// where it is empty.
	dies string
	// from is when c2 begins to ask, and does until it has the lock; 0 where it asks once,
	// when the lock may be free.
	from time.Duration
}

// attack is the schedule of a fault.
func (t *target) attack(fault string) faults.Schedule {
	f := faults.MustParse(t.cut)
	add := func(line string, args ...any) { f = append(f, faults.MustParse(fmt.Sprintf(line, args...))...) }
	switch fault {
	case "pause-after":
		add("before c1.write#1  pause c1 gc %s", paused)
	case "pause-acquire":
		add("before c1.receive#%d  pause c1 gc %s", t.deciding, paused)
	case "drift", "drift-ppm":
		f = append(f, faults.Fault{Action: faults.ClockRate{Machine: "c1", Rate: slow(fault)}})
		for _, s := range t.servers {
			f = append(f, faults.Fault{Action: faults.ClockRate{Machine: s, Rate: -slow(fault)}})
		}
	}
	if t.victim == "" {
		return f
	}
	switch fault {
	case "server-jump":
		add("at %s  clock-step %s +11s", faultAt, t.victim)
	case "restart":
		add("at %s  restart %s %s", faultAt, t.victim, t.restart)
	case "restart-jump":
		add("at %s  restart %s %s", faultAt, t.victim, t.restart)
		add("at %s  clock-step %s +12s", 2*faultAt, t.victim)
	case "failover":
		if t.heir != "" {
			add("at %s  failover %s>%s", faultAt, t.victim, t.heir)
		} else {
			add("at %s  restart %s %s", faultAt, t.victim, cmp.Or(t.dies, "power-loss 1h"))
		}
	}
	return f
}

// clients are c1 and c2. The victim of a pause writes before c2 is there, or would. Who
// has no lock reads doc first.
func (c *contender) clients(fault, store string) []trial.Client {
	first, second, claim, release := "try; ", "try; ", "", "; release"
	at := comes(fault)
	if c.from > 0 {
		at, second = c.from, "acquire; "
	}
	if store == "cas" || c.Unlocked {
		claim = "claim doc; "
	}
	if c.Unlocked {
		first, second, release = "", "", ""
	}
	c1 := fmt.Sprintf("%s%suntil %s; write doc; work %s%s", first, claim, writes(fault), resting, release)
	c2 := fmt.Sprintf("until %s; %s%swork %s; write doc; work %s%s", at, second, claim, brief, resting, release)
	return []trial.Client{{Name: "c1", Script: trial.MustScript(c1)}, {Name: "c2", Script: trial.MustScript(c2)}}
}

// slow is the rate of c1's clock; those of the servers are as much too fast.
func slow(fault string) clock.Rate {
	switch fault {
	case "drift":
		return -drifts["10%"]
	case "drift-ppm":
		return -drifts["500ppm"]
	}
	return 0
}

// expect is what must come out of the attack.
func (c *contender) expect(fault, store string) Expectation {
	f := c.fate(fault, store)
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Breaches: f.breaches, Progress: check.OK, Because: f.why}
	one, two := f.first, f.second
	switch {
	case one != nil && two != nil:
		e.Granted = []string{"c1", "c2"}
		if one.from > two.from {
			e.Granted = []string{"c2", "c1"}
		}
		e.Overlap = max(0, min(one.to, two.to)-max(one.from, two.from))
		e.Belief = overlapping(e.Overlap)
		if e.Because != "" {
			e.Because += ": "
		}
		if f.inTurn {
			e.Because += "c2 waits until c1 has given the lock back, from " + short(one.to) + " on"
			break
		}
		e.Because += fmt.Sprintf("c1 believes from %s to %s, c2 from %s to %s", short(one.from), short(one.to), short(two.from), short(two.to))
		if one.token > 0 && two.token <= one.token {
			e.Breaches = append(slices.Clip(e.Breaches), check.TokenOrder)
			e.Because += "; " + f.disorder
		}
	case one != nil:
		e.Granted = []string{"c1"}
	case two != nil:
		e.Granted = []string{"c2"}
	}
	if len(e.Breaches) > 0 {
		e.Promise = check.Broken
	}
	e.Rejected, e.Damage = f.stored(store)
	if c.Unlocked {
		e.unlock()
	}
	return e
}

// unlock is e where there is no lock to break, or to believe in: a write that is not the
// newer one's is computed from what it has read.
func (e *Expectation) unlock() {
	e.Promise, e.Belief, e.Overlap, e.Granted = check.None, check.None, 0, nil
	for i := range e.Damage {
		e.Damage[i] = check.LostUpdate
	}
}

// control is what turns a cell.
func (c *contender) control(fault, store string) []string {
	switch e := c.expect(fault, store); {
	case e.Overlap > 0 && c.spared != "":
		return []string{"lock=" + c.spared, "fault=none"}
	case e.Overlap > 0:
		return []string{"fault=none"}
	case fault == "none":
		return c.undone(store)
	case fault == "failover":
		return []string{"lock=redis-replica"} // which has what takes over
	}
	return []string{"lock=redlock-unmeasured"} // which holds under nothing
}

// undone is the first fault that breaks the lock; another lock where none does.
func (c *contender) undone(store string) []string {
	for _, fault := range Faults() {
		if e := c.expect(fault, store); e.Overlap > 0 {
			return []string{"fault=" + fault}
		}
	}
	return []string{"lock=redlock-unmeasured", "fault=pause-after"}
}
