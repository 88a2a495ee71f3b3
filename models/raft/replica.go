package raft

import "locksim/sim"

// Replica is a system's state on one node. A node that restarts is given a fresh
// one, and the whole log to apply.
type Replica interface {
	// Serve handles what a client asks of node n. It may answer at once, from the
	// node's own state, which may be behind (a serializable read); wait with
	// [Node.Read] and then answer (a linearizable one); propose a command and answer
	// what came of it; or keep the request and reply when something is applied.
	Serve(n *Node, r sim.Request)
	// Apply does what an entry says, and returns what came of it, for who proposed
	// it. It is called once for each entry, on every node in the same order, and may
	// depend on nothing but the entries: no clock, no chance, nothing of the node.
	// Commands are shared by all nodes, and nobody may change them.
	Apply(n *Node, e Entry) any
}

// Leader is a Replica that is told when its node leads, as etcd's lessor is.
type Leader interface {
	Replica
	// Lead is called when n leads and has applied all that its predecessors
	// committed. Timers that it sets (n.Server().After) outlive its leadership,
	// unless they are cancelled in Follow; a crash cancels them.
	Lead(n *Node)
	// Follow is called when n, after Lead, learns that it does not lead any more. A
	// crash does not call it.
	Follow(n *Node)
}

// Entry is a command that the group has committed.
type Entry struct {
	// Index is its place in the log, from 1: of all commands a later one has a
	// greater index. Term is that of the leader that put it there.
	Index, Term int64
	Command     any
	// First: no node has applied it before. What an entry means to the service, such
	// as a key that is freed, is recorded in the history then, and only then.
	First bool
}
