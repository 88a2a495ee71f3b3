package zookeeper

import (
	"errors"
	"slices"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// client is the session of one process, and its connection: what a ZooKeeper handle
// is. A thread of the process, "zookeeper", connects and pings; another listens for
// events. A process keeps its session when its script is over.
type client struct {
	lock    *lock
	name    string
	servers []*sim.Server
	// at is the server it is connected to, or tries; last the one that it was connected
	// to last; -1 before the first.
	at, last int

	session int64 // 0 for none yet, or none any more
	timeout time.Duration
	// link numbers the connections. While up, down is fired when the connection is
	// lost; turn is fired at the end of each attempt to connect.
	link int
	up   bool
	down *sim.Signal
	turn *sim.Signal
	// sent and heard are readings of the monotonic clock: of the last message to the
	// server and from it. anchor is the true instant at which the last request was sent
	// that has been answered.
	sent, heard time.Duration
	anchor      time.Duration
	zxid        int64
	events      int // got on this connection
	estimate    sim.Alarm

	watches  []*watching
	held     []*holding // until they are released
	attempts int
	graves   []string // nodes to be deleted when it is connected again
}

// watching is a watch that a client has set, until it fires.
type watching struct {
	watch
	fired sim.Signal
}

// holding is a grant.
type holding struct {
	value, path string
	hooks       *models.Session
	// lost: its session is over, for all that the client knows. released: its client has
	// begun to release it.
	lost, released bool
}

// What can go wrong with a request. After errLost its outcome is unknown.
var (
	errOffline  = errors.New("not connected")
	errLost     = errors.New("connection lost")
	errReleased = errors.New("released meanwhile")
	// errGone: the node is gone, and a deletion of it was not answered before.
	errGone = errors.New("the node is gone, maybe by what was not answered")
)

// forever is the patience of who waits for an event.
const forever = time.Duration(1<<63 - 1)

// retryPause is how long a client waits once it has tried all servers in vain
// (go-zookeeper, Conn.connect).
const retryPause = time.Second

// Of a session's timeout, a connection on which nothing is heard lasts two thirds,
// and a ping follows a third after the last message (ClientCnxn: readTimeout, and
// half of it), in whole milliseconds.
func readTimeout(timeout time.Duration) time.Duration {
	return (timeout * 2 / 3).Truncate(time.Millisecond)
}

func pingAfter(timeout time.Duration) time.Duration {
	return (readTimeout(timeout) / 2).Truncate(time.Millisecond)
}

// connectTimeout is how long an attempt to connect lasts (ClientCnxn: the timeout, or
// what is asked for, by the number of servers).
func (c *client) connectTimeout() time.Duration {
	return (c.timeout / time.Duration(len(c.servers))).Truncate(time.Millisecond)
}

func monotonic(p *sim.Process) time.Duration { return p.Machine().Read(clock.Monotonic) }

// run is the thread that keeps the session.
func (c *client) run(p *sim.Process) {
	for {
		if c.at = (c.at + 1) % len(c.servers); c.at == c.last {
			p.Sleep(retryPause)
		}
		if c.last < 0 {
			c.last = c.at
		}
		if c.connect(p) {
			c.last = c.at
			c.keep(p)
		}
	}
}

// connect makes one attempt, at one server.
func (c *client) connect(p *sim.Process) bool {
	defer func() {
		turn := c.turn
		c.turn = &sim.Signal{}
		turn.Fire()
	}()
	c.link++
	var watches []watch
	for _, w := range c.watches {
		watches = append(watches, w.watch)
	}
	sent, anchor := monotonic(p), p.World().Now()
	r, err := sim.Call[reply](p, c.servers[c.at], connect{on{c.session, c.link}, c.timeout, c.zxid, watches}, c.connectTimeout())
	switch {
	case err != nil || r.Code == connectionLoss:
		return false
	case r.Code == sessionExpired:
		c.expired(p, true)
		return false
	}
	c.estimate.Cancel()
	c.session, c.timeout = r.Session, r.Timeout
	c.up, c.down, c.events = true, &sim.Signal{}, 0
	c.answered(p, r, sent, anchor)
	link := c.link
	p.Go("zookeeper-events", func(t *sim.Process) { c.listen(t, link) })
	if len(c.graves) > 0 {
		p.Go("zookeeper-graves", c.bury)
	}
	return true
}

// answered takes down that a request has been answered.
func (c *client) answered(p *sim.Process, r reply, sent, anchor time.Duration) {
	c.sent, c.heard = max(c.sent, sent), monotonic(p)
	c.anchor = max(c.anchor, anchor)
	c.zxid = max(c.zxid, r.Zxid)
}

// keep pings until the connection is lost.
func (c *client) keep(p *sim.Process) {
	down, link := c.down, c.link
	for {
		idle := monotonic(p) - c.sent
		if p.Wait(down, pingAfter(c.timeout)-idle) {
			return
		}
		switch now := monotonic(p); {
		case now-c.heard >= readTimeout(c.timeout):
			c.lose(p, link)
			return
		case now-c.sent >= pingAfter(c.timeout):
			_ = c.ping(p, c.live())
		}
	}
}

// ping sends a ping. What it holds is renewed by it.
func (c *client) ping(p *sim.Process, held []*holding) error {
	if len(held) == 0 {
		r, err := c.request(p, ping{c.on(), c.events})
		c.got(r)
		return err
	}
	h := held[0]
	return h.hooks.Renew(p, func() (models.Grant, error) {
		err := c.ping(p, held[1:])
		if h.released {
			err = errReleased
		}
		return models.Grant{Term: c.timeout, Allowance: allowance(c.timeout)}, err
	})
}

func (c *client) on() on { return on{c.session, c.link} }

// request sends a request on the connection that there is, and waits for the answer
// for as long as the connection lasts.
func (c *client) request(p *sim.Process, body any) (reply, error) {
	link, sent, anchor := c.link, monotonic(p), p.World().Now()
	c.sent = sent
	left := max(0, c.heard+readTimeout(c.timeout)-sent)
	r, err := sim.Call[reply](p, c.servers[c.at], body, left)
	if err != nil || r.Code == connectionLoss {
		c.lose(p, link)
		return reply{}, errLost
	}
	if link == c.link {
		c.answered(p, r, sent, anchor)
	}
	return r, nil
}

// call makes a request as soon as the client is connected; where it is not, it waits
// for the end of the attempt that is being made. body is given the connection.
func (c *client) call(p *sim.Process, body func(on) any) (reply, error) {
	if !c.up {
		p.Wait(c.turn, forever)
	}
	if !c.up {
		return reply{}, errOffline
	}
	return c.request(p, body(c.on()))
}

// listen takes in events while connection link lasts.
func (c *client) listen(p *sim.Process, link int) {
	for c.link == link && c.up {
		r, err := sim.Call[reply](p, c.servers[c.at], listen{c.on(), c.events}, -1)
		if c.link != link {
			return
		}
		if err != nil || r.Code == connectionLoss {
			c.lose(p, link)
			return
		}
		c.heard, c.zxid = monotonic(p), max(c.zxid, r.Zxid)
		c.got(r)
	}
}

// got takes in the events that came with a reply, which may have come before.
func (c *client) got(r reply) {
	for i, w := range r.Events {
		if r.From+i < c.events {
			continue
		}
		c.events++
		c.watches = slices.DeleteFunc(c.watches, func(x *watching) bool {
			if x.watch != w {
				return false
			}
			x.fired.Fire()
			return true
		})
	}
}

// watch takes down a watch that a server has set.
func (c *client) watch(w watch) *watching {
	x := &watching{watch: w}
	c.watches = append(c.watches, x)
	return x
}

// lose is what the client does when connection link is lost: it is SUSPENDED.
func (c *client) lose(p *sim.Process, link int) {
	if link != c.link || !c.up {
		return
	}
	c.up = false
	c.down.Fire()
	switch c.lock.Stop {
	case Suspended:
		for _, h := range c.live() {
			h.hooks.GiveUp(p)
		}
	case Lost:
		c.estimate = p.Machine().SetAlarm(clock.Monotonic, monotonic(p)+c.timeout, func() { c.expired(p, false) })
	}
}

// live is what the client holds.
func (c *client) live() []*holding {
	var list []*holding
	for _, h := range c.held {
		if !h.lost {
			list = append(list, h)
		}
	}
	return list
}

// expired is what the client does when its session is over, as it was told, or as it
// thinks: it is LOST, and will ask for another session.
func (c *client) expired(p *sim.Process, told bool) {
	c.estimate.Cancel()
	c.session, c.zxid = 0, 0
	for _, w := range c.watches {
		w.fired.Fire()
	}
	c.watches = nil
	for _, h := range c.live() {
		h.lost = true
		switch {
		case c.lock.Stop == Never:
		case told:
			h.hooks.Lost(p)
		default:
			h.hooks.GiveUp(p)
		}
	}
}

// bury deletes what could not be deleted before.
func (c *client) bury(p *sim.Process) {
	for len(c.graves) > 0 {
		path := c.graves[0]
		if _, err := c.call(p, func(o on) any { return remove{o, path, -1} }); err != nil {
			return
		}
		c.graves = slices.DeleteFunc(c.graves, func(x string) bool { return x == path })
	}
}
