// Package lease is the ideal lock service: one server that cannot fail, reached
// in no time, with leases that end at exactly their term and a queue that is
// served in order.
//
// It is the scientific control. What still goes wrong with it is not the fault
// of any lock service; it lies in what a lease is.
package lease

import (
	"fmt"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Ideal is the ideal lock service. Its server is called "lease".
type Ideal struct {
	// TTL is the term of a lease: a lease that began at instant t is free for the
	// next at exactly t + TTL, by the service's clock.
	TTL time.Duration `yaml:"ttl"`
	// Tokens: each grant carries a fencing token, counted from 1.
	Tokens bool `yaml:"tokens,omitempty"`
	// Clock is the one that the service counts a term on.
	Clock clock.Kind `yaml:"clock,omitempty"`
}

// About is what has to be known of it.
func (Ideal) About() models.About {
	return models.About{
		Token:   "a counter in the service, if asked for",
		Clock:   "the service's, monotonic; the client has none",
		Restart: "it cannot crash",
		Assumes: "nothing: it is the scientific control",
	}
}

// Open puts the service into w.
func (i Ideal) Open(w *sim.World) (models.Lock, error) {
	if i.TTL <= 0 {
		return nil, fmt.Errorf("lease: ttl %v: want more than 0", i.TTL)
	}
	s := &service{ttl: i.TTL, clock: i.Clock, tokens: i.Tokens}
	return &lock{w.LocalServer("lease", s), i}, nil
}

type lock struct {
	server  *sim.Server
	options Ideal
}

// forever is the patience of a client that queues.
const forever = -1

// Acquire queues until the lock is granted.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	g, err := sim.Call[granted](p, l.server, acquire{key}, forever)
	if err != nil {
		return models.Grant{}, err
	}
	return l.grant(g), nil
}

// Release gives the lease back.
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	ok, err := sim.Call[bool](p, l.server, release{key, g.Value}, forever)
	if err == nil && !ok {
		err = models.ErrNotHeld
	}
	return err
}

// Extend starts the term of the lease anew.
func (l *lock) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	r, err := sim.Call[granted](p, l.server, extend{key, g.Value}, forever)
	if err != nil {
		return models.Grant{}, err
	}
	if r.value == "" {
		return models.Grant{}, models.ErrNotHeld
	}
	return l.grant(r), nil
}

// Holder is the value of the lease that is in force.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	return sim.Call[string](p, l.server, look{key}, forever)
}

func (l *lock) grant(g granted) models.Grant {
	return models.Grant{Term: l.options.TTL, Anchor: g.at, Token: g.token, Value: g.value}
}

// What the lock asks, and the answer to acquire and extend: a lease that began
// at the true instant at; value "" for "not yours".
type (
	acquire struct{ key string }
	release struct{ key, value string }
	extend  struct{ key, value string }
	look    struct{ key string }
	granted struct {
		value string
		token int64
		at    time.Duration
	}
)

func (acquire) Label() string { return "acquire" }
func (release) Label() string { return "release" }
func (extend) Label() string  { return "extend" }
func (look) Label() string    { return "look" }

type service struct {
	ttl    time.Duration
	clock  clock.Kind
	tokens bool
	leases []*lease
	grants int64
}

type lease struct {
	key    string
	holder granted // value "" when free
	expiry sim.Alarm
	queue  []sim.Request
}

// Serve handles one request.
func (s *service) Serve(server *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case acquire:
		l := s.lease(q.key)
		l.queue = append(l.queue, r)
		s.next(server, l)
	case release:
		l := s.lease(q.key)
		if l.holder.value != q.value {
			r.Reply(false)
			return
		}
		r.Reply(true)
		l.expiry.Cancel()
		s.free(server, l, history.FreedDeleted, r.From())
	case extend:
		l := s.lease(q.key)
		if l.holder.value != q.value {
			r.Reply(granted{})
			return
		}
		l.expiry.Cancel()
		s.begin(server, l)
		r.Reply(l.holder)
	case look:
		r.Reply(s.lease(q.key).holder.value)
	}
}

// next grants l to the head of its queue, if it is free.
func (s *service) next(server *sim.Server, l *lease) {
	if l.holder.value != "" || len(l.queue) == 0 {
		return
	}
	r := l.queue[0]
	l.queue = l.queue[1:]
	s.grants++
	l.holder = granted{value: "lease-" + strconv.FormatInt(s.grants, 10)}
	if s.tokens {
		l.holder.token = s.grants
	}
	s.begin(server, l)
	r.Reply(l.holder)
}

// begin starts the term of l's holder.
func (s *service) begin(server *sim.Server, l *lease) {
	l.holder.at = server.World().Now()
	l.expiry = server.After(s.clock, s.ttl, func() { s.free(server, l, history.FreedExpired, "") })
}

func (s *service) free(server *sim.Server, l *lease, why, by string) {
	server.Record(history.Event{Kind: history.Freed, Lock: l.key, Value: l.holder.value, Why: why, Peer: by})
	l.holder = granted{}
	s.next(server, l)
}

func (s *service) lease(key string) *lease {
	for _, l := range s.leases {
		if l.key == key {
			return l
		}
	}
	l := &lease{key: key}
	s.leases = append(s.leases, l)
	return l
}
