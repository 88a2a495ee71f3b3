package sql

import (
	"cmp"
	"fmt"
	"strconv"

	"locksim/history"
	"locksim/models"
	"locksim/models/option"
	"locksim/sim"
)

// Documents is a row of the table documents(id, value, fence, version): a store in
// a database, which may be the one that keeps the lock. It answers
// models.ReadRequest and WriteRequest, each a transaction of its own unless it is
// part of the client's.
type Documents struct {
	// Called is the row's id, and how scripts call it.
	Called string `yaml:"name"`
	// Server is the database; "db" by default. If the world has one of that name, it
	// keeps the row; else one is put up.
	Server string `yaml:"server,omitempty"`
	// Check is what an UPDATE asks before it changes the row: nothing by default.
	Check Check `yaml:"check,omitempty"`
	// Transaction: what a client reads and writes is part of the transaction that its
	// lock has begun in that database. Without one it is refused.
	Transaction bool `yaml:"transaction,omitempty"`
}

// Check is the condition of an UPDATE.
type Check uint8

// The conditions.
const (
	// Unchecked: WHERE id = :id.
	Unchecked Check = iota
	// ByFence: … AND fence <= :token. 0 rows mean that a newer holder wrote.
	ByFence
	// ByVersion: … AND version = :version, that which the client had read. 0 rows mean
	// that somebody wrote since.
	ByVersion
)

var checkNames = [...]string{Unchecked: "none", ByFence: "fence", ByVersion: "version"}

// String is the condition's name: "none", "fence" or "version".
func (c Check) String() string { return option.Name(checkNames[:], c) }

// MarshalText writes the condition's name.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a condition's name.
func (c *Check) UnmarshalText(text []byte) error {
	return option.Parse("check of a document", checkNames[:], text, c)
}

// Name is how scripts call the row.
func (d Documents) Name() string { return d.Called }

// Open lets the database keep the row.
func (d Documents) Open(w *sim.World) (*sim.Server, error) {
	if err := option.Check("check", checkNames[:], d.Check); err != nil {
		return nil, err
	}
	db, err := keeper(w, d.Server)
	if err != nil {
		return nil, err
	}
	r := db.tables.documents.place(d.Called)
	r.versions = append(r.versions, version{0, document{}})
	db.kept = append(db.kept, &d)
	return db.server, nil
}

// keeper is the database called name, which is put up if there is none.
func keeper(w *sim.World, name string) (*Database, error) {
	name = cmp.Or(name, "db")
	m := w.Machine(name)
	if m == nil {
		s, err := Open(w, name, Options{})
		if err != nil {
			return nil, err
		}
		return s.Handler().(*Database), nil
	}
	if s := m.Server(); s != nil {
		if db, ok := s.Handler().(*Database); ok {
			return db, nil
		}
	}
	return nil, fmt.Errorf("%s is no database", name)
}

// document is what db keeps under a name; nil for nothing.
func (db *Database) document(name string) *Documents {
	for _, d := range db.kept {
		if d.Called == name {
			return d
		}
	}
	return nil
}

type document struct {
	value   string
	fence   int64
	version int64
}

type selectDocument struct{ q models.ReadRequest }

func (*selectDocument) Label() string { return "SELECT documents" }

func (s *selectDocument) run(x *running) Result {
	d, ok := get[document](x, &x.db.tables.documents, s.q.Object)
	if !ok {
		return Result{}
	}
	return Result{Rows: 1, Text: d.value, Number: d.version}
}

func (*selectDocument) answer(r Result) any {
	return models.Object{Value: r.Text, Version: r.Number, ETag: strconv.FormatInt(r.Number, 10)}
}

type updateDocument struct{ q models.WriteRequest }

func (*updateDocument) Label() string { return "UPDATE documents" }

// run records the write when it is decided: one that is accepted, when it is
// committed.
func (s *updateDocument) run(x *running) Result {
	kept := x.db.document(s.q.Object)
	if kept == nil {
		return Result{}
	}
	var after document
	res := update(x, &x.db.tables.documents, s.q.Object, kept.accepts(s.q), func(d document) document {
		after = document{s.q.Value, max(d.fence, s.q.Token), d.version + 1}
		return after
	})
	switch {
	case res.waits:
	case res.Rows == 1:
		x.record(s.event(x, history.OK, after.version))
		x.tx.doubts = append(x.tx.doubts, s.event(x, history.Refused, after.version-1))
	default:
		d, _ := get[document](x, &x.db.tables.documents, s.q.Object)
		x.db.server.Record(s.event(x, history.Refused, d.version))
	}
	return res
}

func (s *updateDocument) event(x *running, outcome history.Outcome, version int64) history.Event {
	return history.Event{
		Kind: history.Write, Peer: x.request.From(), Lock: s.q.Object, Value: s.q.Value,
		Grant: s.q.Grant, Token: s.q.Token, Base: s.q.Base, Outcome: outcome, Version: version,
	}
}

func (*updateDocument) answer(r Result) any { return models.Written{OK: r.Rows == 1} }

// accepts is the condition of an UPDATE.
func (d *Documents) accepts(q models.WriteRequest) func(document) bool {
	switch d.Check {
	case ByFence:
		return func(r document) bool { return q.Token > 0 && r.fence <= q.Token }
	case ByVersion:
		return func(r document) bool { return strconv.FormatInt(r.version, 10) == q.IfMatch }
	}
	return func(document) bool { return true }
}

// homeless is a statement of a transaction that is gone: it does nothing.
type homeless struct{ statement }

func (h *homeless) run(x *running) Result {
	if s, ok := h.statement.(*updateDocument); ok {
		d, _ := get[document](x, &x.db.tables.documents, s.q.Object)
		x.db.server.Record(s.event(x, history.Refused, d.version))
	}
	return Result{}
}

func (h *homeless) answer(r Result) any { return h.statement.(translator).answer(r) }
