// Package models holds the contracts between a run and what it is about: a
// System opens a Lock, a Lock gives Grants, a Resource is what the lock protects.
//
// The packages below it are the systems themselves: models/lease (an ideal lock
// service), models/redis (SET NX PX and Redlock on real Redis commands),
// models/quorum (replicas without a leader), models/sql (a lease table, sessions and
// rows in a database), models/raft (groups that agree) and the systems on it;
// models/resource is what a lock protects, and models/catalog knows them all by name.
// A user's own lock needs no more than the two interfaces System and Lock.
package models

import (
	"errors"
	"time"

	"locksim/clock"
	"locksim/sim"
)

// System is a lock system with its options: pure data, such as a struct whose
// fields are the options.
type System interface {
	// Open puts the system's servers into w and returns the lock that its clients
	// use. It is called once a run, before any client starts. The error is about
	// options that make no sense, and says which are allowed.
	Open(w *sim.World) (Lock, error)
}

// About is what has to be known of a system by whoever chooses one, in a few words
// each.
type About struct {
	// Token is where its fencing token comes from; "none" without one.
	Token string
	// Clock is what a term is counted on, by the service and by the client.
	Clock string
	// Restart is what a server still knows when it is back after a crash.
	Restart string
	// Assumes is what has to hold for the service to keep its promise.
	Assumes string
}

// Lock is the client's side of a lock system: the code of a lock library. A client
// that acquires what it holds gets a second grant, which is judged as one, unless the
// grant says that the lock counts ([Grant.Nested]). All clients of a run share one
// Lock; who calls is told by p. A Lock records
// nothing and believes nothing: that is the business of who calls it.
type Lock interface {
	// Acquire makes one attempt at the lock called key. Retrying is the caller's;
	// a service that queues its clients blocks. The error is nil for a grant,
	// ErrHeld for a definite refusal, and anything else when the outcome is
	// unknown: the lock may or may not have been taken. With an error, of the grant
	// only its Value counts, by which servers may know the attempt, unless it is
	// Assumed.
	Acquire(p *sim.Process, key string) (Grant, error)
	// Release gives up what g granted. The error is nil when the service
	// confirmed it, ErrNotHeld when the service said that the caller does not hold
	// the lock, and anything else when the outcome is unknown.
	Release(p *sim.Process, key string, g Grant) error
}

// Extender is a Lock whose term can be prolonged.
type Extender interface {
	// Extend asks for a new term for g. The errors are those of Release. Of the
	// grant that it returns, an empty Value, Token or Votes means that they stay.
	Extend(p *sim.Process, key string, g Grant) (Grant, error)
}

// Inspector is a Lock of which can be asked who holds it.
type Inspector interface {
	// Holder is the value of the grant that holds key, "" for nobody.
	Holder(p *sim.Process, key string) (string, error)
}

// The definite refusals. An error with sim.ErrRefused in its chain is definite
// too, where the operation sent one request: no connection, so nothing was done.
// Every other error of a Lock means "unknown".
var (
	ErrHeld    = errors.New("the lock is held")
	ErrNotHeld = errors.New("the caller does not hold the lock")
)

// Refused is a definite refusal, as ErrHeld, that says more about why: "2 of 5
// nodes".
func Refused(why string) error { return refusal(why) }

type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes a refusal an ErrHeld.
func (r refusal) Is(target error) bool { return target == ErrHeld }

// Grant is what a client was given.
type Grant struct {
	// Term is how long the service promises exclusivity; 0 for a lock without a
	// term, which lasts until it is released.
	Term time.Duration
	// Allowance is the part of the term that is not promised: what the service
	// declares that its clocks may be wrong by.
	Allowance time.Duration
	// Anchor is the true instant at which the request that starts the term was
	// sent. Zero means the call of Acquire or Extend, as for every lock that makes
	// one attempt; a lock that queues or polls inside must set it, and a session
	// says when its last acknowledged heartbeat was sent, which may be before the
	// call.
	Anchor time.Duration
	// Delay is the lock-delay of the service after a loss without a release.
	Delay time.Duration
	// Token is the fencing token; 0 for none.
	Token int64
	// Value is the random value or session by which the service knows the grant.
	Value string
	// Nested: the lock counts, and the client held it already: this is the grant whose
	// Value that is, which goes on. It is free again when it has been released as often
	// as it was acquired.
	Nested bool
	// Assumed: beside an error, the library takes the lock for granted all the same, and
	// its client believes in what the service has not given (as where it swallows the
	// error, or does not look at what the answer says).
	Assumed bool
	// Votes names the nodes that the grant stands on; nil for a single server.
	Votes []string
	// Decided is the position in the history (sim.Process.Left) of the deciding
	// reply. Zero means the last reply that the attempt read, which is never too
	// early.
	Decided int
	// Deadline is when the client itself stops believing in the grant; nil for a
	// client that has no deadline.
	Deadline *Deadline
	// Session is how a lock that renews by itself, or learns of a loss by itself,
	// says so; nil for one that does neither.
	Session *Session
}

