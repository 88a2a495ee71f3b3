package redis

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// group is a primary and its asynchronous replicas. Clients find all of them here.
type group struct {
	primary  *sim.Server
	replicas []*replica // without those that were promoted
	lag      time.Duration
	// minReplicas is min-replicas-to-write; 0 for a primary that writes alone too.
	minReplicas int
	sent        position // by the primary, or in its buffer
	waits       waits
}

// replica is a server that follows the primary: what it has by its own account, and
// what the primary knows of it.
type replica struct {
	server *sim.Server
	have   position
	acked  position
	// connected: the primary has a connection to it, on which it has reported last at
	// seen, a second of the primary's wall clock.
	connected bool
	seen      int64
}

// member is a node of a group: a faults.Replicated.
type member struct{ *Node }

// openGroup gives w a primary called r1, and n replicas called r2 and so on.
func openGroup(w *sim.World, n int, c Config, lag time.Duration, minReplicas int) *group {
	g := &group{lag: lag, minReplicas: minReplicas}
	open := func(i int) *sim.Server {
		name := nodeName(i)
		m := member{openNode(w, name, c)}
		m.group = g
		return w.Server(name, m)
	}
	g.primary = open(0)
	for i := range n {
		r := &replica{server: open(i + 1), connected: true, seen: second(g.primary)}
		g.replicas = append(g.replicas, r)
		r.server.Handler().(member).report(r.server)
	}
	return g
}

// first is the first of the replicas; nil where there is none.
func (g *group) first() *sim.Server {
	if len(g.replicas) == 0 {
		return nil
	}
	return g.replicas[0].server
}

// replica is the replica of that name; nil where there is none.
func (g *group) replica(name string) *replica {
	for _, r := range g.replicas {
		if r.server.Name() == name {
			return r
		}
	}
	return nil
}

// serves tells whether s, on which n runs, serves clients that write.
func (n *Node) serves(s *sim.Server) bool { return n.group == nil || n.group.primary == s }

// Serve executes one command, or takes one message of the replication.
func (m member) Serve(s *sim.Server, r sim.Request) {
	if !m.serves(s) {
		m.serveReplica(s, r)
		return
	}
	g := m.group
	switch c := r.Body.(type) {
	case *Wait:
		g.wait(s, c, r)
	case *ack:
		m.acknowledged(s, g.replica(r.From()), c.position)
	case *psync:
		m.sendAll(s, g.replica(r.From()))
	case *change, *fullSync, *getAck:
		// What a dead primary, whose place s has taken, had still under way is lost.
	default:
		m.serveClient(s, r)
	}
}

// serveClient executes a command, unless it writes and there are too few replicas.
func (m member) serveClient(s *sim.Server, r sim.Request) {
	g := m.group
	if writes(r.Body) && g.good(s) < g.minReplicas {
		r.Reply(noReplicas)
		return
	}
	before := g.sent
	m.Node.Serve(s, r)
	if g.sent != before {
		g.waits.wrote(r.From(), g.sent)
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

// Replicas names the replicas that s has, if s is the primary. It is a method of
// faults.Replicated.
func (m member) Replicas(s *sim.Server) []string {
	if m.group.primary != s {
		return nil
	}
	var names []string
	for _, r := range m.group.replicas {
		names = append(names, r.server.Name())
	}
	return names
}

// Promote makes a replica the primary in the place of s, which has crashed and
// whose memory is still there to compare with: the keys that only s has are
// lost. The replica holds its keys by their absolute dates and judges them by
// its own clock. The other replicas follow it from now on, and ask it for
// everything; s takes no part any more. It is a method of faults.Replicated.
func (m member) Promote(s, promoted *sim.Server) string {
	g := m.group
	i := slices.IndexFunc(g.replicas, func(r *replica) bool { return r.server == promoted })
	if g.primary != s || i < 0 {
		return fmt.Sprintf("was not promoted: it is no replica of %s", s.Name())
	}
	lost := m.lose(s, promoted, m.keys, promoted.Handler().(member).keys, history.FreedFailover)
	g.primary, g.replicas = promoted, slices.Delete(g.replicas, i, i+1)
	g.begin()
	for _, r := range g.replicas {
		r.server.After(clock.Monotonic, 0, func() { // when it can
			if !r.server.Down() {
				r.server.Handler().(member).resync(r.server)
			}
		})
	}
	if lost == 0 {
		return "was promoted with every key of " + s.Name()
	}
	return fmt.Sprintf("was promoted without %s of %s", count(lost), s.Name())
}

func nodeName(i int) string { return "r" + strconv.Itoa(i+1) }
