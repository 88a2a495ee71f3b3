package resource

import (
	"crypto/md5"
	"encoding/hex"

	"locksim/models"
	"locksim/models/option"
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
	// IfMatch accepts a write if the object still has the entity tag that the writer
	// had read (If-Match), or if there is still no object (If-None-Match: *), and a
	// blind write always: the conditional writes of S3. A refusal is a 412, for an
	// If-Match where there is no object a 404, as AWS answers. The tag is the MD5 digest
	// of the value, as S3's is for most objects: equal values have equal tags. The 409
	// of S3, for writes that overlap, is not modelled: here each is one step.
	IfMatch
	// Equal accepts the first write, and then only the token that this came with,
	// greater or not: the storage of etcd's contrib/lock, the "executable example" of
	// Kleppmann's scenarios, which compares req.Version != val.version and whose
	// clients send the id of their lease.
	Equal
)

var checkNames = [...]string{Unchecked: "none", AtLeast: ">=", Greater: ">", Compare: "cas", IfMatch: "if-match", Equal: "=="}

// String is the check's name: "none", ">=", ">", "cas", "if-match" or "==".
func (c Check) String() string { return checkNames[c] }

// MarshalText writes the check's name.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a check's name.
func (c *Check) UnmarshalText(text []byte) error {
	return option.Parse("check", checkNames[:], text, c)
}

// accepts tells whether a write to o may be applied, and of a conditional one which
// condition held, or what S3 answers.
func (c Check) accepts(o *object, q models.WriteRequest) (ok bool, why string) {
	switch c {
	case AtLeast:
		return q.Token > 0 && q.Token >= o.token, ""
	case Greater:
		return q.Token > o.token, ""
	case Compare:
		return q.Mark != "" && q.Mark == o.mark, ""
	case IfMatch:
		return o.matches(q)
	case Equal:
		return o.now.Version == 0 || q.Token == o.token, ""
	}
	return true, ""
}

// matches is the check of a conditional write.
func (o *object) matches(q models.WriteRequest) (ok bool, why string) {
	const failed = "412 Precondition Failed"
	switch {
	case q.IfNoneMatch && o.now.Version == 0:
		return true, "If-None-Match"
	case q.IfNoneMatch:
		return false, failed
	case q.IfMatch == "":
		return true, ""
	case o.now.Version == 0:
		return false, "404 Not Found"
	case q.IfMatch != o.now.ETag:
		return false, failed
	}
	return true, "If-Match"
}

// etag is the entity tag of a value: the same for the same value.
func etag(value string) string {
	sum := md5.Sum([]byte(value))
	return hex.EncodeToString(sum[:])
}
