package redis

import (
	"strconv"
	"strings"
	"time"
)

// The commands that a [Node] understands. They are sent as pointers and never
// changed after that, so one may be sent to several nodes.
type (
	// Set is SET Key Value NX PX TTL. The answer is a Status.
	Set struct {
		Key, Value string
		// TTL in whole milliseconds; 0 for a key that never expires (SET NX, which is
		// what SETNX does).
		TTL time.Duration
	}
	// Put is SET Key Value PX TTL without NX: it takes the place of whatever is
	// there. TTL is that of Set. The answer is a Status, always OK.
	Put struct {
		Key, Value string
		TTL        time.Duration
	}
	// SetIncr is a script: SET Key Value NX PX TTL and, if that did it, INCR Counter,
	// as one step of the server. The answer is an Integer: the counter, or 0 where
	// the key is there.
	SetIncr struct {
		Key, Value string
		TTL        time.Duration
		Counter    string
	}
	// Incr is INCR Key, of a key that no lock uses. The answer is an Integer.
	Incr struct{ Key string }
	// PExpire is PEXPIRE Key TTL, whatever the key's value. The answer is an
	// Integer: 1, or 0 where the key is not there.
	PExpire struct {
		Key string
		TTL time.Duration
	}
	// Wait is WAIT Replicas Timeout: how many replicas have what this client wrote
	// last on this server; the answer, an Integer, comes when Replicas of them have
	// it, or when Timeout is over.
	Wait struct {
		Replicas int
		Timeout  time.Duration
	}
	// Get is GET Key. The answer is a Bulk.
	Get struct{ Key string }
	// Del is DEL Key. The answer is an Integer, the number of keys deleted.
	Del struct{ Key string }
	// DelIfEqual is DELEX Key IFEQ Value: compare and delete as one step of the
	// server. The answer is an Integer, the number of keys deleted.
	DelIfEqual struct{ Key, Value string }
	// EvalDelIfEqual is the same by a script, as the Redis documentation has it: EVAL
	// "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1])
	// else return 0 end" 1 Key Value. The answer is an Integer, the number of keys
	// deleted.
	EvalDelIfEqual struct{ Key, Value string }
	// ExpireIfEqual is PEXPIRE Key TTL if the key has Value, as one step of the
	// server. The answer is an Integer: 1, or 0 where the value differs or the
	// key is not there.
	ExpireIfEqual struct {
		Key, Value string
		TTL        time.Duration
	}
	// ExpireOrSet is a script: PEXPIRE Key TTL if the key has Value, and SET Key Value
	// NX PX TTL where there is no such key, as one step of the server. The answer is an
	// Integer: 1, or 0 where the value differs.
	ExpireOrSet struct {
		Key, Value string
		TTL        time.Duration
	}
	// PTTL is PTTL Key. The answer is an Integer: milliseconds, -1 where the key
	// never expires, or -2 where it is not there.
	PTTL struct{ Key string }
)

// Label is the command's name in the history.
func (*Set) Label() string { return "SET" }

// Label is the command's name in the history.
func (*Put) Label() string { return "SET" }

// Label is the command's name in the history.
func (*SetIncr) Label() string { return "EVAL" }

// Label is the command's name in the history.
func (*Incr) Label() string { return "INCR" }

// Label is the command's name in the history.
func (*PExpire) Label() string { return "PEXPIRE" }

// Label is the command's name in the history.
func (*Wait) Label() string { return "WAIT" }

// Label is the command's name in the history.
func (*Get) Label() string { return "GET" }

// Label is the command's name in the history.
func (*Del) Label() string { return "DEL" }

// Label is the command's name in the history.
func (*DelIfEqual) Label() string { return "DELEX" }

// Label is the command's name in the history.
func (*EvalDelIfEqual) Label() string { return "EVAL" }

// Label is the command's name in the history.
func (*ExpireIfEqual) Label() string { return "PEXPIRE" }

// Label is the command's name in the history.
func (*ExpireOrSet) Label() string { return "EVAL" }

// Label is the command's name in the history.
func (*PTTL) Label() string { return "PTTL" }

// The answers, by their kinds in the Redis protocol.
type (
	// Status is true for OK and false for nil.
	Status bool
	// Integer is a number.
	Integer int64
	// Bulk is a string; Found is false for nil.
	Bulk struct {
		Value string
		Found bool
	}
	// Error says why the server did nothing: "NOREPLICAS …".
	Error string
)

// Label is the answer as redis-cli shows it, without the text behind the first word.
func (e Error) Label() string {
	word, _, _ := strings.Cut(string(e), " ")
	return word
}

func (e Error) Error() string { return string(e) }

// Label is the answer as redis-cli shows it.
func (s Status) Label() string {
	if s {
		return "OK"
	}
	return "nil"
}

// Label is the answer as redis-cli shows it.
func (i Integer) Label() string { return strconv.FormatInt(int64(i), 10) }

// Label is the answer as redis-cli shows it.
func (b Bulk) Label() string {
	if b.Found {
		return b.Value
	}
	return "nil"
}
