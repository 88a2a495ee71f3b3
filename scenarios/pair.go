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
)

// Pairs is the argument, point by point.
func Pairs() []Pair {
	return []Pair{
		{
			ID:       "pause",
			Question: "What if the holder is paused after it got the lock?",
			Claim:    Statement{kleppmann, "It goes on as if it held the lock, and no check before the write closes the gap.", essay},
			Answer:   Statement{antirez, "True of every lock that releases itself; it is no fault of Redlock.", reply},
			Right:    "Both. The promise is kept and two clients believe at once, on every lock with a term.",
			Found:    "On an ideal lease as on Redis and Redlock, and for every kind of pause, the service keeps its word and two clients hold the lock. What the old holder does then depends on the resource alone.",
			Decides:  "Only the resource can tell. If it checks, nothing is damaged; if it cannot, the damage is done.",
		},
		{
			ID:       "fence",
			Question: "Does a fencing token help?",
			Claim:    Statement{kleppmann, "A token that rises with each grant, checked by the storage, keeps a late writer out.", essay},
			Answer:   Statement{antirez, "A store that can check could as well compare the lock's random value.", reply},
			Right:    "Both keep the late write out; neither makes the overlap any shorter.",
			Found:    "With the check on, the stale write is rejected, by its token or by the random value; belief overlaps exactly as long as before. Without a check it is accepted.",
			Decides:  "Every access must pass the check. With one store a compare-and-set does it; several stores need an order that all of them share.",
		},
		{
			ID:       "read",
			Question: "Is it enough to check the writes?",
			Claim:    Statement{kleppmann, "Tokens belong on all access to the resource; a new holder should write at once.", essay},
			Answer:   Statement{"a reader", "If the fence sees only writes, an old write can slip in before the new holder's.", "comment on the debate"},
			Right:    "The objection holds: the update that slipped in is accepted in order, and then lost.",
			Found:    "The new holder reads, the old holder's write is accepted because no newer token was seen yet, and the new holder's write erases it.",
			Decides:  "A holder that shows its token when it reads, or writes first, is safe.",
		},
		{
			ID:       "order",
			Question: "Is a random value as good as a number?",
			Claim:    Statement{kleppmann, "A random value has no order: nobody can say which holder is the later.", essay},
			Answer:   Statement{antirez, "A read-modify-write needs no order, only that nothing has changed meanwhile.", reply},
			Right:    "antirez for the data. But a client that wakes up can steal the mark of the live holder.",
			Found:    "For read-modify-write both save the update. A client that wakes up before it has put its mark on the object takes the mark of the live holder, whose write then fails.",
			Decides:  "Whether it matters that the live holder goes first, and whether check and write are one step.",
		},
		{
			ID:       "mint",
			Question: "Where could tokens for Redlock come from?",
			Claim:    Statement{kleppmann, "Counters on several nodes drift apart; a common one needs consensus.", essay},
			Answer:   Statement{antirez, "The store that checks the tokens could hand them out.", reply},
			Right:    "Kleppmann on counters. A token fetched later can be the greater and yet the older.",
			Found:    "Counters on a majority repeat or fall by the third grant. A token that is fetched by a second command can be older in time and greater in number: the stale holder's write passes, the live one's fails.",
			Decides:  "Whether the token comes out of the very step that grants the lock.",
		},
		{
			ID:       "clock",
			Question: "What if the clock of a server jumps?",
			Claim:    Statement{kleppmann, "Redis expires keys by the wall clock: one jump lets a second client in.", essay},
			Answer:   Statement{antirez, "Do not step clocks; and Redis should use a monotonic one.", reply},
			Right:    "Kleppmann on Redis as it is; antirez on a Redis with a monotonic clock.",
			Found:    "A jump of one node's wall clock by more than the rest of the term breaks the promise. Keys that expire by a monotonic clock do not notice. A constant offset, however great, does nothing.",
			Decides:  "The clock by which keys expire.",
		},
		{
			ID:       "restart",
			Question: "What if a server forgets?",
			Claim:    Statement{kleppmann, "A node that restarts without its keys lets a second client in.", essay},
			Answer:   Statement{antirez, "Sync every write, or let the node stay away for longer than the longest TTL.", reply},
			Right:    "Kleppmann on Redis as it is usually set up; antirez on fsync always, or on a wait.",
			Found:    "Without persistence, or with a sync every second and a loss of power within it, the promise is broken. With fsync always it is kept. Staying away keeps it too, unless the clock that measures the wait jumps.",
			Decides:  "What the node keeps: nothing, what was synced up to a second ago, or everything.",
		},
		{
			ID:       "in-flight",
			Question: "What if the client is paused while it acquires?",
			Claim:    Statement{kleppmann, "The replies wait while it is paused; it reads them when all keys have expired.", essay},
			Answer:   Statement{antirez, "It measures how long that took, and refuses a lock whose time is up.", reply},
			Right:    "antirez on the algorithm as written; Kleppmann as soon as the measurement fails.",
			Found:    "With the measurement the lock is refused. Without it, or when the client's clock steps back or stands still while the machine is suspended, the client believes in a lock that is another's.",
			Decides:  "Step 3, on a clock that neither steps back nor stops.",
		},
		{
			ID:       "timing",
			Question: "Must delays be bounded?",
			Claim:    Statement{kleppmann, "Redlock is safe only if delays, pauses and clock errors are small against the TTL.", essay},
			Answer:   Statement{antirez, "Delay while acquiring is measured and does no harm.", reply},
			Right:    "antirez on the way to the lock, Kleppmann on the way from the lock to the resource.",
			Found:    "A delay before the client has measured makes it refuse. The same delay of its write, sent while it held the lock, lands after the term.",
			Decides:  "Where the delay is: before the client has measured, or after.",
		},
		{
			ID:       "drift",
			Question: "How far may clocks run apart?",
			Claim:    Statement{kleppmann, "The algorithm assumes clocks that run at about the same rate.", essay},
			Answer:   Statement{antirez, "Within ten per cent or so is all it needs, and real clocks are far better.", reply},
			Right:    "antirez on real clocks; Kleppmann on the ten per cent: libraries allow for one.",
			Found:    "Off by parts per million, the promise is kept. Off by ten per cent, with the usual allowance of one, it is not; with an allowance by the formula it is.",
			Decides:  "Safe if and only if the allowance is at least TTL x (1 - client's rate / node's rate).",
		},
		{
			ID:       "overkill",
			Question: "Is Redlock worth its nodes?",
			Claim:    Statement{kleppmann, "To save work one Redis is enough; to be correct five are not.", essay},
			Answer:   Statement{antirez, "Five independent nodes survive what one, or one with a replica, does not.", reply},
			Right:    "Both. Five survive a failure that loses a single lock, and cost more; none has a fence.",
			Found:    "A crash leaves one Redis without service, a failover to an asynchronous replica without the lock; Redlock goes on and keeps it. Each lock costs five times the messages.",
			Decides:  "Whether a second holder costs a little work, or the data.",
		},
	}
}
