package zookeeper

import (
	"slices"
	"time"

	"locksim/clock"
	"locksim/models/raft"
	"locksim/sim"
)

// tracker is what a server knows of when sessions end. Only what the leader knows
// counts.
type tracker struct {
	// next is the reading of the server's monotonic clock at which half a tick is over.
	next time.Duration
	// expiries are the leader's: all sessions, each with the reading at which it ends.
	expiries []expiry
	// heard are the sessions that a follower has not told the leader of yet, in the
	// order in which it heard of them; asking are clients that wait for the leader's
	// word on their session.
	heard  []int64
	asking []asking
	// sweep is the leader's next look for containers that are empty.
	sweep sim.Alarm
}

type expiry struct {
	session int64
	at      time.Duration
	// closing: the end of the session has been proposed, and nothing keeps it any more.
	closing bool
}

type asking struct {
	request sim.Request
	connect connect
}

// sweepEvery is how often the leader looks for empty containers
// (znode.container.checkIntervalMs, "ZooKeeper Administrator's Guide").
const sweepEvery = time.Minute

// bucket is when a session ends that was heard of at now: its timeout later, rounded
// up to the next whole tick (ExpiryQueue.roundToNextInterval), which is never now.
func bucket(now, timeout, tick time.Duration) time.Duration {
	return ((now+timeout)/tick + 1) * tick
}

// prolong lets a session begin anew, on the leader. It reports whether there is such a
// session and it is not about to end.
func (s *server) prolong(n *raft.Node, id int64) bool {
	x := s.tree.session(id)
	if x == nil {
		return false
	}
	at := bucket(n.Server().Now(clock.Monotonic), x.timeout, s.options.Tick)
	for i := range s.tracker.expiries {
		if e := &s.tracker.expiries[i]; e.session == id {
			if !e.closing {
				e.at = at
			}
			return !e.closing
		}
	}
	s.tracker.expiries = append(s.tracker.expiries, expiry{session: id, at: at})
	return true
}

func (t *tracker) forget(id int64) {
	t.expiries = slices.DeleteFunc(t.expiries, func(x expiry) bool { return x.session == id })
}

// touch takes in that a session's client has been heard of. It reports whether that
// counts: on the leader not for a session that is about to end.
func (s *server) touch(n *raft.Node, id int64) bool {
	switch {
	case n.Leads():
		return s.prolong(n, id)
	case !slices.Contains(s.tracker.heard, id):
		s.tracker.heard = append(s.tracker.heard, id)
	}
	return true
}

// heard takes in the sessions that a follower has heard of.
func (s *server) heard(n *raft.Node, q touches) {
	if !n.Leads() {
		return
	}
	for _, id := range q.Sessions {
		s.prolong(n, id)
	}
}

// Lead lets all sessions begin anew, as a new leader does (SessionTrackerImpl's
// constructor), and looks after containers from now on.
func (s *server) Lead(n *raft.Node) {
	s.tracker.expiries = nil
	for _, x := range s.tree.sessions {
		s.prolong(n, x.id)
	}
	s.ask(n)
	s.sweepLater(n)
}

// Follow ends what only a leader does.
func (s *server) Follow(*raft.Node) {
	s.tracker.expiries = nil
	s.tracker.sweep.Cancel()
}

func (s *server) sweepLater(n *raft.Node) {
	s.tracker.sweep.Cancel()
	s.tracker.sweep = n.Server().After(clock.Monotonic, sweepEvery, func() {
		for _, z := range s.tree.nodes["/"].children {
			if z.container && len(z.children) == 0 {
				n.Propose(removeContainer{z.path}, nil)
			}
		}
		s.sweepLater(n)
	})
}

// tick sets the timer for the next half tick.
func (s *server) tick(n *raft.Node) {
	half, now := s.options.Tick/2, n.Server().Now(clock.Monotonic)
	s.tracker.next = (now/half + 1) * half
	n.Server().Machine().SetAlarm(clock.Monotonic, s.tracker.next, func() {
		s.halfTick(n)
		s.tick(n)
	})
}

