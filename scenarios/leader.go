package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/raft"
	"locksim/models/service"
	"locksim/sim"
	"locksim/trial"
)

// leaderCrash is S23: the leader dies as soon as c1 has the lock, alone or with
// another.
func leaderCrash() *Scenario {
	lost := "1"
	s := &Scenario{
		Name:   "leader-crash",
		Pair:   "consensus",
		Claim:  "what a majority has committed outlives the leader, and without a majority nothing is granted",
		Claims: []string{"S23"},
	}
	s.Params = []Param{choice("down", &lost, []string{"0", "1", "2"}, "how many of three nodes lose power, n1 first")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   service.Lock{Config: inTurn()},
			Cast:     two("until 1s; acquire; work 4s; release", "until 2s; acquire; work 1s; release"),
			Schedule: down("1007ms", 1, digit(lost)),
			Latency:  sim.Every(hop),
			Horizon:  30 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		switch lost {
		case "0":
			e.Because = "c2 waits for c1, from 2s to 5.006s"
		case "1":
			e.Because = fmt.Sprintf("n2 has heard of n1 last at 1.006s, leads from %s on, and knows that c1 holds the lock",
				short(time.Second+4*hop+disk+time.Second+elected))
		default:
			e.Progress, e.Granted, e.Because = check.Stalled, []string{"c1"}, "one of three nodes is left, and elects nobody"
		}
		return e
	}
	s.Control = func() Control { return turned("leader-crash", "down", lost, "2", "1") }
	return s
}

// unsyncedLog is the control of all the others: consensus keeps what its nodes
// keep. All of them go down at 2 s and are back at 3 s.
func unsyncedLog() *Scenario {
	fsync, crash := "off", "power-loss"
	s := &Scenario{
		Name:   "unsynced-log",
		Pair:   "consensus",
		Claim:  "consensus on disks that are not synced forgets a lock when all nodes lose power",
		Claims: []string{"S23"},
	}
	s.Params = []Param{
		choice("fsync", &fsync, []string{"off", "on"}, "whether a node syncs its log before it acknowledges"),
		choice("crash", &crash, []string{"power-loss", "kill"}, "how all nodes go down"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: service.Lock{Config: raft.Config{
				NoFsync:  fsync == "off",
				Timeouts: []time.Duration{time.Second, 1200 * time.Millisecond, 1400 * time.Millisecond},
			}},
			Cast: two("until 1s; acquire; work 6s; release", "until 4100ms; acquire; work 500ms; release"),
			Schedule: faults.MustParse(fmt.Sprintf("at 2s restart n1 %[1]s 1s\nat 2s restart n2 %[1]s 1s\nat 2s restart n3 %[1]s 1s",
				crash)),
			Latency: sim.Every(hop),
			Horizon: 30 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		if fsync == "on" || crash == "kill" {
			e.Because = "every node is back with its whole log: the disk has it, or the kernel"
			return e
		}
		// No disk takes any time here.
		granted := time.Second + 4*hop
		leads := 3*time.Second + time.Second + 4*hop
		gets := 4100*time.Millisecond + 4*hop
		told := granted + 3333*time.Millisecond + 4*hop
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, told-gets
		e.Because = fmt.Sprintf("n1 leads again at %s, with an empty log; c2 has the lock at %s, and c1 is told that it does not hold it at its heartbeat, at %s, and at its release",
			short(leads), short(gets), short(told))
		return e
	}
	s.Control = func() Control { return turned("unsynced-log", "fsync", fsync, "off", "on") }
	return s
}

// voteByLength is S73. n1 leads in term 1 and is cut off with n5; two clients ask
// it in vain, so that two commands stay in its log. n2 leads in term 2 from 1.545
// on, and c1's command of 1.546 is with n4 by 1.550 and with n3 by 1.589, which
// makes it committed; n4 does not hear of that. n2 and n3 die. Of those that are
// left n1 stands first, at 3.602: its log has three entries, as n4's has, and the
// last is of an older term.
func voteByLength() *Scenario {
	vote := "length"
	s := &Scenario{
		Name:   "vote-by-length",
		Pair:   "consensus",
		Claim:  "who votes for the longer log, however old its entries, elects a leader that does not know of a grant",
		Claims: []string{"S73"},
	}
	s.Params = []Param{choice("vote", &vote, []string{"length", "term"}, "what a voter compares: the length of the logs, or their last terms first")}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: service.Lock{
				Config: raft.Config{Nodes: 5, Timeouts: []time.Duration{ms(1900), ms(1000), ms(1700), ms(2200), ms(1600)}, VoteByLength: vote == "length"},
				Home:   map[string]string{"c1": "n2"},
			},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "a", Script: trial.MustScript("until 600ms; acquire a; release a")},
				{Name: "b", Script: trial.MustScript("until 610ms; acquire b; release b")},
				{Name: "c1", Script: trial.MustScript("until 1545ms; acquire; work 6s; release")},
				{Name: "c2", Script: trial.MustScript("until 5s; acquire; work 1s; release")},
			}},
			Schedule: faults.MustParse(`
				at 550ms  partition n1,n5|n2,n3,n4 1150ms
				at 1560ms cut n2>n4
				at 1600ms restart n2 power-loss 1h
				at 1600ms restart n3 power-loss 1h`),
			Latency: sim.Latency{Default: []time.Duration{hop}, Links: map[string][]time.Duration{"n2>n3": {ms(10)}, "n3>n2": {ms(10)}}},
			Horizon: 30 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if vote == "term" {
			e.Because = "n4's last entry is of term 2, n1's of term 1: it votes for nobody else, and is elected with n1 and n5"
			return e
		}
		// c1's first heartbeat is at 1.590 + 3.333; n2 and n3 do not answer for a second
		// each, and n4 names the leader.
		gets, gives := 5*time.Second+committed, 6*time.Second+committed
		told := ms(1590) + ms(3333) + 2*time.Second + 2*hop + 4*hop
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.LostLease, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, min(gives, told)-gets
		e.Because = fmt.Sprintf("n4 votes for n1, whose log is as long; c2 has the lock from %s to %s, and c1 is told that it does not hold it at its heartbeat, at %s, and at its release", short(gets), short(gives), short(told))
		return e
	}
	s.Control = func() Control { return turned("vote-by-length", "vote", vote, "length", "term") }
	return s
}
