package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/check"
	"locksim/scenarios"
)

// Matrix is every lock under every fault, as it was run.
type Matrix struct {
	Faults []string
	Rows   []MatrixRow
}

// MatrixRow is one lock. Its Cells are in the order of the faults.
type MatrixRow struct {
	scenarios.Row
	Cells []Cell
	// Unchecked, ByToken and ByValue are what all the faults together did to the data,
	// with a store that checks nothing, or something.
	Unchecked, ByToken, ByValue Cell
}

// Cell is what came out of one fault, or of what all of them did to the data. The
// zero value is one that does not apply.
type Cell struct {
	Found scenarios.Mark // Nothing for one that does not apply, empty for unknown
	// Overlap is how long two clients believed.
	Overlap time.Duration
}

// BeliefCell is the cell of a run: did two clients believe?
func BeliefCell(v *check.Verdicts) Cell {
	switch v.Belief.Status {
	case check.Exclusive:
		return Cell{Found: scenarios.Holds}
	case check.Overlapping:
		return Cell{scenarios.Breaks, v.Belief.Total}
	}
	return Cell{}
}

// Suffer adds to a cell about the data what one more run did to it.
func (c *Cell) Suffer(v *check.Verdicts) {
	switch {
	case v.Damage.Status == check.Damaged:
		c.Found = scenarios.Breaks
	case v.Damage.Status == check.Unknown && c.Found == scenarios.Holds:
		c.Found = ""
	}
}

// text is a cell as the table shows it: what was found, and what had been
// predicted where that is something else.
func (c Cell) text(predicted scenarios.Mark) string {
	s := sign(c.Found)
	if c.Overlap > 0 {
		s += fmt.Sprintf(" %.3f s", c.Overlap.Seconds())
	}
	if predicted != c.Found && predicted != scenarios.Nothing {
		s += " (predicted " + sign(predicted) + ")"
	}
	return s
}

func sign(m scenarios.Mark) string {
	switch m {
	case scenarios.Holds:
		return "✓"
	case scenarios.Breaks:
		return "✗"
	case scenarios.Nothing:
		return "–"
	}
	return "?"
}

// faultNames are the headings of the faults.
var faultNames = map[string]string{
	"pause-after":   "pause after grant",
	"pause-acquire": "pause while acquiring",
	"server-jump":   "server's clock +11 s",
	"drift":         "drift 10 % each way",
	"drift-ppm":     "drift 500 ppm each way",
	"restart":       "power loss, restart",
	"restart-jump":  "… and a clock jump",
	"failover":      "failover",
}

// matrix writes the table of every lock under every fault, and how many of the
// predictions came true.
func (p *page) matrix(m *Matrix) {
	p.text(aboutMatrix)
	head := []string{"lock"}
	for _, f := range m.Faults {
		head = append(head, faultNames[f])
	}
	head = append(head, "data, unchecked", "data: token", "data: random value")
	p.row(head)
	p.line(strings.Repeat("|---", len(head)) + "|")
	predicted, came := 0, 0
	for i := range m.Rows {
		r := &m.Rows[i]
		texts := []string{"`" + r.Name + "`"}
		want := append(slices.Clone(r.Predicted), unchecked(r.Predicted), r.Fenced, r.Compared)
		for k, c := range append(slices.Clone(r.Cells), r.Unchecked, r.ByToken, r.ByValue) {
			texts = append(texts, c.text(want[k]))
			if want[k] != scenarios.Nothing {
				predicted++
			}
			if want[k] != scenarios.Nothing && want[k] == c.Found {
				came++
			}
		}
		p.row(texts)
	}
	p.line()
	p.text(fmt.Sprintf("%d of the %d cells that we had predicted came out so; where one did not, it says what was predicted. Of \"unmeasured\", \"measured\" and \"deaf\" nothing was; of a jump with a restart, that it breaks what one of them breaks.", came, predicted))
}

// unchecked is what is predicted of data that nothing checks: damage, as soon as two
// can hold the lock.
func unchecked(predicted []scenarios.Mark) scenarios.Mark {
	for _, m := range []scenarios.Mark{scenarios.Breaks, scenarios.Holds} {
		if slices.Contains(predicted, m) {
			return m
		}
	}
	return scenarios.Nothing
}

// row is a row of a table.
func (p *page) row(cells []string) { p.line("| " + strings.Join(cells, " | ") + " |") }

