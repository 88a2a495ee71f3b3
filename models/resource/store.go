// Package resource is what a lock protects: stores that check nothing, or the
// fencing token, or the lock's random value, or what the writer had read, and a
// mailer that only counts.
//
// Each records what reaches it, so that the damage verdict does not depend on
// what a client believes that it did.
package resource

import (
	"fmt"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Store is a store of objects. It answers models.ReadRequest, WriteRequest,
// ClaimRequest and MintRequest, each in one step that cannot be interrupted unless
// there is a Gap, and anything else with a Written that is not OK.
//
// Any store can mint, as Sanfilippo 2016 proposes for the tokens of Redlock. It has
// seen a token when it comes with a write, not when it was minted.
type Store struct {
	Called string `yaml:"name"`
	Check  Check  `yaml:"check,omitempty"`
	// Reads: a fenced store remembers the token of a reader too, so that a writer
	// with a smaller one comes too late even if nobody has written since.
	Reads bool `yaml:"reads,omitempty"`
	// Gap tears the check from the write, as a SELECT and an UPDATE that are not one
	// transaction: a write that passes is applied, and what it shows is seen, that
	// much later, and others are checked in between. 0, as it should be: in one step.
	Gap time.Duration `yaml:"gap,omitempty"`
}

// Plain is a store that checks nothing, as a file or a third-party service.
func Plain(name string) Store { return Store{Called: name} }

// Fenced is a store that rejects a token smaller than one it has seen. A writer
// without a token is rejected.
func Fenced(name string) Store { return Store{Called: name, Check: AtLeast} }

// CompareAndSet is a store that accepts a write only from who claimed it last.
func CompareAndSet(name string) Store { return Store{Called: name, Check: Compare} }

// Name is how scripts call the store.
func (s Store) Name() string { return s.Called }

// Open puts the store's server into w.
func (s Store) Open(w *sim.World) (*sim.Server, error) {
	if s.Gap < 0 {
		return nil, fmt.Errorf("gap %v: want 0 or more", s.Gap)
	}
	return w.Server(s.Called, &store{options: s}), nil
}

type store struct {
	options Store
	objects []object
}

type object struct {
	name  string
	now   models.Object
	token int64 // of the last write, or of a reader after it
	mark  string
	// minted is how many tokens were asked for.
	minted int64
}

// Serve handles one request.
func (s *store) Serve(server *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case models.ReadRequest:
		o := s.object(q.Object)
		if s.options.Reads {
			o.token = max(o.token, q.Token)
		}
		r.Reply(o.now)
	case models.ClaimRequest:
		o := s.object(q.Object)
		o.mark = q.Mark
		r.Reply(o.now)
	case models.MintRequest:
		o := s.object(q.Object)
		o.minted++
		server.Record(history.Event{Kind: history.Mint, Peer: r.From(), Lock: q.Object, Token: o.minted})
		r.Reply(models.Minted{Token: o.minted})
	case models.WriteRequest:
		s.write(server, r, q)
	default:
		r.Reply(models.Written{})
	}
}

// write decides on a write. One that passes is applied in the same step, or after
// the gap.
func (s *store) write(server *sim.Server, r sim.Request, q models.WriteRequest) {
	e := history.Event{Outcome: history.OK}
	var ok bool
	switch ok, e.Why = s.options.Check.accepts(s.object(q.Object), q); {
	case !ok:
		e.Outcome = history.Refused
		s.answer(server, r, q, e)
	case s.options.Gap == 0:
		s.apply(server, r, q, e)
	default:
		e.Anchor = server.World().Now()
		server.After(clock.Monotonic, s.options.Gap, func() { s.apply(server, r, q, e) })
	}
}

func (s *store) apply(server *sim.Server, r sim.Request, q models.WriteRequest, e history.Event) {
	o := s.object(q.Object)
	o.now.Value = q.Value
	o.now.Version++
	if s.options.Check == IfMatch {
		o.now.ETag = etag(q.Value)
	}
	o.token = q.Token
	s.answer(server, r, q, e)
}

// answer takes down what became of a write, and tells the writer.
func (s *store) answer(server *sim.Server, r sim.Request, q models.WriteRequest, e history.Event) {
	e.Kind, e.Peer, e.Lock, e.Value = history.Write, r.From(), q.Object, q.Value
	e.Grant, e.Token, e.Base, e.Op, e.Votes = q.Grant, q.Token, q.Base, q.Unit, q.Whole
	e.Version = s.object(q.Object).now.Version
	server.Record(e)
	r.Reply(models.Written{OK: e.Outcome == history.OK, Why: e.Why})
}

func (s *store) object(name string) *object {
	for i := range s.objects {
		if s.objects[i].name == name {
			return &s.objects[i]
		}
	}
	s.objects = append(s.objects, object{name: name})
	return &s.objects[len(s.objects)-1]
}
