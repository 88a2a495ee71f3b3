package claims

// tran is Việt Trần's article with the demo of two workers.
func tran() Source {
	return Source{"T", `Việt Trần, "Distributed lock là gì"`, []Row{
		{"T1", "two instances of a cron job without a lock send each mail twice"},
		{"T2", "nodes and network fail apart from each other; with a TTL a lock is a lease"},
		{"T3", "a lock is there for efficiency or for correctness"},
		{"T4", "SET NX PX is one step; a crash between SETNX and EXPIRE leaves the lock for ever"},
		{"T5", "the value is new with each client and each acquire; a plain DEL deletes another's lock, a script or DELEX does not"},
		{"T6", "a stall of 15 s (a collection, a page fault, the CPU, the network) under a TTL of 10 s lets B in, and A writes late"},
		{"T7", "a check before the write is not enough"},
		{"T8", "with tokens 1 and 2 the storage rejects A's late write, if it is the storage that compares"},
		{"T9", "without a lock three invoices make six mails, in a hundred rounds of a hundred"},
		{"T10", "with SET NX they make three, and the other instance skips the job, in a hundred rounds of a hundred"},
		{"T11", "that prevents runs at the same time alone: an instance that starts after the release sends them again, unless each invoice is marked"},
		{"T12", "the demo without a fence and with a plain DEL: A's late write is accepted and is the last, and B's lock is gone"},
		{"T13", "the demo with a fence and a script: A's write is rejected, nothing is deleted, and B holds its lock"},
		{"T14", "a counter on one node only illustrates the idea: the node can fail"},
		{"T15", "one Redis is a single point of failure"},
		{"T16", "an asynchronous failover lets a second holder in"},
		{"T17", "Redlock asks five nodes at once, wants three, and in less than the TTL"},
		{"T18", "the documentation of Redis advises fencing, and names the clock as a way to several holders"},
		{"T19", "Kleppmann: five nodes are too many for efficiency; one with a conditional delete will do, if the code says what may happen"},
		{"T20", "Kleppmann: no Redlock where correctness hangs on it, for its delays, pauses, clocks and lack of a token"},
		{"T21", "Kleppmann: take ZooKeeper, whose zxid or version is a token, or at least a database with transactions"},
		{"T22", "antirez: a store that checks tokens is as good as linearizable, and the random value does for it"},
		{"T23", "antirez: the second look at the clock catches delays; monotonic clocks are right; the conclusion is not"},
		{"T24", "a TTL shorter than the job needs renewal, and to be alive is not to hold the lock"},
		{"T25", "a constraint or FOR UPDATE in the database, an idempotent consumer; with several stores nothing less than a distributed transaction"},
		{"T26", "wait for a random time before trying again, and do not hold a lock for long"},
	}}
}
