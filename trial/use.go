package trial

import (
	"locksim/models"
	"locksim/sim"
)

// reading is what a client has read of a resource and not yet written back.
type reading struct {
	object string
	found  models.Object
}

// use sends a request to a resource, under the grant acquired last.
func (c *client) use(p *sim.Process, l *Line) {
	h := c.latest()
	server := c.resource(l.Object)
	switch l.Verb {
	case "claim":
		c.learn(p, server, l.Object, models.ClaimRequest{Object: l.Object, Mark: mark(p, &h), Grant: h.id})
	case "mint":
		c.mint(p, server, l.Object)
	case "write":
		if l.With != "" {
			c.units++
		}
		c.write(p, l, l.Object)
	case "do":
		p.Await(p.Send(server, models.EffectRequest{Key: l.Effect, Grant: h.id}), Patience)
	}
}

// write writes to one of the resources of l.
func (c *client) write(p *sim.Process, l *Line, object string) {
	h := c.latest()
	q := models.WriteRequest{Object: object, Value: l.Value, Token: h.token(), Mark: mark(p, &h), Base: -1, Grant: h.id}
	if l.Value == "" {
		q.Value = p.Name()
	}
	if before, ok := c.take(object); ok && !l.Blind {
		q.Base, q.IfMatch, q.IfNoneMatch = before.Version, before.ETag, before.Version == 0
	}
	if l.With != "" {
		q.Whole, q.Unit = l.Object+","+l.With, c.units
	}
	p.Await(p.Send(c.resource(object), q), Patience)
}

// mark is by what a store knows a claim: the random value of the lock, and without
// one the client's name.
func mark(p *sim.Process, h *holding) string {
	if h.id == 0 {
		return p.Name()
	}
	return h.grant.Value
}

// latest is what the client holds since last; nothing where it holds no lock.
func (c *client) latest() holding {
	if n := len(c.held); n > 0 {
		return *c.held[n-1]
	}
	return holding{}
}

// learn asks for an object, and remembers what it is told, instead of what it has read
// before. It reports false where there was no such answer.
func (c *client) learn(p *sim.Process, server *sim.Server, object string, request any) (models.Object, bool) {
	c.take(object)
	answer, err := p.Await(p.Send(server, request), Patience)
	o, ok := answer.(models.Object)
	if err != nil || !ok {
		return models.Object{}, false
	}
	c.read = append(c.read, reading{object, o})
	return o, true
}

// reads reads an object and reports whether the client goes on: it has been answered,
// and where that matters nobody has written the object.
func (c *client) reads(p *sim.Process, l *Line) bool {
	h := c.latest()
	o, ok := c.learn(p, c.resource(l.Object), l.Object, models.ReadRequest{Object: l.Object, Token: h.token()})
	return ok && (l.Verb == "read" || o.Version == 0)
}

// mint asks a resource for the token that the lock acquired last goes by from now
// on.
func (c *client) mint(p *sim.Process, server *sim.Server, object string) {
	if len(c.held) == 0 {
		return
	}
	h := c.held[len(c.held)-1]
	answer, err := p.Await(p.Send(server, models.MintRequest{Object: object}), Patience)
	if m, ok := answer.(models.Minted); err == nil && ok {
		h.minted = m.Token
	}
}

func (c *client) resource(name string) *sim.Server {
	for _, r := range c.resources {
		if r.name == name {
			return r.server
		}
	}
	return nil // cannot be: the spec was validated
}

// take is what the client has read of object and not yet written, which a write uses
// up.
func (c *client) take(object string) (models.Object, bool) {
	for i, r := range c.read {
		if r.object == object {
			c.read = append(c.read[:i], c.read[i+1:]...)
			return r.found, true
		}
	}
	return models.Object{}, false
}
