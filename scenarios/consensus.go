package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/raft"
	"locksim/models/service"
	"locksim/models/twophase"
	"locksim/sim"
	"locksim/trial"
)

// disk is how long a node's disk takes: the default of models/raft.
const disk = 2 * time.Millisecond

// committed is how long a client waits for a command of a group of several nodes
// with links of one hop: to the leader, to the others and their disks and back,
// back.
const committed = 4*hop + disk

// inTurn are election timeouts with which n2 succeeds n1. Between the end of its
// patience and its first moment as the leader of a group of three, one of them
// dead, are a round of PreVote, its own vote on its disk, and a round of votes with
// the disk of who gives it: elected.
func inTurn() raft.Config {
	return raft.Config{Timeouts: []time.Duration{time.Second, time.Second, 1400 * time.Millisecond}}
}

const elected = 4*hop + 2*disk

// one is a cast of one client.
func one(script string) trial.Cast {
	return trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript(script)}}}
}

// down lets n nodes lose power for good, from the first-th on.
func down(at string, first, n int) faults.Schedule {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("at %s restart n%d power-loss 1h", at, first+i))
	}
	return faults.MustParse(strings.Join(lines, "\n"))
}

// served is an expectation about a group that grants c1 the lock after wait, or
// never.
func served(ok bool, wait time.Duration, because string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.Stalled, Granted: []string{}, Because: because}
	if ok {
		e.Progress, e.Granted, e.Longest = check.OK, []string{"c1"}, wait
	}
	return e
}

