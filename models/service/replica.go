package service

import (
	"fmt"
	"slices"

	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// What a client asks, by the name of its session; and the one answer.
type (
	// acquire queues for a lock, or goes on queueing. It is answered when the session
	// holds the lock, and keeps the session alive. try tells a client's requests for one session apart.
	acquire struct {
		key, session, client string
		try                  int
	}
	release struct{ key, session, client string }
	beat    struct{ session string }
	look    struct{ key string }
	answer  struct {
		// moved: this node does not lead; leader is who does, "" where it does not know.
		moved  bool
		leader string
		// ok: granted, released, alive.
		ok bool
		// again: ask again, as nobody holds the lock.
		again   bool
		token   int64
		session string // who holds the lock
	}
)

func (acquire) Label() string { return "acquire" }
func (release) Label() string { return "release" }
func (beat) Label() string    { return "heartbeat" }
func (look) Label() string    { return "look" }

// expire is the command that puts a session out; acquire and release are commands
// as they are. It counts only as one of the leader in whose term it was proposed: a
// later leader may have heard of the session since.
type expire struct {
	session string
	term    int64
}

// replica is the state on one node: what the log says, and beside it what only
// this node has.
type replica struct {
	options *Lock
	queues  []*queue
	closed  []string // sessions that are over
	// Of this node alone: the requests that it owes an answer, and while it leads the
	// leases of the sessions.
	kept    []kept
	leases  []*lease
	granted int64 // locks, by this node
}

// queue is the sessions that want a lock, in the order of the log. The first holds
// it.
type queue struct {
	key     string
	members []member
}

type member struct {
	session, client string
	token           int64
}

// kept is a request to be answered when its session holds the lock. confirmed: a
// majority has followed this node since the request came, so that the answer may
// promise a TTL from then on.
type kept struct {
	key, session string
	try          int
	confirmed    bool
	request      sim.Request
}

type lease struct {
	session string
	alarm   sim.Alarm
	over    bool
}

// Serve handles what a client asks: the leader does.
func (x *replica) Serve(n *raft.Node, r sim.Request) {
	if n.Leader() != n {
		r.Reply(moved(n))
		return
	}
	switch q := r.Body.(type) {
	case acquire:
		x.acquire(n, q, r)
	case release:
		n.Propose(q, func(ok any) { r.Reply(answer{ok: ok.(bool)}) })
	case beat:
		x.renew(n, q.session)
		confirm(n, r, func() { r.Reply(answer{ok: x.alive(q.session)}) })
	case look:
		if x.options.Read == Memory {
			r.Reply(answer{session: x.queue(q.key).holder().session})
			return
		}
		n.Read(func() { r.Reply(answer{session: x.queue(q.key).holder().session}) })
	}
}

// moved is the answer of a node that does not lead.
func moved(n *raft.Node) answer {
	a := answer{moved: true}
	if l := n.Leader(); l != nil && l != n {
		a.leader = l.Name()
	}
	return a
}

// confirm goes on when n, since the request came, has led without a break: what it
// has renewed by then counts.
func confirm(n *raft.Node, r sim.Request, then func()) {
	term := n.Term()
	n.Read(func() {
		if n.Leader() == n && n.Term() == term {
			then()
			return
		}
		r.Reply(moved(n))
	})
}

// acquire keeps the request until the session holds the lock.
func (x *replica) acquire(n *raft.Node, q acquire, r sim.Request) {
	k := kept{key: q.key, session: q.session, try: q.try, request: r}
	if x.queue(q.key).find(q.session) < 0 {
		x.keep(k)
		n.Propose(q, nil)
		return
	}
	x.renew(n, q.session)
	confirm(n, r, func() {
		k.confirmed = true
		x.keep(k)
		x.grant(q.key, q.session)
	})
}

// Apply does what the log says.
func (x *replica) Apply(n *raft.Node, e raft.Entry) any {
	switch c := e.Command.(type) {
	case acquire:
		x.enqueue(n, c, e)
	case release:
		return x.leave(n, e, c.key, c.session, history.Event{Why: history.FreedDeleted, Peer: c.client})
	case expire:
		if c.term != e.Term {
			return false
		}
		for _, q := range x.queues {
			x.leave(n, e, q.key, c.session, history.Event{Why: history.FreedExpired})
		}
	default:
		panic(fmt.Sprintf("service: no command %T", c))
	}
	return nil
}

// enqueue lets a session queue, once. One that is over cannot come back: what asks
// for it is a copy that was late.
func (x *replica) enqueue(n *raft.Node, c acquire, e raft.Entry) {
	q := x.queue(c.key)
	if i := x.find(c.session); i >= 0 && x.kept[i].try == c.try {
		x.kept[i].confirmed = true
	}
	switch {
	case slices.Contains(x.closed, c.session):
		x.reply(c.session, answer{again: true})
		return
	case x.options.Wake == All && len(q.members) > 0 && q.find(c.session) < 0:
		return // it will be woken
	case q.find(c.session) < 0:
		q.members = append(q.members, member{c.session, c.client, e.Index})
		if n.Leads() {
			x.renew(n, c.session)
		}
	}
	x.grant(c.key, c.session)
}

// leave takes a session from the queue, and lets the next hold the lock.
func (x *replica) leave(n *raft.Node, e raft.Entry, key, session string, freed history.Event) bool {
	q := x.queue(key)
	i := q.find(session)
	if i < 0 {
		return false
	}
	q.members = slices.Delete(q.members, i, i+1)
	x.closed = append(x.closed, session)
	x.drop(session)
	x.reply(session, answer{again: true})
	if i > 0 {
		return true
	}
	if e.First {
		freed.Kind, freed.Lock, freed.Value = history.Freed, key, session
		n.Server().Record(freed)
	}
	if x.options.Wake == All {
		x.wake(key)
	}
	x.grant(key, q.holder().session)
	return true
}

// grant tells a session that it holds the lock, if it does and its request is
// here.
func (x *replica) grant(key, session string) {
	h, i := x.queue(key).holder(), x.find(session)
	if h.session != session || i < 0 || !x.kept[i].confirmed {
		return
	}
	x.granted++
	a := answer{ok: true, token: h.token}
	if x.options.Token == Counter {
		a.token = x.granted
	}
	x.reply(session, a)
}

// wake tells everybody who waits for the lock to ask again.
func (x *replica) wake(key string) {
	for i := 0; i < len(x.kept); {
		if k := x.kept[i]; k.key == key {
			x.kept = slices.Delete(x.kept, i, i+1)
			k.request.Reply(answer{again: true})
			continue
		}
		i++
	}
}

// reply answers the request of a session that this node has kept, if it has.
func (x *replica) reply(session string, a answer) {
	if i := x.find(session); i >= 0 {
		r := x.kept[i].request
		x.kept = slices.Delete(x.kept, i, i+1)
		r.Reply(a)
	}
}

// keep keeps a request in the place of the one before it of the same session, whose
// client waits for it no more.
func (x *replica) keep(k kept) {
	if i := x.find(k.session); i >= 0 {
		x.kept[i] = k
		return
	}
	x.kept = append(x.kept, k)
}

func (x *replica) find(session string) int {
	return slices.IndexFunc(x.kept, func(k kept) bool { return k.session == session })
}

func (x *replica) queue(key string) *queue {
	for _, q := range x.queues {
		if q.key == key {
			return q
		}
	}
	q := &queue{key: key}
	x.queues = append(x.queues, q)
	return q
}

// holder is who holds the lock; the zero member for nobody.
func (q *queue) holder() member {
	if len(q.members) == 0 {
		return member{}
	}
	return q.members[0]
}

func (q *queue) find(session string) int {
	return slices.IndexFunc(q.members, func(m member) bool { return m.session == session })
}
