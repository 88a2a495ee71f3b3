// Package history is what happened: the recorded events of one run, in order,
// and their file format (Encode, Decode).
//
// A history is the only thing that the verdicts (package check) look at. It
// holds what the clients did with the lock and what they were told, what each
// client believed, what the lock's servers did with the keys they keep, what
// reached the resource, every message, and every fault.
//
// The position of an event is its index, counted from 0: the global sequence
// number. Two events of one virtual instant are still ordered by it, so every
// comparison in a verdict can be exact.
package history

import (
	"slices"
	"time"
)

// Forever is the Until of a grant without a term: it ends only by a release,
// or by the service's own record that its holder's session ended.
const Forever = time.Duration(1<<63 - 1)

// Kind says what sort of event it was.
type Kind uint8

// The kinds of event. Beside each, the fields it uses besides At, Kind and Who.
const (
	// Call: client Who began operation Op (Verb, Lock). Grant is the grant it is
	// about: an acquire opens a new one, so that its number is known before its
	// outcome is. For an extend, Until is what it asks for, where that is known.
	Call Kind = iota + 1
	// Return: operation Op ended with Outcome. All fields of its Call are
	// repeated; but an acquire by who holds the lock already, where the lock counts,
	// returns as the extension of that grant. For a granted acquire or extend: Anchor,
	// Term, Until, Delay, Token, Value, Votes. Decided is set where the instant is known
	// at which the deciding reply left the server.
	Return
	// Believe: client Who accepted Grant of Lock: from here on it believes that
	// it holds the lock.
	Believe
	// Doubt: client Who executed the step that ends its belief in Grant. Why is
	// one of the Doubt* reasons.
	Doubt
	// Send: Who sent a message to Peer (Verb Request or Reply). Value is the
	// message's own name, such as "SET", where it has one. Until is the true
	// instant at which it will arrive.
	Send
	// Drop: a message from Who to Peer was lost; Why says to what.
	Drop
	// Freed: on node Who, the key of Lock that belonged to Value ended. Why is one of
	// the Freed* reasons; for FreedDeleted, FreedOverwritten and FreedOutdated, Peer
	// is the client whose request did it.
	Freed
	// Strayed: a request of client Peer about Lock came to Who on another session than
	// the one that goes with it; Value is that of the lock that stands. Why is one of
	// the Strayed* reasons.
	Strayed
	// Prolonged: on node Who, the key of Lock that belongs to Value was given a new term
	// by a request of Peer's, another client than the one who had set it. Why is the
	// request's name.
	Prolonged
	// Write: resource Who decided on a write by client Peer, sent under Grant
	// with Token, to object Lock. Outcome is OK (accepted) or Refused; Why, of a
	// conditional one, which condition held, or the error. Version is
	// the object's version after the decision; Base the version the client had
	// read, or -1 for a blind write. Anchor is when it was checked, where that was a
	// step of its own, before. Votes names the objects that Peer means to change
	// together with this one, itself among them, and Op numbers these changes of Peer's;
	// zero for a write that stands alone.
	Write
	// Effect: resource Who performed effect Lock for client Peer under Grant (a
	// mail sent, a job run). Doing the same one again is a duplicate.
	Effect
	// Step: client Who passed the labelled step Value (a line of its script).
	Step
	// Fault: what goes wrong begins. Who is its target, Value its action as the
	// schedule writes it, Why what it did ("lost 1 key"). Peer, where there is one, is
	// the other side.
	Fault
	// Heal: a fault with a duration is over. Fields as in Fault.
	Heal
	// Elected: node Who became the leader of its group, in term Version. Why is empty,
	// or says what is wrong with that: "without 1 committed entry".
	Elected
	// SteppedDown: node Who is the leader of term Version no more, and knows it. Why
	// says what it has learned.
	SteppedDown
	// End: client Who's script came to its end (Why empty) or the client died.
	End
	// Mint: resource Who handed out Token of object Lock to client Peer.
	Mint
	// Fsync: node Who has synced a file of its own to its disk, and so that file's
	// writes survive a loss of power.
	Fsync
)

// Verb says what an operation wanted, or which way a message went.
type Verb uint8

// The verbs. Acquire, Release, Extend and Read are operations on a lock; Request
// and Reply are directions of a message.
const (
	Acquire Verb = iota + 1
	Release
	Extend
	// Read asks who holds the lock. Its Grant is the holder's that the service
	// named, 0 for "nobody".
	Read
	Request
	Reply
)

// Outcome says how an operation ended.
type Outcome uint8

// The outcomes.
const (
	// OK: granted, extended, released, read, accepted.
	OK Outcome = iota + 1
	// Refused: definitely not granted (acquire), or rejected by the resource.
	Refused
	// NotHeld: a release or an extension was told that the caller does not hold
	// the lock.
	NotHeld
	// Unknown: the operation may have taken effect at any instant from its call
	// on, or never.
	Unknown
)

