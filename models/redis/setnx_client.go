package redis

import (
	"errors"
	"fmt"
	"time"

	"locksim/models"
	"locksim/sim"
)

// setNX is the client's side.
type setNX struct {
	SetNX
	group *group // the servers there are now
	// last is what a Lock object that all share keeps, by the lock's name: the value of
	// the grant that was told last and has not been released.
	last map[string]string
}

// value is what the client takes for the value of its grant g of key; "" for none.
func (l *setNX) value(key string, g models.Grant) string {
	if l.Value == SharedValue {
		return l.last[key]
	}
	return g.Value
}

// ttl is that of p's keys; 0 where keys have none.
func (l *setNX) ttl(p *sim.Process) time.Duration {
	if own, ok := l.TTLs[p.Name()]; ok {
		return own
	}
	return l.TTL
}

// started is the stopwatch of a client with a deadline.
func (l *setNX) started(p *sim.Process) stopwatch {
	w := stopwatch{on: l.Deadline, clock: l.ClientClock, usable: l.ttl(p)}
	return w.started(p)
}

// Acquire makes one attempt. Once the key is set, it is the client that decides:
// a failure of what follows is definite, and the client gives the key back.
// Nobody was promised anything; what becomes of the key, if that fails too, is up
// to its TTL.
func (l *setNX) Acquire(p *sim.Process, key string) (models.Grant, error) {
	value := newValue(p)
	watch := l.started(p)
	if err := l.look(p, key); err != nil {
		return models.Grant{}, err
	}
	server := l.group.primary
	token, err := l.set(p, server, key, value)
	switch {
	case err == models.ErrHeld:
		return models.Grant{}, err
	case err != nil:
		return models.Grant{Value: value}, err
	}
	g := l.grant(p, value, server, watch)
	g.Token = token
	if err = l.follow(p, server, key, &g); err == nil {
		err = watch.late(p)
	}
	if err == nil {
		l.last[key] = value
		return g, nil
	}
	if errors.Is(err, models.ErrHeld) {
		_ = l.remove(p, key, value)
	}
	return models.Grant{Value: value}, err
}

// look asks a replica whether the lock is free, where the client does.
func (l *setNX) look(p *sim.Process, key string) error {
	replica := l.group.first()
	if l.Check != CheckReplica || replica == nil {
		return nil
	}
	current, err := call[Bulk](p, replica, &Get{key}, l.Timeout)
	switch {
	case err != nil: // nothing was sent that could take the lock
		return models.Refused("GET: " + err.Error())
	case current.Found:
		return models.ErrHeld
	}
	return nil
}

// set takes the key, and a token where that is the same step.
func (l *setNX) set(p *sim.Process, server *sim.Server, key, value string) (int64, error) {
	ttl := l.ttl(p)
	if l.Expire == Separate {
		ttl = 0
	}
	if l.Token == ScriptIncr {
		token, err := call[Integer](p, server, &SetIncr{key, value, ttl, fence(key)}, l.Timeout)
		if err == nil && token == 0 {
			err = models.ErrHeld
		}
		return int64(token), undone(err)
	}
	var command any = &Set{key, value, ttl}
	if l.Check == CheckReplica {
		command = &Put{key, value, ttl}
	}
	set, err := call[Status](p, server, command, l.Timeout)
	if err == nil && !bool(set) {
		err = models.ErrHeld
	}
	return 0, undone(err)
}

// undone makes a refusal of an error that the server answered: it did nothing.
func undone(err error) error {
	if refused := Error(""); errors.As(err, &refused) {
		return models.Refused(err.Error())
	}
	return err
}

