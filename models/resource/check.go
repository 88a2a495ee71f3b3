package resource

import (
	"fmt"
	"slices"
	"strings"

	"locksim/models"
)

// Check is how a store decides whether to accept a write.
type Check uint8

// The checks of a store.
const (
	// Unchecked accepts every write.
	Unchecked Check = iota
	// AtLeast keeps the greatest token it has seen and rejects a smaller one: the
	// fence of Kleppmann 2016 as an UPDATE … WHERE fence <= :token. The same holder
	// may write twice.
	AtLeast
	// Greater rejects the same token too: each write needs a token of its own.
	Greater
	// Compare accepts a write only while the object still carries the mark that
	// the writer put on it by claiming it: a compare-and-set with the lock's random
	// value, which Sanfilippo 2016 holds against the need for a token's order.
	Compare
)

var checkNames = [...]string{Unchecked: "none", AtLeast: ">=", Greater: ">", Compare: "cas"}

// String is the check's name: "none", ">=", ">" or "cas".
func (c Check) String() string { return checkNames[c] }

// MarshalText writes the check's name.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a check's name.
func (c *Check) UnmarshalText(text []byte) error {
	i := slices.Index(checkNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no check %q: want one of %s", text, strings.Join(checkNames[:], ", "))
	}
	*c = Check(i)
	return nil
}

// accepts tells whether a write to o may be applied.
func (c Check) accepts(o *object, q models.WriteRequest) bool {
	switch c {
	case AtLeast:
		return q.Token > 0 && q.Token >= o.token
	case Greater:
		return q.Token > o.token
	case Compare:
		return q.Mark != "" && q.Mark == o.mark
	}
	return true
}