// groupSizes is S24, E5 and S23: which groups go on without which of their nodes.
func groupSizes() *Scenario {
	nodes, lost := "4", "2"
	s := &Scenario{
		Name:   "majority",
		Pair:   "consensus",
		Claim:  "a group of 2k+1 nodes goes on without k of them; one of 2k+2 nodes without no more than that",
		Claims: []string{"S24", "E5", "S23"},
	}
	s.Params = []Param{
		choice("nodes", &nodes, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "how many nodes there are"),
		choice("down", &lost, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, "how many of them have lost power, no more than there are"),
	}
	sizes := func() (n, k int) { n = digit(nodes); return n, min(digit(lost), n) }
	s.Spec = func() trial.Spec {
		n, k := sizes()
		return trial.Spec{
			System:   service.Lock{Config: raft.Config{Nodes: n}},
			Cast:     one("until 1050ms; acquire; work 1s; release"),
			Schedule: down("500ms", n-k+1, k),
			Latency:  sim.Every(hop),
			Horizon:  20 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		n, k := sizes()
		wait := committed
		if n == 1 {
			wait = 2*hop + disk
		}
		quorum := n/2 + 1
		return served(n-k >= quorum, wait, fmt.Sprintf("%d of %d nodes are left, and %d decide", n-k, n, quorum))
	}
	s.Control = func() Control {
		if n, k := sizes(); n-k >= n/2+1 {
			return Control{"majority", []string{"down=" + nodes}}
		}
		return Control{"majority", []string{"down=0"}}
	}
	return s
}

// digit is the number that a word of one digit means.
func digit(word string) int { return int(word[0] - '0') }

// moreNodes is S71: the n-th node is n - 1 hops away from the leader, so that each
// more that a majority asks for is farther away; and so is each that must stand in
// for one that is down.
func moreNodes() *Scenario {
	nodes, lost := "3", "0"
	s := &Scenario{
		Name:   "more-nodes",
		Pair:   "consensus",
		Claim:  "more nodes survive more failures, and take longer to commit",
		Claims: []string{"S71"},
	}
	s.Params = []Param{
		choice("nodes", &nodes, []string{"3", "5", "7"}, "how many nodes there are"),
		choice("down", &lost, []string{"0", "1", "2", "3", "4"}, "how many of those next to the leader have lost power, no more than there are"),
	}
	sizes := func() (n, k int) { n = digit(nodes); return n, min(digit(lost), n-1) }
	s.Spec = func() trial.Spec {
		n, k := sizes()
		spec := trial.Spec{
			System:   service.Lock{Config: raft.Config{Nodes: n}},
			Cast:     one("until 1050ms; acquire; work 1s; release"),
			Schedule: down("500ms", 2, k),
			Latency:  sim.Latency{Default: []time.Duration{hop}, Links: map[string][]time.Duration{}},
			Horizon:  20 * time.Second,
		}
		for i := 2; i <= n; i++ {
			away := []time.Duration{time.Duration(i-1) * hop}
			spec.Latency.Links[fmt.Sprintf("n1>n%d", i)] = away
			spec.Latency.Links[fmt.Sprintf("n%d>n1", i)] = away
		}
		return spec
	}
	s.Expect = func() Expectation {
		n, k := sizes()
		last := n/2 + k // the hops to the last that a majority needs
		wait := 2*hop + 2*time.Duration(last)*hop + disk
		return served(last <= n-1, wait, fmt.Sprintf("%d of %d nodes decide; without the nearest %d, the last of them is %d hops from the leader: 2 + 2 x %d hops and a disk",
			n/2+1, n, k, last, last))
	}
	s.Control = func() Control { return turned("more-nodes", "nodes", nodes, "3", "7") }
	return s
}

// twoPhase is S72: consensus is no two-phase commit.
func twoPhase() *Scenario {
	protocol, lost := "two-phase", "1"
	s := &Scenario{
		Name:   "two-phase-commit",
		Pair:   "consensus",
		Claim:  "with one of three nodes down, consensus goes on and two-phase commit waits",
		Claims: []string{"S72"},
	}
	s.Params = []Param{
		choice("protocol", &protocol, []string{"two-phase", "raft"}, "how the nodes agree"),
		choice("down", &lost, []string{"0", "1"}, "how many of three nodes have lost power"),
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:   twophase.Lock{},
			Cast:     one("until 1050ms; acquire; work 1s; release"),
			Schedule: down("500ms", 3, digit(lost)),
			Latency:  sim.Every(hop),
			Horizon:  20 * time.Second,
		}
		if protocol == "raft" {
			spec.System = service.Lock{}
		}
		return spec
	}
	s.Expect = func() Expectation {
		switch {
		case protocol == "raft":
			return served(true, committed, "two of three are a majority, which is not asked who else is there")
		case lost == "0":
			return served(true, committed+disk, "all three are prepared; the decision takes the coordinator's disk once more")
		}
		return served(false, 0, "n3 never says that it is prepared, so that nothing is decided")
	}
	s.Control = func() Control { return turned("two-phase-commit", "protocol", protocol, "raft", "two-phase") }
	return s
}

// fixedTimeouts is S74: why election timeouts are random.
func fixedTimeouts() *Scenario {
	timeouts := "fixed"
	s := &Scenario{
		Name:   "fixed-timeouts",
		Pair:   "consensus",
		Claim:  "nodes with one election timeout for all split the vote again and again; random ones elect a leader",
		Claims: []string{"S74"},
	}
	s.Params = []Param{choice("timeouts", &timeouts, []string{"fixed", "drawn"}, "whether all nodes are patient for 1s, or each for 1s to 2s")}
	s.Spec = func() trial.Spec {
		var c raft.Config
		if timeouts == "fixed" {
			c.Timeouts = []time.Duration{time.Second, time.Second, time.Second}
		}
		return trial.Spec{
			System:   service.Lock{Config: c},
			Cast:     one("until 3s; acquire; work 1s; release"),
			Schedule: down("1050ms", 1, 1),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if timeouts == "drawn" {
			return served(true, 0, "of n2 and n3 one stands first, and the other votes for it")
		}
		return served(false, 0, "n2 and n3 stand at 2.001, each votes for itself, and so every 1.002 s until the end")
	}
	s.Control = func() Control { return turned("fixed-timeouts", "timeouts", timeouts, "drawn", "fixed") }
	return s
}
