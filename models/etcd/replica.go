package etcd

import (
	"fmt"
	"strings"

	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// replica is etcd on one node.
type replica struct {
	store
	lessor
	// watching are the watches that the node serves.
	watching []watching
	relays   *relays
}

type watching struct {
	watch
	reply func(any)
}

func newReplica(o Etcd, r *relays) *replica {
	return &replica{store: newStore(), lessor: newLessor(o.Config, o.Counts), relays: r}
}

// Serve handles what a client asks of the node, or another node on a client's
// behalf.
func (x *replica) Serve(n *raft.Node, r sim.Request) {
	switch q := r.Body.(type) {
	case relayed:
		if _, ok := q.body.(keepAlive); ok && !x.primary {
			return // the sender was wrong about who leads; who asked will ask again
		}
		x.handle(n, r.From(), q.body, q.back(n.Server(), r))
	case answered:
		x.relays.take(q)
	default:
		x.handle(n, r.From(), q, r.Reply)
	}
}

func (x *replica) handle(n *raft.Node, from string, body any, reply func(any)) {
	switch q := body.(type) {
	case get:
		if q.serializable {
			reply(x.look(q))
			return
		}
		n.Read(func() { reply(x.look(q)) })
	case watch:
		if at := x.deleted(q); at > 0 {
			reply(deleted{at})
			return
		}
		x.watching = append(x.watching, watching{q, reply})
	case keepAlive:
		x.renew(n, q, reply)
	case revokeLease:
		q.by = from
		n.Propose(q, reply)
	case txn:
		q.by = from
		n.Propose(q, reply)
	case grantLease:
		n.Propose(q, reply)
	default:
		panic(fmt.Sprintf("etcd: no request %T", body))
	}
}

func (x *replica) look(q get) found { return found{x.read(q.op), x.revision} }

// renew hands a keepalive to the leader, where that is another node. Where none is
// known, who asked hears nothing, and asks again.
func (x *replica) renew(n *raft.Node, q keepAlive, reply func(any)) {
	switch leader := n.Leader(); {
	case x.primary:
		x.keepAlive(n, q.lease, reply)
	case leader != nil && leader != n:
		x.relays.send(n.Server(), leader.Server(), q, reply)
	}
}

// Apply does what an entry says.
func (x *replica) Apply(n *raft.Node, e raft.Entry) any {
	switch c := e.Command.(type) {
	case grantLease:
		l := x.grant(n, e.Term<<20|e.Index, c.seconds)
		return leaseGranted{l.id, int64(l.ttl.Seconds())}
	case revokeLease:
		for _, k := range x.removeLeased(c.lease) {
			x.gone(n, e, k, c.by)
		}
		return leaseRevoked{x.revoke(c.lease)}
	case txn:
		o := x.apply(c, func(id int64) bool { return x.lessor.find(id) != nil })
		for i, op := range c.list(o) {
			if r := o.results[i]; op.kind == remove && r.found {
				x.gone(n, e, r.keyValue, c.by)
			}
		}
		return o
	}
	panic(fmt.Sprintf("etcd: no command %T", e.Command))
}

// list is the operations that were done.
func (t txn) list(o outcome) []op {
	switch {
	case o.noLease:
		return nil
	case o.succeeded:
		return t.then
	}
	return t.other
}

// gone tells of a key that has been deleted: who watches it here, and the history
// if it is that of a lock.
func (x *replica) gone(n *raft.Node, e raft.Entry, k keyValue, by string) {
	kept := x.watching[:0]
	for _, w := range x.watching {
		if w.from > x.revision || !w.wants(k.key) {
			kept = append(kept, w)
			continue
		}
		w.reply(deleted{x.revision})
	}
	clear(x.watching[len(kept):])
	x.watching = kept
	slash := strings.LastIndexByte(k.key, '/')
	if slash < 0 || !e.First {
		return
	}
	f := history.Event{Kind: history.Freed, Lock: k.key[:slash], Value: k.key, Why: history.FreedDeleted, Peer: by}
	if by == "" {
		f.Why = history.FreedExpired
	}
	n.Server().Record(f)
}

// Lead begins the node's time as a leader.
func (x *replica) Lead(n *raft.Node) { x.promote(n) }

// Follow ends it.
func (x *replica) Follow(*raft.Node) { x.demote() }
