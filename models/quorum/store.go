package quorum

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Store is a leaderless store behind a lock: a coordinator, which clients talk to,
// and three replicas, called after it: "doc", and "doc1" to "doc3". It reads and
// writes with quorums of two, and its reads repair whatever replica answers with
// less than they found. Each replica decides on each write by its timestamp alone,
// and records what it decided.
//
// It answers models.ReadRequest and WriteRequest, the first without a version (-1):
// replicas do not agree on how often an object was written, so whatever a reader
// writes next is a blind write. It answers anything else with a Written that is not
// OK, and nothing at all where there is no quorum.
type Store struct {
	Called string `yaml:"name"`
	// Tokens: the timestamp of a write is the writer's fencing token and then the
	// clock, as if the token was in its most significant bits. So a holder's write
	// comes before any of an earlier holder's, whenever that is made (DDIA, 2nd
	// edition, chapter 9, "Fencing with multiple replicas"). Without, it is what the
	// coordinator's wall clock shows.
	Tokens bool `yaml:"tokens,omitempty"`
}

// The replicas of a Store, and its quorums.
const (
	replicas = 3
	majority = 2
)

// Name is how scripts call the store.
func (s Store) Name() string { return s.Called }

// Open puts up the coordinator and the replicas.
func (s Store) Open(w *sim.World) (*sim.Server, error) {
	c := &coordinator{tokens: s.Tokens}
	server := w.Server(s.Called, c)
	for i := range replicas {
		name := s.Called + strconv.Itoa(i+1)
		if w.Machine(name) != nil {
			return nil, fmt.Errorf("replica %q: there is another machine of that name", name)
		}
		c.replicas = append(c.replicas, w.Server(name, &replica{coordinator: server}))
	}
	return server, nil
}

// version is an object on a replica: what was written, and its timestamp.
type version struct {
	models.WriteRequest
	from  string // who wrote it
	token int64  // the high part of the timestamp, 0 without tokens
	clock time.Duration
}

// newer tells whether v takes the place of old.
func (v version) newer(old version) bool {
	switch {
	case v.token != old.token:
		return v.token > old.token
	case v.clock != old.clock:
		return v.clock > old.clock
	}
	return v.Value > old.Value
}

// What a coordinator asks of its replicas, under a number of its own; the answer is
// a reply to it.
type (
	fetch struct {
		op     int
		object string
	}
	keep struct {
		op int
		version
	}
	reply struct {
		op   int
		from *sim.Server
		version
	}
)

func (fetch) Label() string { return "fetch" }
func (keep) Label() string  { return "keep" }
func (reply) Label() string { return "reply" }

// coordinator does for clients what a client of [Lock] does by itself.
type coordinator struct {
	tokens   bool
	replicas []*sim.Server
	ops      []operation
}

// operation is a read or a write that has been sent to the replicas.
type operation struct {
	request sim.Request
	replies []reply
}

// Serve handles a client's request or a replica's reply.
func (c *coordinator) Serve(s *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case models.WriteRequest:
		v := version{WriteRequest: q, from: r.From(), clock: s.Now(clock.Wall)}
		if c.tokens {
			v.token = q.Token
		}
		c.begin(s, r, keep{len(c.ops), v})
	case models.ReadRequest:
		c.begin(s, r, fetch{len(c.ops), q.Object})
	case reply:
		c.replied(s, &c.ops[q.op], q)
	default:
		r.Reply(models.Written{})
	}
}

func (c *coordinator) begin(s *sim.Server, r sim.Request, body any) {
	c.ops = append(c.ops, operation{request: r})
	for _, replica := range c.replicas {
		s.Forward(replica, body, 0)
	}
}

// replied takes a reply in. The client is answered when a quorum is there; a read
// goes on to repair when all are.
func (c *coordinator) replied(s *sim.Server, o *operation, q reply) {
	o.replies = append(o.replies, q)
	_, reads := o.request.Body.(models.ReadRequest)
	newest := o.newest()
	if len(o.replies) == majority {
		if reads {
			o.request.Reply(models.Object{Value: newest.Value, Version: -1})
		} else {
			o.request.Reply(models.Written{OK: true})
		}
	}
	if !reads || len(o.replies) < len(c.replicas) {
		return
	}
	for _, q := range o.replies {
		if newest.newer(q.version) {
			s.Forward(q.from, keep{none, newest}, 0)
		}
	}
}

// none is the number of what nobody waits for.
const none = -1

func (o *operation) newest() version {
	newest := o.replies[0].version
	for _, q := range o.replies[1:] {
		if q.newer(newest) {
			newest = q.version
		}
	}
	return newest
}

// replica keeps one version of each object.
type replica struct {
	coordinator *sim.Server
	objects     []object
}

type object struct {
	name   string
	now    version
	writes int64 // how many it has taken
}

// Serve handles a request of the coordinator's.
func (r *replica) Serve(s *sim.Server, q sim.Request) {
	switch q := q.Body.(type) {
	case fetch:
		s.Forward(r.coordinator, reply{q.op, s, r.object(q.object).now}, 0)
	case keep:
		r.put(s, q.version)
		if q.op != none {
			s.Forward(r.coordinator, reply{q.op, s, q.version}, 0)
		}
	}
}

// put takes v in the place of what is there, if it is newer, and records either.
func (r *replica) put(s *sim.Server, v version) {
	o := r.object(v.Object)
	e := history.Event{
		Kind: history.Write, Peer: v.from, Lock: v.Object, Value: v.Value,
		Grant: v.Grant, Token: v.Token, Base: v.Base, Outcome: history.Refused,
	}
	if v.newer(o.now) {
		e.Outcome = history.OK
		o.now = v
		o.writes++
	}
	e.Version = o.writes
	s.Record(e)
}

func (r *replica) object(name string) *object {
	for i := range r.objects {
		if r.objects[i].name == name {
			return &r.objects[i]
		}
	}
	r.objects = append(r.objects, object{name: name, now: version{clock: math.MinInt64}})
	return &r.objects[len(r.objects)-1]
}
