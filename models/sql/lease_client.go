package sql

import (
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

type leaseTable struct {
	Lease
	pair    *pair
	drivers drivers
	seen    []sighting
}

// sighting is a version of a lease that a client has seen, and since when.
type sighting struct {
	client, key string
	beat        int64
	since       time.Duration
}

func (l *leaseTable) do(p *sim.Process, stmt statement) (Result, error) {
	return l.drivers.do(p, l.pair.primary, 0, stmt)
}

// Acquire makes one attempt: the row is inserted, if it is not there, and then
// changed, if its lease is over.
func (l *leaseTable) Acquire(p *sim.Process, key string) (models.Grant, error) {
	watch := started(p, l.Deadline, l.TTL)
	seen, err := l.free(p, key)
	if err != nil {
		return models.Grant{}, err
	}
	anchor := p.World().Now()
	if l.Begin {
		if _, err := l.do(p, &Begin{}); err != nil {
			return models.Grant{}, models.Refused(err.Error())
		}
	}
	if err := l.seed(p, key); err != nil {
		return models.Grant{}, l.undo(p, models.Refused(err.Error()))
	}
	if !l.Begin || l.Dialect != Postgres { // NOW() is the statement's own instant
		anchor = p.World().Now()
	}
	g, err := l.take(p, key, seen)
	if err != nil {
		return g, l.undo(p, err)
	}
	if l.Begin {
		if _, err := l.do(p, &End{Commit: true}); err != nil {
			return models.Grant{}, err
		}
	}
	g.Anchor, g.Deadline = anchor, watch.deadline()
	if err := watch.late(p); err != nil {
		_ = l.Release(p, key, g)
		return models.Grant{Value: g.Value}, err
	}
	return g, nil
}

// undo ends the transaction of an attempt that has failed.
func (l *leaseTable) undo(p *sim.Process, err error) error {
	if l.Begin {
		_, _ = l.do(p, &End{})
	}
	return err
}

// seed inserts the row, if that is how it comes to be there.
func (l *leaseTable) seed(p *sim.Process, key string) error {
	if l.Row != Insert {
		return nil
	}
	_, err := l.do(p, &SeedLease{key})
	return err
}

// take changes the row, and reads the token.
func (l *leaseTable) take(p *sim.Process, key string, seen int64) (models.Grant, error) {
	owner := p.Name()
	res, err := l.do(p, &TakeLease{Name: key, Owner: owner, TTL: l.TTL, Date: l.date(p), Seen: seen})
	switch {
	case err != nil:
		return models.Grant{}, err
	case res.Rows == 0 && !l.IgnoreRows:
		return models.Grant{}, models.ErrHeld
	}
	token := res.Number
	if l.Dialect != Postgres {
		id, err := l.do(p, &LastInsertID{})
		if err != nil {
			return models.Grant{}, err
		}
		token = id.Number
	}
	g := models.Grant{
		Term: l.TTL, Allowance: allowance(l.TTL), Token: token,
		Value: lease{owner: owner, fence: token}.value(), Votes: []string{l.pair.primary.Name()},
	}
	if res.Rows == 0 {
		g.Assumed = token != 0 // a session that never took a lease is told 0
		return g, models.ErrHeld
	}
	return g, nil
}

// date is what the client's statements say of time.
func (l *leaseTable) date(p *sim.Process) date {
	d := date{App: l.Clock == App, Naive: l.Naive, Zone: l.Zones[p.Name()]}
	if d.App {
		d.Now = epoch + p.Now(clock.Wall).Milliseconds()
	}
	return d
}

// free tells whether a client that watches the record may take it: nobody has it, or
// it has not changed for a TTL. It returns the version that is to be replaced, 0
// where it is not by a version that the record is found.
func (l *leaseTable) free(p *sim.Process, key string) (int64, error) {
	if l.Clock != Watched {
		return 0, nil
	}
	res, err := l.do(p, &SelectLease{key})
	if err != nil {
		return 0, models.Refused(err.Error())
	}
	if res.Rows == 0 || res.Text == "" {
		return res.Number, nil
	}
	now := p.Now(clock.Monotonic)
	s := l.sighting(p.Name(), key)
	if s.beat != res.Number {
		s.beat, s.since = res.Number, now
	}
	if now-s.since < l.TTL {
		return 0, models.ErrHeld
	}
	return s.beat, nil
}

func (l *leaseTable) sighting(client, key string) *sighting {
	for i := range l.seen {
		if s := &l.seen[i]; s.client == client && s.key == key {
			return s
		}
	}
	l.seen = append(l.seen, sighting{client: client, key: key})
	return &l.seen[len(l.seen)-1]
}

// Release changes the row so that its lease is over, if it is found.
func (l *leaseTable) Release(p *sim.Process, key string, g models.Grant) error {
	return one(l.do(p, &DropLease{Name: key, Owner: p.Name(), Fence: g.Token, Match: l.Lease.Release}))
}

// one is what it means that a statement changed one row, or none.
func one(res Result, err error) error {
	if err == nil && res.Rows == 0 {
		return models.ErrNotHeld
	}
	return err
}

// Extend begins the term of a lease anew.
func (l *leaseTable) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	watch := started(p, l.Deadline, l.TTL)
	anchor := p.World().Now()
	s := &ExtendLease{Name: key, Owner: p.Name(), Fence: g.Token, TTL: l.TTL, Date: l.date(p)}
	if err := one(l.do(p, s)); err != nil {
		return models.Grant{}, err
	}
	longer := models.Grant{Term: l.TTL, Allowance: allowance(l.TTL), Anchor: anchor, Value: g.Value, Deadline: watch.deadline()}
	return longer, nil
}
