package scenarios

import (
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// counterLost is T14: the counter that tokens come from is a key like any other,
// and a node that forgets it begins at 1 again.
func counterLost() *Scenario {
	persistence := "none"
	s := &Scenario{
		Name: "counter-lost", Pair: "mint",
		Claim:  "a node that restarts without its counter hands out old tokens: the live holder is rejected",
		Claims: []string{"T14", "K8"},
	}
	s.Params = []Param{choice("persistence", &persistence, []string{"none", "always"}, "what the node keeps on its disk")}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{Token: redis.ScriptIncr}
		mustText(&system.Persistence, persistence)
		spec := trial.Spec{
			System:   system,
			Cast:     two("acquire; write doc; release; acquire; write doc; release", "until 2s; acquire; write doc; release"),
			Schedule: faults.MustParse("at 1s  restart r1 power-loss"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
		spec.Cast.Resources[0] = fencedDoc()
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Because: "c1 has tokens 1 and 2, c2 has 3"}
		if persistence == "none" {
			e.Promise, e.Breaches, e.Rejected = check.Broken, []string{check.TokenOrder}, []string{"c2"}
			e.Because = "c1 has tokens 1 and 2; after the restart c2 has 1, and the store has seen 2"
		}
		return e
	}
	s.Control = func() Control {
		return turned("counter-lost", "persistence", persistence, "none", "always")
	}
	return s
}

// expiryWhileOff is R4: a key expires by its date, also while its node is off.
func expiryWhileOff() *Scenario {
	down := 10 * time.Second
	s := &Scenario{
		Name:   "expiry-while-off",
		Pair:   "restart",
		Claim:  "a key that is kept on disk expires by its date while its node is off",
		Claims: []string{"R4", "S34"},
	}
	s.Params = []Param{milliseconds("down", &down, 0, time.Minute, "how long r1 is off, from 2s on")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.SetNX{Persistence: redis.Always},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 1h")},
				{Name: "c2", Script: trial.MustScript("until 3s; acquire; release")},
			}},
			Schedule: faults.Schedule{
				{Anchor: faults.At(1500 * time.Millisecond), Action: faults.KillProcess{Process: "c1"}},
				{Anchor: faults.At(2 * time.Second), Action: faults.Restart{Server: "r1", How: faults.Kill, For: down}},
			},
			Latency: sim.Every(hop),
			Horizon: down + time.Minute,
		}
	}
	// c2 asks every 102 ms, refused by the key or by the machine: the first attempt
	// that arrives when r1 is back and the key's date, 10.001, is past gets the lock.
	s.Expect = func() Expectation {
		free := max(2*time.Second+down, 10002*time.Millisecond)
		accepted := pollSeen(free) + hop
		return Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Longest: accepted - 3*time.Second,
			Because: "r1 is back and the key past its date at " + short(free) + "; c2's next attempt is answered at " + short(accepted),
		}
	}
	s.Control = func() Control {
		if down == 0 {
			return Control{"expiry-while-off", []string{"down=20s"}}
		}
		return Control{"expiry-while-off", []string{"down=0s"}}
	}
	return s
}

// majorityCrash is S36: when three of five nodes are away for longer than a TTL,
// nobody gets a lock for that long.
func majorityCrash() *Scenario {
	down := 12 * time.Second
	s := &Scenario{
		Name: "redlock-majority-crash", Pair: "restart",
		Claim:  "the price of staying away: while three of five nodes wait out the TTL, nobody gets a lock",
		Claims: []string{"S36", "A10"},
	}
	s.Params = []Param{milliseconds("down", &down, 0, time.Minute, "how long r1, r2 and r3 stay away, from 500ms on")}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:  redis.Redlock{},
			Cast:    trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("until 1s; acquire; release")}}},
			Latency: sim.Every(hop),
			Horizon: down + time.Minute,
		}
		for _, node := range []string{"r1", "r2", "r3"} {
			spec.Schedule = append(spec.Schedule, faults.Fault{
				Anchor: faults.At(500 * time.Millisecond), Action: faults.Restart{Server: node, How: faults.PowerLoss, For: down},
			})
		}
		return spec
	}
	s.Expect = func() Expectation {
		accepted := untilMajority(500*time.Millisecond + down)
		return Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Longest: accepted - time.Second,
			Because: "r1, r2 and r3 are back at " + short(500*time.Millisecond+down) + "; each costs 50ms before; the next attempt has a majority at " + short(accepted),
		}
	}
	s.Control = func() Control {
		if down == 0 {
			return Control{"redlock-majority-crash", []string{"down=12s"}}
		}
		return Control{"redlock-majority-crash", []string{"down=0s"}}
	}
	return s
}

// untilMajority is when a client that asks from 1 s on has a majority, if r1, r2
// and r3 answer what arrives from back on, and before that cost a timeout each. A
// failed attempt is undone on all nodes and followed by a wait.
func untilMajority(back time.Duration) time.Duration {
	const timeout = 50 * time.Millisecond
	at := time.Second
	round := func() (votes int) {
		for node := range 5 {
			if node >= 3 || at+hop >= back {
				votes++
				at += ask
				continue
			}
			at += timeout
		}
		return votes
	}
	for round() < 3 {
		round()
		at += trial.DefaultEvery
	}
	return at
}
