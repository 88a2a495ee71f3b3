package sql

import (
	"strconv"
	"time"

	"locksim/history"
)

// lease is a row of the table leases(name PRIMARY KEY, owner, expires_at, fence,
// beat).
type lease struct {
	owner   string
	expires int64
	fence   int64
	beat    int64 // the record's version: it rises with each change
	// due is no column: when the lease is over by the server's own clock. It tells
	// whether a lease that is taken had expired or was only thought to have.
	due int64
}

// value is by which the record knows the grant.
func (l lease) value() string { return l.owner + ":" + strconv.FormatInt(l.fence, 10) }

// date is what a statement of an application says of time.
type date struct {
	// App: the application's own clock shows Now, in milliseconds, and the statement
	// says so (:now). Else it says now().
	App bool
	Now int64
	// Naive: the column is a timestamp without time zone, which keeps what a clock on
	// the wall of Zone shows, the time zone of the session.
	Naive bool
	Zone  time.Duration
}

// now is the date that the statement goes by, as the column keeps it.
func (d date) now(x *running) int64 {
	now := x.date()
	if d.App {
		now = d.Now
	}
	if d.Naive {
		now += d.Zone.Milliseconds()
	}
	return now
}

// The statements on leases.
type (
	// SeedLease is INSERT INTO leases … ON CONFLICT DO NOTHING, or INSERT IGNORE: the
	// row of a lease that nobody has.
	SeedLease struct{ Name string }
	// TakeLease is UPDATE leases SET owner = :owner, expires_at = now() + :ttl, fence =
	// fence + 1 WHERE name = :name AND expires_at < now(). PostgreSQL returns the fence
	// (RETURNING fence), in Number; the others keep it in LAST_INSERT_ID(fence + 1).
	// With Seen, for a client that has watched the record, it is WHERE beat = :seen.
	TakeLease struct {
		Name, Owner string
		TTL         time.Duration
		Date        date
		Seen        int64
	}
	// ExtendLease is UPDATE leases SET expires_at = now() + :ttl WHERE name = :name AND
	// owner = :owner AND fence = :fence.
	ExtendLease struct {
		Name, Owner string
		Fence       int64
		TTL         time.Duration
		Date        date
	}
	// DropLease is UPDATE leases SET owner = '', expires_at = '1970-01-01' WHERE name =
	// :name AND owner = :owner AND fence = :fence, or less than that, by Match.
	DropLease struct {
		Name, Owner string
		Fence       int64
		Match       Match
	}
	// SelectLease is SELECT owner, beat FROM leases: Text and Number.
	SelectLease struct{ Name string }
)

// Label is the statement.
func (*SeedLease) Label() string { return "INSERT leases" }

// Label is the statement.
func (*TakeLease) Label() string { return "UPDATE leases" }

// Label is the statement.
func (*ExtendLease) Label() string { return "UPDATE leases" }

// Label is the statement.
func (*DropLease) Label() string { return "UPDATE leases" }

// Label is the statement.
func (*SelectLease) Label() string { return "SELECT leases" }

func (s *SeedLease) run(x *running) Result {
	return insert(x, &x.db.tables.leases, s.Name, lease{}, true)
}

// run takes a lease that is free: at exactly expires_at it is not yet (measured on
// PostgreSQL 15).
func (s *TakeLease) run(x *running) Result {
	now, client := s.Date.now(x), x.request.From()
	if r := x.db.tables.leases.place(s.Name); x.db.migrated && len(r.versions) == 0 {
		r.versions = append(r.versions, version{0, lease{}})
	}
	free := func(l lease) bool { return l.expires < now }
	if s.Seen > 0 {
		free = func(l lease) bool { return l.beat == s.Seen }
	}
	res := update(x, &x.db.tables.leases, s.Name, free, func(l lease) lease {
		x.freed(s.Name, l, client)
		return lease{s.Owner, now + s.TTL.Milliseconds(), l.fence + 1, l.beat + 1, x.date() + s.TTL.Milliseconds()}
	})
	if res.Rows == 0 {
		return res
	}
	l, _ := get[lease](x, &x.db.tables.leases, s.Name)
	if x.db.options.Dialect == Postgres {
		res.Number = l.fence
	} else {
		x.s.lastID = l.fence
	}
	return res
}

// freed notes that a lease is over that another takes.
func (x *running) freed(name string, l lease, by string) {
	switch {
	case l.owner == "":
	case l.due < x.date():
		x.record(history.Event{Kind: history.Freed, Lock: name, Value: l.value(), Why: history.FreedExpired})
	default:
		x.record(history.Event{Kind: history.Freed, Lock: name, Value: l.value(), Why: history.FreedOverwritten, Peer: by})
	}
}

// record notes a fact that is one when x's transaction is committed.
func (x *running) record(e history.Event) { x.tx.facts = append(x.tx.facts, e) }

func (s *ExtendLease) run(x *running) Result {
	mine := func(l lease) bool { return l.owner == s.Owner && l.fence == s.Fence }
	return update(x, &x.db.tables.leases, s.Name, mine, func(l lease) lease {
		l.expires, l.due = s.Date.now(x)+s.TTL.Milliseconds(), x.date()+s.TTL.Milliseconds()
		l.beat++
		return l
	})
}

func (s *DropLease) run(x *running) Result {
	mine := func(l lease) bool {
		return (s.Match == ByName || l.owner == s.Owner) && (s.Match != ByOwnerAndFence || l.fence == s.Fence)
	}
	return update(x, &x.db.tables.leases, s.Name, mine, func(l lease) lease {
		if l.owner != "" {
			x.record(history.Event{Kind: history.Freed, Lock: s.Name, Value: l.value(), Why: history.FreedDeleted, Peer: x.request.From()})
		}
		return lease{fence: l.fence, beat: l.beat + 1}
	})
}

func (s *SelectLease) run(x *running) Result {
	l, ok := get[lease](x, &x.db.tables.leases, s.Name)
	if !ok {
		return Result{}
	}
	return Result{Rows: 1, Number: l.beat, Text: l.owner}
}
