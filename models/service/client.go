package service

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// lock is the client's side.
type lock struct {
	Lock
	group    *raft.Group
	at       map[string]int // the node that each client asks, by its place in the group
	sessions map[string]*session
	opened   int
}

// session is one attempt of a client at a lock, and the grant that came of it.
type session struct {
	*lock
	key, name string
	hooks     models.Session
	closed    bool
	ended     sim.Signal // fired then
}

// pace is how long a client waits that has found no leader.
const pace = 100 * time.Millisecond

// errMoved is the answer of a node that does not lead.
var errMoved = errors.New("not the leader")

// errClosed ends a heartbeat when the client gives the lock back.
var errClosed = errors.New("the session is closed")

// Acquire queues until the lock is granted.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	s := l.open(p, key)
	for try := 1; ; try++ {
		anchor, begun := p.World().Now(), p.Machine().Read(clock.Monotonic)
		a, err := l.ask(p, acquire{key, s.name, p.Name(), try}, l.Beat)
		switch {
		case err != nil: // it has gone on to another node
		case a.ok:
			g := s.grant(anchor, begun)
			g.Token, g.Session = a.token, &s.hooks
			p.Go("session", s.keepAlive)
			return g, nil
		case l.Lock.Wake == Next: // the session was given up for dead
			s = l.open(p, key)
		}
	}
}

// open makes a session. Its name is known to the client before the service
// answers, so that asking again is asking for the same.
func (l *lock) open(p *sim.Process, key string) *session {
	l.opened++
	s := &session{lock: l, key: key, name: p.Name() + "-" + strconv.Itoa(l.opened)}
	l.sessions[s.name] = s
	return s
}

// grant is what the client has of a request that it sent at the true instant
// anchor, at the reading begun of its own clock.
func (s *session) grant(anchor, begun time.Duration) models.Grant {
	return models.Grant{
		Term:      s.TTL,
		Allowance: s.TTL / 2000, // the clock of the leader: 500 ppm
		Anchor:    anchor,
		Value:     s.name,
		Deadline:  &models.Deadline{Clock: clock.Monotonic, Reading: begun + s.TTL},
	}
}

// keepAlive is the thread that lets the service hear of the session.
func (s *session) keepAlive(p *sim.Process) {
	for !p.Wait(&s.ended, s.Beat) {
		if err := s.hooks.Renew(p, func() (models.Grant, error) { return s.beat(p) }); err != nil {
			return
		}
	}
}

// beat renews the session, at whichever node leads. An answer is definite; without
// one it asks on until the session is closed.
func (s *session) beat(p *sim.Process) (models.Grant, error) {
	for !s.closed {
		anchor, begun := p.World().Now(), p.Machine().Read(clock.Monotonic)
		a, err := s.ask(p, beat{s.name}, s.Timeout)
		switch {
		case err != nil: // it has gone on to another node
		case a.ok:
			return s.grant(anchor, begun), nil
		default:
			return models.Grant{}, models.ErrNotHeld
		}
	}
	return models.Grant{}, errClosed
}

// Release closes the session of g.
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	s := l.sessions[g.Value]
	s.closed = true
	s.ended.Fire()
	lost := false // an answer, so that it may have been released
	var err error
	for range 2 * l.Nodes {
		var a answer
		a, err = l.ask(p, release{key, g.Value, p.Name()}, l.Timeout)
		switch {
		case err == nil && a.ok:
			return nil
		case err == nil && !lost:
			return models.ErrNotHeld
		case err == nil:
			return errors.New("released by now, at an earlier request or not")
		}
		lost = lost || !errors.Is(err, errMoved) && !errors.Is(err, sim.ErrRefused)
	}
	return err
}

// Holder asks whose session holds the lock.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	var err error
	for range 2 * l.Nodes {
		var a answer
		if a, err = l.ask(p, look{key}, l.Timeout); err == nil {
			return a.session, nil
		}
	}
	return "", err
}

// ask sends one request to the node at which the client is. Where that does not
// lead or does not answer, the client goes on to the leader that it names, or to
// the next node.
func (l *lock) ask(p *sim.Process, request any, timeout time.Duration) (answer, error) {
	nodes := l.group.Nodes()
	node := nodes[l.at[p.Name()]]
	a, err := sim.Call[answer](p, node.Server(), request, timeout)
	switch {
	case err == nil && !a.moved:
		return a, nil
	case err == nil && a.leader != "":
		l.at[p.Name()] = l.group.Node(a.leader).Position()
		return a, errMoved
	}
	l.at[p.Name()] = (node.Position() + 1) % len(nodes)
	if err == nil {
		err = errMoved
	}
	if !errors.Is(err, sim.ErrTimeout) {
		p.Sleep(pace)
	}
	return a, fmt.Errorf("%s: %w", node.Name(), err)
}
