package raft

import (
	"fmt"
	"strconv"

	"go.etcd.io/raft/v3/raftpb"

	"locksim/sim"
)

// Group is the nodes of one service.
type Group struct {
	world  *sim.World
	config Config
	fresh  func(*Node) Replica
	nodes  []*Node
	kept   []*Node // of this and of earlier runs
	// commands are those that entries name by their number, from 0.
	commands []any
	// done are, for each index from 1, the entries that some node has applied.
	done []done
	// mail is what the nodes have sent each other before the run begins.
	mail    []*raftpb.Message
	booting bool
}

// Open puts a group into w: servers n1, n2 and so on. n1 has been elected, in term
// 1, by the time at which the run begins. fresh makes a node's replica, at the
// beginning and whenever the node restarts. What the group keeps from an earlier
// run in w is memory alone. The error is about the options.
func Open(w *sim.World, c Config, fresh func(*Node) Replica) (*Group, error) {
	if err := c.Complete(); err != nil {
		return nil, fmt.Errorf("raft: %w", err)
	}
	g := sim.Keep(w, "raft", func() *Group { return &Group{} })
	g.world, g.config, g.fresh = w, c, fresh
	clear(g.commands)
	g.commands, g.done = g.commands[:0], g.done[:0]
	for id := len(g.kept) + 1; id <= c.Nodes; id++ {
		g.kept = append(g.kept, newNode(g, uint64(id)))
	}
	g.nodes = g.kept[:c.Nodes]
	for i, n := range g.nodes {
		n.server = w.Server("n"+strconv.Itoa(i+1), n)
		n.open()
	}
	g.boot()
	return g, nil
}

// boot elects the first node, in no time.
func (g *Group) boot() {
	g.booting = true
	g.nodes[0].campaign()
	for i := 0; i < len(g.mail); i++ {
		m := g.mail[i]
		g.nodes[m.GetTo()-1].receive(m)
	}
	clear(g.mail)
	g.mail = g.mail[:0]
	g.booting = false
}

// Config is the options, with their defaults.
func (g *Group) Config() Config { return g.config }

// Nodes are the nodes, n1 first.
func (g *Group) Nodes() []*Node { return g.nodes }

// Node finds the node called name; nil where there is none.
func (g *Group) Node(name string) *Node {
	for _, n := range g.nodes {
		if n.Name() == name {
			return n
		}
	}
	return nil
}

// done is an entry that was applied: its term, and the term of the node that was
// the first to apply it, so that no later leader has committed it.
type done struct{ term, by uint64 }

// first takes down that n is applying an entry, and tells whether it is for the
// first time.
func (g *Group) first(n *Node, index, term uint64) bool {
	at := int(index) - 1
	if at < len(g.done) && g.done[at].term == term {
		return false
	}
	// Where there is another, a leader has been elected that did not know of it.
	g.done = append(g.done[:at], done{term, n.term})
	return true
}

// lacks is how many entries a log lacks that were committed before a term.
func (g *Group) lacks(d *disk, term uint64) int {
	for i, e := range g.done {
		if e.by < term && !d.has(uint64(i)+1, e.term) {
			return len(g.done) - i
		}
	}
	return 0
}
