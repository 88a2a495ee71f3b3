package raft

import (
	"encoding/binary"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// waiting is what a node owes answers for.
type waiting struct {
	proposals []proposal
	reads     []read
	asked     uint64 // reads so far
	// held are the proposals and the reads that wait until the node knows of a leader.
	held []*raftpb.Message
}

type proposal struct {
	number int
	then   func(result any)
}

type read struct {
	id    uint64
	index uint64 // what must be applied first; 0 while it is not known
	then  func()
}

// reset forgets all of it. Who asked hears nothing.
func (w *waiting) reset() {
	clear(w.proposals)
	clear(w.reads)
	clear(w.held)
	w.proposals, w.reads, w.held = w.proposals[:0], w.reads[:0], w.held[:0]
}

// Propose asks the group to commit a command, from whichever node: a follower
// sends it on to the leader, and a node that knows of none waits until it does, as
// etcd does. then, where it is not nil, is called on this node when this node has
// applied the command, with what came of it.
//
// Where then is not called, the outcome is unknown: the leader may have failed
// with the command or without it, and the command may still be committed later.
// Nothing says so; the client, or a timer, gives up. A node that crashes calls
// nothing.
func (n *Node) Propose(command any, then func(result any)) {
	g := n.group
	number := len(g.commands)
	g.commands = append(g.commands, command)
	if then != nil {
		n.waiting.proposals = append(n.waiting.proposals, proposal{number, then})
	}
	n.pass(raftpb.MsgProp, binary.AppendUvarint(nil, uint64(number)))
}

// commandOf is the number of the command in an entry.
func commandOf(e *raftpb.Entry) int {
	number, _ := binary.Uvarint(e.GetData())
	return int(number)
}

// Read calls then as soon as this node may answer a linearizable read from its
// own state: its leader, the node itself or another, has heard from a majority
// that it still is the leader, and this node has applied all that was committed
// when Read was called (ReadIndex; Raft dissertation, 6.4). A read whose leader
// fails meanwhile is lost, and then is never called.
func (n *Node) Read(then func()) {
	n.waiting.asked++
	id := n.waiting.asked
	n.waiting.reads = append(n.waiting.reads, read{id: id, then: then})
	n.pass(raftpb.MsgReadIndex, binary.AppendUvarint(nil, id))
}

// pass brings a proposal or a read to the leader, once there is one.
func (n *Node) pass(kind raftpb.MessageType, data []byte) {
	n.sendOn(&raftpb.Message{Type: &kind, From: &n.id, Entries: []*raftpb.Entry{{Data: data}}})
}

func (n *Node) sendOn(m *raftpb.Message) {
	switch n.leader {
	case raft.None:
		n.waiting.held = append(n.waiting.held, m)
	case n.id:
		if n.raw.Step(m) != nil { // it is no leader any more, and will soon say so
			n.waiting.held = append(n.waiting.held, m)
		}
		n.work()
	default:
		m.To = &n.group.nodes[n.leader-1].id
		n.server.Whisper(n.group.nodes[n.leader-1].server, m)
	}
}

// resume sends on what has waited for a leader.
func (n *Node) resume() {
	held := n.waiting.held
	n.waiting.held = nil
	for _, m := range held {
		n.sendOn(m)
	}
}

// proposed answers who proposed a command on this node, if it still waits.
func (w *waiting) proposed(number int, result any) {
	for i, p := range w.proposals {
		if p.number == number {
			w.proposals = append(w.proposals[:i], w.proposals[i+1:]...)
			p.then(result)
			return
		}
	}
}

// confirm takes down from which index on reads may be answered.
func (w *waiting) confirm(states []raft.ReadState) {
	for _, s := range states {
		id, _ := binary.Uvarint(s.RequestCtx)
		for i := range w.reads {
			if w.reads[i].id == id {
				w.reads[i].index = s.Index
			}
		}
	}
}

// read lets go on all reads for which enough is applied.
func (w *waiting) read(applied uint64) {
	for i := 0; i < len(w.reads); {
		r := w.reads[i]
		if r.index == 0 || r.index > applied {
			i++
			continue
		}
		w.reads = append(w.reads[:i], w.reads[i+1:]...)
		r.then()
	}
}