// Session is the life of a grant after it was given, as the lock's own threads see
// it. The zero value is ready; who uses the lock sets the hooks.
type Session struct {
	// OnRenew runs an attempt to renew, and takes down what came of it.
	OnRenew func(p *sim.Process, attempt func() (Grant, error)) error
	// OnLost is called when the lock has learned that the grant is lost.
	OnLost func(p *sim.Process)
	// OnGiveUp is called when the lock gives the grant up of its own accord.
	OnGiveUp func(p *sim.Process)
	// OnJeopardy is called when the lock cannot tell whether the grant still stands,
	// and OnSafe when it does, after that.
	OnJeopardy, OnSafe func(p *sim.Process)
}

// Renew runs an attempt of p's to renew the grant. Its errors are those of Extend.
func (s *Session) Renew(p *sim.Process, attempt func() (Grant, error)) error {
	if s.OnRenew == nil {
		_, err := attempt()
		return err
	}
	return s.OnRenew(p, attempt)
}

// Lost says that the grant is lost: a loss notice has come.
func (s *Session) Lost(p *sim.Process) {
	if s.OnLost != nil {
		s.OnLost(p)
	}
}

// GiveUp says that the lock does not know any more whether the grant stands, and
// takes it for lost. Nobody has told it so: that is not held against the service.
func (s *Session) GiveUp(p *sim.Process) {
	if s.OnGiveUp != nil {
		s.OnGiveUp(p)
	}
}

// Jeopardy says that the lock cannot tell whether the grant still stands: who uses
// it does nothing until it is told that it is safe, or lost.
func (s *Session) Jeopardy(p *sim.Process) {
	if s.OnJeopardy != nil {
		s.OnJeopardy(p)
	}
}

// Safe says that the grant still stands, after a jeopardy.
func (s *Session) Safe(p *sim.Process) {
	if s.OnSafe != nil {
		s.OnSafe(p)
	}
}

// Deadline is a reading of one of the client's own clocks.
type Deadline struct {
	Clock   clock.Kind
	Reading time.Duration
}

// Resource is what a lock protects: pure data that opens as a server. The server
// records what it decides (sim.Server.Record): each write as a history.Write, each
// effect as a history.Effect. What it does not record cannot be judged.
type Resource interface {
	// Name is how a client's script calls it.
	Name() string
	// Open puts the resource's server into w, under the resource's name; or it returns
	// another server of w that keeps the resource, as a database does that may keep the
	// lock too.
	Open(w *sim.World) (*sim.Server, error)
}

// The requests that a Resource understands. Which of them a resource takes is
// said at its type; it answers any other with a Written that is not OK.
type (
	// ReadRequest asks for an object. The answer is an Object.
	ReadRequest struct {
		Object string
		// Token is the reader's fencing token.
		Token int64
	}
	// WriteRequest sets an object. The answer is a Written.
	WriteRequest struct {
		Object string
		Value  string
		// Token is the writer's fencing token, Mark its grant's random value.
		Token int64
		Mark  string
		// IfMatch is the entity tag that the writer had read; IfNoneMatch: it had read
		// that there is no such object. Neither for a blind write.
		IfMatch     string
		IfNoneMatch bool
		// Base is the version that the writer had read, -1 for a blind write. It is for
		// the record alone: no resource may look at it to decide.
		Base int64
		// Grant is the number of the writer's grant. It is for the record alone: no
		// resource may look at it to decide.
		Grant int32
		// Whole is the objects that the writer means to change together, this one among
		// them, separated by commas, and Unit tells one such change of its from another;
		// zero for a write that stands alone. For the record alone.
		Whole string
		Unit  int32
	}
	// ClaimRequest puts Mark on an object, for a later compare-and-set. The answer
	// is an Object.
	ClaimRequest struct {
		Object string
		Mark   string
		Grant  int32
	}
	// MintRequest asks for a fencing token: the next number of an object. The answer
	// is a Minted.
	MintRequest struct{ Object string }
	// EffectRequest asks for something to be done that cannot be undone, such as a
	// mail. The answer is a Written.
	EffectRequest struct {
		Key   string
		Grant int32
	}
)

// The names of the requests, for the history.
func (ReadRequest) Label() string   { return "read" }
func (WriteRequest) Label() string  { return "write" }
func (ClaimRequest) Label() string  { return "claim" }
func (MintRequest) Label() string   { return "mint" }
func (EffectRequest) Label() string { return "do" }

// The answers of a Resource.
type (
	// Object is the state of an object.
	Object struct {
		Value string
		// Version counts the writes; 0 where there is no such object.
		Version int64
		// ETag is the entity tag of the value, of a store that has them.
		ETag string
	}
	// Minted is a token greater than every one that was minted before.
	Minted struct{ Token int64 }
	// Written says whether the resource accepted, and of a conditional write why.
	Written struct {
		OK  bool
		Why string
	}
)
