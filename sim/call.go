package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/clock"
)

// The ways in which a call can fail. After ErrTimeout and ErrReset its outcome is
// unknown: it may have taken effect. After ErrRefused it has not.
var (
	ErrTimeout = errors.New("no reply in time")
	ErrReset   = errors.New("connection reset")
	ErrRefused = errors.New("connection refused")
)

// Ticket names one call whose reply is awaited. The zero Ticket names none.
type Ticket struct{ slot, gen uint32 }

type call struct {
	gen   uint32
	open  bool
	done  bool
	begun bool // the server has got it
	left  int32
	owner *Process
	to    *Server
	conn  *Conn // nil for a call without a connection
	reply any
	err   error
}

// failure is the body of a message that stands for a broken connection.
type failure struct{ err error }

// Send sends body to a server and returns without waiting. It is a step, "send".
func (p *Process) Send(to *Server, body any) Ticket {
	if p.gone() {
		return Ticket{}
	}
	p.count()
	p.Step("send")
	t := p.w.openCall(p, to)
	p.w.transmit(p.m, event{kind: evRequest, to: to.m, call: t, body: body})
	return t
}

// Await waits for the reply to t, no longer than timeout on p's monotonic clock,
// and reads it: a step, "receive". Either way t is closed: a later reply goes
// nowhere.
func (p *Process) Await(t Ticket, timeout time.Duration) (any, error) {
	p.one[0] = t
	_, body, err := p.AwaitAny(p.one[:], timeout)
	return body, err
}

// AwaitAny waits for the first reply to any of ts and reads it: a step,
// "receive". It returns that ticket's index and makes it zero in ts; zero tickets
// are passed over. When timeout is over on p's monotonic clock, it closes all of
// ts and returns ErrTimeout. A negative timeout never is.
func (p *Process) AwaitAny(ts []Ticket, timeout time.Duration) (int, any, error) {
	if p.gone() {
		return -1, nil, ErrReset
	}
	p.passed()
	i := p.replied(ts)
	if i < 0 && timeout >= 0 {
		p.arm(clock.Monotonic, later(p.m.Read(clock.Monotonic), timeout))
	}
	if i < 0 {
		p.awaits = ts
		p.park()
		p.awake()
		p.awaits = nil
		i = p.replied(ts)
	}
	p.Step("receive")
	if i < 0 {
		for j := range ts {
			p.w.close(ts[j])
			ts[j] = Ticket{}
		}
		return -1, nil, ErrTimeout
	}
	c := &p.w.calls[ts[i].slot]
	body, err := c.reply, c.err
	if err == nil {
		p.left = c.left
		p.latest = max(p.latest, c.left)
	}
	p.w.close(ts[i])
	ts[i] = Ticket{}
	return i, body, err
}

// Call sends body to a server and waits for its reply, an R.
func Call[R any](p *Process, to *Server, body any, timeout time.Duration) (R, error) {
	reply, err := p.Await(p.Send(to, body), timeout)
	if err != nil {
		var none R
		return none, fmt.Errorf("%s: %w", to.Name(), err)
	}
	return answerOf[R](p, to, reply), nil
}

// answerOf is a reply as what p wants it to be.
func answerOf[R any](p *Process, from *Server, reply any) R {
	r, ok := reply.(R)
	if !ok {
		panic(fmt.Sprintf("sim: %s replied with a %T, %s wants a %T", from.Name(), reply, p.Name(), r))
	}
	return r
}

// Left is the position in the history at which the reply that p has read last
// left its server; 0 when it has read none.
func (p *Process) Left() int { return int(p.left) }

// Latest is the greatest such position among all replies that p has read. Replies
// of several servers can be read in another order than they left in.
func (p *Process) Latest() int { return int(p.latest) }

// replied finds the first of ts, in their order, whose reply is there.
func (p *Process) replied(ts []Ticket) int {
	for i, t := range ts {
		if t == (Ticket{}) {
			continue
		}
		if c := &p.w.calls[t.slot]; c.gen == t.gen && c.done {
			return i
		}
	}
	return -1
}

func (w *World) openCall(p *Process, to *Server) Ticket {
	var i uint32
	if n := len(w.freed); n > 0 {
		i = w.freed[n-1]
		w.freed = w.freed[:n-1]
	} else {
		i = uint32(len(w.calls))
		w.calls = append(w.calls, call{gen: 1})
	}
	c := &w.calls[i]
	c.open, c.owner, c.to = true, p, to
	return Ticket{i, c.gen}
}

func (w *World) close(t Ticket) {
	if t != (Ticket{}) && w.calls[t.slot].gen == t.gen {
		w.closeCall(t.slot)
	}
}

func (w *World) closeCall(i uint32) {
	gen := w.calls[i].gen
	if w.calls[i].open {
		gen++
	}
	w.calls[i] = call{gen: gen}
	w.freed = append(w.freed, i)
}

// reply brings an answer to the process that waits for it, and returns that if it
// is to be resumed.
func (m *Machine) reply(e *event) *Process {
	c := &m.w.calls[e.call.slot]
	if c.gen != e.call.gen || !c.open || c.done {
		return nil
	}
	p := c.owner
	if p.held(e) {
		return nil
	}
	c.done, c.left = true, e.left
	if f, ok := e.body.(failure); ok {
		c.err = f.err
	} else {
		c.reply = e.body
	}
	if p.state == stateWaiting && slices.Contains(p.awaits, e.call) {
		return p
	}
	return nil
}
