package scenarios

import (
	"time"

	"locksim/check"
	"locksim/models"
	"locksim/models/quorum"
)

// leaderless is what the rows of leaderless replicas have in common: c1 is answered by
// r1 and r2, c2 by r2 and r3. Who takes the place of a replica that has died knows
// nothing, and neither does one that restarts.
func leaderless(name string, predicted ...Mark) contender {
	return contender{
		Row: tokened(name, Breaks, predicted),
		target: target{
			servers: []string{"r1", "r2", "r3"}, victim: "r2", restart: briefly, dies: briefly, deciding: 4,
			cut: "at 0s  partition c1|r3\nat 0s  partition c2|r1",
		},
		system: func(string) models.System { return quorum.Lock{} },
	}
}

// quorums is the row of quorums that overlap, one client after the other. A replica
// that forgets a record forgets its token with it.
func quorums(name string, predicted ...Mark) contender {
	c := leaderless(name, predicted...)
	l := lapsing{
		cost:     func(string) time.Duration { return 2 * ask },
		deadline: quorumTerm, unmeasured: true,
		promised: quorumTerm, decided: 3 * hop,
		gives: func(fault string) bool { return fault != "none" },
		tokens: func(fault, _ string) (int, int, string) {
			switch fault {
			case "restart", "restart-jump", "failover":
				return 1, 1, "r2 has forgotten the token with the record, and both have 1"
			}
			return 1, 2, ""
		},
	}
	c.fate = l.fate
	return c
}

// quorumsAtOnce is the same with two that ask at once: c2 reads before c1 has written.
func quorumsAtOnce(name string, predicted ...Mark) contender {
	c := leaderless(name, predicted...)
	c.from, c.spared = time.Millisecond, "quorum"
	c.fate = func(fault, store string) fate {
		l := lapsing{cost: func(string) time.Duration { return 2 * ask }, deadline: quorumTerm}
		f := fate{first: l.first(fault, store), second: successor(store, c.from+2*ask)}
		f.second.stop(c.from + quorumTerm)
		f.number(1, 1)
		f.breaches, f.disorder = []string{check.DoubleGrant}, "both have read that there is no token, and have token 1"
		return f
	}
	return c
}
