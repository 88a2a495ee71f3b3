// Package redis is locks on Redis: SET NX PX on one server ([SetNX]) and Redlock
// on several ([Redlock]), both on simulated Redis servers ([Node]).
//
// # What is real
//
// The commands. Each of SET with NX and PX or without, GET, DEL, DELEX IFEQ,
// PEXPIRE, INCR, and EVAL of the script that compares and deletes, is parsed and
// executed by miniredis, a Redis in Go, on its own dataset; there is no connection and
// no goroutine: a command is dispatched as a function call.
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
// Also modelled: the append-only file ([Persistence]), what a full memory does
// ([Eviction]), the replication below, and atomic commands that Redis has only as
// scripts: compare and PEXPIRE ([ExpireIfEqual]), the same or SET NX ([ExpireOrSet]),
// and SET NX with INCR ([SetIncr]). DELEX with IFEQ is a command since Redis 8.4;
// before, it is the well-known script that does the same in one step
// ([EvalDelIfEqual], which runs that script, and answers alike).
//
// # Replication
//
// A primary sends each change, with expiries as dates, to its replicas, and
// answers its client without waiting. What it has not sent when it dies is lost;
// what it has sent arrives, unless the replica has been promoted by then. A
// replica deletes nothing by itself: it waits for the primary's DEL, and answers
// nil for a key whose time is over by its own clock (as Redis since 3.2). Clients
// may read it and not write to it.
//
// Changes are numbered. A replica that misses one, or has restarted, asks for
// everything and throws away what it had. A primary that has restarted sends
// everything, which may be nothing: one without persistence that comes back empty
// empties its replicas (Redis documentation, "Replication": safety when the primary
// has persistence turned off). When one of several replicas is promoted, the others
// follow it and ask for everything: one that had more loses it.
//
// WAIT asks the replicas how far they have come (REPLCONF GETACK), and is answered
// once enough of them have, or by the timeout. It is about what the same client wrote
// last: on another connection it would be answered at once (measured on Redis
// 7.0.15). It makes a write safer and the group no consensus: what a replica has
// acknowledged it may still lose, or let expire by a clock of its own, and it may be
// another that is promoted.
//
// With min-replicas-to-write replicas report every second (REPLCONF ACK), and a
// primary refuses writes while too few have done so for ten seconds
// (min-replicas-max-lag), counted in whole seconds of its wall clock.
//
// # Where it does not follow real Redis
//
//   - Redis also looks for expired keys about ten times a second. Nobody can tell
//     by commands, so the node does not. The record of an expiry is therefore as
//     late as the next command on that key.
//   - An fsync takes no time and never fails; each is recorded, so that they can be
//     counted. Always syncs for each command by itself, and everysec at the whole
//     seconds of the node's monotonic clock. Real Redis syncs about a second
//     after the last one, up to two seconds when the disk is slow.
//   - Real Redis cannot expire by its monotonic clock; the option is there to show
//     what that would cure and what not.
//   - A replica notices that it has missed a change by the next message of its
//     primary's: there are no pings, and no partial resynchronisation. A snapshot is
//     one message, however long, and takes the primary no time.
//   - There is no WAITAOF, and no replica of a replica. A primary that was replaced
//     takes no part any more: one that goes on alone, cut off, cannot be shown.
//   - A primary notices at once that a replica's process has died, and only by the
//     silence that its machine has.
package redis
