package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/resource"
	"locksim/models/service"
	"locksim/sim"
	"locksim/trial"
)

// staleLeader is S67. n1 is cut off from the others at 2.55, and n2 leads by 3.509;
// n1 has heard of a majority last at 2.502, so it looks around at 3 s in peace, and
// steps down at 4 s. In between it believes that it leads.
func staleLeader() *Scenario {
	read, at := "memory", 3800*time.Millisecond
	s := &Scenario{
		Name:   "stale-leader",
		Pair:   "consensus",
		Claim:  "a leader that answers from memory does not know of its successor; one that asks a majority first does",
		Claims: []string{"S67"},
	}
	s.Params = []Param{
		choice("read", &read, []string{"memory", "read-index"}, "whether the leader answers at once, or confirms that it leads"),
		durations("look-at", &at, 3700*time.Millisecond, 8*time.Second, 1, "when c3 asks n1 who holds the lock"),
	}
	s.Spec = func() trial.Spec {
		system := service.Lock{Config: inTurn(), Home: map[string]string{"c2": "n2"}}
		mustText(&system.Read, read)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c2", Script: trial.MustScript("until 3600ms; acquire; work 10s; release")},
				{Name: "c3", Script: trial.MustScript("until " + at.String() + "; look")},
			}},
			Schedule: faults.MustParse("at 2550ms  partition n1|n2,n3 20s"),
			Latency:  sim.Every(hop),
			Horizon:  30 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c2"},
			Figures: []Figure{{owners, "c2"}},
		}
		switch leads := at+hop < 4*time.Second; {
		case !leads:
			e.Because = "n1 has stepped down at 4s, and sends c3 on to the next node"
		case read == "memory":
			e.Promise, e.Breaches, e.Figures = check.Broken, []string{check.StaleRead}, []Figure{{owners, "nobody"}}
			e.Because = fmt.Sprintf("c2 has the lock from n2 since 3.606s; at %s n1 knows nothing of that, and leads until 4s", short(at+hop))
		default:
			e.Because = "no majority confirms that n1 leads, so it does not answer; the next node sends c3 to n2"
		}
		return e
	}
	s.Control = func() Control { return turned("stale-leader", "read", read, "memory", "read-index") }
	return s
}

// logToken is S68: c1 holds the lock twice, and c2 once, under n2.
func logToken() *Scenario {
	token, crash := "counter", "on"
	s := &Scenario{
		Name:   "log-index-token",
		Pair:   "consensus",
		Claim:  "the index of the log rises through a change of the leader; a leader's own count begins anew",
		Claims: []string{"S68"},
	}
	s.Params = []Param{
		choice("token", &token, []string{"counter", "index"}, "whether the token is the leader's own count, or the place in the log"),
		choice("crash", &crash, []string{"on", "off"}, "whether the leader loses power in between"),
	}
	s.Spec = func() trial.Spec {
		system := service.Lock{Config: inTurn(), Home: map[string]string{"c2": "n2"}}
		mustText(&system.Token, token)
		spec := trial.Spec{System: system, Latency: sim.Every(hop), Horizon: 20 * time.Second, Cast: trial.Cast{
			Resources: []models.Resource{resource.Fenced("doc")},
			Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1s; acquire; write doc; release; acquire; write doc; release")},
				{Name: "c2", Script: trial.MustScript("until 4s; acquire; write doc; release")},
			},
		}}
		if crash == "on" {
			spec.Schedule = down("1550ms", 1, 1)
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c1", "c2"}}
		is := "2, 4, 6"
		switch {
		case token == "counter" && crash == "on":
			is = "1, 2, 1"
			e.Promise, e.Breaches, e.Rejected = check.Broken, []string{check.TokenOrder}, []string{"c2"}
			e.Because = "n1 counts 1 and 2 for c1, and n2 counts 1 for c2: the store has seen 2"
		case token == "counter":
			is = "1, 2, 3"
			e.Because = "n1 counts 1, 2 and 3"
		case crash == "on":
			is = "2, 4, 7"
			e.Because = "an entry with which each leader begins, two locks, each taken and given back, and a third: 2, 4, 7"
		default:
			e.Because = "an entry with which the leader begins, two locks, each taken and given back, and a third: 2, 4, 6"
		}
		e.Figures = []Figure{{tokens, is}}
		return e
	}
	s.Control = func() Control { return turned("log-index-token", "token", token, "counter", "index") }
	return s
}

