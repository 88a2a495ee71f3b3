package sim

import (
	"time"

	"locksim/clock"
	"locksim/history"
)

// Handler is what a server does. It handles one request at a time, to
// completion, at one instant; what it needs later it schedules with
// [Server.After] or [Machine.SetAlarm], or it keeps the request and replies to
// it later.
type Handler interface {
	Serve(s *Server, r Request)
}

// Server is a handler on a machine of its own.
type Server struct {
	m       *Machine
	handler Handler
	// Local servers are reached without the network: messages to and from them
	// take no time and cannot be lost. An ideal lock service is one.
	local  bool
	down   bool
	silent bool // down, and nothing answers for it
}

// Server puts up a server called name.
func (w *World) Server(name string, h Handler) *Server {
	m := w.machine(name)
	m.kept = Server{m: m, handler: h}
	m.server = &m.kept
	return m.server
}

// LocalServer puts up a server that is reached without the network: messages to
// and from it take no time.
func (w *World) LocalServer(name string, h Handler) *Server {
	s := w.Server(name, h)
	s.local = true
	return s
}

// Local tells whether the server is reached without the network.
func (s *Server) Local() bool { return s.local }

func (m *Machine) local() bool { return m.server != nil && m.server.local }

// Name is the server's name.
func (s *Server) Name() string { return s.m.name }

// Machine is what the server runs on.
func (s *Server) Machine() *Machine { return s.m }

// Handler is what the server does.
func (s *Server) Handler() Handler { return s.handler }

// World is where s lives.
func (s *Server) World() *World { return s.m.w }

// Now is what clock k of the server shows.
func (s *Server) Now(k clock.Kind) time.Duration { return s.m.Read(k) }

// After lets f happen when d has passed on clock k of the server.
func (s *Server) After(k clock.Kind, d time.Duration, f func()) Alarm {
	return s.m.SetAlarm(k, later(s.Now(k), d), f)
}

// Record adds a fact about the server to the history: e.Who becomes its name.
func (s *Server) Record(e history.Event) {
	e.Who = s.m.name
	s.m.w.Record(e)
}

// Request is one message to a server. A handler may keep it and reply later.
type Request struct {
	// Body is what the client sent.
	Body any
	s    *Server
	from *Machine
	call Ticket
	era  int32
	conn *Conn
}

// From is the name of the process that sent the request.
func (r Request) From() string { return r.from.name }

// Reply answers the request. A server that has crashed since it came answers
// nothing, and whoever has stopped waiting hears nothing.
func (r Request) Reply(body any) {
	if r.s.down || r.era != r.s.m.lives || r.call == (Ticket{}) || r.conn != nil && r.conn.state == connClosed {
		return
	}
	r.s.m.w.transmit(r.s.m, event{kind: evReply, to: r.from, call: r.call, body: body})
}

// Forward sends body to another server; nobody waits for an answer. Replication
// is made of it. It takes extra longer than the link does.
func (s *Server) Forward(to *Server, body any, extra time.Duration) {
	s.m.w.transmitAfter(s.m, event{kind: evRequest, to: to.m, body: body}, extra)
}

// Whisper sends body to another server, as Forward does, but the history says
// nothing of it, nor of its loss. It is for what the servers of a group tell each
// other all the time, such as heartbeats: they would bury everything else. What
// comes of it (a leader is elected) is a fact to be recorded.
func (s *Server) Whisper(to *Server, body any) {
	s.m.w.whisper(s.m, event{kind: evRequest, to: to.m, body: body})
}

func (m *Machine) request(e *event) {
	s := m.server
	var c *call // nil when nobody waits for the answer any more
	if e.call != (Ticket{}) && m.w.calls[e.call.slot].gen == e.call.gen {
		c = &m.w.calls[e.call.slot]
	}
	if s.down {
		if s.silent || e.call == (Ticket{}) {
			return
		}
		err := ErrRefused
		if c != nil && (c.begun || c.conn != nil && c.conn.state != connNew) { // a copy of it came before the crash, or its connection did
			err = ErrReset
		}
		m.fail(e, err)
		return
	}
	// A request that was under way during a crash is lost with its connection, even
	// when the server is back by now.
	if e.era != m.lives {
		return
	}
	if m.frozen > 0 {
		m.due = append(m.due, *e)
		return
	}
	if c != nil {
		c.begun = true
	}
	r := Request{Body: e.body, s: s, from: e.from, call: e.call, era: e.era}
	if f, ok := e.body.(*frame); ok {
		r.Body, r.conn = f.body, f.conn
		if !r.conn.accept() {
			m.fail(e, ErrReset)
			return
		}
	}
	s.handler.Serve(s, r)
}

// fail is the answer of the server's kernel to a request that its process never
// sees.
func (m *Machine) fail(e *event, err error) {
	m.w.transmit(m, event{kind: evReply, to: e.from, call: e.call, body: failure{err}})
}

// Crash stops the server. With silent, nothing answers in its place, as after a
// loss of power; otherwise its machine resets every open connection and refuses
// new ones, as when only the process was killed.
func (s *Server) Crash(silent bool) {
	s.down, s.silent = true, silent
	s.m.crash()
	if silent {
		return
	}
	w := s.m.w
	for i := range w.calls {
		c := &w.calls[i]
		if c.open && !c.done && c.to == s {
			w.transmit(s.m, event{kind: evReply, to: c.owner.m, call: Ticket{uint32(i), c.gen}, body: failure{ErrReset}})
		}
	}
}

// Start brings a crashed server back.
func (s *Server) Start() { s.down, s.silent = false, false }

// Lives is how often the server has crashed. A connection to it from an earlier life is
// broken, which a client learns with the next thing that it sends on it.
func (s *Server) Lives() int { return int(s.m.lives) }

// Down tells whether the server has crashed and is not back.
func (s *Server) Down() bool { return s.down }
