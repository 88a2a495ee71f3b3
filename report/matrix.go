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
	p.text(fmt.Sprintf("%d of the %d cells that we had predicted came out so; where one did not, it says what was predicted.", came, predicted))
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

One fault at a time, the same for all. c1 asks at 0 and works; when c2 has written, if it got the lock, c1 writes to doc, if it still believes then, and works on for 20 s. c2 makes one attempt, and writes soon: at 2 s; where c1 is paused (for 14 s, before its write, or before it reads the reply that decides), half a second after the keys have expired; where clocks drift, half a second before c1 thinks that its term is over, or just when it is. Where a lock lets its clients wait, c2 asks at 2 s and does so. A server's accident comes at 0.5 s, and hits r3, or the only server, or the leader; in the column "failover" that server dies for good, and its replica takes over, if there is one, or who is elected. A Redlock client holds exactly three of five nodes, so that one is enough: it is the attack of the essay, and with four or five nodes held it takes two or three (point 7).

✓ is never two holders, ✗ two, and for how long. In the last three columns ✓ is no damage by any of these faults, with a store that checks nothing, the lock's token, or its random value, on each write. – does not apply: a Redlock has no token. A cell is run with, for example,

` + "```" + `
simrun --scenario matrix --set lock=redlock-fsync --set fault=server-jump --set store=none
` + "```" + `

"redlock" is one whose nodes keep nothing on disk and expire keys by the wall clock, as Redis does; "monotonic", "everysec" and "fsync" say what is different. A node that is "delayed" stays away for 12 s. "unmeasured" leaves out step 3; "redis-measured" is one Redis whose client does measure, and stops at its TTL. "redis" and its kin fetch a token with INCR, after the lock, where the store checks one.

All terms are 10 s. Beyond Redis not every fault can be the same:

- **etcd** has three nodes. Its holders renew, and stop when the session says that it is over, which for c1 after its pause while acquiring is as soon as it has the lock. The accidents are the leader's, whose clock counts the leases, by a monotonic clock. c2 asks another node. "etcd-cut-off" is a holder that hears nothing of etcd from 0.25 s on, and works on with doc: what drift can do to a lease is seen only where nobody renews it. It overlaps without any drift too, since the session looks for its own deadline once a second.
- **lease-table** is a row in a database on one server, which keeps what it committed. "standby" has an asynchronous one a second behind, which takes over. The clients measure as Redlock's do, and stop at the TTL, with no allowance: 500 ppm each way are 10 ms of ten seconds, so that even real clocks overlap. The prediction had taken an allowance for granted.
- **advisory** is a lock that goes with a session of PostgreSQL, without a term. A process that is paused keeps its session, and the lock; one whose session has ended is not told. So "advisory-cut-off" is the other half of what was predicted of a pause: its holder's connection is reset at 0.25 s, whatever the fault. A standby takes over, and has never heard of any lock.
- **zookeeper** is the same with ticks of 2 s, and clients that stop when they have heard nothing for two thirds of their timeout. That is an allowance of a third, where clocks ten per cent off each way need 18 % of the term, so that drift does nothing to a holder that is cut off either, against our prediction. But a late reply is news to a client: cut off behind it, and paused before it read it, it waits for two thirds of its timeout again.
- **consul** has a lock-delay of 15 s, and its servers end a session after twice its TTL: a pause of 14 s is none to it. For one that is longer see point 15. Its client has no step 3; what saves it here is that 14 s are less than 20. When the leader loses its power for good, the agents wait for it for a minute: c1's session ends at 21.6 s, while it works, and the lock-delay covers the rest.
- **chubby** has a lease of 10 s, on three replicas, and the same delay; "undelayed" has none. c2 tries every 100 ms. With the delay a pause may last as long as the term and the delay, less the second for which c1 has the lock before it; 14 s are within that, and beyond the term alone.
- **quorum** is W + R > N on three leaderless replicas: c1 is answered by r1 and r2, c2 by r2 and r3, and r2 has the accidents. Who takes the place of one that dies has nothing. We had predicted two holders everywhere, since two that ask at once both get the lock: that is "quorum-at-once", where c2 asks a millisecond after c1, and no fault is needed. One after the other they need one: a pause while acquiring ends with c1's own deadline, and its allowance of 500 ppm, and what c2 needs to write, are enough for clocks as far apart as real ones.
- **sync-to-all** is one Redis with two replicas, all of which sync every write, and the client waits for both, measures, and stops at its TTL, with no allowance. Its token comes with the key. What takes over has the lock; with one of the three gone nobody gets another (point 13).
- **no-lock** is a read, 100 ms of work or more, and a write, by two who know nothing of each other. Nobody believes anything; a store that compares keeps the data right, and c1 has worked in vain each time. What becomes of a store that has an accident is up to that.
`