// halfTick is what happens twice a tick. The leader ends sessions at whole ticks; a
// follower tells it of whom it has heard, as in its answer to the leader's ping
// (Leader.lead, Learner.ping); who knows of no leader serves nobody.
func (s *server) halfTick(n *raft.Node) {
	switch {
	case n.Leader() == nil:
		s.hangUp(0)
		for _, a := range s.tracker.asking {
			a.request.Reply(reply{Code: connectionLoss})
		}
		s.tracker.asking = nil
	case n.Leads():
		s.expire(n)
	case len(s.tracker.heard) > 0:
		s.whisper(n, n.Leader().Name(), touches{s.tracker.heard})
		s.tracker.heard = nil
		s.ask(n)
	default:
		s.ask(n)
	}
}

// expire proposes to end the sessions whose time is over.
func (s *server) expire(n *raft.Node) {
	for i := range s.tracker.expiries {
		if x := &s.tracker.expiries[i]; !x.closing && x.at <= s.tracker.next {
			x.closing = true
			n.Propose(closeSession{x.session}, nil)
		}
	}
}

// connect opens a session, or goes on with one if the leader says that it stands.
func (s *server) connect(n *raft.Node, r sim.Request, q connect) {
	switch {
	case n.Leader() == nil || q.Zxid > n.Applied():
		// "as it has seen zxid ... client must try another server" (ZooKeeperServer)
		r.Reply(reply{Code: connectionLoss})
	case q.Session == 0:
		timeout := min(max(q.Timeout, minTicks*s.options.Tick), maxTicks*s.options.Tick)
		n.Propose(createSession{r.From(), timeout}, func(result any) {
			s.attach(on{result.(reply).Session, q.Link})
			r.Reply(s.stamped(n, result.(reply)))
		})
	default:
		s.tracker.asking = append(s.tracker.asking, asking{r, q})
		s.ask(n)
	}
}

// ask asks the leader about the sessions of those who wait to be let in.
func (s *server) ask(n *raft.Node) {
	if n.Leads() {
		for len(s.tracker.asking) > 0 {
			id := s.tracker.asking[0].connect.Session
			s.admitted(n, validated{id, s.prolong(n, id)})
		}
		return
	}
	if n.Leader() == n { // it will ask itself when it leads
		return
	}
	for _, a := range s.tracker.asking {
		s.whisper(n, n.Leader().Name(), validate{a.connect.Session})
	}
}

// admitted answers those who wait to be let in.
func (s *server) admitted(n *raft.Node, v validated) {
	s.tracker.asking = slices.DeleteFunc(s.tracker.asking, func(a asking) bool {
		if a.connect.Session != v.Session {
			return false
		}
		x := s.tree.session(v.Session)
		if !v.OK || x == nil {
			a.request.Reply(reply{Code: sessionExpired})
			return true
		}
		s.attach(a.connect.on)
		a.request.Reply(s.stamped(n, reply{Session: x.id, Timeout: x.timeout}))
		s.rewatch(n, x.id, a.connect)
		return true
	})
}

// attach opens a connection for a session.
func (s *server) attach(o on) {
	s.hangUp(o.Session)
	s.links = append(s.links, &link{on: o})
}

// rewatch sets a client's watches anew; those that have missed something fire.
func (s *server) rewatch(n *raft.Node, id int64, q connect) {
	for _, w := range q.Watches {
		z := s.tree.nodes[w.Path]
		missed := false
		switch w.Kind {
		case data:
			missed = z == nil || z.stat.Mzxid > q.Zxid
		case presence:
			missed = z != nil
		case children:
			missed = z == nil || z.pzxid > q.Zxid
		}
		s.watch(true, id, w)
		if missed {
			s.fireFor(n, id, w)
		}
	}
}

// fireFor fires one session's watch.
func (s *server) fireFor(n *raft.Node, id int64, w watch) {
	s.watches = slices.DeleteFunc(s.watches, func(x set) bool { return x == set{id, w} })
	for _, l := range s.links {
		if l.Session == id {
			s.tell(n, l, w)
		}
	}
}

// whisper tells another server something.
func (s *server) whisper(n *raft.Node, to string, what any) {
	n.Server().Whisper(n.Server().World().Machine(to).Server(), what)
}
