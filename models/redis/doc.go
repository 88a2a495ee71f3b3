// Package redis is locks on Redis: SET NX PX on one server ([SetNX]) and Redlock
// on several ([Redlock]), both on simulated Redis servers ([Node]).
//
// # What is real
//
// The commands. Each of SET NX PX, GET, DEL, DELEX IFEQ and PEXPIRE is parsed and
// executed by miniredis, a Redis in Go, on its own dataset; there is no
// connection and no goroutine: a command is dispatched as a function call.
//
// # What is modelled
//
// When a key expires. Redis keeps the expiry of a key as an absolute date in
// whole milliseconds and looks at it when somebody touches the key: it is gone
// when now > expiry. Measured on Redis 7.0.15, for PX 30000: PTTL is 1 after
// 29999 ms; it is 0 after 30000 ms and the key still stands, so that SET NX is
// refused; after 30001 ms it is gone. A clock that is set back by 60 s right
// after the SET leaves a PTTL of about 90000: the lock outlives its TTL. One set
// forward by 60 s frees it at once. miniredis does none of these (it counts
// remaining times down, and drops a key at its very expiry), so here it never
// expires anything: the node keeps the date of each key, and deletes the key
// from miniredis when a command comes upon it too late. That is the only place
// where time touches the data.
//
// Also modelled: the append-only file ([Persistence]), a replica ([SetNX]), and
// one atomic command that Redis has only as a script: compare and PEXPIRE
// ([ExpireIfEqual]). DELEX with IFEQ is a command since Redis 8.4; before, it is
// the well-known script that does the same in one step.
//
// # Where it does not follow real Redis
//
//   - Redis also looks for expired keys about ten times a second. Nobody can tell
//     by commands, so the node does not. The record of an expiry is therefore as
//     late as the next command on that key.
//   - An fsync takes no time and never fails, and everysec syncs at the whole
//     seconds of the node's monotonic clock. Real Redis syncs about a second
//     after the last one, up to two seconds when the disk is slow.
//   - Real Redis cannot expire by its monotonic clock; the option is there to show
//     what that would cure and what not.
//   - A replica serves no clients until it is promoted.
//   - Replication has no resynchronisation: what a replica missed, because it was
//     down or the link lost it, it does not get later, and it keeps what it has
//     when its primary comes back empty. There is no WAIT. A primary that was
//     replaced takes no part any more.
package redis
