package resource

import (
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Mailer sends what it is asked to send, and cannot take it back: doing the same
// twice is the damage. It answers models.EffectRequest.
type Mailer struct {
	Called string `yaml:"name"`
	// Idempotent: the mailer remembers each key and sends it once.
	Idempotent bool `yaml:"idempotent,omitempty"`
}

// Name is how scripts call the mailer.
func (m Mailer) Name() string { return m.Called }

// Open puts the mailer's server into w.
func (m Mailer) Open(w *sim.World) (*sim.Server, error) {
	return w.Server(m.Called, &mailer{once: m.Idempotent}), nil
}

type mailer struct {
	once bool
	sent map[string]bool
}

// Serve handles one request.
func (m *mailer) Serve(server *sim.Server, r sim.Request) {
	q, ok := r.Body.(models.EffectRequest)
	if !ok || m.once && m.sent[q.Key] {
		r.Reply(models.Written{})
		return
	}
	if m.sent == nil {
		m.sent = map[string]bool{}
	}
	m.sent[q.Key] = true
	server.Record(history.Event{Kind: history.Effect, Peer: r.From(), Lock: q.Key, Grant: q.Grant})
	r.Reply(models.Written{OK: true})
}
