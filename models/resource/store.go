// Package resource is what a lock protects: stores that check nothing, or the
// fencing token, or the lock's random value, and a mailer that only counts.
//
// Each records what reaches it, so that the damage verdict does not depend on
// what a client believes that it did.
package resource

import (
	"fmt"
	"slices"
	"strings"

	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Check is how a store decides whether to accept a write.
type Check uint8

// The checks of a store.
const (
	// Unchecked accepts every write.
	Unchecked Check = iota
	// AtLeast keeps the greatest token it has seen and rejects a smaller one: the
	// fence of Kleppmann 2016 as an UPDATE … WHERE fence <= :token. The same holder
	// may write twice.
	AtLeast
	// Greater rejects the same token too: each write needs a token of its own.
	Greater
	// Compare accepts a write only while the object still carries the mark that
	// the writer put on it by claiming it: a compare-and-set with the lock's random
	// value, which Sanfilippo 2016 holds against the need for a token's order.
	Compare
)

var checkNames = [...]string{Unchecked: "none", AtLeast: ">=", Greater: ">", Compare: "cas"}

// String is the check's name: "none", ">=", ">" or "cas".
func (c Check) String() string { return checkNames[c] }

// MarshalText writes the check's name.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a check's name.
func (c *Check) UnmarshalText(text []byte) error {
	i := slices.Index(checkNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no check %q: want one of %s", text, strings.Join(checkNames[:], ", "))
	}
	*c = Check(i)
	return nil
}

// Store is a store of objects. It answers models.ReadRequest, WriteRequest and
// ClaimRequest, each in one step that cannot be interrupted, and anything else
// with a Written that is not OK.
type Store struct {
	Called string `yaml:"name"`
	Check  Check  `yaml:"check,omitempty"`
	// Reads: a fenced store remembers the token of a reader too, so that a writer
	// with a smaller one comes too late even if nobody has written since.
	Reads bool `yaml:"reads,omitempty"`
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
	return w.Server(s.Called, &store{check: s.Check, reads: s.Reads}), nil
}

type store struct {
	check   Check
	reads   bool
	objects []object
}

type object struct {
	name  string
	now   models.Object
	token int64 // the greatest that was seen
	mark  string
}

// Serve handles one request.
func (s *store) Serve(server *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case models.ReadRequest:
		o := s.object(q.Object)
		if s.reads {
			o.token = max(o.token, q.Token)
		}
		r.Reply(o.now)
	case models.ClaimRequest:
		o := s.object(q.Object)
		o.mark = q.Mark
		r.Reply(o.now)
	case models.WriteRequest:
		r.Reply(models.Written{OK: s.write(server, r.From(), q)})
	default:
		r.Reply(models.Written{})
	}
}

func (s *store) write(server *sim.Server, from string, q models.WriteRequest) bool {
	o := s.object(q.Object)
	e := history.Event{
		Kind: history.Write, Peer: from, Lock: q.Object, Value: q.Value,
		Grant: q.Grant, Token: q.Token, Base: q.Base, Outcome: history.Refused,
	}
	if s.accepts(o, q) {
		e.Outcome = history.OK
		o.now.Value = q.Value
		o.now.Version++
		o.token = max(o.token, q.Token)
	}
	e.Version = o.now.Version
	server.Record(e)
	return e.Outcome == history.OK
}

func (s *store) accepts(o *object, q models.WriteRequest) bool {
	switch s.check {
	case AtLeast:
		return q.Token > 0 && q.Token >= o.token
	case Greater:
		return q.Token > o.token
	case Compare:
		return q.Mark != "" && q.Mark == o.mark
	}
	return true
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
