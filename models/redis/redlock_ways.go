package redis

import (
	"slices"

	"locksim/models/option"
)

// Cleanup is on which nodes a client deletes its key again.
type Cleanup uint8

// The ways to clean up.
const (
	// OnAll deletes it on all nodes, even those that are believed not to have it: a
	// reply may have been lost after the key was set.
	OnAll Cleanup = iota
	// OnGranted deletes it only on the nodes that said OK. A key that was set
	// without a reply then stays until it expires.
	OnGranted
	// OnRelease deletes it on all nodes, but only to release a lock: after a failed
	// attempt the minority that was got stays until it expires.
	OnRelease
)

var cleanupNames = [...]string{OnAll: "all", OnGranted: "granted", OnRelease: "release-only"}

// String is the way's name: "all", "granted" or "release-only".
func (c Cleanup) String() string { return option.Name(cleanupNames[:], c) }

// MarshalText writes the way's name.
func (c Cleanup) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a way's name.
func (c *Cleanup) UnmarshalText(text []byte) error {
	return option.Parse("cleanup", cleanupNames[:], text, c)
}

// Sends is how the nodes are asked.
type Sends uint8

// The ways to ask.
const (
	// OneByOne waits for a node's answer before it asks the next.
	OneByOne Sends = iota
	// Parallel asks all and then reads the answers.
	Parallel
)

var sendsNames = [...]string{OneByOne: "one-by-one", Parallel: "parallel"}

// String is the way's name: "one-by-one" or "parallel".
func (s Sends) String() string { return option.Name(sendsNames[:], s) }

// MarshalText writes the way's name.
func (s Sends) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a way's name.
func (s *Sends) UnmarshalText(text []byte) error {
	return option.Parse("way to send", sendsNames[:], text, s)
}

// Tokens is how a client makes a fencing token of counters that the nodes keep,
// each its own, called KEY:fence. A node that sets the key counts up in the same
// step (a script). The majority of a grant is the first quorum of nodes whose OK
// the client reads; others count, but their counters do not go into the token.
//
// None of the ways gives an order: nodes that were not in a majority have not
// counted, so a later grant, on other nodes, may get the same token as an earlier
// one or a smaller.
type Tokens uint8

// The ways to make a token.
const (
	// NoTokens: a grant has none.
	NoTokens Tokens = iota
	// MaxOfCounters is the greatest of a majority's counters: two later grants can
	// have the same.
	MaxOfCounters
	// SumOfCounters is the sum of a majority's counters.
	SumOfCounters
	// MinOfCounters is the least of a majority's counters.
	MinOfCounters
)

var tokensNames = [...]string{NoTokens: "none", MaxOfCounters: "max", SumOfCounters: "sum", MinOfCounters: "min"}

// String is the way's name: "none", "max", "sum" or "min".
func (t Tokens) String() string { return option.Name(tokensNames[:], t) }

// MarshalText writes the way's name.
func (t Tokens) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a way's name.
func (t *Tokens) UnmarshalText(text []byte) error {
	return option.Parse("token", tokensNames[:], text, t)
}

// of is the token that a majority's counters make.
func (t Tokens) of(counters []int64) int64 {
	switch t {
	case MaxOfCounters:
		return slices.Max(counters)
	case MinOfCounters:
		return slices.Min(counters)
	case SumOfCounters:
		sum := int64(0)
		for _, n := range counters {
			sum += n
		}
		return sum
	}
	return 0
}
