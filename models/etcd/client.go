package etcd

import (
	"math"
	"time"

	"locksim/sim"
)

// client is one process's connection to the cluster.
type client struct {
	nodes []*sim.Server // its list
	at    int           // which of them it talks to
	// life is that of the node in which its connection was last found whole.
	life int
	// told ends the wait of a watch, when it has been told or its connection is given
	// up; nil while there is none.
	told *sim.Signal
	// sessions are those that hold a lock.
	sessions []*session
}

// pace is the pause before a read is repeated (client/v3/options.go:
// defaultBackoffWaitBetween).
const pace = 25 * time.Millisecond

// client is that of p's process.
func (l *lock) client(p *sim.Process) *client {
	c := l.clients[p.Name()]
	if c == nil {
		c = &client{nodes: l.nodes}
		l.clients[p.Name()] = c
	}
	return c
}

// ask sends one request to the node that the client talks to. Where the answer does
// not come in time, its next request goes to the next node.
func ask[R any](p *sim.Process, c *client, body any, timeout time.Duration) (R, error) {
	at := c.at
	life := c.nodes[at].Lives()
	answer, err := sim.Call[R](p, c.nodes[at], body, timeout)
	if err != nil {
		c.leave(at)
	} else {
		c.stay(at, life)
	}
	return answer, err
}

// stay is for when a node has answered in a life of its own. One that has lost power
// and is back knows nothing of the watch that came on the same connection before.
func (c *client) stay(at, life int) {
	if c.at != at || c.life == life {
		return
	}
	c.life = life
	if c.told != nil {
		c.told.Fire()
	}
}

// leave goes on to the next node, unless another thread has done so.
func (c *client) leave(at int) {
	if c.at != at {
		return
	}
	c.at = (at + 1) % len(c.nodes)
	if c.told != nil {
		c.told.Fire()
	}
}

// insist is ask for what changes nothing: it is repeated until there is an answer.
func insist[R any](p *sim.Process, c *client, body any, timeout time.Duration) R {
	for {
		answer, err := ask[R](p, c, body, timeout)
		if err == nil {
			return answer
		}
		p.Sleep(pace)
	}
}

// await watches until it is told, or until the client gives up the connection, or
// finds it broken: it is the keepalive of its session that notices a node that does
// not answer any more, or does not know it. A thread of its own reads what the node sends.
func (c *client) await(p *sim.Process, w watch) {
	var told sim.Signal
	c.told = &told
	p.Go("watch", func(t *sim.Process) {
		at := c.at
		if _, err := t.Await(t.Send(c.nodes[at], w), forever); err != nil {
			c.leave(at)
		}
		told.Fire()
	})
	p.Wait(&told, math.MaxInt64)
	c.told = nil
}

// forever is the patience of a watch.
const forever = -1

// take hands out the session that holds the lock by that key; nil where there is none.
func (c *client) take(key string) *session {
	for i, s := range c.sessions {
		if s.grant.Value == key {
			c.sessions = append(c.sessions[:i], c.sessions[i+1:]...)
			return s
		}
	}
	return nil
}
