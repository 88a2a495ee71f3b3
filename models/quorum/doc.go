// Package quorum is leaderless replication, as in Dynamo, Cassandra and Riak, used
// for what it is not made for: a lock ([Lock]), and a store behind a lock ([Store]).
//
// # What leaderless is
//
// N replicas each keep a copy of every record, and none of them is in charge. Who
// writes sends the record to all and goes on when W have acknowledged it; who reads
// asks all and goes on with the first R answers. Where the answers differ, the
// record with the greatest timestamp is the one: last write wins. The timestamp is
// what the writer's clock showed.
//
// # Why quorums overlap
//
// With W + R > N there is no room for W replicas and R others: any R that answer a
// reader include one of the W that had acknowledged the last write. So a read that
// begins after a write has succeeded finds it, or a later one. With three replicas
// W = R = 2 does, and one of them may be down.
//
// # Why that is not a lock
//
// Overlap is about a read after a write. It says nothing of two that run at once,
// and a lock is all about those:
//
//   - Two clients read the same state, both find the lock free, and both write. Each
//     write is acknowledged by W replicas: a replica acknowledges even the one that
//     it drops. A lock needs compare-and-set, and that needs consensus (DDIA, chapter
//     9, "Linearizability and quorums"; Herlihy 1991).
//   - A write that is under way, or that reached fewer than W replicas and failed, is
//     on some of them: a reader sees it or not by who answers first. It is not rolled
//     back (DDIA, chapter 5, "Limitations of Quorum Consistency").
//   - The order of writes is the order of timestamps. A client whose clock is ahead
//     makes the writes that follow void, though each is acknowledged.
//
// A reader that first writes what it has found to those that answered it with less
// (read repair) makes reads monotonic, if it asks more than half: then the next one
// asks one of them too. It makes nothing atomic.
//
// # What is modelled, and after what
//
//   - Equal timestamps: a deletion goes before a value, and a lexically greater
//     value before a smaller one (DataStax, "Query timestamps").
//   - A term is a date: the writer's wall clock at the write plus the TTL. Each
//     replica holds its own wall clock against it (Cassandra and ScyllaDB compute the
//     expiry where the write comes in, and want all clocks in step). At the very
//     instant the record is over. An expired record counts as a deletion with the
//     timestamp of the write.
//   - Read repair waits for the replicas that took part in the read, and for no
//     others (Cassandra, "Read Repair", blocking).
//   - Replicas keep nothing over a restart, no deletion is ever forgotten, nothing is
//     handed off by hints (no sloppy quorum), and no replica tells another anything:
//     they learn from clients alone.
package quorum