// silentSession is S69: c1 is paused before it writes.
func silentSession() *Scenario {
	pause := 14 * time.Second
	s := &Scenario{
		Name:   "silent-session",
		Pair:   "session",
		Claim:  "a holder that is silent for the TTL loses the lock; one that is heard of in time keeps it",
		Claims: []string{"S69"},
	}
	s.Params = []Param{durations("pause", &pause, 0, 20*time.Second, 1, "how long c1 is paused before it writes")}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System: service.Lock{}, Latency: sim.Every(hop), Horizon: time.Minute,
			Cast: two("until 1s; acquire; work 1s; write doc; release", "until 3s; acquire; work 1s; write doc; release"),
		}
		spec.Cast.Resources = []models.Resource{fencedDoc()}
		if pause > 0 {
			spec.Schedule = faults.Schedule{{Anchor: faults.Before("c1", "write", 1), Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause}}}
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		heard := time.Second + 3*hop + disk // the leader commits c1's acquire
		goesOn := time.Second + committed + time.Second + pause
		gets := heard + 10*time.Second + (2*hop + disk) + hop // c2, when that is committed
		if goesOn <= gets {
			e.Because = fmt.Sprintf("c1 goes on at %s; it could be silent until %s", short(goesOn), short(heard+10*time.Second))
			return e
		}
		writes := gets + time.Second + hop
		stops := writes + hop // c2, which releases
		e.Overlap = min(goesOn, stops) - gets
		e.Belief = check.Overlapping
		if goesOn+hop > writes {
			e.Rejected = []string{"c1"}
		}
		e.Because = fmt.Sprintf("n1 has heard of c1 last at %s, so c2 has the lock at %s; c1 believes until it goes on at %s, c2 until %s; overlap = %s",
			short(heard), short(gets), short(goesOn), short(stops), short(e.Overlap))
		return e
	}
	s.Control = func() Control {
		if pause < 9*time.Second {
			return Control{"silent-session", []string{"pause=14s"}}
		}
		return Control{"silent-session", []string{"pause=1s"}}
	}
	return s
}

// serviceQueue is S70: who waits is told in turn, or all at once.
func serviceQueue() *Scenario {
	wake, waiters := "next", "3"
	s := &Scenario{
		Name:   "service-queue",
		Pair:   "consensus",
		Claim:  "a release tells the next in the queue, which holds the lock by then; where all are told, they ask again",
		Claims: []string{"S70"},
	}
	s.Params = []Param{
		choice("wake", &wake, []string{"next", "all"}, "who is told when the lock is free"),
		choice("waiters", &waiters, []string{"1", "3", "5"}, "how many wait for it"),
	}
	s.Spec = func() trial.Spec {
		system := service.Lock{TTL: time.Minute} // so that nobody asks again by itself
		mustText(&system.Wake, wake)
		spec := trial.Spec{System: system, Cast: one("until 1s; acquire; work 3s; release"), Latency: sim.Every(hop), Horizon: 20 * time.Second}
		for i := range digit(waiters) {
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{
				Name:   fmt.Sprintf("c%d", i+2),
				Script: trial.MustScript(fmt.Sprintf("until %dms; acquire; work 1s; release", 2000+100*i)),
			})
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1"}}
		n := time.Duration(digit(waiters))
		for i := range n {
			e.Granted = append(e.Granted, fmt.Sprintf("c%d", i+2))
		}
		handOver, how := committed, "the release is committed, and a message tells the next"
		sent := 4 * (n + 1) // each asks and gets, releases and is told
		if wake == "all" {
			handOver, how = 2*committed, "the release is committed, a message tells each, they ask, and the first is committed"
			sent += n * (n + 1) // n releases tell n, n - 1, ... 1, who ask again
		}
		e.Figures = []Figure{{messages, fmt.Sprint(int(sent))}}
		released := time.Second + committed + 3*time.Second
		asked := 2*time.Second + (n-1)*100*time.Millisecond
		e.Longest = released + n*handOver + (n-1)*time.Second - asked
		e.Because = fmt.Sprintf("%s: %s; the last of %d asks at %s, and has the lock after %d of them from %s on, and %d x 1 s; %d messages",
			how, short(handOver), n, short(asked), n, short(released), n-1, sent)
		return e
	}
	s.Control = func() Control { return turned("service-queue", "wake", wake, "all", "next") }
	return s
}
