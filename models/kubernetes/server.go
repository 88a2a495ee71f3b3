package kubernetes

import (
	"fmt"
	"time"

	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

// lease is a Lease object.
type lease struct {
	key string
	// version is its resourceVersion; 0 for an object that does not exist.
	version int64
	// holder is the holderIdentity, "" for nobody.
	holder string
	// renewed is its renewTime: what the wall clock of the last leader showed.
	renewed time.Duration
}

// What a client asks; the answer to each is a lease, the object as it is then.
type (
	get struct{ key string }
	// update replaces the object if it still has that version; 0 creates it. It has
	// been done if the object has the writer's name and a later version.
	update struct {
		lease
		client string
	}
)

func (get) Label() string { return "get" }
func (u update) Label() string {
	return map[bool]string{true: "create", false: "update"}[u.version == 0]
}

// replied is the answer to an update.
type replied struct {
	lease lease
	done  bool // false: a conflict
}

// replica is the objects, on one server.
type replica struct{ leases []*lease }

// Serve handles what a client asks, on any server. A read is linearizable.
func (x *replica) Serve(n *raft.Node, r sim.Request) {
	switch q := r.Body.(type) {
	case get:
		n.Read(func() { r.Reply(*x.lease(q.key)) })
	case update:
		n.Propose(q, func(answer any) { r.Reply(answer) })
	}
}

// Apply replaces an object, if it still is as the writer has seen it.
func (x *replica) Apply(n *raft.Node, e raft.Entry) any {
	c, ok := e.Command.(update)
	if !ok {
		panic(fmt.Sprintf("kubernetes: no command %T", e.Command))
	}
	l := x.lease(c.key)
	if l.version != c.version {
		return replied{lease: *l}
	}
	if l.holder != "" && l.holder != c.holder && e.First {
		freed := history.Event{Kind: history.Freed, Lock: l.key, Value: l.holder, Why: history.FreedOverwritten, Peer: c.client}
		if c.holder == "" {
			freed.Why = history.FreedDeleted
		}
		n.Server().Record(freed)
	}
	*l = c.lease
	l.version = e.Index
	return replied{*l, true}
}

func (x *replica) lease(key string) *lease {
	for _, l := range x.leases {
		if l.key == key {
			return l
		}
	}
	l := &lease{key: key}
	x.leases = append(x.leases, l)
	return l
}
