package sql

import (
	"locksim/models"
	"locksim/sim"
)

type advisory struct {
	Advisory
	pair    *pair         // the one server, and its standby
	nodes   []*sim.Server // or those of a cluster
	drivers drivers
	book    book
	keys    []string // the locks that have a connection of their own, in its order
}

// node is the server that p is connected to.
func (l *advisory) node(p *sim.Process) *sim.Server {
	if l.pair != nil {
		return l.pair.primary
	}
	return l.nodes[max(1, l.At[p.Name()])-1]
}

// conn is the connection by which p's next statement about a lock goes.
func (l *advisory) conn(p *sim.Process, key string) int {
	switch {
	case l.Pool == Unpinned:
		d := l.drivers.of(p, 2)
		i := d.next
		d.next = 1 - d.next
		return i
	case !l.PerLock:
		return 0
	}
	for i, k := range l.keys {
		if k == key {
			return i
		}
	}
	l.keys = append(l.keys, key)
	return len(l.keys) - 1
}

// Acquire makes one attempt.
func (l *advisory) Acquire(p *sim.Process, key string) (models.Grant, error) {
	to, i := l.node(p), l.conn(p, key)
	begun := l.Level == Transaction && !l.Autocommit && l.book.of(p.Name(), key) == nil
	if begun {
		if _, err := l.drivers.do(p, to, i, &Begin{}); err != nil {
			return models.Grant{}, models.Refused(err.Error())
		}
	}
	res, err := l.drivers.exec(p, to, i, l.take(key), l.Wait)
	switch {
	case err == nil && res.Err != nil:
		err = models.Refused(res.Err.Error())
	case err == nil && res.Null:
		err = models.Refused("NULL")
	case err == nil && res.Number == 0:
		err = models.ErrHeld
	}
	if err != nil {
		if begun {
			_, _ = l.drivers.do(p, to, i, &End{})
		}
		return models.Grant{}, err
	}
	nested := l.book.enter(p.Name(), key, res.Text)
	return models.Grant{Value: res.Text, Nested: nested, Votes: []string{to.Name()}}, nil
}

// take is the statement that takes the lock.
func (l *advisory) take(key string) statement {
	if l.Dialect != Postgres {
		return &GetLock{Name: key, Timeout: l.Wait}
	}
	return &AdvisoryLock{
		Name: key, Key: lockKey(key), Try: l.Wait == 0, Xact: l.Level == Transaction, LockTimeout: max(0, l.Wait),
	}
}

// Release gives the lock up once.
func (l *advisory) Release(p *sim.Process, key string, _ models.Grant) error {
	to, i := l.node(p), l.conn(p, key)
	last := l.book.leave(p.Name(), key)
	var stmt statement
	switch {
	case l.Dialect != Postgres:
		stmt = &ReleaseLock{key}
	case l.Level == Session:
		stmt = &AdvisoryUnlock{key, lockKey(key)}
	case !last: // it goes with the transaction
		return nil
	default:
		stmt = &End{Commit: true}
	}
	return yes(l.drivers.exec(p, to, i, stmt, 0))
}

// Extend asks for a sign of life on the lock's connection: it shows that the session
// stands, and the lock with it, unless the driver has opened another in silence.
func (l *advisory) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	to, i := l.node(p), l.conn(p, key)
	_, err := l.drivers.do(p, to, i, &Ping{})
	return models.Grant{Value: g.Value}, err
}
