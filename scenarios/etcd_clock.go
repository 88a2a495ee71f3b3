package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// countsNames are by which clock a leader of etcd counts leases, newest first: since
// 3.5, in 3.4, and in 3.0.
var countsNames = []string{"monotonic", "wall-queue", "wall"}

// etcdClockStep is what a step of the leader's wall clock did to a lease in three
// releases of etcd (etcd#6700, etcd#12291).
func etcdClockStep() *Scenario {
	ttl, counts, step, holder := 10*time.Second, "wall", "+300s", "works"
	s := &Scenario{
		Name:   "etcd-clock-step",
		Pair:   "consensus",
		Claim:  "a leader's clock that is set ahead made etcd 3.0 give a lock away, one that is set back made 3.4 keep it; since 3.5 leases do not look at it",
		Claims: []string{"K10", "K14", "E3"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, 3*time.Second, 30*time.Second, time.Second, "the session's TTL"),
		choice("counts", &counts, countsNames, "by which clock a leader counts leases: since 3.5, in 3.4, in 3.0"),
		choice("step", &step, []string{"+300s", "none", "-300s"}, "how n1's wall clock is stepped at 2.1s"),
		choice("c1", &holder, []string{"works", "dies"}, "whether the holder works for 20s, or dies at 1s"),
	}
	s.Also = []string{"step=-300s c1=dies", "counts=wall-queue", "counts=wall-queue step=-300s c1=dies", "counts=monotonic step=-300s c1=dies"}
	s.Spec = func() trial.Spec {
		system := etcd.Etcd{TTL: ttl}
		mustText(&system.Counts, counts)
		var schedule []string
		if holder == "dies" {
			schedule = append(schedule, "at 1s  kill c1")
		}
		if step != "none" {
			schedule = append(schedule, "at 2100ms  clock-step n1 "+step)
		}
		return trial.Spec{
			System:   system,
			Cast:     two("until 490ms; acquire; work 20s; write doc; release", "until 3s; acquire; work 1s; write doc; release"),
			Schedule: faults.MustParse(strings.Join(schedule, "\n")),
			Latency:  sim.Every(hop),
			Horizon:  6 * time.Minute,
		}
	}
	s.Expect = func() Expectation { return clockStepped(ttl, counts, step, holder == "dies") }
	s.Control = func() Control { return turned("etcd-clock-step", "counts", counts, "monotonic", "wall") }
	return s
}

// clockStepped: who works renews its lease; who is dead has done so once, when its
// session began.
func clockStepped(ttl time.Duration, counts, step string, dead bool) Expectation {
	const stepped, asked2 = 2100 * time.Millisecond, 3 * time.Second
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	c1 := etcdSession{490*time.Millisecond + etcdWrite, ttl}
	ahead := counts == "wall" && step == "+300s"
	if !dead && !ahead {
		released := c1.start + etcdWrite + 20*time.Second + 2*hop
		e.Longest = released + hop + etcdCommit + etcdHandover - asked2
		e.Because = fmt.Sprintf("c1 keeps its lease alive, and releases at %s", short(released))
		return e
	}
	seen := leaseSeenOver(c1.start+hop+ttl, counts, step)
	revoked := seen + etcdCommit
	a2 := max(revoked+etcdNotice, asked2+2*etcdWrite)
	e.Longest = a2 - asked2
	e.Because = fmt.Sprintf("n1 sees at %s that c1's lease is over, and c2 has the lock at %s", short(seen), short(a2))
	if !ahead {
		return e
	}
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
	if dead {
		return e
	}
	next := c1.lastBeat(stepped) + after(2*hop+ttl/3, 500*time.Millisecond)
	told, end2 := max(next+hop, revoked)+hop, a2+time.Second+2*hop
	e.Breaches = []string{check.DoubleGrant, check.LostLease, check.LostLease}
	if told < a2 {
		e.Breaches = []string{check.LostLease, check.LostLease, check.DoubleGrant}
	}
	e.Overlap = max(0, min(told, end2)-a2)
	e.Belief = overlapping(e.Overlap)
	e.Because += fmt.Sprintf(" until %s; c1 is told with its keepalive of %s, at %s, and once more with its release", short(end2), short(next), short(told))
	return e
}

// leaseSeenOver is at which of its looks, every 500ms, a leader sees that a lease is
// over that is over at an instant, if no keepalive comes and its clock is stepped at
// 2.1s. One that keeps a queue finds the lease due in it at 2.5s, if it is set ahead,
// and looks again every 3s.
func leaseSeenOver(over time.Duration, counts, step string) time.Duration {
	const look = 500 * time.Millisecond
	switch {
	case counts == "wall" && step == "+300s":
		return 2500 * time.Millisecond
	case counts == "wall-queue" && step == "+300s":
		return 2500*time.Millisecond + from(over-2500*time.Millisecond, 3*time.Second)
	case counts != "monotonic" && step == "-300s":
		return from(over+300*time.Second, look)
	}
	return from(over, look)
}
