package redis

import (
	"fmt"
	"time"

	"locksim/history"
	"locksim/sim"
)

// pair is a primary and its asynchronous replica. Clients find both here.
type pair struct {
	primary *sim.Server
	replica *sim.Server // nil once it was promoted
	lag     time.Duration
	stream  stream
	waits   waits
}

// member is a node of a pair: a faults.Replicated.
type member struct{ *Node }

// openPair gives w a primary and a replica.
func openPair(w *sim.World, primary, replica string, c Config, lag time.Duration) *pair {
	p := &pair{lag: lag}
	open := func(name string) *sim.Server {
		n := openNode(w, name, c)
		n.pair = p
		return w.Server(name, member{n})
	}
	p.primary, p.replica = open(primary), open(replica)
	return p
}

// serves tells whether s, on which n runs, serves clients that write.
func (n *Node) serves(s *sim.Server) bool { return n.pair == nil || n.pair.primary == s }

// Serve executes one command, or takes one message of the replication.
func (m member) Serve(s *sim.Server, r sim.Request) {
	if !m.serves(s) {
		m.serveReplica(s, r)
		return
	}
	p := m.pair
	switch c := r.Body.(type) {
	case *Wait:
		p.wait(s, c, r)
	case *ack:
		p.acknowledged(c.position)
	case *psync:
		m.sendAll(s)
	case *change, *fullSync, *getAck:
		// What a dead primary, whose place s has taken, had still under way is lost.
	default:
		before := p.stream.sent
		m.Node.Serve(s, r)
		if p.stream.sent != before {
			p.waits.wrote(r.From(), p.stream.sent)
		}
	}
}

// serveReplica executes a read. A replica keeps a key until its primary deletes
// it, but does not show one whose time is over by its own clock: so does Redis
// since 3.2.
func (m member) serveReplica(s *sim.Server, r sim.Request) {
	switch c := r.Body.(type) {
	case *Get:
		i, ok := m.keys[c.Key]
		if !ok || i.over(m.now(s)) {
			i, ok = item{}, false
		}
		r.Reply(Bulk{i.value, ok})
	case *change:
		m.follow(s, c)
	case *fullSync:
		m.replace(s, c)
	case *getAck:
		m.acknowledge(s, c)
	default:
		r.Reply(fmt.Errorf("redis: %s is a read only replica", s.Name()))
	}
	m.synced(s)
}

// Restarted loads the append-only file, and takes up the replication again. It is
// a method of faults.Restarter.
func (m member) Restarted(s *sim.Server) string {
	back := m.Node.Restarted(s)
	m.rejoin(s)
	return back
}

// Replicas names the replica that s has, if s is the primary. It is a method of
// faults.Replicated.
func (m member) Replicas(s *sim.Server) []string {
	if m.pair.primary != s || m.pair.replica == nil {
		return nil
	}
	return []string{m.pair.replica.Name()}
}

// Promote makes the replica the primary in the place of s, which has crashed and
// whose memory is still there to compare with: the keys that only s has are
// lost. The replica holds its keys by their absolute dates and judges them by
// its own clock. s takes no part any more. It is a method of faults.Replicated.
func (m member) Promote(s, replica *sim.Server) string {
	p := m.pair
	if p.primary != s || p.replica != replica {
		return fmt.Sprintf("was not promoted: it is no replica of %s", s.Name())
	}
	lost := m.lose(s, replica, m.keys, replica.Handler().(member).keys, history.FreedFailover)
	p.primary, p.replica = replica, nil
	p.begin()
	if lost == 0 {
		return "was promoted with every key of " + s.Name()
	}
	return fmt.Sprintf("was promoted without %s of %s", count(lost), s.Name())
}
