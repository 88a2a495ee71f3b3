package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// lateMint is A2: the store that checks the tokens hands them out too. Its numbers
// rise, in the order in which they are fetched. Who fetches one when its term is
// over gets the greatest.
func lateMint() *Scenario {
	ttl, pause, token := 10*time.Second, 9500*time.Millisecond, "store"
	s := &Scenario{
		Name:   "late-mint",
		Pair:   "mint",
		Claim:  "a store that hands out the tokens it checks gives the greater one to the client that comes too late, and then rejects the live holder",
		Claims: []string{"A2", "K8", "T22"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before it fetches its token and writes"),
		choice("token", &token, []string{"store", "grant"}, "whether the store hands out the token, or the step that grants the lock"),
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{System: lease.Ideal{TTL: ttl, Tokens: token == "grant"}, Horizon: ttl + pause + time.Minute}
		mint, first := "mint doc; ", "mint"
		if token == "grant" {
			mint, first = "", "write"
		}
		spec.Cast = claimed(resource.Fenced("doc"), "acquire; "+mint+"write doc; work 1s; write doc")
		spec.Cast.Clients[0].Script = trial.MustScript("until 1s; acquire; work 1s; " + mint + "write doc; release")
		spec.Schedule = pauseAt(first, 1, pause)
		return spec
	}
	// c1 fetches its token and writes when its pause is over, in a tie before c2 does.
	// c2 fetches its own and writes with the grant, at a2, and again a second later, in
	// a tie before c1's write, which has to wait for its token.
	s.Expect = func() Expectation {
		w := widget(ttl, pause)
		e := w.expectation()
		e.Damage = nil
		late := w.write1 > w.accepted2
		switch {
		case late && token == "grant":
			e.Rejected = []string{"c1"}
			e.Because += "; the store has seen c2's token since a2"
		case late:
			e.Damage = []string{check.StaleWrite}
			e.Because += "; c2 fetches token 1 at a2 and writes, c1 fetches 2 after that"
			if w.write1 < w.write2 {
				e.Rejected = []string{"c2"}
			}
		}
		return e
	}
	s.Control = func() Control { return turned("late-mint", "token", token, "grant", "store") }
	return s
}

// redlockMint is A2 as it was proposed, for the tokens of Redlock: r3 forgets c1's
// key, so that two clients hold the lock by rights, and the store's numbers are all
// that is between them.
func redlockMint() *Scenario {
	pause := 3 * time.Second
	s := &Scenario{
		Name:   "redlock-mint",
		Pair:   "mint",
		Claim:  "a token that the store hands out makes up for Redlock's broken promise only where each holder fetches it at once",
		Claims: []string{"A2", "K8", "S38", "T22"},
	}
	s.Params = []Param{durations("pause", &pause, 0, 4*time.Second, 1, "how long c1 is paused between the lock and its token")}
	const again = 2 * time.Second
	s.Spec = func() trial.Spec {
		schedule := pauseAt("mint", 1, pause)
		schedule = append(schedule, faults.MustParse("at 500ms  restart r3 power-loss")...)
		return trial.Spec{
			System: redis.Redlock{Order: fromTheOtherEnd()},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Fenced("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; mint doc; work 5s; write doc; work 1000h; release")},
					{Name: "c2", Script: trial.MustScript(
						"until 1ms; try; release; until " + again.String() + "; try; mint doc; work 1s; write doc; work 6s; write doc; work 1000h; release")},
				},
			},
			Schedule: schedule,
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// c1 has the lock at 10 ms and fetches its token when its pause is over; c2 has it
	// at 2.010. In a tie c1's request goes first. c1 writes 5 s after that, and within
	// its validity; c2 1 s after it has its token, and 6 s after that again.
	s.Expect = func() Expectation {
		mint1, mint2 := acquisition+pause+hop, again+acquisition+hop
		write1 := mint1 + 5*time.Second + ask
		e := secondHolder(true, 10*time.Second, again, "r3 has lost c1's key")
		e.Damage, e.Rejected = nil, []string{"c1"}
		if mint1 > mint2 {
			e.Damage, e.Rejected = []string{check.StaleWrite}, []string{"c2"}
		}
		e.Because += fmt.Sprintf("; c1's request for a token arrives at %s, c2's at %s; c1's write at %s, c2's at 3.013s and 9.015s",
			short(mint1), short(mint2), short(write1))
		return e
	}
	s.Control = func() Control {
		if pause > again {
			return Control{"redlock-mint", []string{"pause=0s"}}
		}
		return Control{"redlock-mint", []string{"pause=3s"}}
	}
	return s
}
