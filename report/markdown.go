package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes REPORT.md: the question, the verdicts, each pair with both
// sides, what ran, the timelines that matter, who is right under which
// assumption, then every lock under every fault, and at the end a guide for whoever
// has to choose.
func Markdown(w io.Writer, points []Point, m *Matrix) error {
	p := newPage(w, Options{})
	p.text(preface)
	p.line("| | question | who is right |")
	p.line("|---|---|---|")
	for i := range points {
		t := &points[i]
		p.line(fmt.Sprintf("| [%d](#%s) | %s | %s |", t.Number, heading(t), t.Pair.Question, t.Pair.Right))
	}
	p.line()
	for i := range points {
		if points[i].Pair.Beyond && !points[i-1].Pair.Beyond {
			p.text(beyond)
		}
		p.point(&points[i])
	}
	p.matrix(m)
	p.text(opinions)
	p.text(guide)
	return p.err
}

// heading is the anchor of a pair's heading.
func heading(t *Point) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return -1
	}, strings.ToLower(t.Pair.Question))
	return fmt.Sprintf("%d-%s", t.Number, plain)
}

// text writes paragraphs as they are.
func (p *page) text(s string) { p.line(strings.TrimSpace(s) + "\n") }

func (p *page) point(t *Point) {
	q := &t.Pair
	p.text(fmt.Sprintf("## %d. %s", t.Number, q.Question))
	p.text(fmt.Sprintf("**%s**: %s (%s)", q.Claim.Who, q.Claim.Says, q.Claim.Where))
	p.text(fmt.Sprintf("**%s**: %s (%s)", q.Answer.Who, q.Answer.Says, q.Answer.Where))
	p.text(fmt.Sprintf("**Found**: %s", q.Found))
	p.text(fmt.Sprintf("**Who is right**: %s", q.Right))
	p.text(fmt.Sprintf("**It hangs on this**: %s", q.Decides))
	p.line("| run | what it shows | found | expected |")
	p.line("|---|---|---|---|")
	for i := range t.Runs {
		e := &t.Runs[i]
		word := "as expected"
		if !e.AsExpected() {
			word = "**not as expected**"
		}
		p.line(fmt.Sprintf("| `%s` | %s | %s | %s: %s |", e.Run.Command(), e.Run.Scenario.Claim, e.finding(), word, e.because()))
		for _, v := range e.Also {
			p.line(fmt.Sprintf("| also: `%s` | | %s | |", variant(v), v.outcome()))
		}
		if k := e.Run.Control; k != nil {
			p.line(fmt.Sprintf("| control: `%s` | | %s | |", k.title(), k.outcome()))
		}
	}
	p.line()
	p.field(t)
	for i := range t.Runs {
		if e := &t.Runs[i]; e.Timeline != "" {
			p.text(fmt.Sprintf("`%s`\n\n```\n%s```", e.Run.Scenario.Name, e.Timeline))
			break // one says it
		}
	}
}

// field writes what the operators saw of the failures from the field among the runs,
// and what cures each.
func (p *page) field(t *Point) {
	if t.Runs[0].Run.Scenario.Case == nil {
		return
	}
	p.line("| case | what the operators would have seen | who cures it | how |")
	p.line("|---|---|---|---|")
	for i := range t.Runs {
		s := t.Runs[i].Run.Scenario
		p.line(fmt.Sprintf("| `%s` | %s | %s | `%s`: %s |", s.Name, s.Case.Seen, s.Case.By, s.Case.Cure, s.Case.Means))
	}
	p.line()
}

