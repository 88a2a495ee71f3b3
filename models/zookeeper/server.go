package zookeeper

import (
	"fmt"
	"slices"
	"strings"

	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// server is one server of the ensemble. The tree is the same on all of them; the
// rest is this server's own, and lost when it crashes.
type server struct {
	options *Mutex
	tree    tree
	links   []*link
	watches []set
	tracker tracker
}

// link is a client's connection to this server.
type link struct {
	on
	// events that were sent on it, and whether the client listens for the next.
	events    []watch
	listening bool
	listener  sim.Request
}

// set is a watch of a session: it fires once, and only here.
type set struct {
	session int64
	watch
}

func newServer(options *Mutex, n *raft.Node) *server {
	s := &server{options: options, tree: newTree()}
	s.tick(n)
	return s
}

// Serve handles what a client asks, or what another server tells.
func (s *server) Serve(n *raft.Node, r sim.Request) {
	switch q := r.Body.(type) {
	case touches:
		s.heard(n, q)
	case validate:
		if n.Leads() { // else there is no answer, and it asks again
			s.whisper(n, r.From(), validated{q.Session, s.prolong(n, q.Session)})
		}
	case validated:
		s.admitted(n, q)
	case connect:
		s.connect(n, r, q)
	case ping:
		s.serve(n, r, q.on, func(l *link) reply { return reply{From: q.Events, Events: l.events[q.Events:]} })
	case listen:
		s.listen(n, r, q)
	case getData:
		s.serve(n, r, q.on, func(*link) reply { return s.getData(q) })
	case exists:
		s.serve(n, r, q.on, func(*link) reply { return s.exists(q) })
	case getChildren:
		s.serve(n, r, q.on, func(*link) reply { return s.getChildren(q) })
	case sync:
		if s.open(n, r, q.on) != nil {
			n.Read(func() { r.Reply(s.stamped(n, reply{})) })
		}
	case create:
		s.propose(n, r, q.on)
	case remove:
		s.propose(n, r, q.on)
	case setData:
		s.propose(n, r, q.on)
	}
}

// link is the connection on which a request has come. Where the server does not know
// it, or no leader, the client is told to go elsewhere.
func (s *server) link(n *raft.Node, r sim.Request, o on) *link {
	i := slices.IndexFunc(s.links, func(l *link) bool { return l.on == o })
	if i < 0 || n.Leader() == nil {
		r.Reply(reply{Code: connectionLoss})
		return nil
	}
	return s.links[i]
}

// open is the same where the request keeps the session: all do but listen, which no
// ZooKeeper client sends, since its server sends events unasked. A leader that is ending
// the session drops the request (ZooKeeperServer.touch, SessionTrackerImpl.touchSession).
func (s *server) open(n *raft.Node, r sim.Request, o on) *link {
	l := s.link(n, r, o)
	if l == nil || !s.touch(n, o.Session) {
		return nil
	}
	return l
}

// serve answers from the server's own state.
func (s *server) serve(n *raft.Node, r sim.Request, o on, answer func(*link) reply) {
	if l := s.open(n, r, o); l != nil {
		r.Reply(s.stamped(n, answer(l)))
	}
}

// propose answers with what came of a change, when it is applied here.
func (s *server) propose(n *raft.Node, r sim.Request, o on) {
	if s.open(n, r, o) != nil {
		n.Propose(r.Body, func(result any) { r.Reply(s.stamped(n, result.(reply))) })
	}
}

// stamped is a reply with the zxid that the server stands at.
func (s *server) stamped(n *raft.Node, a reply) reply {
	a.Zxid = n.Applied()
	return a
}

// listen answers with the next events.
func (s *server) listen(n *raft.Node, r sim.Request, q listen) {
	l := s.link(n, r, q.on)
	switch {
	case l == nil:
	case len(l.events) > q.Events:
		r.Reply(s.stamped(n, reply{From: q.Events, Events: l.events[q.Events:]}))
	default:
		l.listening, l.listener = true, r
	}
}

// getData leaves no watch where there is no node.
func (s *server) getData(q getData) reply {
	z := s.tree.nodes[q.Path]
	if z == nil {
		return reply{Code: noNode}
	}
	s.watch(q.Watch, q.Session, watch{data, q.Path})
	return reply{Path: z.path, Data: z.data, Stat: z.stat}
}

// exists leaves a watch even there.
func (s *server) exists(q exists) reply {
	z := s.tree.nodes[q.Path]
	if z == nil {
		s.watch(q.Watch, q.Session, watch{presence, q.Path})
		return reply{Code: noNode}
	}
	s.watch(q.Watch, q.Session, watch{data, q.Path})
	return reply{Path: z.path, Stat: z.stat}
}

func (s *server) getChildren(q getChildren) reply {
	z := s.tree.nodes[q.Path]
	if z == nil {
		return reply{Code: noNode}
	}
	s.watch(q.Watch, q.Session, watch{children, q.Path})
	return reply{Path: z.path, Stat: z.stat, Children: z.names()}
}

func (s *server) watch(wanted bool, id int64, w watch) {
	if x := (set{id, w}); wanted && !slices.Contains(s.watches, x) {
		s.watches = append(s.watches, x)
	}
}

// Apply does what an entry of the log says. Its index is the zxid.
func (s *server) Apply(n *raft.Node, e raft.Entry) any {
	switch c := e.Command.(type) {
	case createSession:
		s.tree.sessions = append(s.tree.sessions, &session{id: e.Index, client: c.Client, timeout: c.Timeout})
		if n.Leads() {
			s.prolong(n, e.Index)
		}
		return reply{Session: e.Index, Timeout: c.Timeout}
	case closeSession:
		s.tracker.forget(c.ID)
		s.hangUp(c.ID)
		for _, z := range s.tree.end(e.Index, c.ID) {
			s.gone(n, e, z, history.FreedExpired, "")
		}
		return reply{}
	case create:
		return s.created(n, e, c)
	case remove:
		z, code := s.tree.remove(e.Index, c.Path, c.Version)
		if code == ok {
			by := ""
			if owner := s.tree.session(c.Session); owner != nil {
				by = owner.client
			}
			s.gone(n, e, z, history.FreedDeleted, by)
		}
		return reply{Code: code}
	case setData:
		z, code := s.tree.set(e.Index, c)
		if code != ok {
			return reply{Code: code}
		}
		s.fire(n, watch{data, c.Path})
		return reply{Stat: z.stat}
	case removeContainer:
		if z := s.tree.nodes[c.Path]; z != nil && z.container && len(z.children) == 0 {
			s.tree.remove(e.Index, c.Path, -1)
			s.fire(n, watch{children, c.Path})
		}
		return nil
	}
	panic(fmt.Sprintf("zookeeper: there is no command %T", e.Command))
}

func (s *server) created(n *raft.Node, e raft.Entry, c create) reply {
	z, code := s.tree.create(e.Index, c)
	if code != ok {
		return reply{Code: code}
	}
	s.fire(n, watch{presence, z.path})
	s.fire(n, watch{children, parent(z.path)})
	return reply{Path: z.path, Stat: z.stat}
}

// gone fires the watches on a node that is gone, and takes down that a lock's key is.
func (s *server) gone(n *raft.Node, e raft.Entry, z *znode, why, by string) {
	if e.First {
		lock := strings.TrimPrefix(parent(z.path), "/")
		n.Server().Record(history.Event{Kind: history.Freed, Lock: lock, Value: z.data, Why: why, Peer: by})
	}
	s.fire(n, watch{data, z.path})
	s.fire(n, watch{children, parent(z.path)})
}

// fire fires the watches w: each is over with that.
func (s *server) fire(n *raft.Node, w watch) {
	s.watches = slices.DeleteFunc(s.watches, func(x set) bool {
		if x.watch != w {
			return false
		}
		for _, l := range s.links {
			if l.Session == x.session {
				s.tell(n, l, w)
			}
		}
		return true
	})
}

// tell sends an event to a client, at once if it listens.
func (s *server) tell(n *raft.Node, l *link, w watch) {
	l.events = append(l.events, w)
	if l.listening {
		l.listening = false
		l.listener.Reply(s.stamped(n, reply{From: len(l.events) - 1, Events: l.events[len(l.events)-1:]}))
	}
}

// hangUp closes the connection of a session, and with 0 all of them.
func (s *server) hangUp(id int64) {
	s.links = slices.DeleteFunc(s.links, func(l *link) bool {
		if id != 0 && l.Session != id {
			return false
		}
		if l.listening {
			l.listener.Reply(reply{Code: connectionLoss})
		}
		s.watches = slices.DeleteFunc(s.watches, func(x set) bool { return x.session == l.Session })
		return true
	})
}
