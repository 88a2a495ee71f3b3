package consul

import (
	"fmt"
	"slices"
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/models/raft"
)

// The commands of the log.
type (
	// create makes a session. Its id comes from the client, where in Consul the
	// server that is asked draws it.
	create struct {
		session, client string
		ttl, delay      time.Duration
	}
	// destroy ends a session: at a client's request, or, with no client, since its
	// TTL is over. That counts only from the leader in whose term it was proposed.
	destroy struct {
		session, client string
		term            int64
	}
	// put writes a key: plainly, or if the session acquires or releases it by that.
	put struct {
		key, value, session, client string
		verb                        verb
	}
)

// verb is what a put does with the lock of the key.
type verb uint8

const (
	plain verb = iota
	acquire
	release
)

// outcome is what came of a put.
type outcome uint8

const (
	done    outcome = iota
	refused         // the lock is another's, or nobody's
	invalid         // there is no such session
)

func (create) Label() string  { return "session create" }
func (destroy) Label() string { return "session destroy" }
func (c put) Label() string   { return [...]string{"put", "acquire", "release"}[c.verb] }

// session is one that is alive.
type session struct {
	id         string
	ttl, delay time.Duration
}

// entry is a key, as structs.DirEntry.
type entry struct {
	key, value, session string
	lock, modify        int64 // its indexes
}

// Apply does what the log says.
func (x *replica) Apply(n *raft.Node, e raft.Entry) any {
	switch c := e.Command.(type) {
	case create:
		x.sessions = append(x.sessions, session{c.session, c.ttl, c.delay})
		return nil
	case destroy:
		x.destroy(n, e, c)
		return nil
	case put:
		return x.put(n, e, c)
	}
	panic(fmt.Sprintf("consul: no command %T", e.Command))
}

// destroy ends a session, and with it what it holds, which nobody may acquire for
// the session's lock-delay.
func (x *replica) destroy(n *raft.Node, e raft.Entry, c destroy) {
	i := x.session(c.session)
	if i < 0 || c.client == "" && c.term != e.Term {
		return
	}
	delay := x.sessions[i].delay
	x.sessions = slices.Delete(x.sessions, i, i+1)
	for _, k := range x.entries {
		if k.session != c.session {
			continue
		}
		x.free(n, e, k, c.client)
		x.set(e, k, entry{key: k.key, value: k.value, lock: k.lock})
		// Each server counts it on its own clock. What a command does must not depend
		// on that: it is looked at before one is proposed.
		x.delay(k.key, n.Server().Now(clock.Monotonic)+delay)
	}
}

// put writes a key, if it may.
func (x *replica) put(n *raft.Node, e raft.Entry, c put) outcome {
	k := x.entry(c.key)
	next := entry{key: c.key, value: c.value, session: k.session}
	switch c.verb {
	case acquire:
		if x.session(c.session) < 0 {
			return invalid
		}
		if k.session != "" && k.session != c.session {
			return refused
		}
		next.session, next.lock = c.session, k.lock
		if k.session == "" {
			next.lock++
		}
	case release:
		if k.session != c.session {
			return refused
		}
		x.free(n, e, k, c.client)
		next.session, next.lock = "", k.lock
	}
	x.set(e, k, next)
	return done
}

// set gives k what next has, and wakes who watches it. What changes nothing leaves
// its ModifyIndex too.
func (x *replica) set(e raft.Entry, k *entry, next entry) {
	next.modify = k.modify
	if *k == next && k.modify != 0 {
		return
	}
	next.modify = e.Index
	*k = next
	x.wake(k)
}

// free puts on record that the lock of k ends, by a client's request or, with no
// client, since its session is over.
func (x *replica) free(n *raft.Node, e raft.Entry, k *entry, client string) {
	if !e.First {
		return
	}
	why := history.FreedDeleted
	if client == "" {
		why = history.FreedExpired
	}
	n.Server().Record(history.Event{Kind: history.Freed, Lock: k.key, Value: k.session, Why: why, Peer: client})
}

func (x *replica) session(id string) int {
	return slices.IndexFunc(x.sessions, func(s session) bool { return s.id == id })
}

// entry is the key called key, which nothing has written yet where its modify is 0.
func (x *replica) entry(key string) *entry {
	for _, k := range x.entries {
		if k.key == key {
			return k
		}
	}
	k := &entry{key: key}
	x.entries = append(x.entries, k)
	return k
}
