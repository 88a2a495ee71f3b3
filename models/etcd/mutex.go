package etcd

import (
	"strconv"

	"locksim/models"
	"locksim/sim"
)

// lock is the client's side.
type lock struct {
	Etcd
	nodes   []*sim.Server
	clients map[string]*client // by the name of the process
}

// errExpired is the definite refusal of a client whose session ended while it
// waited (mutex.go: ErrSessionExpired).
var errExpired = models.Refused("its session has expired")

// Acquire opens a session and queues until it holds the lock. Without a session
// nothing was asked of the lock.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	s, err := l.open(p)
	if err != nil {
		return models.Grant{}, models.Refused("no session: " + err.Error())
	}
	s.grant.Value = key + "/" + strconv.FormatInt(s.lease, 16)
	if s.grant.Token, err = s.queue(p, key+"/"); err != nil {
		s.close(p)
		return models.Grant{Value: s.grant.Value}, err
	}
	s.client.sessions = append(s.client.sessions, s)
	return s.hold(p), nil
}

// queue puts the session's key under prefix, where it is not there yet, and waits
// until no older one is left. It returns the create revision of the key.
func (s *session) queue(p *sim.Process, prefix string) (int64, error) {
	mine := s.grant.Value
	o, err := ask[outcome](p, s.client, txn{
		name:     "lock",
		compares: []compare{{key: mine}},
		then:     []op{{kind: put, key: mine, lease: s.lease}, {kind: first, key: prefix}},
		other:    []op{{kind: read, key: mine}, {kind: first, key: prefix}},
	}, s.lock.Timeout)
	switch {
	case err != nil:
		return 0, err
	case o.noLease:
		return 0, errExpired
	}
	revision := o.results[0].create
	if o.results[1].create == revision {
		return revision, nil
	}
	s.wait(p, prefix, revision-1)
	if s.lock.NoRecheck {
		return revision, nil
	}
	if own := insist[found](p, s.client, get{op: op{kind: read, key: mine}}, s.lock.Timeout); !own.found {
		return 0, errExpired
	}
	return revision, nil
}

// wait waits until no key under prefix is left that was created at revision newest or
// before.
func (s *session) wait(p *sim.Process, prefix string, newest int64) {
	for {
		before := insist[found](p, s.client, get{op: op{kind: last, key: prefix, max: newest}}, s.lock.Timeout)
		if !before.found {
			return
		}
		w := watch{key: before.key, from: before.revision}
		if s.lock.Wait == Anything {
			w = watch{key: prefix, prefix: true, from: before.revision + 1}
		}
		s.client.await(p, w)
	}
}

// Release deletes the key and closes the session. Whether the key was still there
// is in the answer; the library does not look.
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	s := l.client(p).take(g.Value)
	if s == nil { // of an acquire that failed (mutex.go: ErrLockReleased)
		return models.ErrNotHeld
	}
	s.stop()
	o, err := ask[outcome](p, s.client, txn{name: "unlock", then: []op{{kind: remove, key: g.Value}}}, l.Timeout)
	s.close(p)
	if err == nil && !o.results[0].found {
		err = models.ErrNotHeld
	}
	return err
}

// Holder asks whose key is the oldest.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	oldest, err := ask[found](p, l.client(p), get{op{kind: first, key: key + "/"}, l.Serializable}, l.Timeout)
	return oldest.key, err
}