// follow does what the recipe does once the key is set, and completes g.
func (l *setNX) follow(p *sim.Process, server *sim.Server, key string, g *models.Grant) error {
	if l.Expire == Separate {
		g.Anchor = p.World().Now()
		n, err := call[Integer](p, server, &PExpire{key, l.ttl(p)}, l.Timeout)
		switch {
		case err != nil:
			// The program ends in an exception that nobody had thought of, and the key
			// stays. What this command came to is not what the lock does: no %w.
			return fmt.Errorf("PEXPIRE: %v", err)
		case n == 0:
			return models.Refused("the key was gone before it had an expiry")
		}
	}
	if l.Wait > 0 {
		n, err := call[Integer](p, server, &Wait{l.Wait, l.WaitTimeout}, l.Timeout+l.WaitTimeout)
		switch {
		case err != nil:
			return models.Refused("WAIT: " + err.Error())
		case int(n) < l.Wait:
			return models.Refused(fmt.Sprintf("%d of %d replicas acknowledged", n, l.Wait))
		}
	}
	if l.Token == SeparateIncr {
		g.Decided = p.Left() // the lock is taken by now, whatever the counter says
		token, err := call[Integer](p, server, &Incr{fence(key)}, l.Timeout)
		if err != nil {
			return models.Refused("INCR: " + err.Error())
		}
		g.Token = int64(token)
	}
	return nil
}

// fence is the name of the counter of the lock called key.
func fence(key string) string { return key + ":fence" }

// grant is what the client has. The server truncates to milliseconds and clocks
// run up to 500 ppm off, which is the allowance declared for a plain lease.
func (l *setNX) grant(p *sim.Process, value string, server *sim.Server, watch stopwatch) models.Grant {
	g := models.Grant{
		Term:     l.ttl(p),
		Value:    value,
		Votes:    []string{server.Name()},
		Deadline: watch.deadline(),
	}
	if !l.NoTTL {
		g.Allowance = g.Term/2000 + time.Millisecond
	}
	return g
}

// Release deletes the key, in the way that the options say.
func (l *setNX) Release(p *sim.Process, key string, g models.Grant) error {
	value := l.value(key, g)
	if value == "" {
		return models.ErrNotHeld
	}
	delete(l.last, key)
	return l.remove(p, key, value)
}

// remove deletes the key where it has that value, as far as the options have it looked
// at.
func (l *setNX) remove(p *sim.Process, key, value string) error {
	switch l.SetNX.Release {
	case GetThenDel:
		current, err := call[Bulk](p, l.group.primary, &Get{key}, l.Timeout)
		if err != nil {
			return err
		}
		if current.Value != value {
			return models.ErrNotHeld
		}
		fallthrough
	case PlainDel:
		return l.confirm(p, &Del{key})
	case Lua:
		return l.confirm(p, &EvalDelIfEqual{key, value})
	default:
		return l.confirm(p, &DelIfEqual{key, value})
	}
}

// Extend gives the key a new TTL, in the way that the options say. Without a TTL it
// only looks.
func (l *setNX) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	watch := l.started(p)
	server := l.group.primary
	value := l.value(key, g)
	if value == "" {
		return models.Grant{}, models.ErrNotHeld
	}
	if err := l.prolong(p, key, value); err != nil {
		return models.Grant{}, err
	}
	if watch.late(p) != nil {
		return models.Grant{}, errLate
	}
	longer := l.grant(p, g.Value, server, watch)
	longer.Token = g.Token
	return longer, nil
}

func (l *setNX) prolong(p *sim.Process, key, value string) error {
	switch {
	case !l.NoTTL && l.SetNX.Extend == PlainPExpire:
		return l.confirm(p, &PExpire{key, l.ttl(p)})
	case !l.NoTTL:
		return l.confirm(p, &ExpireIfEqual{key, value, l.ttl(p)})
	}
	current, err := call[Bulk](p, l.group.primary, &Get{key}, l.Timeout)
	if err == nil && current.Value != value {
		err = models.ErrNotHeld
	}
	return err
}

// Holder asks for the key's value.
func (l *setNX) Holder(p *sim.Process, key string) (string, error) {
	current, err := call[Bulk](p, l.group.primary, &Get{key}, l.Timeout)
	return current.Value, err
}

// confirm sends a command that answers 0 when the key is not the client's.
func (l *setNX) confirm(p *sim.Process, command any) error {
	n, err := call[Integer](p, l.group.primary, command, l.Timeout)
	if err == nil && n == 0 {
		return models.ErrNotHeld
	}
	return err
}
