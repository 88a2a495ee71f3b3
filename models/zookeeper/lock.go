package zookeeper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/models"
	"locksim/sim"
)

// lock is the clients' side.
type lock struct {
	*Mutex
	servers []*sim.Server
	clients []*client
}

// client is the session of p's process, which begins with its first use.
func (l *lock) client(p *sim.Process) *client {
	for _, c := range l.clients {
		if c.name == p.Name() {
			return c
		}
	}
	c := &client{
		lock: l, name: p.Name(), servers: l.serversOf(p.Name()), at: -1, last: -1,
		timeout: l.Session, turn: &sim.Signal{},
	}
	l.clients = append(l.clients, c)
	p.Go("zookeeper", c.run)
	return c
}

func (l *lock) serversOf(client string) []*sim.Server {
	names := l.Servers[client]
	if names == nil {
		return l.servers
	}
	var list []*sim.Server
	for _, name := range names {
		i := slices.IndexFunc(l.servers, func(s *sim.Server) bool { return s.Name() == name })
		list = append(list, l.servers[i])
	}
	return list
}

// allowance is what the service is allowed to be wrong by: its clock runs up to 500
// ppm off.
func allowance(timeout time.Duration) time.Duration { return timeout / 2000 }

// attempt is an attempt to acquire a lock.
type attempt struct {
	*client
	p       *sim.Process
	parent  string
	value   string
	session int64
	node    reply // what came of create
}

// errExpired is the refusal where an attempt ends with its session, and its node.
var errExpired = models.Refused("its session has expired")

// Acquire creates a sequential node and waits until it is the lowest.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	c := l.client(p)
	if !c.up {
		p.Wait(c.turn, forever)
	}
	if !c.up {
		return models.Grant{}, models.Refused(errOffline.Error())
	}
	c.attempts++
	a := &attempt{client: c, p: p, parent: "/" + key, session: c.session, value: c.name + "-" + strconv.Itoa(c.attempts)}
	err := a.create()
	if err == nil {
		err = a.queue()
	}
	if err != nil {
		return models.Grant{Value: a.value}, err
	}
	h := &holding{value: a.value, path: a.node.Path, hooks: &models.Session{}}
	c.held = append(c.held, h)
	return models.Grant{
		Term: c.timeout, Allowance: allowance(c.timeout), Anchor: c.anchor,
		Token: a.token(), Value: a.value, Session: h.hooks,
	}, nil
}

// try makes a request, once.
func (a *attempt) try(body func(on) any) (reply, error) {
	r, err := a.call(a.p, body)
	if a.client.session != a.session || r.Code == sessionExpired {
		return r, errExpired
	}
	return r, err
}

// ask makes a request, and again after each loss of the connection, unless the
// recipe gives up.
func (a *attempt) ask(body func(on) any) (reply, error) {
	for {
		r, err := a.try(body)
		if err == nil || err == errExpired || a.lock.Recipe == GoZookeeper {
			return r, err
		}
	}
}

// prefix is the beginning of the name of the attempt's node.
func (a *attempt) prefix() string {
	if a.lock.Recipe == WithoutGUID {
		return "lock-"
	}
	return "_c_" + a.value + "-lock-"
}

// create makes the node. Where the answer is lost, the guid in the name tells whether
// it is there.
func (a *attempt) create() error {
	for {
		r, err := a.try(func(o on) any {
			return create{
				on: o, Path: a.parent + "/" + a.prefix(), Data: a.value,
				Ephemeral: true, Sequential: true, Parent: true, Container: !a.lock.Plain,
			}
		})
		if err == nil || err == errExpired {
			a.node = r
			return err
		}
		if a.lock.Recipe == WithoutGUID {
			continue
		}
		if found, err := a.find(); found || err != nil {
			return err
		}
	}
}

// find looks for the node by its guid.
func (a *attempt) find() (bool, error) {
	r, err := a.again(func(o on) any { return getChildren{o, a.parent, false} })
	if err != nil {
		return false, err
	}
	for _, n := range r.Children {
		if strings.HasPrefix(n, a.prefix()) {
			a.node, err = a.again(func(o on) any { return getData{o, a.parent + "/" + n, false} })
			return true, err
		}
	}
	return false, nil
}

