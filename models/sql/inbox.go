package sql

import (
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// Inbox is a consumer that works a message off in a database: INSERT INTO
// processed(id), and its effect, in one transaction. It answers
// models.EffectRequest, whose key is the message.
type Inbox struct {
	Called string `yaml:"name"`
	// Server is the database; "db" by default, as for [Documents].
	Server string `yaml:"server,omitempty"`
	// Unique: processed(id) is UNIQUE, so that a message that comes again is a duplicate
	// and has no effect.
	Unique bool `yaml:"unique,omitempty"`
}

// Name is how scripts call the inbox.
func (i Inbox) Name() string { return i.Called }

// Open lets the database keep the inbox.
func (i Inbox) Open(w *sim.World) (*sim.Server, error) {
	db, err := keeper(w, i.Server)
	if err != nil {
		return nil, err
	}
	db.unique = i.Unique
	return db.server, nil
}

type process struct{ q models.EffectRequest }

func (*process) Label() string { return "INSERT processed" }

func (s *process) run(x *running) Result {
	res := Result{Rows: 1}
	if x.db.unique {
		res = insert(x, &x.db.tables.done, s.q.Key, true, false)
	}
	if !res.waits && res.Err == nil {
		x.record(history.Event{Kind: history.Effect, Peer: x.request.From(), Lock: s.q.Key, Grant: s.q.Grant})
	}
	return res
}

func (*process) answer(r Result) any { return models.Written{OK: r.Rows == 1} }
