package etcd

import (
	"errors"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// The figures of the client's loops (client/v3/lease.go).
const (
	// sendEvery is how often a session looks whether a keepalive is due, and how long
	// it waits for the answer before it sends the next (retryConnWait).
	sendEvery = 500 * time.Millisecond
	// reapEvery is how often it looks whether its deadline is over (deadlineLoop).
	reapEvery = time.Second
	// firstDeadline is its deadline until the first answer has come (defaultTTL).
	firstDeadline = 5 * time.Second
)

// session is a lease that a thread of the client's process keeps alive. Instants
// are of the client's monotonic clock.
type session struct {
	lock   *lock
	client *client
	lease  int64
	ttl    time.Duration // as it was granted
	// start is when its loops began to look.
	start time.Duration
	// next is when the next keepalive is due; deadline when the session is over unless
	// one is answered.
	next, deadline time.Duration
	// sent is the true instant at which the last keepalive was sent that has been
	// answered: from then on the lease lasts its TTL at least.
	sent time.Duration
	// closed: the client has closed the session; over is fired then. dead: it has
	// been told that its lease is gone.
	closed, dead bool
	over         sim.Signal
	// grant is what the session holds; its Session tells who uses the lock.
	grant models.Grant
}

// open opens a session.
func (l *lock) open(p *sim.Process) (*session, error) {
	s := &session{lock: l, client: l.client(p), sent: p.World().Now()}
	g, err := ask[leaseGranted](p, s.client, grantLease{int64(l.TTL / time.Second)}, l.Timeout)
	if err != nil {
		return nil, err
	}
	s.lease, s.ttl = g.lease, time.Duration(g.seconds)*time.Second
	s.start = p.Machine().Read(clock.Monotonic)
	s.next, s.deadline = s.start, s.start+firstDeadline
	s.grant.Session = &models.Session{}
	p.Go("keepalive", s.keep)
	return s, nil
}

// close closes the session: it is not kept alive any more, and its lease is
// revoked. What comes of that does not matter: if nothing, the lease runs out.
func (s *session) close(p *sim.Process) {
	s.stop()
	_, _ = ask[leaseRevoked](p, s.client, revokeLease{lease: s.lease}, s.lock.Timeout)
}

// stop ends the keepalives.
func (s *session) stop() {
	s.closed = true
	s.over.Fire()
}

// keep is the thread that sends the keepalives. The first is due at once.
func (s *session) keep(p *sim.Process) {
	for {
		err := s.grant.Session.Renew(p, func() (models.Grant, error) { return s.beat(p) })
		if err != nil || p.Wait(&s.over, s.tick(s.next, sendEvery)-p.Machine().Read(clock.Monotonic)) {
			return
		}
	}
}

// Why a session's thread ends without having been told that its lease is gone.
var (
	errClosed = errors.New("the session is closed")
	errDone   = errors.New("its own deadline is over")
	errDeaf   = errors.New("the lease is gone, and nobody listens")
)

// beat sends a keepalive, again until it is answered, and returns what the session
// then holds.
func (s *session) beat(p *sim.Process) (models.Grant, error) {
	for {
		sent, at := p.World().Now(), p.Machine().Read(clock.Monotonic)
		answer, err := ask[keptAlive](p, s.client, keepAlive{s.lease}, sendEvery)
		now := p.Machine().Read(clock.Monotonic)
		switch {
		case s.closed:
			return models.Grant{}, errClosed
		case now >= s.tick(s.deadline, reapEvery):
			return models.Grant{}, errDone
		case err != nil:
			p.Wait(&s.over, s.tick(at, sendEvery)-now)
		case answer.seconds > 0:
			s.sent, s.next, s.deadline = sent, now+s.ttl/3, now+s.ttl
			return s.hold(p), nil
		default:
			s.dead = true
			if s.lock.IgnoreDone {
				return models.Grant{}, errDeaf
			}
			return models.Grant{}, models.ErrNotHeld
		}
	}
}

// tick is when a loop that looks at every multiple of period since the start sees
// that t is over: at the first look after it.
func (s *session) tick(t, period time.Duration) time.Duration {
	return s.start + ((t-s.start)/period+1)*period
}

// hold is the grant as it stands: promised from when the last answered keepalive
// was sent, and believed in until the client sees that its own deadline is over.
func (s *session) hold(p *sim.Process) models.Grant {
	g := &s.grant
	g.Term, g.Allowance, g.Anchor = s.ttl, s.ttl/2000, s.sent
	switch {
	case s.lock.IgnoreDone:
	case s.dead:
		g.Deadline = &models.Deadline{Clock: clock.Monotonic, Reading: p.Machine().Read(clock.Monotonic)}
	default:
		g.Deadline = &models.Deadline{Clock: clock.Monotonic, Reading: s.tick(s.deadline, reapEvery)}
	}
	return *g
}
