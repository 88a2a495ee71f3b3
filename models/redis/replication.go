package redis

import (
	"maps"
	"slices"

	"locksim/clock"
	"locksim/sim"
)

// stream is the changes on their way from a primary to its replica, and how far
// either has come. A replica that misses one asks for everything, as Redis does
// when the primary cannot tell what is missing.
type stream struct {
	sent position // by the primary, or in its buffer
	have position // what the replica has, by its own account
}

// position is a place in a stream: so many changes since the primary began to
// serve for the run-th time.
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
	// getAck asks whether the replica has come to a position, ack is the answer.
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
func (p *pair) begin() {
	p.stream.sent = position{run: p.stream.sent.run + 1}
	p.waits.forget()
}

// forward sends a change on to the replica. Nobody waits for it: the client has
// its answer before, unless it asks for a WAIT.
func (n *Node) forward(s *sim.Server, w write) {
	p := n.pair
	if p == nil || p.replica == nil {
		return
	}
	p.stream.sent.changes++
	p.send(s, &change{w, p.stream.sent})
}

// send sends a message from the primary s to the replica, a lag after those
// before it: until then it is in a buffer of s, which a crash empties.
func (p *pair) send(s *sim.Server, message any) {
	if p.lag == 0 {
		s.Forward(p.replica, message, 0)
		return
	}
	s.After(clock.Monotonic, p.lag, func() { s.Forward(p.replica, message, 0) })
}

// follow takes over a change of the primary's.
func (m member) follow(s *sim.Server, c *change) {
	have := &m.pair.stream.have
	switch next := (position{have.run, have.changes + 1}); {
	case !have.before(c.position): // it has come twice, or late
	case c.position == next:
		m.apply(s, c.write)
		m.append(s, c.write)
		*have = next
	default: // something was lost on the way
		m.resync(s)
	}
}

// resync asks the primary for everything.
func (m member) resync(s *sim.Server) { s.Forward(m.pair.primary, &psync{}, 0) }

// sendAll sends the replica everything. What it has is of no matter: where the
// primary came back empty, it loses all.
func (m member) sendAll(s *sim.Server) {
	p := m.pair
	if p.replica == nil {
		return
	}
	all := &fullSync{position: p.stream.sent}
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		kind := writeSet
		if m.keys[key].counter {
			kind = writeIncr
		}
		all.writes = append(all.writes, m.written(s, kind, key, m.keys[key]))
	}
	p.send(s, all)
}

// replace takes a snapshot in the place of all that the replica had. Its
// append-only file is written anew, and synced.
func (m member) replace(s *sim.Server, all *fullSync) {
	m.empty()
	for _, w := range all.writes {
		m.apply(s, w)
	}
	m.rewrite(s, all.writes)
	m.pair.stream.have = all.position
	s.Forward(m.pair.primary, &ack{all.position}, 0)
}

// acknowledge answers how far the replica has come, now or once it has all.
func (m member) acknowledge(s *sim.Server, c *getAck) {
	if have := m.pair.stream.have; !have.before(c.position) {
		s.Forward(m.pair.primary, &ack{have}, 0)
		return
	}
	m.resync(s)
}

// lost is what a crash of s means to the replication.
func (p *pair) lost(s *sim.Server) {
	switch s {
	case p.primary:
		p.waits.forget()
	case p.replica:
		p.stream.have = nowhere
	}
}

// rejoin is the replication's part in the return of s: a replica asks for
// everything, and is sent it by a primary that is back.
func (m member) rejoin(s *sim.Server) {
	switch p := m.pair; s {
	case p.primary:
		p.begin()
		m.sendAll(s)
	case p.replica:
		m.resync(s)
	}
}
