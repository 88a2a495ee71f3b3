package scenarios

import (
	"fmt"
	"strconv"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperHerd is S45: whom a node that goes wakes. And one of those who wait dies.
func zookeeperHerd() *Scenario {
	watch, waiters, dies := "predecessor", "5", "on"
	s := &Scenario{
		Name:   "zookeeper-herd",
		Pair:   "consensus",
		Claim:  "who watches the next lower node is woken once; who watches the lock's node is woken by all; and a waiter's death gives the lock to nobody",
		Claims: []string{"S45"},
	}
	s.Also = []string{"watch=parent"}
	s.Params = []Param{
		choice("watch", &watch, []string{"predecessor", "parent"}, "what a waiting client watches"),
		choice("waiters", &waiters, []string{"5", "10", "20"}, "how many wait behind c1, each from 100ms after the one before"),
		choice("dies", &dies, []string{"on", "off"}, "whether one in the middle dies at 5s"),
	}
	n := func() int { return map[string]int{"5": 5, "10": 10, "20": 20}[waiters] }
	const hold, work, apart = 25 * time.Second, 100 * time.Millisecond, 100 * time.Millisecond
	middle := func() int { return 1 + n()/2 }
	client := func(waiter int) string { return "c" + strconv.Itoa(1+waiter) }
	s.Spec = func() trial.Spec {
		spec := trial.Spec{Latency: sim.Every(hop), Horizon: 40 * time.Second}
		system := zookeeper.Mutex{}
		mustText(&system.Watch, watch)
		spec.System = system
		for i := range n() + 1 {
			script := fmt.Sprintf("until %s; acquire; work %s; release", time.Duration(i)*apart, work)
			if i == 0 {
				script = fmt.Sprintf("acquire; work %s; release", hold)
			}
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{Name: client(i), Script: trial.MustScript(script)})
		}
		if dies == "on" {
			spec.Schedule = faults.MustParse("at 5s  kill " + client(middle()))
		}
		return spec
	}
	// Each release takes as long: a hop, a commit, and a wake-up. Watching the lock's
	// node, the k-th to come wakes those k - 1 who wait already, the one who dies wakes
	// all others, and each release wakes all who still wait.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
		accepted, woken := zkTake+hold-work, 0
		for i := 1; i <= n(); i++ {
			if dies == "on" && i == middle() {
				continue
			}
			accepted += work + hop + zkCommit + zkWake
			e.Granted = append(e.Granted, client(i))
			e.Longest = max(e.Longest, accepted-time.Duration(i)*apart)
		}
		switch left := len(e.Granted) - 1; {
		case watch == "predecessor":
			woken = n() // once each; who dies wakes the one behind it
			e.Because = fmt.Sprintf("each of %d nodes that go with somebody behind them wakes one", n())
		default:
			joins, drain := n()*(n()-1)/2, left*(left+1)/2
			woken = joins + drain
			e.Because = fmt.Sprintf("%d arrivals wake %d, and the releases %d x %d / 2 = %d", n(), joins, left, left+1, drain)
			if dies == "on" {
				woken += left
				e.Because += fmt.Sprintf("; the end of a session wakes %d", left)
			}
		}
		e.Figures = []Figure{{wakeUps, strconv.Itoa(woken)}}
		return e
	}
	s.Control = func() Control { return turned("zookeeper-herd", "watch", watch, "predecessor", "parent") }
	return s
}
