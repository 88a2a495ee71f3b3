package kubernetes

import (
	"errors"
	"fmt"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// lock is the candidates' side.
type lock struct {
	LeaderElection
	group    *raft.Group
	electors []*elector
}

// elector is one client's candidature for one lease.
type elector struct {
	*lock
	client, key string
	// observed is the object as the client has seen it last, and since when, by its
	// monotonic clock, it has not seen it change.
	observed lease
	since    time.Duration
	at       int // the server that it asks, by its place in the group
	term     *term
}

// term is one time for which a client leads.
type term struct {
	*elector
	ended sim.Signal
	hooks models.Session
}

// errKept is the outcome of a release that leaves the lease to run out.
var errKept = errors.New("the lease is left to run out")

// errGone is that of one that is not sent, since the client has seen another's name.
var errGone = errors.New("another leads, and nothing is asked")

// errConflict is the outcome of an update of an object that has changed.
var errConflict = errors.New("the object has been modified")

// errTaken is what a leader learns that finds another's name in the record.
var errTaken = errors.New("another leads; it tries on")

// elector is p's for the lease called key.
func (l *lock) elector(p *sim.Process, key string) *elector {
	for _, e := range l.electors {
		if e.client == p.Name() && e.key == key {
			return e
		}
	}
	e := &elector{lock: l, client: p.Name(), key: key, observed: lease{key: key}}
	l.electors = append(l.electors, e)
	return e
}

// Acquire makes one attempt to lead.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	e := l.elector(p, key)
	sent, err := e.try(p)
	if errors.Is(err, errTaken) || errors.Is(err, errConflict) {
		err = models.ErrHeld
	}
	if err != nil {
		return models.Grant{Value: e.client}, err
	}
	e.term = &term{elector: e}
	p.Go("renew", e.term.renew)
	// It renews again at once, and has until its deadline for that.
	return e.term.grant(p, sent, l.RenewDeadline), nil
}

// grant is what the client has of an update that it sent at that true instant: it
// leads for so long from now on, unless it can renew.
func (t *term) grant(p *sim.Process, sent, long time.Duration) models.Grant {
	return models.Grant{
		Term:      t.LeaseDuration,
		Allowance: t.LeaseDuration - t.RenewDeadline,
		Anchor:    sent,
		Value:     t.client,
		Deadline:  &models.Deadline{Clock: clock.Monotonic, Reading: p.Machine().Read(clock.Monotonic) + long},
		Session:   &t.hooks,
	}
}

// renew is the thread of a leader. Its deadline begins with the first attempt, which
// is a RetryPeriod after the last success (LeaderElector.renew).
func (t *term) renew(p *sim.Process) {
	for {
		deadline := p.Machine().Read(clock.Monotonic) + t.RenewDeadline
		for err := t.attempt(p); err != nil; err = t.attempt(p) {
			left := deadline - p.Machine().Read(clock.Monotonic)
			if err == models.ErrNotHeld || left <= 0 || p.Wait(&t.ended, min(left, t.RetryPeriod)) {
				return
			}
		}
		if p.Wait(&t.ended, t.RetryPeriod) {
			return
		}
	}
}

// attempt is one attempt to renew. Once the client has seen another's name, it is
// no matter of its lock any more.
func (t *term) attempt(p *sim.Process) error {
	if t.observed.holder != t.client {
		_, err := t.extend(p)
		return err
	}
	return t.hooks.Renew(p, func() (models.Grant, error) { return t.extend(p) })
}

func (t *term) extend(p *sim.Process) (models.Grant, error) {
	sent, err := t.try(p)
	if t.StopAtOnce && errors.Is(err, errTaken) {
		err = models.ErrNotHeld
	}
	if err != nil {
		return models.Grant{}, err
	}
	return t.grant(p, sent, t.RetryPeriod+t.RenewDeadline), nil
}

// Release stops leading: the client's renewals end, and with ReleaseOnCancel it takes
// its name from the record.
func (l *lock) Release(p *sim.Process, key string, _ models.Grant) error {
	e := l.elector(p, key)
	if e.term == nil { // it has never led, as far as it knows
		return models.ErrNotHeld
	}
	e.term.ended.Fire()
	if !l.ReleaseOnCancel {
		return errKept
	}
	if e.observed.holder != e.client {
		return errGone
	}
	_, err := e.update(p, "")
	if errors.Is(err, sim.ErrRefused) || errors.Is(err, sim.ErrClosed) {
		// It has stopped all the same. That nothing was sent is not to be told as a release
		// that never was: its name stays, and what its identity takes again is its own.
		return fmt.Errorf("%w: %v", errKept, err)
	}
	return err
}

// Holder asks whose name is in the record.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	now, err := ask[lease](p, l.elector(p, key), get{key})
	return now.holder, err
}

// try is one attempt to acquire or to renew (tryAcquireOrRenew); it returns the true
// instant at which the update was sent that succeeded.
func (e *elector) try(p *sim.Process) (time.Duration, error) {
	// A leader first tries to update what it has seen last.
	if e.observed.holder == e.client && e.valid(p) {
		if sent, err := e.update(p, e.client); err == nil {
			return sent, nil
		}
	}
	now, err := ask[lease](p, e, get{e.key})
	if err != nil {
		return 0, models.Refused("get: " + err.Error())
	}
	e.observe(p, now)
	if now.holder != "" && now.holder != e.client && e.valid(p) {
		return 0, errTaken
	}
	return e.update(p, e.client)
}

// valid tells whether the lease is not over yet. At its end it is.
func (e *elector) valid(p *sim.Process) bool {
	if e.Expiry == RenewTime {
		return e.observed.renewed+e.LeaseDuration > p.Machine().Read(clock.Wall)
	}
	return e.since+e.LeaseDuration > p.Machine().Read(clock.Monotonic)
}

// observe takes down the object, and when it was seen to change.
func (e *elector) observe(p *sim.Process, now lease) {
	if now != e.observed {
		e.observed, e.since = now, p.Machine().Read(clock.Monotonic)
	}
}

// update puts a name into the record, if it is as the client has seen it.
func (e *elector) update(p *sim.Process, holder string) (time.Duration, error) {
	next := e.observed
	next.holder, next.renewed = holder, p.Machine().Read(clock.Wall)
	sent := p.World().Now()
	r, err := ask[replied](p, e, update{next, e.client})
	if err != nil {
		return 0, err
	}
	if !r.done {
		return 0, errConflict
	}
	e.observe(p, r.lease)
	return sent, nil
}

// ask sends a request to the server that the client is at. One that does not answer
// it leaves for the next.
func ask[R any](p *sim.Process, e *elector, request any) (R, error) {
	nodes := e.group.Nodes()
	r, err := sim.Call[R](p, nodes[e.at].Server(), request, max(e.RenewDeadline/2, leastTimeout))
	if err != nil {
		e.at = (e.at + 1) % len(nodes)
	}
	return r, err
}