const aboutMatrix = `
## Every lock under every fault

One fault at a time, the same for all. c1 asks at 0 and works; when c2 has written, if it got the lock, c1 writes to doc, if it still believes then, and works on for 20 s. c2 makes one attempt, and writes soon: at 2 s; where c1 is paused (for 14 s, before its write, or before it reads the reply that decides), half a second after the keys have expired; where clocks drift, half a second before c1 thinks that its term is over, or just when it is. A server's accident comes at 0.5 s, and hits r3, or the only server, or the first; in the column "failover" that server dies for good, and its replica takes over, if there is one, or who is elected. A Redlock client holds exactly three of five nodes, so that one is enough: it is the attack of the essay, and with four or five nodes held it takes two or three (point 7).

✓ is never two holders, ✗ two, and for how long. In the last three columns ✓ is no damage by any of these faults, with a store that checks nothing, the lock's token, or its random value, on each write. – does not apply: a Redlock has no token. A cell is run with, for example,

` + "```" + `
simrun --scenario matrix --set lock=redlock-fsync --set fault=server-jump --set store=none
` + "```" + `

"redlock" is one whose nodes keep nothing on disk and expire keys by the wall clock, as Redis does; "monotonic", "everysec" and "fsync" say what is different. A node that is "delayed" stays away for 12 s. "unmeasured" leaves out step 3; "redis-measured" is one Redis whose client does measure, and stops at its TTL. "redis" and its kin fetch a token with INCR, after the lock, where the store checks one.

All terms are 10 s. Beyond Redis not every fault can be the same. Where a lock lets its clients wait, c2 asks at 2 s and does; where servers agree, the accident is the leader's. What hangs on a condition has a row for either case: "cut-off" is a holder that from 0.25 s on hears nothing of its lock, and works on with doc, whatever the fault.

- **sync-to-all** is one Redis with two replicas, all of which sync every write, and the client waits for both, measures, and stops at its TTL. Its token comes with the key. What takes over has the lock; with one of the three gone nobody gets another (point 13).
- **quorum** is W + R > N on three leaderless replicas: c1 is answered by r1 and r2, c2 by r2 and r3, and the accidents are r2's. Who takes the place of one that dies has nothing. We had predicted two holders everywhere, and "quorum-at-once", where c2 asks a millisecond after c1, has them without any fault. One after the other they need one. A pause of 14 s while acquiring is not it, since c1's own deadline is over by then (one that is shorter than the term, between its read and its write, does it: point 13); and 500 ppm each way are covered by its allowance of half of that and the messages of c2's attempt.
- **lease-table** is a row in a database on one server, which keeps what it committed; "standby" has an asynchronous one a second behind, which takes over. The clients measure, and stop at their TTL.
- Neither these nor the clients of sync-to-all have an allowance, and 500 ppm each way are 10 ms of ten seconds, more than the messages of c2's attempt take: two holders, for a moment. The prediction had taken an allowance for granted, as Redlock has one.
- **advisory** is a lock that goes with a session of PostgreSQL, and has no term. A process that is paused keeps its session, and the lock; one whose session has ended is not told. "Cut-off" is a connection that is reset. A standby takes over, and has never heard of any lock.
- **etcd** has three nodes; c2 asks one that follows. Its holders renew, and stop when their session says that it is over: for c1 after its pause while acquiring that is as soon as it has the lock. "deaf" is one that does not listen. Leases are counted by the leader's monotonic clock. What drift does to them is seen only where nobody renews; and a holder that is cut off overlaps without any, since its session looks for its own deadline once a second; not where there is a new leader, which gives its lease a full term anew.
- **zookeeper** has three servers and ticks of 2 s; its clients stop when they have heard nothing for two thirds of their timeout. So they allow a third of it, where clocks ten per cent off each way need 18 %: against our prediction, drift does nothing to a holder that is cut off. But a late reply is news: cut off, and paused before it read one, c1 waits for two thirds of its timeout from then on.
- **consul** has a lock-delay of 15 s, and its servers wait for twice the TTL before they end a session, so that a pause of 14 s ends none; for longer ones see point 15. Its client has no step 3. When the leader loses its power for good, the agents wait for it for a minute: c1's session ends while it works, at 21.6 s, and the lock-delay covers the rest.
- **chubby** has three replicas, a lease of 10 s and the same delay, with which a pause may last for 24 s; "undelayed" has none. c2 tries every 100 ms.
- **no-lock** is two who read, work and write without a lock. Nobody believes anything; a store that compares keeps the data right, and c1 has worked in vain each time. An accident of the store is up to the store.
`
