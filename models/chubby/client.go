package chubby

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
	at       []place
	sessions []*session
}

// place is the replica that a client asks, by its place in the cell.
type place struct {
	client string
	at     int
}

// session is a client's, with the lock that it holds.
type session struct {
	*lock
	name     string
	released bool
	ended    sim.Signal
	hooks    models.Session
	// The client's own lease: over is when it ends, jeopardy and then grace what rings
	// then. unsure: it has ended.
	jeopardy, grace sim.Alarm
	unsure          bool
}

const (
	// timeout of a request.
	timeout = time.Second
	// probe is how long a client waits that has found no master.
	probe = 100 * time.Millisecond
)

// errMoved is the answer of a replica that is not the master.
var errMoved = errors.New("not the master")

// Acquire makes one attempt (TryAcquire). The sequencer, whose generation is the
// token, comes with the answer, where Chubby's client asks for it.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	s := &session{lock: l, name: p.Name() + "-" + strconv.Itoa(len(l.sessions)+1)}
	l.sessions = append(l.sessions, s)
	sent, begun := p.World().Now(), p.Machine().Read(clock.Monotonic)
	a, err := l.ask(p, acquire{key, s.name, p.Name()})
	switch {
	case errors.Is(err, errMoved):
		return models.Grant{}, models.Refused(err.Error())
	case err != nil:
		return models.Grant{Value: s.name}, err
	case !a.ok:
		return models.Grant{}, models.ErrHeld
	}
	s.extend(p, begun)
	p.Go("keep-alive", s.keepAlive)
	g := s.grant(sent)
	g.Token, g.Session = a.generation, &s.hooks
	return g, nil
}

// grant is what the client has of a request that was sent at that true instant.
func (s *session) grant(sent time.Duration) models.Grant {
	return models.Grant{Term: s.Lease, Allowance: s.Lease / faster, Anchor: sent, Delay: s.Delay, Value: s.name}
}

// extend begins the client's own lease anew, at that reading of its clock: when it
// sent what the master has answered.
func (s *session) extend(p *sim.Process, begun time.Duration) {
	s.jeopardy.Cancel()
	s.grace.Cancel()
	over := begun + s.Lease - s.Lease/faster
	s.jeopardy = p.Machine().SetAlarm(clock.Monotonic, over, func() {
		s.unsure = true
		if !s.IgnoreJeopardy {
			s.hooks.Jeopardy(p)
		}
	})
	s.grace = p.Machine().SetAlarm(clock.Monotonic, over+s.Grace, func() { s.hooks.GiveUp(p) })
}

// stop ends the client's own lease.
func (s *session) stop() {
	s.jeopardy.Cancel()
	s.grace.Cancel()
	s.ended.Fire()
}

// keepAlive is the thread that keeps the session alive. Where there is no answer, it
// looks for a master until it finds one.
func (s *session) keepAlive(p *sim.Process) {
	for !p.Wait(&s.ended, s.Lease/3) {
		for err := s.renew(p); err != nil; err = s.renew(p) {
			if err == models.ErrNotHeld {
				s.stop()
				return
			}
			for err != nil {
				if p.Wait(&s.ended, probe) {
					return
				}
				_, err = s.ask(p, keepAlive{s.name})
			}
		}
	}
}

// renew sends one KeepAlive for the lock, if it has not been released. What comes of
// it ends the jeopardy.
func (s *session) renew(p *sim.Process) error {
	if s.released {
		return nil
	}
	err := s.hooks.Renew(p, func() (models.Grant, error) { return s.beat(p) })
	if err == nil && s.unsure {
		s.unsure = false
		s.hooks.Safe(p)
	}
	return err
}

// beat sends one KeepAlive. Its answer, even a late one, begins the client's own lease
// anew.
func (s *session) beat(p *sim.Process) (models.Grant, error) {
	sent, begun := p.World().Now(), p.Machine().Read(clock.Monotonic)
	a, err := s.ask(p, keepAlive{s.name})
	if err == nil && !a.ok {
		err = models.ErrNotHeld
	}
	if err != nil || s.released {
		return models.Grant{}, err
	}
	s.extend(p, begun)
	return s.grant(sent), nil
}

// Release gives the lock back, and ends the session.
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	s := l.session(g.Value)
	s.released = true
	s.stop()
	a, err := l.ask(p, release{key, s.name, p.Name()})
	if err == nil && !a.ok {
		err = models.ErrNotHeld
	}
	return err
}

// Holder asks whose session holds the lock.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	a, err := l.ask(p, look{key})
	return a.session, err
}

// ask sends a request to the replica at which the client is, and on to the master
// that it names. Where there is no answer, or no master, the client goes on to the
// next replica, for its next request.
func (l *lock) ask(p *sim.Process, request any) (answer, error) {
	here := l.place(p.Name())
	var err error
	for range 2 {
		nodes := l.group.Nodes()
		node := nodes[here.at]
		var a answer
		a, err = sim.Call[answer](p, node.Server(), request, timeout)
		if err == nil && !a.moved {
			return a, nil
		}
		here.at = (here.at + 1) % len(nodes)
		if err != nil {
			return a, err
		}
		err = fmt.Errorf("%s: %w", node.Name(), errMoved)
		if a.master == "" {
			break
		}
		for i, n := range nodes {
			if n.Name() == a.master {
				here.at = i
			}
		}
	}
	return answer{}, err
}

func (l *lock) place(client string) *place {
	for i := range l.at {
		if l.at[i].client == client {
			return &l.at[i]
		}
	}
	l.at = append(l.at, place{client: client})
	return &l.at[len(l.at)-1]
}

func (l *lock) session(name string) *session {
	for _, s := range l.sessions {
		if s.name == name {
			return s
		}
	}
	return nil
}
