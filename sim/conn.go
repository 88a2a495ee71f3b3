package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrClosed is the error of a call on a connection that the process's own kernel
// knew to be closed: nothing was sent.
var ErrClosed = errors.New("connection closed")

// Conn is a connection of a process to a server, as TCP makes one. It stands until
// an end closes it, the process at an end is gone, or a fault resets it.
//
// The kernels of the two machines keep it, not the code that uses it. So a process
// that is stopped keeps its connections, and each end learns of the other's end by
// itself: the server's handler is told ([ConnHandler]), the process notices when
// it next uses the connection.
//
// Opening one takes no time of its own: the first request does it.
type Conn struct {
	client *Machine
	server *Server
	state  connState // of the server's end
	era    int32     // how often the server had crashed when it accepted
	cut    bool      // the kernel at the client's end knows that it is closed
}

type connState uint8

const (
	connNew connState = iota
	connOpen
	connClosed
)

// ConnHandler is a handler that keeps something for each connection, and is told
// when one of them has ended. A crash ends them all; of that it is not told.
type ConnHandler interface {
	Handler
	Disconnected(s *Server, c *Conn)
}

// frame is a request on a connection.
type frame struct {
	conn *Conn
	body any
}

// Label is that of what it carries.
func (f *frame) Label() string {
	if n, ok := f.body.(named); ok {
		return n.Label()
	}
	return ""
}

// Dial makes a connection of p's to a server.
func (p *Process) Dial(to *Server) *Conn {
	c := &Conn{client: p.m, server: to}
	if !p.gone() {
		p.m.conns = append(p.m.conns, c)
	}
	return c
}

// Hangup closes a connection of p's. The server is told a hop later.
func (p *Process) Hangup(c *Conn) {
	if !p.gone() {
		p.m.hangUp(c)
	}
}

// CallOn is [Call] on a connection. Where p's kernel knows that the connection is
// closed, it is ErrClosed at once, and nothing was sent; where the server has
// closed it and p's kernel has not heard of that, ErrReset.
func CallOn[R any](p *Process, c *Conn, body any, timeout time.Duration) (R, error) {
	var none R
	if c.cut && !p.gone() {
		return none, fmt.Errorf("%s: %w", c.server.Name(), ErrClosed)
	}
	t := p.Send(c.server, &frame{c, body})
	if t != (Ticket{}) {
		p.w.calls[t.slot].conn = c
	}
	reply, err := p.Await(t, timeout)
	if err != nil {
		return none, fmt.Errorf("%s: %w", c.server.Name(), err)
	}
	return answerOf[R](p, c.server, reply), nil
}

// Conn is the connection that the request came on; nil for none.
func (r Request) Conn() *Conn { return r.conn }

// Client is the name of the process at the other end.
func (c *Conn) Client() string { return c.client.name }

// Server is the server that it leads to.
func (c *Conn) Server() *Server { return c.server }

// Close closes the connection at the server's end. The kernel at the other end is
// told a hop later, unless it cannot be reached.
func (c *Conn) Close() {
	if c.state != connOpen {
		return
	}
	c.state = connClosed
	c.server.m.w.quietly(c.server.m, event{kind: evClosed, to: c.client, body: c})
}

// Liveness is what a probe of the kernel's (TCP keepalive) finds out.
type Liveness uint8

// What a probe finds.
const (
	// Alive: the kernel at the other end answers. It does so for a process that is
	// stopped, as by a garbage collection or a signal.
	Alive Liveness = iota
	// Gone: it answers that there is no such connection.
	Gone
	// Silent: nothing answers, since the machine is suspended or cut off.
	Silent
)

// Probe asks the kernel at the client's end whether the connection stands. A probe
// and its answer take no time.
func (c *Conn) Probe() Liveness {
	w, m := c.client.w, c.client
	switch {
	case m.asleep > 0 || !w.reaches(c.server.m, m) || !w.reaches(m, c.server.m):
		return Silent
	case c.cut || m.Dead():
		return Gone
	}
	return Alive
}

// reaches tells whether a rule keeps the kernel of a machine from another's.
func (w *World) reaches(from, to *Machine) bool {
	verdict, _ := w.rule(from, &event{kind: evClosed, to: to})
	return verdict.kind != drop
}

// ResetConns resets the connections of a process to a server: at both ends at
// once, what is under way on them is lost. It returns how many there were.
func (w *World) ResetConns(process, server string) int {
	m, n := w.Machine(process), 0
	for _, c := range slices.Clone(m.conns) {
		if c.server.m.name != server || c.cut {
			continue
		}
		n++
		m.closed(c)
		w.timeline.Schedule(w.Now(), event{kind: evClosed, to: c.server.m, from: m, body: c})
	}
	return n
}

// accept lets a request in on the connection, if that stands.
func (c *Conn) accept() bool {
	lives := c.server.m.lives
	if c.state == connNew {
		c.state, c.era = connOpen, lives
	}
	return c.state == connOpen && c.era == lives
}

// hangUp closes a connection at the end of m, a client.
func (m *Machine) hangUp(c *Conn) {
	if c.cut {
		return
	}
	m.closed(c)
	m.w.quietly(m, event{kind: evClosed, to: c.server.m, body: c})
}

// hangUpAll is what the kernel does when the last thread of a process has ended.
func (m *Machine) hangUpAll() {
	for len(m.conns) > 0 {
		m.hangUp(m.conns[0])
	}
}

// closed takes in at a client's end that a connection is closed: who waits for an
// answer on it gets none.
func (m *Machine) closed(c *Conn) {
	c.cut = true
	m.conns = slices.DeleteFunc(m.conns, func(x *Conn) bool { return x == c })
	for i := range m.w.calls {
		if x := &m.w.calls[i]; x.open && !x.done && x.conn == c {
			m.w.timeline.Schedule(m.w.Now(), event{kind: evReply, to: m, call: Ticket{uint32(i), x.gen}, body: failure{ErrReset}})
		}
	}
}

// disconnected takes in, at either end, that the other has closed a connection.
func (m *Machine) disconnected(e *event) {
	c := e.body.(*Conn)
	switch {
	case m == c.client:
		if !c.cut { // the kernel's work: it needs no running process
			m.closed(c)
		}
	case m.frozen > 0:
		m.due = append(m.due, *e)
	default:
		stood := c.state == connOpen && c.era == m.lives && !m.server.down
		c.state = connClosed
		if h, ok := m.server.handler.(ConnHandler); ok && stood {
			h.Disconnected(m.server, c)
		}
	}
}

// quietly puts a message of the kernel's own on its link, of which the history says
// nothing.
func (w *World) quietly(from *Machine, e event) {
	if w.over {
		return
	}
	l := w.link(from, e.to)
	e.from = from
	l.last = max(later(w.Now(), l.draw()), l.last)
	if verdict, _ := w.rule(from, &e); verdict.kind != drop {
		w.timeline.Schedule(l.last, e)
	}
}
