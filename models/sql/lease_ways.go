package sql

import "locksim/models/option"

// Match is by what a client finds its lease when it gives it up.
type Match uint8

// The ways to match.
const (
	// ByOwnerAndFence finds no lease but the one that was granted.
	ByOwnerAndFence Match = iota
	// ByOwner finds a later lease of the same owner too.
	ByOwner
	// ByName finds anybody's.
	ByName
)

var matchNames = [...]string{ByOwnerAndFence: "owner-and-fence", ByOwner: "owner", ByName: "name"}

// String is the way's name: "owner-and-fence", "owner" or "name".
func (m Match) String() string { return option.Name(matchNames[:], m) }

// MarshalText writes the way's name.
func (m Match) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a way's name.
func (m *Match) UnmarshalText(text []byte) error {
	return option.Parse("way to match", matchNames[:], text, m)
}

// Seed is where the row of a lease comes from.
type Seed uint8

// The ways to get a row.
const (
	// Insert tries to insert it before each attempt: INSERT … ON CONFLICT DO NOTHING,
	// or INSERT IGNORE.
	Insert Seed = iota
	// Exists: a migration has put it there.
	Exists
	// Missing: nobody has. An UPDATE finds no row, and there is no lease.
	Missing
)

var seedNames = [...]string{Insert: "insert", Exists: "exists", Missing: "missing"}

// String is the way's name: "insert", "exists" or "missing".
func (s Seed) String() string { return option.Name(seedNames[:], s) }

// MarshalText writes the way's name.
func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a way's name.
func (s *Seed) UnmarshalText(text []byte) error {
	return option.Parse("row", seedNames[:], text, s)
}

// Clock is by whose clock a lease is free.
type Clock uint8

// The clocks.
const (
	// DB is the database's: now().
	DB Clock = iota
	// App is that of the application that asks: :now.
	App
	// Watched is nobody's date: a client takes the lease when it has seen the record
	// unchanged for a TTL of its own monotonic clock, as cirello-io/pglock does.
	Watched
)

var clockNames = [...]string{DB: "db", App: "app", Watched: "watched"}

// String is the clock's name: "db", "app" or "watched".
func (c Clock) String() string { return option.Name(clockNames[:], c) }

// MarshalText writes the clock's name.
func (c Clock) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a clock's name.
func (c *Clock) UnmarshalText(text []byte) error {
	return option.Parse("clock", clockNames[:], text, c)
}
