package consul

import (
	"strconv"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/models/raft"
	"locksim/sim"
)

// lock is the client's side: the Lock of Consul's Go client.
type lock struct {
	Lock
	group  *raft.Group
	agents []*agent
	tries  []*try
}

// try is one attempt at a lock, the session that was made for it, and the grant
// that came of it.
type try struct {
	*lock
	key, session string
	// renewed is the true instant at which the last renewal was sent that was
	// acknowledged.
	renewed  time.Duration
	released bool
	done     sim.Signal // ends the session
	hooks    models.Session
}

const (
	// lockWait is how long a query waits for the key to be free (api.DefaultLockWaitTime).
	lockWait = 15 * time.Second
	// lockRetry is the wait after a refused acquire, which a lock-delay causes
	// (api.DefaultLockRetryTime).
	lockRetry = 5 * time.Second
	// queryWait is how long a query waits that does not say (default_query_time).
	queryWait = 5 * time.Minute
	// renewRetry is the wait after a failed renewal (api.Session.RenewPeriodic).
	renewRetry = time.Second
)

// Acquire waits until the lock is granted (api.Lock.Lock).
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	t := &try{lock: l, key: key, session: p.Name() + "-" + strconv.Itoa(len(l.tries)+1), renewed: p.World().Now()}
	l.tries = append(l.tries, t)
	if _, err := ask[bool](p, l, create{t.session, p.Name(), l.TTL, l.Delay}); err != nil {
		return models.Grant{}, models.Refused("session: " + err.Error())
	}
	p.Go("renew", t.renew)
	err := t.acquire(p)
	if err == nil {
		p.Go("monitor", t.monitor)
		g := t.grant()
		if g.Token, err = t.follow(p); err == nil {
			return g, nil
		}
		_ = l.Release(p, key, g)
	}
	t.done.Fire()
	return models.Grant{Value: t.session}, err
}

// acquire waits until the key is free, and acquires it.
func (t *try) acquire(p *sim.Process) error {
	var index int64
	for {
		k, err := ask[entry](p, t.lock, get{key: t.key, index: index, wait: lockWait})
		if err != nil {
			return models.Refused("get: " + err.Error())
		}
		if k.session != "" {
			index = k.modify
			continue
		}
		came, err := ask[outcome](p, t.lock, put{t.key, p.Name(), t.session, p.Name(), acquire})
		switch {
		case err == nil && came == invalid:
			return models.Refused("the session is over")
		case err != nil || came == done:
			return err
		}
		p.Sleep(lockRetry)
	}
}

// follow does what the options ask for once the key is acquired, and returns the
// token. Its failures are definite: nobody was promised anything.
func (t *try) follow(p *sim.Process) (int64, error) {
	var token int64
	if t.Token != NoToken {
		k, err := ask[entry](p, t.lock, get{key: t.key, consistent: true})
		if err != nil {
			return 0, models.Refused("get: " + err.Error())
		}
		if k.session != t.session {
			return 0, models.Refused("lost before its token was read")
		}
		token = k.modify
		if t.Token == LockIndex {
			token = k.lock
		}
	}
	if t.Put {
		if _, err := ask[outcome](p, t.lock, put{t.key, "at " + p.Name(), "", p.Name(), plain}); err != nil {
			return 0, models.Refused("put: " + err.Error())
		}
	}
	return token, nil
}

// grant is what the client has of its last renewal.
func (t *try) grant() models.Grant {
	return models.Grant{Term: t.TTL, Anchor: t.renewed, Delay: t.Delay, Value: t.session, Session: &t.hooks}
}

// renew is the thread that keeps the session alive, every half of the TTL, and ends
// it in the end (api.Session.RenewPeriodic). That the session is over, Consul's tells
// nobody; the monitor, which watches the key, has been told by then.
func (t *try) renew(p *sim.Process) {
	wait, last := t.TTL/2, p.Machine().Read(clock.Monotonic)
	for !p.Wait(&t.done, wait) {
		attempt := func() (models.Grant, error) { return t.beat(p) }
		var err error
		if t.released { // it is the session alone that lives on
			_, err = attempt()
		} else {
			err = t.hooks.Renew(p, attempt)
		}
		now := p.Machine().Read(clock.Monotonic)
		wait = renewRetry
		switch {
		case err == nil:
			wait, last = t.TTL/2, now
		case err == models.ErrNotHeld || now-last > t.TTL:
			return
		}
	}
	_, _ = ask[bool](p, t.lock, destroy{session: t.session, client: p.Name()})
}

// beat renews the session once.
func (t *try) beat(p *sim.Process) (models.Grant, error) {
	sent := p.World().Now()
	ok, err := ask[bool](p, t.lock, renew{t.session})
	if err == nil && !ok {
		err = models.ErrNotHeld
	}
	if err != nil {
		return models.Grant{}, err
	}
	t.renewed = sent
	return t.grant(), nil
}

// monitor is the thread that watches the key, and tells of a loss (monitorLock). If
// it cannot watch it any more, it takes the lock for lost.
func (t *try) monitor(p *sim.Process) {
	var index int64
	for !t.released {
		k, err := ask[entry](p, t.lock, get{key: t.key, index: index, wait: queryWait, consistent: true})
		switch {
		case t.released:
			return
		case err != nil:
			t.hooks.GiveUp(p)
			return
		case k.session != t.session:
			t.hooks.Lost(p)
			return
		}
		index = k.modify
	}
}

// Release gives the key back, and then ends the session (api.Lock.Unlock, which
// does not look at the answer).
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	t := l.try(g.Value)
	t.released = true
	defer t.done.Fire()
	came, err := ask[outcome](p, l, put{key, p.Name(), t.session, p.Name(), release})
	if err == nil && came != done {
		err = models.ErrNotHeld
	}
	return err
}

// Holder asks whose session holds the key.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	k, err := ask[entry](p, l, get{key: key, consistent: true})
	return k.session, err
}

func (l *lock) try(session string) *try {
	for _, t := range l.tries {
		if t.session == session {
			return t
		}
	}
	return nil
}