// again makes a request, and again after each loss of the connection, whatever the
// recipe.
func (a *attempt) again(body func(on) any) (reply, error) {
	for {
		r, err := a.try(body)
		if err == nil || err == errExpired {
			return r, err
		}
	}
}

// queue waits until the node is the lowest.
func (a *attempt) queue() error {
	for {
		before, err := a.before(false)
		switch {
		case err != nil:
			return err
		case before == "":
			return nil
		case a.lock.Watch == Parent:
			still, err := a.before(true)
			if err != nil {
				return err
			}
			if still == before {
				a.await(watch{children, a.parent})
			}
		default:
			path := a.parent + "/" + before
			r, err := a.ask(func(o on) any { return getData{o, path, true} })
			if err != nil {
				return err
			}
			if r.Code == ok {
				a.await(watch{data, path})
			}
		}
	}
}

// before is the node that is next lower than the attempt's own, "" for none.
func (a *attempt) before(watched bool) (string, error) {
	if a.client.session != a.session {
		return "", errExpired
	}
	r, err := a.ask(func(o on) any { return getChildren{o, a.parent, watched} })
	if err != nil {
		return "", err
	}
	before, found := predecessor(r.Children, name(a.node.Path))
	if !found {
		return "", errExpired
	}
	return before, nil
}

// await waits for an event, or for the end of the session.
func (a *attempt) await(w watch) { a.p.Wait(&a.watch(w).fired, forever) }

// predecessor is the node of the list that comes before mine by their sequence
// numbers; "" where mine is the lowest.
func predecessor(list []string, mine string) (before string, found bool) {
	for _, n := range list {
		switch {
		case n == mine:
			found = true
		case number(n) < number(mine) && (before == "" || number(n) > number(before)):
			before = n
		}
	}
	return before, found
}

// number is the sequence number at the end of a node's name: ten digits.
func number(name string) string { return name[len(name)-10:] }

func (a *attempt) token() int64 {
	switch a.lock.Token {
	case Sequence:
		n, err := strconv.ParseInt(number(a.node.Path), 10, 64)
		if err != nil {
			panic(fmt.Sprintf("zookeeper: %s has no sequence number: %v", a.node.Path, err))
		}
		return n + 1
	case Random:
		return 1 + a.p.Rand().Int64N(1<<62)
	}
	return a.node.Stat.Czxid
}

// retries is how often Curator asks again before it gives up (ExponentialBackoffRetry
// with 3 retries, "Curator: Getting Started").
const retries = 3

// Release deletes the node. Where no answer comes, Curator asks again, and in the end
// deletes it as soon as it is connected.
func (l *lock) Release(p *sim.Process, _ string, g models.Grant) error {
	c := l.client(p)
	i := slices.IndexFunc(c.held, func(h *holding) bool { return h.value == g.Value })
	if i < 0 {
		return models.ErrNotHeld
	}
	h := c.held[i]
	h.released = true
	c.held = slices.Delete(c.held, i, i+1)
	body := func(o on) any { return remove{o, h.path, -1} }
	r, err := c.call(p, body)
	lost := err == errLost
	for n := 0; err != nil && n < retries && l.Recipe != GoZookeeper; n++ {
		r, err = c.call(p, body)
		lost = lost || err == errLost
	}
	switch {
	case err != nil && l.Recipe != GoZookeeper:
		c.graves = append(c.graves, h.path)
		return err
	case err == nil && r.Code == noNode && lost:
		return errGone
	case err == nil && r.Code == noNode:
		return models.ErrNotHeld
	}
	return err
}

// Holder is the value of the lowest node, as the server that the client is connected
// to has it.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	c := l.client(p)
	if l.Sync {
		if _, err := c.call(p, func(o on) any { return sync{o} }); err != nil {
			return "", err
		}
	}
	for {
		r, err := c.call(p, func(o on) any { return getChildren{o, "/" + key, false} })
		if err != nil || len(r.Children) == 0 {
			return "", err
		}
		lowest := slices.MinFunc(r.Children, func(a, b string) int { return strings.Compare(number(a), number(b)) })
		r, err = c.call(p, func(o on) any { return getData{o, "/" + key + "/" + lowest, false} })
		if err != nil || r.Code == ok {
			return r.Data, err
		}
	}
}
