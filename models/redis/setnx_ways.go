package redis

import "locksim/models/option"

// Release is how a client gives up its lock.
type Release uint8

// The ways to release.
const (
	// Compare deletes the key if it has the client's value, in one step of the
	// server: DELEX IFEQ, a command since Redis 8.4.
	Compare Release = iota
	// GetThenDel compares in the client: GET, then DEL. The key can change hands
	// between the two.
	GetThenDel
	// PlainDel deletes the key, whoever's it is.
	PlainDel
	// Lua does what Compare does by the script of the Redis documentation.
	Lua
)

var releaseNames = [...]string{Compare: "compare", GetThenDel: "get-then-del", PlainDel: "del", Lua: "lua"}

// String is the way's name: "compare", "get-then-del", "del" or "lua".
func (r Release) String() string { return option.Name(releaseNames[:], r) }

// MarshalText writes the way's name.
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a way's name.
func (r *Release) UnmarshalText(text []byte) error {
	return option.Parse("way to release", releaseNames[:], text, r)
}

// Extend is how a client gives its key a new term.
type Extend uint8

// The ways to extend.
const (
	// CompareFirst is PEXPIRE if the key has the client's value, in one step of the
	// server, as a script does.
	CompareFirst Extend = iota
	// PlainPExpire is PEXPIRE of the key, whoever's it is.
	PlainPExpire
)

var extendNames = [...]string{CompareFirst: "compare", PlainPExpire: "pexpire"}

// String is the way's name: "compare" or "pexpire".
func (e Extend) String() string { return option.Name(extendNames[:], e) }

// MarshalText writes the way's name.
func (e Extend) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a way's name.
func (e *Extend) UnmarshalText(text []byte) error {
	return option.Parse("way to extend", extendNames[:], text, e)
}

// Value is whose the random value is by which a client knows its lock.
type Value uint8

// The scopes of a value.
const (
	// OwnValue: each grant has its own.
	OwnValue Value = iota
	// SharedValue: the clients stand for threads that use one Lock object, which keeps
	// one value, that of the grant that any of them was told of last. It is what a
	// release or an extension compares with, whoever calls it; a release leaves none,
	// and without one nothing is sent. So it is with redis-py's Lock where thread_local
	// is False (redis/lock.py, which says what that comes to).
	SharedValue
)

var valueNames = [...]string{OwnValue: "own", SharedValue: "shared"}

// String is the scope's name: "own" or "shared".
func (v Value) String() string { return option.Name(valueNames[:], v) }

// MarshalText writes the scope's name.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a scope's name.
func (v *Value) UnmarshalText(text []byte) error {
	return option.Parse("value", valueNames[:], text, v)
}

// Expire is how a key is given its expiry.
type Expire uint8

// The ways to give a key its expiry.
const (
	// Atomic sets it with the key: SET NX PX, one step of the server.
	Atomic Expire = iota
	// Separate sends a second command: SETNX, then PEXPIRE, as before Redis 2.6.12
	// (2012), and in libraries for long after. A client that dies between the two
	// leaves a key that stays for ever.
	Separate
)

var expireNames = [...]string{Atomic: "atomic", Separate: "separate"}

// String is the way's name: "atomic" or "separate".
func (e Expire) String() string { return option.Name(expireNames[:], e) }

// MarshalText writes the way's name.
func (e Expire) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a way's name.
func (e *Expire) UnmarshalText(text []byte) error {
	return option.Parse("way to expire", expireNames[:], text, e)
}

// Token is where the fencing token of a grant comes from: a counter beside the
// key, called KEY:fence, on the same server.
type Token uint8

// The sources of a token.
const (
	// NoToken: a grant has none.
	NoToken Token = iota
	// SeparateIncr counts with INCR once the key has been set. Another client can
	// do both between the two; then the older grant has the greater token.
	SeparateIncr
	// ScriptIncr sets the key and counts in one step of the server, as a script
	// does: the tokens rise with the grants, as long as the server keeps its data.
	ScriptIncr
)

var tokenNames = [...]string{NoToken: "none", SeparateIncr: "incr", ScriptIncr: "script"}

// String is the source's name: "none", "incr" or "script".
func (t Token) String() string { return option.Name(tokenNames[:], t) }

// MarshalText writes the source's name.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a source's name.
func (t *Token) UnmarshalText(text []byte) error {
	return option.Parse("token", tokenNames[:], text, t)
}

// Check is whom a client asks whether the lock is free.
type Check uint8

// The checks.
const (
	// NoCheck asks nobody: it is the SET NX that finds out.
	NoCheck Check = iota
	// CheckReplica asks the first replica with GET and, if there is no key, sets it on
	// the primary without NX. The replica may not have heard of a key that is there.
	CheckReplica
)

var checkNames = [...]string{NoCheck: "none", CheckReplica: "replica"}

// String is the check's name: "none" or "replica".
func (c Check) String() string { return option.Name(checkNames[:], c) }

// MarshalText writes the check's name.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a check's name.
func (c *Check) UnmarshalText(text []byte) error {
	return option.Parse("check", checkNames[:], text, c)
}
