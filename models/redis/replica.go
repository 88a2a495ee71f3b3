package redis

import (
	"fmt"
	"time"

	"locksim/history"
	"locksim/sim"
)

// pair is a primary and its asynchronous replica. Clients find the primary here.
type pair struct {
	primary *sim.Server
	replica *sim.Server // nil once it was promoted
	lag     time.Duration
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

// serves tells whether s, on which n runs, serves clients.
func (n *Node) serves(s *sim.Server) bool { return n.pair == nil || n.pair.primary == s }

// forward sends a change on to the replica. Nobody waits for it: the client has
// its answer before.
func (n *Node) forward(s *sim.Server, w write) {
	if n.pair == nil || n.pair.replica == nil {
		return
	}
	s.Forward(n.pair.replica, &w, n.pair.lag)
}

// replicate takes over a change of the primary's. A replica keeps what it has
// until the primary deletes it. Once promoted, it takes no more: what the dead
// primary had still under way is lost.
func (n *Node) replicate(s *sim.Server, w write) {
	if n.serves(s) {
		return
	}
	n.apply(s, w)
	n.append(s, w)
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
	if lost == 0 {
		return "was promoted with every key of " + s.Name()
	}
	return fmt.Sprintf("was promoted without %s of %s", count(lost), s.Name())
}
