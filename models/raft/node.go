package raft

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/clock"
	"locksim/sim"
)

// Node is one server of a group: the handler of its server, and a
// faults.Restarter.
type Node struct {
	group   *Group
	id      uint64
	server  *sim.Server
	replica Replica
	disk    disk
	raw     *raft.RawNode // nil while the node is down
	timer   timer
	waiting waiting

	state raft.StateType
	term  uint64
	// leader is the node that this one takes for the leader; 0 for none.
	leader uint64
	// leads: it is the leader, and has applied what came before it.
	leads   bool
	applied uint64

	// busy: what the library has to say, ready, is being dealt with, up to the end of
	// the disk's work.
	busy   bool
	ready  raft.Ready
	unsent []*raftpb.Message // of ready
	// Callbacks, made once.
	onSynced, onTimer func()
}

func newNode(g *Group, id uint64) *Node {
	n := &Node{group: g, id: id}
	n.onSynced, n.onTimer = n.synced, n.ring
	return n
}

// open sets the node up for a run, before it has written anything.
func (n *Node) open() {
	n.disk.reset(n.group.config.Nodes)
	n.timer.rand = n.group.world.Stream(n.Name() + "/election")
	n.start()
}

// start starts the node's process with what its disk has.
func (n *Node) start() {
	n.raw = n.group.library(n)
	n.replica = n.group.fresh(n)
	n.waiting.reset()
	n.state, n.leader, n.leads, n.applied, n.busy = raft.StateFollower, 0, false, 0, false
	n.term = n.disk.written.state.GetTerm()
	n.unsent = nil
	n.draw()
}

// Name is the name of the node's server.
func (n *Node) Name() string { return n.server.Name() }

// Position is the node's place in Group.Nodes.
func (n *Node) Position() int { return int(n.id) - 1 }

// Server is the node's server.
func (n *Node) Server() *sim.Server { return n.server }

// Replica is the system's state on the node; nil while the node is down.
func (n *Node) Replica() Replica { return n.replica }

// Term is the term that the node knows of.
func (n *Node) Term() int64 { return int64(n.term) }

// Leads tells whether the node takes itself for the leader, and has applied all
// that its predecessors committed. It may be wrong: a leader that is cut off
// learns of its successor late.
func (n *Node) Leads() bool { return n.leads }

// Leader is the node that this one takes for the leader, maybe itself; nil where
// it knows of none. It too may be wrong.
func (n *Node) Leader() *Node {
	if n.leader == 0 {
		return nil
	}
	return n.group.nodes[n.leader-1]
}

// Applied is the index of the last entry that the node has applied.
func (n *Node) Applied() int64 { return int64(n.applied) }

// Serve takes a message of another node, or hands a client's request to the
// replica.
func (n *Node) Serve(_ *sim.Server, r sim.Request) {
	if m, ok := r.Body.(*raftpb.Message); ok {
		n.receive(m)
		return
	}
	n.replica.Serve(n, r)
}

// receive takes a message of another node.
func (n *Node) receive(m *raftpb.Message) {
	defer n.panicked()
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat:
		if m.GetTerm() >= n.term {
			n.rest()
		}
	case raftpb.MsgVote, raftpb.MsgPreVote:
		if n.group.config.VoteByLength {
			m = n.blind(m)
		}
	}
	// An error is about a message of no use, such as a proposal that has come to a
	// node that knows of no leader: it is lost, as on the network.
	_ = n.raw.Step(m)
	n.work()
}

// work deals with what the library has to say, until it has no more or the disk
// takes its time. Who is called meanwhile may propose and read.
func (n *Node) work() {
	if n.busy {
		return
	}
	n.busy = true
	for n.raw.HasReady() {
		n.ready = n.raw.Ready()
		n.disk.write(&n.ready)
		n.turn(&n.ready)
		slow := n.ready.MustSync && n.group.config.Fsync > 0 && !n.group.booting
		// What a follower says must be on its disk first; a leader sends its entries to
		// the others while its own disk is at work.
		n.unsent = n.ready.Messages
		if !slow || n.state == raft.StateLeader {
			n.send()
		}
		n.apply(&n.ready)
		if slow {
			n.server.After(clock.Monotonic, n.group.config.Fsync, n.onSynced)
			return
		}
		n.saved()
	}
	n.busy = false
}

// synced goes on when the disk has done its work.
func (n *Node) synced() {
	defer n.panicked()
	n.saved()
	n.busy = false
	n.work()
}

// saved is the end of what the library had to say: it is on the disk.
func (n *Node) saved() {
	if n.ready.MustSync && (!n.group.config.NoFsync || n.group.booting) {
		n.disk.sync()
	}
	n.send()
	n.raw.Advance(n.ready)
	n.ready = raft.Ready{}
}

// send sends what has not been sent yet.
func (n *Node) send() {
	for _, m := range n.unsent {
		if m.GetType() == raftpb.MsgVoteResp && !m.GetReject() {
			n.rest()
		}
		n.post(m)
	}
	n.unsent = nil
}

func (n *Node) post(m *raftpb.Message) {
	if g := n.group; g.booting {
		g.mail = append(g.mail, m)
		return
	}
	n.server.Whisper(n.group.nodes[m.GetTo()-1].server, m)
}

// apply hands what is committed to the replica, and answers who waits for it.
func (n *Node) apply(rd *raft.Ready) {
	for _, e := range rd.CommittedEntries {
		n.applied = e.GetIndex()
		first := n.group.first(n, e.GetIndex(), e.GetTerm())
		if len(e.GetData()) == 0 {
			n.took(e)
			continue
		}
		number := commandOf(e)
		result := n.replica.Apply(n, Entry{int64(e.GetIndex()), int64(e.GetTerm()), n.group.commands[number], first})
		n.waiting.proposed(number, result)
	}
	n.waiting.confirm(rd.ReadStates)
	n.waiting.read(n.applied)
}

// took is called for the empty entry with which a leader begins its term. Once
// that is committed, so is all that came before.
func (n *Node) took(e *raftpb.Entry) {
	if n.state != raft.StateLeader || e.GetTerm() != n.term {
		return
	}
	n.leads = true
	if l, ok := n.replica.(Leader); ok {
		l.Lead(n)
	}
}