const preface = `
# Is Redlock safe? The argument, run

<!-- Written by: go run ./cmd/simrun report. Do not edit; CI compares. -->

In 2016 Martin Kleppmann wrote that Redlock, the distributed lock of the Redis documentation, is not safe enough to protect data, and Salvatore Sanfilippo (antirez), who designed it, answered. Both essays are short, clear and worth reading. This page does not retell them. It runs what they say, and in points 12 to 18 what has been said of recipes, replicas, quorums, consensus, sessions, databases and jobs, and what has been reported from the field, on a simulator in which every fault strikes where the authors let it strike, and reports what came out.

**The lock.** A client asks Redis for a lock with SET key value NX PX 10000: set the key to a value that only I know, if it is not there, and let it expire in ten seconds (the *TTL*, or *term*). It gives the lock back by deleting the key, if the value is still its own. **Redlock** does so on five independent Redis nodes, r1 to r5: (1) read the clock, T1; (2) send SET to every node; (3) read the clock again; (4) the lock is held if three nodes said OK and less than TTL − allowance has passed, and then until T1 + TTL − allowance; (5) otherwise delete the key on all nodes. The *allowance* for clocks that run apart, also called *drift*, is 1 % of the TTL and 2 ms here: 102 ms of ten seconds. The clients are c1, c2 and c3; what the lock protects is called doc. A message takes a millisecond each way, unless a run says otherwise. A *fencing token* is a number that comes with the lock and rises with each grant. *fsync always* and *every second* (everysec) are how often a node syncs what it writes to its disk. A *monotonic* clock only counts on; a *wall* clock can be set. A *replica* copies its primary a little later; in a *failover* it takes over; *WAIT* asks how many replicas have a write. A *compare-and-set* writes only if nothing has changed since it was read. In formulas P is the pause, and a2 the instant at which c2 gets the lock. The *ideal lease* is a lock service without faults.

A lock can fail in four ways, and most of the quarrel is about which of them is meant. So each run ends in four verdicts:

- **promise**: did the lock service break its word? It promises that nobody else gets the lock for a term. If it hands the lock to another before that, tells a holder too early that it lost the lock, confirms the release or the extension of a lock that is no longer the client's, hands out a token that is not greater than the last, answers wrongly who holds it, or lets the next in before a lock-delay that it promised is over, the promise is broken; whose fault that is, each run says. The term counts from the sending of the request, less what the service declares that its clocks may be wrong by: a single Redis is held to TTL − (500 parts per million + 1 ms).
- **belief**: did two clients believe at the same instant that they hold the lock? A client that was paused goes on believing, although its term is over and the service kept its word.
- **damage**: did the resource suffer? A stale write accepted, an update lost, a mail sent twice, another's lock released or prolonged. Doing work twice is a matter of efficiency, wrong data one of correctness.
- **progress**: who waited how long, and did anybody wait for ever?

Every figure was derived beforehand, in the first row of each run by the formula beside it, and then measured. Every run can be made again with the command in the first column (after go install ./cmd/simrun); an "also" or "control" row with --set before each of its settings. "damage none" only says that nothing was damaged: in some runs nothing was written. A key that has expired is noticed when somebody next asks for it.

Before anything ran, we had predicted the verdicts. Where the runs taught us otherwise: a token alone does not save a read-modify-write (points 3 and 4), it takes reads that show it; INCR on one Redis is unsafe as a second command, not inside the granting script (point 5); an asynchronous failover loses no lock if the client waits, with WAIT, for the very replica that takes over, and that keeps its memory and its time; the price is that it may get none (point 13); a client that measures, but allows nothing for clocks, overlaps where they are 500 ppm off each way, and one that stops at two thirds of its timeout does not even where they are ten per cent off (last table). How many of the predictions for the last table came true is said below it.
`

const beyond = `
Points 12 to 18 go beyond the two essays. Of N copies, a write waits for W and a read asks R: a *quorum*. *Linearizable* is what behaves as if there were one copy. *Consensus* (Raft in etcd and Consul, Zab in ZooKeeper; Raft for all of them here) is a majority that agrees on one log, which its *leader* writes; etcd's *revision* and ZooKeeper's *zxid* are places in that log. *ReadIndex*: the leader asks a majority before it answers. In *two-phase commit* all must agree, not a majority. A *session* lives while its client sends heartbeats (*keepalives*, *pings*); its locks go with it. etcd's *Done* tells a program that its session is over. A *lock-delay* is a wait before the next holder.
`

