package scenarios

// Pair is a point on which the two sides of the argument differ, and what running
// it shows. Both sides are in our own words.
type Pair struct {
	// ID is a short name, such as "pause".
	ID string
	// Question is what the pair is about.
	Question string
	// Claim is what one side says, Answer what the other does.
	Claim, Answer Statement
	// Beyond: it is not one of the two essays'.
	Beyond bool
	// Right is who is right, in a line; Found what the runs show; Decides the
	// assumption on which it hangs.
	Right, Found, Decides string
}

// Statement is what somebody says, in a line, and where.
type Statement struct{ Who, Says, Where string }

// The two sides, and where they said it.
const (
	kleppmann = "Kleppmann"
	antirez   = "antirez"
	essay     = "How to do distributed locking, 2016"
	reply     = "Is Redlock safe?, 2016"
	book      = "essay; Designing Data-Intensive Applications, 2nd edition, chapter 9"
)

// Pairs is the argument, point by point.
func Pairs() []Pair {
	return []Pair{
		{
			ID:       "pause",
			Question: "What if the holder is paused after it got the lock?",
			Claim:    Statement{kleppmann, "It goes on as if it held the lock, and no check before the write closes the gap.", essay},
			Answer:   Statement{antirez, "True of every lock that releases itself; it is no fault of Redlock.", reply},
			Right:    "Both. The promise is kept, and two clients believe once the pause outlasts the term.",
			Found:    "On the three locks run here, an ideal lease, one Redis and Redlock, the service keeps its word and two clients hold the lock. A check before the write leaves a gap; a watchdog stands still with its process (HBase had this fault); a longer term makes it rarer.",
			Decides:  "What becomes of a late write is for the resource to decide. A client that looks at its deadline first does none, unless the pause falls between the look and the write.",
		},
		{
			ID:       "fence",
			Question: "Does a fencing token help?",
			Claim:    Statement{kleppmann, "A token that rises with each grant, checked by the storage, keeps a late writer out.", essay},
			Answer:   Statement{antirez, "A store that can check needs no strong lock; most resources can check nothing.", reply},
			Right:    "Both. Token or value keep the late write out, if checked in the step that writes.",
			Found:    "With the check on, the stale write is rejected, by its token or by the lock's random value; belief overlaps exactly as long as before. Without a check it is accepted; an API that takes no token has its effect twice, unless it takes an idempotency key. A store that checks in one step and writes in another lets it through again. With one store that compares, two clients without any lock do no harm either; one of them has worked in vain. Two stores that each compare for themselves can end with half of each holder's change; a token is one order for both, and at the head of the timestamp it fences replicas without a leader. A holder that dies between the two leaves half of its change either way.",
			Decides:  "Whether the resource can check at all, and whether every access passes the check. Several stores need an order that all of them share.",
		},
		{
			ID:       "read",
			Question: "Is it enough to check the writes?",
			Claim:    Statement{kleppmann, "Tokens belong on all access; a new holder should write at once (so the later book).", book},
			Answer:   Statement{"reza_n", "If the fence sees only writes, an old write can slip in before the new holder's.", "Hacker News, 2016"},
			Right:    "The objection holds: the update that slipped in is accepted in order, and then lost.",
			Found:    "The new holder reads, the old holder's write is accepted because no newer token was seen yet, and the new holder's write erases it. With the token shown on reads too, the old write is rejected.",
			Decides:  "A holder that shows its token when it reads, or writes first, keeps the old write out.",
		},
		{
			ID:       "order",
			Question: "Is a random value as good as a number?",
			Claim:    Statement{kleppmann, "A random value has no order: nobody can say which holder is the later.", essay},
			Answer:   Statement{antirez, "A read-modify-write needs no order; nor need the tokens' be that of the work.", reply},
			Right:    "antirez for a read-modify-write, if the live holder may fail. Else order matters.",
			Found:    "Each holder writes its random value on the object, and a write passes only while it is still there. No update is lost, but a client that wakes late takes the live holder's mark away, and its write fails. With a token shown on writes alone the live holder's write passes, and erases the late one's (point 3): both save the update only where reads show the token as well. A write that is not computed from what was read, the random value cannot keep out: the late holder's is the last. Nor is the order of tokens that of the work: in point 3 the older token writes first, in order, and is lost all the same.",
			Decides:  "Whether it matters that the live holder goes first, and whether reads show the token.",
		},
		{
			ID:       "mint",
			Question: "Where could tokens for Redlock come from?",
			Claim:    Statement{kleppmann, "One counter dies with its node, several part ways; it probably takes consensus.", essay},
			Answer:   Statement{antirez, "The store that checks them could hand them out; but a unique value will do.", reply},
			Right:    "Kleppmann on counters. A store can count, if nothing comes between lock and token.",
			Found:    "Counters on a majority can repeat or fall by the third grant; one that is read from a quorum and written back is the same for two that ask at once. A token that is fetched by a second command rises, but in the order of fetching: the stale holder's write passes, the live one's fails. A token from the granting step has neither fault, as long as the node does not lose its counter; a counter on a quorum that is read and then written gives two clients the same. A store that hands out the tokens that it checks is asked after Redlock has granted: at once, it keeps the older holder out even where Redlock gave its lock away; after a pause, it keeps the live one out.",
			Decides:  "Whether the token comes out of the very step that grants the lock.",
		},
		{
			ID:       "clock",
			Question: "What if the clock of a server jumps?",
			Claim:    Statement{kleppmann, "Redis expires keys by the wall clock: one jump lets a second client in.", essay},
			Answer:   Statement{antirez, "Do not step clocks; and Redis should use a monotonic one.", reply},
			Right:    "Kleppmann on Redis as it is; antirez on a Redis with a monotonic clock.",
			Found:    "A jump by more than the rest of the term breaks the promise of one Redis, and that of Redlock where the client holds no more than three of five nodes. Keys that expire by a monotonic clock do not notice. An offset, however great, does nothing to Redlock; a replica that is ahead takes a key for expired, since it is told the date and not the time left.",
			Decides:  "The clock by which keys expire, and how many nodes the holder has to spare.",
		},
		{
			ID:       "restart",
			Question: "What if a server forgets?",
			Claim:    Statement{kleppmann, "A node that restarts empty lets a second client in; waiting first needs a clock.", essay},
			Answer:   Statement{antirez, "Sync every write; or let the node stay away for longer than the longest TTL.", reply},
			Right:    "Kleppmann on Redis as it is usually set up; antirez on fsync always, or on a wait.",
			Found:    "Without persistence the promise is broken; with a sync every second, a loss of power within a second of the grant loses the key about half of the time; with fsync always it is kept, unless the clock jumps while the node is down (last table). One node is enough where the holder has only three; with four it takes two, with five three. Staying away keeps the promise, unless the clock that measures the wait jumps.",
			Decides:  "What the node keeps: nothing, what was synced up to a second ago, or everything.",
		},
		{
			ID:       "in-flight",
			Question: "What if the client is paused while it acquires?",
			Claim:    Statement{kleppmann, "The replies wait while it is paused; it reads them when all keys have expired.", essay},
			Answer:   Statement{antirez, "It measures how long that took, and refuses a lock whose time is up.", reply},
			Right:    "antirez on the algorithm as written; Kleppmann as soon as the measurement fails.",
			Found:    "With the measurement the lock is refused. Without it, or when the client's clock steps back or stands still while the machine is suspended, the client believes in a lock that is another's.",
			Decides:  "Step 3 of Redlock, on a clock that neither steps back nor stops.",
		},
		{
			ID:       "timing",
			Question: "Must delays be bounded?",
			Claim:    Statement{kleppmann, "Redlock needs a bound on delay, pause and clock error, and nothing bounds them.", essay},
			Answer:   Statement{antirez, "Delay while acquiring is measured and does no harm.", reply},
			Right:    "antirez on the way to the lock, Kleppmann on the way from the lock to the resource.",
			Found:    "A reply that is late while the client acquires makes it refuse. A write that was sent under the lock lands after the client, without an answer, has given the lock back, and after another has written. (Kleppmann is reported to have agreed on the first half and not on the second: Zhang Tielei, of a talk on Twitter.)",
			Decides:  "Where the delay is: before the client has measured, or after.",
		},
		{
			ID:       "drift",
			Question: "How far may clocks run apart?",
			Claim:    Statement{kleppmann, "The algorithm assumes clocks that run at about the same rate.", essay},
			Answer:   Statement{antirez, "Within ten per cent or so is all it needs, and real clocks are far better.", reply},
			Right:    "antirez on real clocks. His ten per cent each way needs 18 % of the TTL to spare.",
			Found:    "Off by parts per million, the promise is kept. With the client's clock ten per cent slow and the nodes' ten per cent fast, the usual allowance of one per cent is not enough; one by the formula is.",
			Decides:  "Safe if and only if the allowance is at least TTL x (1 - client's rate / node's rate).",
		},
		{
			ID:       "overkill",
			Question: "Is Redlock worth its nodes?",
			Claim:    Statement{kleppmann, "To save work one Redis is enough, even with a replica; to be correct five are not.", essay},
			Answer:   Statement{antirez, "Five independent nodes survive what one, or one with a replica, does not.", reply},
			Right:    "Both. Five go on where one is down; they cost more, and give no token.",
			Found:    "When a node dies at a random instant, a job runs twice with one Redis whose replica was behind just then, and never with Redlock where the client holds all five, which sends 20 messages where one Redis sends 4. A crash leaves one Redis without service, a failover to an asynchronous replica without the lock (point 13); with one of five nodes down Redlock still gives locks. A lock that is held is safe as long as the node stays away or remembers (point 7). Clients that ask at once split the votes.",
			Decides:  "Whether a second holder costs a little work, or the data.",
		},
		{
			ID:       "recipe",
			Beyond:   true,
			Question: "And before all that: what must the recipe on one Redis have?",
			Claim:    Statement{"Redis", "Key and term in one command, a value of one's own, and a release that compares.", "Redis documentation, Distributed Locks with Redis"},
			Answer:   Statement{"Trần", "A term shorter than the work has to be renewed, and to be alive is not to hold it.", "Distributed lock là gì"},
			Right:    "Both. Each step left out has its failure, and so has renewal without end.",
			Found:    "Without a term, or with one that is set by a second command, a holder that dies keeps the lock for ever; one that is cut off keeps it for a TTL, each time. A release that does not compare, or compares in the client, deletes another's lock. A client that extends without end starves the rest. A term that is shorter than the work, and not renewed, ends under it; renewing helps until the process stands still (the watchdog of point 1).",
			Decides:  "Whether each step is one command, and whether a holder that is gone is noticed.",
		},
		{
			ID:       "copies",
			Beyond:   true,
			Question: "Is it enough to keep the lock on several nodes?",
			Claim:    Statement{antirez, "A Redis with a replica is not enough: what takes over may not know of the lock.", "Is Redlock safe?, 2016; Redis documentation"},
			Answer:   Statement{"Quorums", "Where reads and writes each ask more than half, a read meets the last write.", "the usual rule, R + W > N, of stores such as Dynamo, 2007"},
			Right:    "antirez on replicas. And to meet the last write is not to be the first to write.",
			Found:    "A replica that is promoted, or asked, before it has heard of the lock gives it away; with WAIT for all replicas none is lost, as long as the one that takes over has forgotten nothing and its clock is right; and none is given while one of them is down. Of three nodes with quorums of two, two clients that read at the same time both write, with the same token; a write that reached one node comes and goes; a client whose clock is ahead shuts out the writes of others unnoticed. Repair while reading mends the reads alone.",
			Decides:  "Whether a node refuses a write because of one that it has taken, as Redlock's nodes do. For tokens that rise it takes one order for all, and so consensus.",
		},
		{
			ID:       "consensus",
			Beyond:   true,
			Question: "Does a lock service on consensus do better?",
			Claim:    Statement{kleppmann, "To be correct take a consensus system, or at least a database, and fence every access.", essay},
			Answer:   Statement{antirez, "Every lock that releases itself is weak after a pause, whatever it is built on.", reply},
			Right:    "Both. It keeps its grants when the leader dies, and orders them; no pause is undone.",
			Found:    "A crash of the leader takes no lock from a live holder, where the session outlasts the election and the client does not stop as soon as its connection is lost; a leader that stands still for longer than the session can, once that term is over. With a majority gone nobody gets a lock. The revision of etcd, the zxid of ZooKeeper and the index of the log rise with every grant. A pause longer than the session lets a second client in all the same, and only a fence saves the data. The promise breaks where a rule is left out (to answer from memory, not to sync the log, to count leases by a wall clock, as etcd 3.0 did), and once where none is: a ZooKeeper server that answers a ping and dies before it has told the leader. The order of the tokens breaks where they are not those of the log: sequence numbers that begin anew with the lock's node, Consul's LockIndex, a random value.",
			Decides:  "Whether the order of the grants is used: without a fence, consensus saves the lock and not the data.",
		},
		{
			ID:       "session",
			Beyond:   true,
			Question: "Does a session that beats keep two clients from believing?",
			Claim:    Statement{"ZooKeeper", "The recipe calls its lock globally synchronous: never two who take it for theirs.", "ZooKeeper Recipes and Solutions"},
			Answer:   Statement{"Junqueira", "A client that was paused takes it for its own after its session; so fence the resource.", "Note on fencing and distributed locks, 2016"},
			Right:    "Junqueira. A session saves guessing how long the work takes, and nothing more.",
			Found:    "Work of any length keeps its lock while the client beats and is heard. A dead client is waited for until its session ends: on Consul twice the TTL and the lock-delay, and anew after a change of the leader. A pause, or a cut, that outlasts the session ends it, and the holder learns of it too late, or not at all. A client that stops as soon as its connection is lost closes the gap for a cut (ZooKeeper); one that waits for its own deadline still overlaps (etcd, by up to a second, and by more where clocks run apart). Neither helps against a pause, nor against a delay on the way, and GitHub has had packets that were held up for 90 s. A lock-delay adds its own length to the pause that does no harm.",
			Decides:  "Whether a client in doubt stops, and for a pause again whether the resource checks.",
		},
		{
			ID:       "database",
			Beyond:   true,
			Question: "Can the database that has the data be the lock?",
			Claim:    Statement{kleppmann, "Take at least a database with real transactions, and fence there too.", essay},
			Answer:   Statement{"Trần", "A constraint, or FOR UPDATE, in the same database often does without a lock.", "Distributed lock là gì"},
			Right:    "Both, in one transaction. A lock kept there is a lease or a session like any other.",
			Found:    "A condition or a locked row keeps the data right whatever is paused; so does a unique key (point 17). A lease in a table has what every lease has. Its token comes out of the acquiring statement, if the number of changed rows is looked at first; the clients' clocks do no harm where the database's own is read, and its jump does; a failover to a standby that is behind loses the lease with its token. A lock that goes with a connection ends when that is cut, and its process does not know. Behind a pool that does not keep the connection, or a proxy that deals out transactions, it lets a second client in, or is not given back; on nodes that each have their own it keeps nobody out.",
			Decides:  "Whether the work is in the same transaction, and if not, who keeps the connection.",
		},
		{
			ID:       "jobs",
			Beyond:   true,
			Question: "Is a lock enough for a job that must run once?",
			Claim:    Statement{"Trần", "A lock keeps two runs apart while they run, and no job from running again.", "Distributed lock là gì"},
			Answer:   Statement{"Distributed lock", "Name the lock for the date and do not release it; or keep a row for each run.", "the article Distributed lock"},
			Right:    "Both. A lock that outlives the job is a mark; a row also tells who never finished.",
			Found:    "Without a lock every mail goes out twice, and with one only once while the two run at the same time: a timer that fires when the first run is over begins a second, unless the work itself is marked. A key that is named for the date, and kept, lets the job run once where all instances read one date when they run; a run that dies under it is never done. A row in job_runs shows that run, and it is done again, with the mail that had gone out: so each effect needs a key of its own, or a message an id that is unique where its effect is. A release that failed is no job that failed. Two locks that are taken in opposite order are waited for without end, or for a TTL, after which both work at once. A lock on a cached value lets one compute it while the others wait, or go on with the old one.",
			Decides:  "Whether a run that died has to be found and begun again.",
		},
		{
			ID:       "field",
			Beyond:   true,
			Question: "Does any of this happen?",
			Claim:    Statement{"Operators", "The lock was taken, and the job ran twice; or nobody got it any more.", "public reports, each named in its row"},
			Answer:   Statement{"Maintainers", "A comparison, one command in the place of two, another look: a line of the client.", "the same reports"},
			Right:    "Yes. In 6 of the 22 reports the service failed; in most others the client's recipe.",
			Found:    "Each run is a public report reduced to a schedule, at its figures where it has any; some reports reason, or ask, and have not seen it (the second table). Two clients believed in 17 of the 22; in 4 all others had to wait, or wait still; in one a holder was told of a loss that had not been. In 8 the promise was kept: in 5 of them a client went on after a pause, a cut or an error, and in 3 one that had died or failed left the lock behind. In 14 it was broken: in 6 by the service (a clock, a memory that was lost or full, a failover, a lock that is one node's), in 8 by what a client sent or left out. The cure was the client's in 16, the operators' in 4; in 2 no lock could have helped, and the store has to check.",
			Decides:  "Whether the recipe is followed to the letter, and whether those who run the servers know that a lock is kept there.",
		},
	}
}
