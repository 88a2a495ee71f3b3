// Package check was it right: the four verdicts on one run, from its history
// alone.
//
//   - promise: did the lock service break its word?
//   - belief: did two clients believe at the same instant that they hold the lock?
//   - damage: did the resource suffer, or was another's lock released, or prolonged?
//   - progress: who waited how long, and did anybody wait for ever?
//
// They are four because one word ("unsafe") hides the argument. A pause after
// the grant keeps the promise and breaks the belief; a clock jump breaks the
// promise; fencing takes the damage to none and changes neither.
//
// Every breach, window and damage carries its cause, one sentence made of
// recorded events, and whom those events blame.
package check

import "time"

// Verdicts are the four answers about one run.
type Verdicts struct {
	Promise  Promise  `json:"promise"`
	Belief   Belief   `json:"belief"`
	Damage   Damage   `json:"damage"`
	Progress Progress `json:"progress"`
}

// Status is the one word of a verdict. Which words a verdict can have is said
// at its type.
type Status string

// The words.
const (
	Kept    Status = "kept"    // promise: every promise was kept
	Broken  Status = "broken"  // promise: at least one breach
	Unknown Status = "unknown" // any verdict: a bound was hit before it could be decided
	None    Status = "none"    // promise, belief: there was no lock; damage: there was none

	Exclusive   Status = "exclusive"   // belief: never two believers at once
	Overlapping Status = "overlapping" // belief: at least one window with two

	Damaged Status = "damaged" // damage: at least one event

	OK         Status = "ok"         // progress: everybody who waited was served, gave up by itself, or still could be
	Stalled    Status = "stalled"    // progress: a lock that nobody held was waited for to the end of the run
	Deadlocked Status = "deadlocked" // progress: clients hold locks and wait for each other's, and no lease undoes it
)

// Blame names who broke the rules that the verdict is about.
type Blame string

// Whom an event can blame.
const (
	Service  Blame = "service"  // the lock's servers: their clocks, memory, replication
	Holder   Blame = "holder"   // the client that held the lock and went on after losing it
	Recipe   Blame = "recipe"   // the way the lock is used: a step that is missing or not atomic
	Resource Blame = "resource" // what the lock protects: it accepted what it could have refused
)

// Promise is the verdict on the service: kept, broken, unknown, or none.
type Promise struct {
	Status   Status   `json:"status"`
	Breaches []Breach `json:"breaches"`
}

// Breach is one broken promise.
type Breach struct {
	// Kind is double-grant, confirmed-after-loss, stale-read, token-order or lost-lease.
	Kind string `json:"kind"`
	Lock string `json:"lock"`
	// At is when it came to light: the return of the operation that proves it.
	At time.Duration `json:"-"`
	// Early is how long before the end of the promise, or of its lock-delay, that
	// was, for a double-grant and a lost-lease; 0 otherwise, and where the promise
	// was over already, or had no end.
	Early time.Duration `json:"-"`
	// Cause is one sentence from recorded events.
	Cause string `json:"cause"`
	Blame Blame  `json:"blame"`
	// Who is the culprit, a node or a client, where one can be named.
	Who string `json:"who,omitempty"`
}

// The kinds of breach.
const (
	DoubleGrant = "double-grant" // granted to another before the promise was over, without a release
	StaleRead   = "stale-read"   // a read that is not linearizable
	TokenOrder  = "token-order"  // a token not greater than an earlier grant's
	LostLease   = "lost-lease"   // told a holder that it lost a lock which it could not have lost

	// The contrary of a lost-lease: a release or an extension was confirmed for a
	// grant that did not hold the lock, since it had lost it to another, had
	// released it, or had never been made. Nobody was granted anything too early.
	ConfirmedAfterLoss = "confirmed-after-loss"
)

// Belief is the verdict on the clients: exclusive, overlapping, none or unknown.
type Belief struct {
	Status  Status   `json:"status"`
	Windows []Window `json:"windows"`
	// Total is the measure of all windows.
	Total time.Duration `json:"-"`
}

// Window is a maximal stretch of time in which one set of two or more clients
// believed that they hold one lock. Half-open: [From, To).
type Window struct {
	Lock    string        `json:"lock"`
	Holders []string      `json:"holders"` // sorted by name
	From    time.Duration `json:"-"`
	To      time.Duration `json:"-"`
	Cause   string        `json:"cause"`
	Blame   Blame         `json:"blame"`
	// Who is the culprit, a node or a client, where one can be named.
	Who string `json:"who,omitempty"`
}

// Damage is the verdict on the resource: none, damaged or unknown.
type Damage struct {
	Status Status  `json:"status"`
	Events []Wound `json:"events"`
}

// Wound is one thing that went wrong at the resource, or one lock that another than
// its owner released or prolonged. They stand in the order in which they happened, but
// for torn writes, which come last: only the end of the run shows them.
type Wound struct {
	// Kind is stale-write, lost-update, torn-write, duplicate-effect, wrong-release or
	// wrong-renewal.
	Kind string `json:"kind"`
	// Class is efficiency (work done twice) or correctness (data wrong).
	Class  string        `json:"class"`
	Client string        `json:"client"`
	At     time.Duration `json:"-"`
	Cause  string        `json:"cause"`
	Blame  Blame         `json:"blame"`
	// Who is the culprit, a node or a client, where one can be named.
	Who string `json:"who,omitempty"`
}

// The kinds of damage.
const (
	StaleWrite      = "stale-write"      // a blind write accepted after another client's under a newer grant of the same lock
	LostUpdate      = "lost-update"      // a write accepted that was computed from a version since replaced
	TornWrite       = "torn-write"       // of writes that belong together, one stands when the run is over and another was not accepted
	DuplicateEffect = "duplicate-effect" // one effect performed twice
	WrongRelease    = "wrong-release"    // a client deleted the key of another client
	WrongRenewal    = "wrong-renewal"    // a client gave the key of another client a new term
)

// The classes of damage.
const (
	Efficiency  = "efficiency"
	Correctness = "correctness"
)

// Progress is the verdict on waiting: ok, stalled, deadlocked or unknown.
type Progress struct {
	Status Status `json:"status"`
	// Longest is the longest that one client waited for one lock, from its first
	// attempt to the grant, to its giving up, or to the end of the run.
	Longest time.Duration `json:"-"`
	// Cause says who waits for what, unless the status is ok.
	Cause string `json:"cause,omitempty"`
}
