package service

import (
	"locksim/models/option"
)

// Read is how the leader answers a question.
type Read uint8

// The ways to read.
const (
	// ReadIndex: it first hears from a majority that it still is the leader.
	ReadIndex Read = iota
	// Memory: it answers what it has, at once. It may have a successor that it does
	// not know of: this is the mistake.
	Memory
)

var readNames = []string{ReadIndex: "read-index", Memory: "memory"}

// String is the way's name: "read-index" or "memory".
func (r Read) String() string { return readNames[r] }

// MarshalText writes the way's name.
func (r Read) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a way's name.
func (r *Read) UnmarshalText(text []byte) error {
	return option.Parse("read", readNames[:], text, r)
}

// Wake is who is told when the lock is free.
type Wake uint8

// The ways to wake.
const (
	// Next: the first of the queue, which holds the lock by then.
	Next Wake = iota
	// All: everybody who waits, and they ask again. There is no queue. This is the
	// mistake, a herd.
	All
)

var wakeNames = []string{Next: "next", All: "all"}

// String is the way's name: "next" or "all".
func (w Wake) String() string { return wakeNames[w] }

// MarshalText writes the way's name.
func (w Wake) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a way's name.
func (w *Wake) UnmarshalText(text []byte) error {
	return option.Parse("wake", wakeNames[:], text, w)
}

// Token is what a grant's fencing token is.
type Token uint8

// The tokens.
const (
	// Index: the place in the log of the command that asked for the lock.
	Index Token = iota
	// Counter: how many locks this leader has granted, by its own count. Its successor
	// begins anew: this is the mistake.
	Counter
)

var tokenNames = []string{Index: "index", Counter: "counter"}

// String is the token's name: "index" or "counter".
func (t Token) String() string { return tokenNames[t] }

// MarshalText writes the token's name.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a token's name.
func (t *Token) UnmarshalText(text []byte) error {
	return option.Parse("token", tokenNames[:], text, t)
}
