package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/chubby"
	"locksim/models/raft"
	"locksim/models/resource"
	"locksim/trial"
)

// What the scenarios of Chubby have in common: no message takes any time; c1 asks at
// 1 s, and then sends a KeepAlive every 4 s; c2 asks every second from 3.5 s on.
const (
	chubbyLease = 12 * time.Second
	chubbyGrace = 45 * time.Second
	chubbyFirst = 3500 * time.Millisecond
)

// cell is Chubby with a lock-delay.
func cell(delay time.Duration) chubby.Lock {
	const second = time.Second
	return chubby.Lock{
		Config: raft.Config{NoFsync: true, Timeouts: []time.Duration{second, second, second, 1400 * time.Millisecond, 2 * second}},
		Delay:  delay,
	}
}

// chubbyAttempt is the first of c2's attempts at or after an instant.
func chubbyAttempt(at time.Duration) time.Duration {
	return chubbyFirst + (max(0, at-chubbyFirst)+time.Second-1)/time.Second*time.Second
}

// chubbyLate is what sequencers and the lock-delay are for (section 2.4): a request
// that a holder has sent before it failed arrives when the lock is another's.
func chubbyLate(name string) *Scenario {
	late, delay, fence, end := 40*time.Second, time.Duration(0), "on", "dies"
	s := &Scenario{
		Name:   name,
		Pair:   "session",
		Claim:  "Chubby's sequencer lets a server reject what an earlier holder of the lock has sent",
		Claims: []string{"S12", "S14", "K6", "K7"},
		Also:   []string{"late=12s", "sequencer=off late=12s"},
	}
	if name == "chubby-lock-delay" {
		delay, fence = time.Minute, "off"
		s.Claim = "Chubby's lock-delay waits for what a failed holder has sent, if it comes in time; after a release it does not wait"
		s.Claims = []string{"S9", "K6"}
		s.Also = []string{"late=1m20s", "c1=releases", "c1=releases late=9s"}
	}
	s.Params = []Param{
		milliseconds("late", &late, 0, 10*time.Minute, "how much longer c1's write takes"),
		milliseconds("delay", &delay, 0, time.Minute, "the lock-delay"),
		choice("sequencer", &fence, []string{"on", "off"}, "whether the store checks the generation of the lock"),
		choice("c1", &end, []string{"dies", "releases"}, "whether c1 dies at 3s, or waits up to 10s for its answer and releases"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if fence == "on" {
			store = resource.Fenced("doc")
		}
		schedule := faults.Schedule{{Anchor: faults.Before("c1", "write", 1), Action: faults.Message{What: faults.Delay, From: "c1", To: "doc", By: late}}}
		if end == "dies" {
			schedule = append(schedule, faults.Fault{Anchor: faults.At(3 * time.Second), Action: faults.KillProcess{Process: "c1"}})
		}
		return trial.Spec{
			System: cell(delay),
			Cast: trial.Cast{
				Resources: []models.Resource{store},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; write doc; work 2s; release")},
					{Name: "c2", Script: trial.MustScript("until 3500ms; acquire every 1s; work 1s; write doc; release")},
				},
			},
			Schedule: schedule,
			Horizon:  max(2*time.Second+late, 20*time.Second+delay) + 5*time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		free := time.Second + chubbyLease + delay
		e.Because = fmt.Sprintf("c1's lease ends at 1s + 12s, and its lock-delay at %s", short(free))
		if end == "releases" {
			free = 4*time.Second + min(late, trial.Patience)
			e.Because = fmt.Sprintf("c1 releases at %s", short(free))
		}
		a2 := chubbyAttempt(free)
		write1, write2 := 2*time.Second+late, a2+time.Second
		e.Longest = a2 - chubbyFirst
		e.Because += fmt.Sprintf("; c2 gets the lock at %s; its write is there at %s, c1's at %s", short(a2), short(write2), short(write1))
		switch {
		case write1 <= write2: // in a tie it was sent before
		case fence == "on":
			e.Rejected = []string{"c1"}
			e.Because += "; c1's generation is 1, c2's is 2"
		default:
			e.Damage = []string{check.StaleWrite}
		}
		return e
	}
	s.Control = func() Control {
		if name == "chubby-sequencer" {
			return turned(name, "sequencer", fence, "on", "off")
		}
		if delay == 0 {
			return Control{name, []string{"delay=1m"}}
		}
		return Control{name, []string{"delay=0s"}}
	}
	return s
}

// chubbyJeopardy is what a client may do while it does not know whether its session
// still lives (section 2.8).
func chubbyJeopardy() *Scenario {
	heed, trouble, delay := "off", "cut", time.Duration(0)
	s := &Scenario{
		Name:   "chubby-jeopardy",
		Pair:   "session",
		Claim:  "who does nothing in jeopardy never believes with another; who goes on does, unless the lock-delay is as long as the grace",
		Claims: []string{"K3", "S69", "H16"},
		Also:   []string{"heed=on", "delay=1m", "trouble=failover", "trouble=failover heed=on"},
	}
	s.Params = []Param{
		choice("heed", &heed, []string{"on", "off"}, "whether c1 does nothing while its session is in jeopardy"),
		choice("trouble", &trouble, []string{"cut", "failover"}, "at 6s, c1 is cut off from the cell, or the cell has no majority for 20s"),
		milliseconds("delay", &delay, 0, time.Minute, "the lock-delay"),
	}
	s.Spec = func() trial.Spec {
		system := cell(delay)
		system.IgnoreJeopardy = heed == "off"
		schedule := faults.Schedule{{Anchor: faults.At(6 * time.Second), Action: faults.Partition{A: []string{"c1"}, B: []string{"n1", "n2", "n3", "n4", "n5"}}}}
		if trouble == "failover" {
			schedule = nil
			for _, n := range []string{"n1", "n2", "n3"} {
				schedule = append(schedule, faults.Fault{Anchor: faults.At(6 * time.Second), Action: faults.Restart{Server: n, How: faults.Kill, For: 20 * time.Second}})
			}
		}
		return trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 39s; write doc; work 25s; release")},
					{Name: "c2", Script: trial.MustScript("until 3500ms; acquire every 1s; work 1s; write doc; work 500ms; release")},
				},
			},
			Schedule: schedule,
			Horizon:  90 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		if trouble == "failover" {
			e.Because = "a new master extends the lease, and c1's grace is not over by then: its session is safe, and c1 keeps the lock until 1m5s"
			return e
		}
		const last = 5 * time.Second // c1's last KeepAlive
		unsure := last + chubbyLease - chubbyLease/100
		a2 := chubbyAttempt(last + chubbyLease + delay)
		e.Because = fmt.Sprintf("c1 is in jeopardy from 5s + 12s - 1%% = %s on; c2 gets the lock at %s", short(unsure), short(a2))
		if heed == "on" {
			return e
		}
		end1, end2 := unsure+chubbyGrace, a2+1500*time.Millisecond
		e.Overlap = max(0, min(end1, end2)-a2)
		e.Belief = overlapping(e.Overlap)
		if write1 := 40 * time.Second; write1 > a2+time.Second {
			e.Damage = []string{check.StaleWrite}
		}
		e.Because += fmt.Sprintf(" and believes to %s; c1 goes on until its grace is over at %s; overlap = %s", short(end2), short(end1), short(e.Overlap))
		return e
	}
	s.Control = func() Control { return turned("chubby-jeopardy", "heed", heed, "on", "off") }
	return s
}