const opinions = `
## What is a matter of opinion

Some of what was said cannot be run. We weigh it here, in the light of what ran.

- **Five nodes are too much for saving work** (Kleppmann). What can be counted supports him: the four nodes more buy that a crash of one is not noticed, at five times the messages (point 11). Whether that is worth it is for whoever pays.
- **Do not use Redlock where correctness hangs on it** (Kleppmann). Each of his grounds runs: pauses and delays (points 1, 8 and 9), clocks (points 6, 7 and 10), no token (point 5). The first are not Redlock's own. The second fall away on nodes that expire keys by a monotonic clock, that stay away after a crash, and whose rates differ by less than the allowance, which is not how Redis is set up. The third stays.
- **The specified algorithm is safe** (antirez). With both of those provisos, the row "redlock-monotonic-delayed", no ✗ is the service's fault but that of clocks ten per cent off. Nodes that sync every write in the place of waiting have one more: what is on the disk is a date, and a clock that jumps while the node is down makes it wrong. What remains is the pause after the grant, of which both say that every lock with a term has it.
- **Every lock that expires should measure, as step 3 does** (antirez). So it should: compare the rows "redis" and "redis-measured". Measuring closes the gap while acquiring, and no other; the deadline that comes of it makes the others shorter. A session does the same: compare "etcd" and "etcd-deaf".
- **Use a lock service on consensus, and fence** (Kleppmann). What such a service adds: its grants outlive a crash of the leader, and they have an order for the fence (point 14). In the last table the rows "etcd" and "zookeeper" have one ✗ among the faults, the pause after the grant, where "redlock" has five and "redlock-fsync" four; but a holder that is cut off needs an allowance there too ("etcd-cut-off"). That its leases would withstand any pause nobody says, and they cannot: "consul" and "chubby" get over the 14 s of the table, since the next holder waits for longer there, and not over a pause that is longer still (point 15).
- **Jepsen should test it** (antirez asked for it; Kleppmann doubted that Redlock would pass). A run of ours does not stand in for that: it shows what the algorithm does, not what a release of a server does. It shows it every time.
- **What the Redis documentation says today.** Its page on locks links both essays, advises fencing tokens for any lock, warns that a live process may have lost a lock that it keeps extending, and names the wall clock as a way to two holders. On all of that the runs agree with it. Where the tokens should come from it does not say; point 5 is about that.
`

const guide = `
## Which lock, then?

Ask first what a second holder costs.

**Only work** (the same mail twice, a report computed twice): the lock is there for efficiency. One Redis with SET NX PX, a random value for each acquire, and a release and an extension that compare is enough, with a replica if you like, and without a cache in the same memory. An acquire that ends in an error is no lock. Say in the code that the lock may be held twice, for now and then it will be. Five nodes buy that one may be down, at five times the messages.

**The data** (a lost update, a balance that is wrong): the lock is there for correctness, and no lock with a term is enough by itself, whoever keeps it, because its holder can be paused after the grant; a lock-delay only moves the limit. One without a term goes with its connection, and who has lost that is not told (the rows "advisory"). Let the resource decide: a transaction or a condition in the same database; a fencing token that comes out of the grant and is checked on every access; or a compare-and-set. With a transaction or a compare-and-set the lock only saves aborted work; with a fence it is also the source of the order. If the resource can check nothing (a mail, a payment, a device), make the effect idempotent, or accept that it happens twice.

**Where the token comes from**: out of the grant itself. The create revision of etcd, the zxid of ZooKeeper's node, the ModifyIndex of Consul's key (not its LockIndex), the number in the row of a lease table, or a counter in the granting script of one Redis; the last two on a server that syncs every write and never fails over to one that is behind. Not from Redlock, not from a quorum that is read and then written, not from a second command. Show it on reads too, or write first; compare and write in one step.

**Which service**: one store that compares needs none (the last column of the table, down to the row "no-lock"). For several stores, or writes that are not computed from what was read: consensus on three or five nodes whose disks sync. It survives a crash of the leader, not a pause of the holder. A session spares you guessing the TTL; stop as soon as it is in doubt, and fence all the same. A replica, or R + W > N, does not take its place (point 13). A lock of the database needs a connection to itself, on the one node that all ask (point 16). Ask who holds the lock only by a linearizable read.

Whatever you take, know what it stands on: the clock by which keys expire, what a node still knows after a restart, and whether the client measures how long it took to get the lock. And follow the recipe to the letter: most failures from the field came of what a client did or left out (point 18).
`