// Why a client's belief ended.
const (
	DoubtRelease  = "release"  // it called release
	DoubtDeadline = "deadline" // it noticed that its own deadline had passed
	DoubtLost     = "lost"     // it was told that the lock is lost
	DoubtAbort    = "abort"    // it gave up by itself
	DoubtDeath    = "death"    // it died
	DoubtJeopardy = "jeopardy" // it cannot tell whether it still holds the lock
)

// Why a key ended on a node.
const (
	FreedExpired = "expired" // its term was over by the node's clock
	FreedDeleted = "deleted" // a client's request deleted it
	// FreedOverwritten: a client's request, Peer's, put another value in its place.
	FreedOverwritten = "overwritten"
	// FreedOutdated: the node said that it has taken the value, and dropped it: what
	// Peer had written bears a greater timestamp.
	FreedOutdated = "outdated"
	FreedRestart  = "restart"  // the node restarted without it
	FreedFailover = "failover" // the promoted replica never had it
	FreedEvicted  = "evicted"  // the node dropped it to make room
	// FreedSession: the session that held it has ended, and with it what it had been
	// promised. A session that ends before the term that it had been promised is none
	// of these but FreedExpired.
	FreedSession = "session"
	// FreedTransaction: the same of a transaction that held it, where it was not the
	// client who ended that.
	FreedTransaction = "transaction"
)

// How a request strayed.
const (
	// StrayedRelease: it asked to release what another session of its client's holds,
	// which holds it on.
	StrayedRelease = "release"
	// StrayedEnter: it came on the session that holds the lock for another client, and
	// was let in as if that one entered again.
	StrayedEnter = "enter"
)

// Why an extension is one: what a client does within a lock that it holds on.
const (
	ExtendAgain = "again" // it acquired once more what it held; the Call is an Acquire
	ExtendInner = "inner" // it released once less than it had acquired
)

// Event is one thing that happened. Which fields it uses depends on its Kind;
// the others are zero.
type Event struct {
	// At is the true virtual instant, since the start of the run.
	At   time.Duration `json:"at_ns"`
	Kind Kind          `json:"kind"`
	Verb Verb          `json:"verb,omitzero"`

	Outcome Outcome `json:"outcome,omitzero"`
	// Op pairs a Call with its Return, and the Writes that belong together. Numbered
	// from 1.
	Op int32 `json:"op,omitempty"`
	// Grant is the identity of one acquire, successful or not, numbered from 1
	// in the order of the calls. It is never the client: a client has many.
	Grant int32 `json:"grant,omitempty"`
	// Decided is the position of the Send event with which the deciding reply
	// left the server; 0 where it is not known.
	Decided int32 `json:"decided,omitempty"`

	Who   string `json:"who,omitempty"`
	Peer  string `json:"peer,omitempty"`
	Lock  string `json:"lock,omitempty"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why,omitempty"`
	// Votes names the nodes that the grant stands on, separated by commas; of a Write,
	// the objects.
	Votes string `json:"votes,omitempty"`

	// Anchor is the true instant at which the request that starts the term was
	// sent; Term how long the service promises exclusivity; Until the promise in
	// true time: Anchor + Term - the declared allowance, or Forever.
	Anchor time.Duration `json:"anchor_ns,omitempty"`
	Term   time.Duration `json:"term_ns,omitempty"`
	Until  time.Duration `json:"until_ns,omitempty"`
	// Delay is the lock-delay after a loss without a release, during which the
	// service grants to nobody.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Token is the fencing token; 0 for none.
	Token int64 `json:"token,omitempty"`

	// Version is that of an object, or the term of a leader.
	Version int64 `json:"version,omitempty"`
	Base    int64 `json:"base,omitempty"`
}

// History is one run's record.
type History struct {
	// Events in the order in which they happened. An event's index is its
	// position.
	Events []Event
	// End is the true instant at which the run ended.
	End time.Duration
	// Stopped says why the run ended.
	Stopped Stop
}

// Stop says why a run ended.
type Stop uint8

// The ends of a run.
const (
	// Quiet: nothing was left to happen.
	Quiet Stop = iota + 1
	// Horizon: the spec's horizon was reached.
	Horizon
	// Bound: the bound on the number of events was hit. What was not decided by
	// then is unknown.
	Bound
)

// Add records e and returns its position.
func (h *History) Add(e Event) int {
	h.grow()
	h.Events = append(h.Events, e)
	return len(h.Events) - 1
}

// Place records an empty event and returns it, to be filled in before the next is
// recorded: an event is large, and this does not copy it.
func (h *History) Place() *Event {
	h.grow()
	h.Events = append(h.Events, Event{})
	return &h.Events[len(h.Events)-1]
}

// grow makes room for one more event. append would grow a long slice by a quarter,
// which for a long run means copying it all over and over.
func (h *History) grow() {
	if n := len(h.Events); n == cap(h.Events) {
		h.Events = slices.Grow(h.Events, max(64, n))
	}
}

// Reset empties the history and keeps its memory for the next run.
func (h *History) Reset() {
	h.Events = h.Events[:0]
	h.End, h.Stopped = 0, 0
}
