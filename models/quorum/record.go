package quorum

import (
	"math"
	"time"
)

// record is what a replica keeps under a key. Without a value it is a deletion,
// which keeps its timestamp and token.
type record struct {
	value string
	token int64
	stamp time.Duration // the timestamp: the writer's wall clock at the write
	ttl   time.Duration // of a value
	by    string        // who wrote it
	// expired: it was a value, and its term is over.
	expired bool
}

// nothing is the record of a key that was never written: older than any.
var nothing = record{stamp: math.MinInt64}

// newer tells whether r takes the place of old: last write wins. Of equal
// timestamps a deletion wins, and of two values the lexically greater one.
func (r record) newer(old record) bool {
	switch {
	case r.stamp != old.stamp:
		return r.stamp > old.stamp
	case r.value == "" || old.value == "":
		return r.value == "" && old.value != ""
	}
	return r.value > old.value
}

// over tells whether the term of r is over when the clock shows now.
func (r record) over(now time.Duration) bool {
	return r.value != "" && now-r.stamp >= r.ttl
}
