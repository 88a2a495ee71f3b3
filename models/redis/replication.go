package redis

import (
	"maps"
	"slices"

	"locksim/clock"
	"locksim/faults"
	"locksim/sim"
)

// position is a place in the stream of changes on their way from a primary to its
// replicas: so many since the primary began to serve for the run-th time. A replica
// that misses one asks for everything, as Redis does when the primary cannot tell
// what is missing.
type position struct{ run, changes int }

func (p position) before(q position) bool {
	return p.run < q.run || p.run == q.run && p.changes < q.changes
}

// nowhere is the position of a replica that has nothing.
var nowhere = position{run: -1}

// The messages of the replication. Nobody waits for an answer to them.
type (
	// change is one write. Its position is that after it.
	change struct {
		write
		position
	}
	// psync asks for a snapshot.
	psync struct{}
	// fullSync is all that the primary has.
	fullSync struct {
		writes []write
		position
	}
	// getAck asks whether a replica has come to a position, ack is the answer.
	getAck struct{ position }
	ack    struct{ position }
)

// Label is the message's name in the history.
func (c *change) Label() string { return writeNames[c.kind] }

// Label is the message's name in the history.
func (*psync) Label() string { return "PSYNC" }

// Label is the message's name in the history.
func (*fullSync) Label() string { return "FULLRESYNC" }

// Label is the message's name in the history.
func (*getAck) Label() string { return "REPLCONF GETACK" }

// Label is the message's name in the history.
func (*ack) Label() string { return "REPLCONF ACK" }

// begin is a primary's first moment: whoever follows it has to begin anew, and
// the connections to an earlier one are gone.
func (g *group) begin() {
	g.sent = position{run: g.sent.run + 1}
	g.waits.forget()
	for _, r := range g.replicas {
		r.connected = false
	}
}

// forward sends a change on to the replicas. Nobody waits for it: the client has
// its answer before, unless it asks for a WAIT.
func (n *Node) forward(s *sim.Server, w write) {
	g := n.group
	if g == nil || len(g.replicas) == 0 {
		return
	}
	g.sent.changes++
	g.send(s, &change{w, g.sent}, g.replicas...)
}

// send sends a message from the primary s to replicas, a lag after those before
// it: until then it is in a buffer of s, which a crash empties.
func (g *group) send(s *sim.Server, message any, to ...*replica) {
	if g.lag == 0 {
		forward(s, message, to)
		return
	}
	s.After(clock.Monotonic, g.lag, func() { forward(s, message, to) })
}

func forward(s *sim.Server, message any, to []*replica) {
	for _, r := range to {
		s.Forward(r.server, message, 0)
	}
}

// follow takes over a change of the primary's.
func (m member) follow(s *sim.Server, c *change) {
	r := m.group.replica(s.Name())
	switch next := (position{r.have.run, r.have.changes + 1}); {
	case !r.have.before(c.position): // it has come twice, or late
	case c.position == next:
		m.apply(s, c.write)
		m.append(s, c.write)
		r.have = next
	default: // something was lost on the way
		m.resync(s)
	}
}

// resync asks the primary for everything.
func (m member) resync(s *sim.Server) { s.Forward(m.group.primary, &psync{}, 0) }

// sendAll sends replicas everything. What they have is of no matter: where the
// primary came back empty, they lose all.
func (m member) sendAll(s *sim.Server, to ...*replica) {
	all := &fullSync{position: m.group.sent}
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		kind := writeSet
		if m.keys[key].counter {
			kind = writeIncr
		}
		all.writes = append(all.writes, m.written(s, kind, key, m.keys[key]))
	}
	m.group.send(s, all, to...)
}

// replace takes a snapshot in the place of all that the replica had. Its
// append-only file is written anew, and synced.
func (m member) replace(s *sim.Server, all *fullSync) {
	m.empty()
	for _, w := range all.writes {
		m.apply(s, w)
	}
	m.rewrite(s, all.writes)
	m.group.replica(s.Name()).have = all.position
	s.Forward(m.group.primary, &ack{all.position}, 0)
}

// acknowledge answers how far the replica has come, now or once it has all.
func (m member) acknowledge(s *sim.Server, c *getAck) {
	if have := m.group.replica(s.Name()).have; !have.before(c.position) {
		s.Forward(m.group.primary, &ack{have}, 0)
		return
	}
	m.resync(s)
}

// lost is what a crash of s means to the replication. The kernel of a machine whose
// process was killed closes its connections; from one without power nothing comes.
func (g *group) lost(s *sim.Server, how faults.Crash) {
	if s == g.primary {
		g.waits.forget()
		return
	}
	if r := g.replica(s.Name()); r != nil {
		r.have = nowhere
		r.connected = r.connected && how == faults.PowerLoss
	}
}

// rejoin is the replication's part in the return of s: a replica asks for
// everything, and is sent it by a primary that is back.
func (m member) rejoin(s *sim.Server) {
	g := m.group
	switch {
	case s == g.primary:
		g.begin()
		m.sendAll(s, g.replicas...)
	case g.replica(s.Name()) != nil:
		m.resync(s)
		m.report(s)
	}
}
