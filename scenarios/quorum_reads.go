package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/quorum"
	"locksim/trial"
)

// reader is a client that asks at each of some instants who holds the lock.
func reader(name string, at ...time.Duration) trial.Client {
	script := ""
	for _, t := range at {
		script += "until " + t.String() + "; look; "
	}
	return trial.Client{Name: name, Script: trial.MustScript(script[:len(script)-2])}
}

// quorumPartialWrite is S22 and DDIA, chapter 5, "Limitations of Quorum Consistency":
// a write that failed stays where it arrived.
func quorumPartialWrite() *Scenario {
	ttl, repair := 10*time.Second, "off"
	s := &Scenario{
		Name:   "quorum-partial-write",
		Pair:   "copies",
		Claim:  "a write that reached one replica of three stays there: readers find it or not by who answers them",
		Claims: []string{"S22"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 100*time.Millisecond, time.Hour, "the term of the lock"),
		choice("repair", &repair, []string{"off", "on"}, "whether a reader repairs"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: quorum.Lock{TTL: ttl, ReadRepair: repair == "on"},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("try; work 1s; release")},
				reader("c2", 2*time.Second, 4*time.Second),
				reader("c3", 3*time.Second),
			}},
			Schedule: faults.MustParse("before c1.send#4  partition c1|r2,r3"), // its write, after three messages to read
			Latency:  answeredApart("c2", "c3"),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		const written, third = ask, 4*time.Second + hop
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{}}
		switch {
		case written+ttl <= third:
			e.Because = fmt.Sprintf("c1's write is on r1 alone and over at %s, before it could be found again at %s: nobody can tell that it was ever there", short(written+ttl), short(third))
		case repair == "on":
			e.Because = "c2 writes what it has found on r1 to r2 before it returns; c3 finds it there"
		default:
			e.Promise, e.Breaches = check.Broken, []string{check.StaleRead}
			e.Because = "c1's write is on r1 alone: c2 asks r1 and r2 and finds it at 2s and at 4s, c3 asks r2 and r3 in between and does not"
		}
		return e
	}
	s.Control = func() Control { return Control{"quorum-partial-write", []string{"repair=" + other(repair)}} }
	return s
}

// quorumNewThenOld is DDIA, figure 9-6 (S22): with W = 3 and R = 2 one reader sees
// the new state, and a later one the old. The write is c1's release.
func quorumNewThenOld() *Scenario {
	delay, repair := 100*time.Millisecond, "off"
	s := &Scenario{
		Name:   "quorum-new-then-old",
		Pair:   "copies",
		Claim:  "while a write to all three is under way, one reader sees it and a later one does not, though W + R > N",
		Claims: []string{"S22"},
	}
	s.Params = []Param{
		milliseconds("delay", &delay, 0, 5*time.Second, "how much later c1's release is at r2 and r3 than at r1"),
		choice("repair", &repair, []string{"off", "on"}, "whether a reader repairs"),
	}
	s.Spec = func() trial.Spec {
		late := func(send int, node string) faults.Fault {
			return faults.Fault{Anchor: faults.Before("c1", "send", send), Action: faults.Message{What: faults.Delay, From: "c1", To: node, By: delay}}
		}
		return trial.Spec{
			System: quorum.Lock{Write: 3, ReadRepair: repair == "on"},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 1s; release")},
				reader("c2", 1020*time.Millisecond),
				reader("c3", 1040*time.Millisecond),
			}},
			// Three messages each to read and to write, and three to read again; the tenth
			// deletes on r1.
			Schedule: faults.Schedule{late(11, "r2"), late(12, "r3")},
			Latency:  answeredApart("c2", "c3"),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		deleted := 2*ask + time.Second + ask + hop // on r1
		asked := 1040*time.Millisecond + hop       // r2 and r3, by c3
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Because: fmt.Sprintf("c1's deletion is on r1 at %s, where c2 finds it at 1.021s, and on r2 and r3 at %s; c3 asks these at %s",
				short(deleted), short(deleted+delay), short(asked)),
		}
		switch {
		case deleted+delay <= asked:
		case repair == "on":
			e.Because += ", and finds what c2 has written to r2"
		default:
			e.Promise, e.Breaches = check.Broken, []string{check.StaleRead}
		}
		return e
	}
	s.Control = func() Control { return Control{"quorum-new-then-old", []string{"repair=" + other(repair)}} }
	return s
}
