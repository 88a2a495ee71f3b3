package etcd

import (
	"fmt"

	"locksim/history"
	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// Keys are keys of etcd itself as what the lock protects, behind a server that reads
// and writes them for its clients, as an API server in front of etcd does. It asks
// n1 alone, and knows nothing of a write whose answer it did not get. The system of
// the run must be Etcd.
//
// It answers models.ReadRequest and WriteRequest, and anything else with a Written
// that is not OK.
type Keys struct {
	Called string `yaml:"name"`
	// Guarded: a write is a transaction that compares, in one step with the write,
	// whether the writer's key of the lock still has the create revision with which it
	// was granted (client/v3/concurrency: Mutex.IsOwner).
	Guarded bool `yaml:"guarded,omitempty"`
}

// Name is how scripts call it.
func (k Keys) Name() string { return k.Called }

// Open puts the server into w.
func (k Keys) Open(w *sim.World) (*sim.Server, error) {
	if m := w.Machine("n1"); m != nil && m.Server() != nil {
		if n, ok := m.Server().Handler().(*raft.Node); ok {
			if x, ok := n.Replica().(*replica); ok {
				return w.Server(k.Called, &front{guarded: k.Guarded, node: n.Server(), relays: x.relays}), nil
			}
		}
	}
	return nil, fmt.Errorf("keys of etcd: want etcd as the system")
}

// front is the server in front of n1.
type front struct {
	guarded bool
	node    *sim.Server
	relays  *relays
}

// Serve handles one request, or an answer of the node's.
func (f *front) Serve(server *sim.Server, r sim.Request) {
	switch q := r.Body.(type) {
	case answered:
		f.relays.take(q)
	case models.ReadRequest:
		f.relays.send(server, f.node, get{op: op{kind: read, key: q.Object}}, func(answer any) {
			k := answer.(found)
			r.Reply(models.Object{Value: k.value, Version: k.number})
		})
	case models.WriteRequest:
		f.relays.send(server, f.node, f.transaction(q), func(answer any) {
			r.Reply(models.Written{OK: f.record(server, r.From(), q, answer.(outcome))})
		})
	default:
		r.Reply(models.Written{})
	}
}

// transaction is the write. A writer without a lock is never the owner: no key has a
// revision less than 1.
func (f *front) transaction(q models.WriteRequest) txn {
	t := txn{
		name:  "write",
		then:  []op{{kind: put, key: q.Object, value: q.Value}},
		other: []op{{kind: read, key: q.Object}},
	}
	if f.guarded {
		revision := q.Token
		if revision == 0 {
			revision = -1
		}
		t.compares = []compare{{key: q.Mark, number: revision}}
	}
	return t
}

func (f *front) record(server *sim.Server, from string, q models.WriteRequest, o outcome) bool {
	e := history.Event{
		Kind: history.Write, Peer: from, Lock: q.Object, Value: q.Value,
		Grant: q.Grant, Token: q.Token, Base: q.Base, Outcome: history.Refused,
		Version: o.results[0].number,
	}
	if o.succeeded {
		e.Outcome = history.OK
	}
	server.Record(e)
	return o.succeeded
}
