package sql

import (
	"slices"
	"time"

	"locksim/clock"
	"locksim/sim"
)

// pooler is PgBouncer in transaction pooling, on the machine of the database: a
// client's statement runs in whatever session is free, and two statements of one
// client in the same one only within a transaction.
type pooler struct {
	db       *Database
	lifetime time.Duration
	backends []*backend
	routes   map[string][]int
	turns    []turn // how many transactions each client has begun
	next     int    // the backend whose turn it is, where nobody says
	waiting  []sim.Request
}

// backend is a place for a session of the pooler's: a server connection.
type backend struct {
	session *session
	client  *sim.Conn // whose transaction it serves; nil when it is free
	old     bool      // its lifetime is over
}

type turn struct {
	client string
	begun  int
}

// serve runs a statement in the session of its client's transaction, or in one that
// is free, or lets it wait for that.
func (p *pooler) serve(r sim.Request, stmt statement) {
	b := p.of(r.Conn())
	if b == nil {
		if b = p.pick(r.From()); b == nil {
			p.waiting = append(p.waiting, r)
			return
		}
		p.begun(r.From()).begun++
		b.client = r.Conn()
	}
	if b.session == nil {
		p.connect(b)
	}
	b.session.client = r.From()
	p.db.execute(b.session, r, stmt)
}

// of is the backend that serves a client's transaction; nil for none.
func (p *pooler) of(c *sim.Conn) *backend {
	for _, b := range p.backends {
		if b.client == c {
			return b
		}
	}
	return nil
}

// pick is the backend for a client's next transaction; nil while that is busy. The
// routes of a client say which, the last of them from then on; whoever has none
// gets them in turn.
func (p *pooler) pick(client string) *backend {
	if route := p.routes[client]; len(route) > 0 {
		b := p.backends[route[min(p.begun(client).begun, len(route)-1)]-1]
		if b.client != nil {
			return nil
		}
		return b
	}
	for range p.backends {
		b := p.backends[p.next]
		p.next = (p.next + 1) % len(p.backends)
		if b.client == nil {
			return b
		}
	}
	return nil
}

func (p *pooler) begun(client string) *turn {
	for i := range p.turns {
		if p.turns[i].client == client {
			return &p.turns[i]
		}
	}
	p.turns = append(p.turns, turn{client: client})
	return &p.turns[len(p.turns)-1]
}

// connect opens the server connection of b. When its lifetime is over it is closed,
// as soon as it serves nobody.
func (p *pooler) connect(b *backend) {
	s := p.db.newSession("")
	b.session, b.old = s, false
	p.db.server.After(clock.Monotonic, p.lifetime, func() {
		if b.session != s {
			return
		}
		b.old = true
		if b.client == nil {
			p.disconnect(b)
		}
	})
}

func (p *pooler) disconnect(b *backend) {
	s := b.session
	b.session, b.client = nil, nil
	p.db.hangUp(s)
}

// free gives the backend of a session that has ended its transaction to the next.
func (p *pooler) free(s *session) {
	for _, b := range p.backends {
		if b.session != s {
			continue
		}
		b.client = nil
		if b.old {
			p.disconnect(b)
		}
	}
	p.retry()
}

// retry serves those who wait for a backend, in their order, as far as one is free.
func (p *pooler) retry() {
	waiting := p.waiting
	p.waiting = nil
	for _, r := range waiting {
		p.serve(r, r.Body.(statement))
	}
}

// left takes in that a client's connection has ended. Its transaction, if it is in
// one, ends with the server connection that serves it; else that stays as it is,
// with all that the client has left there.
func (p *pooler) left(c *sim.Conn) {
	p.waiting = slices.DeleteFunc(p.waiting, func(r sim.Request) bool { return r.Conn() == c })
	if b := p.of(c); b != nil {
		p.disconnect(b)
		p.retry()
	}
}
