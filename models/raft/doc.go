// Package raft is a group of one to nine servers that keep one log by consensus,
// for systems such as etcd, ZooKeeper or Consul to be built on.
//
// A system is a [Replica]: it handles what clients ask on the node that they
// asked ([Replica.Serve]), and does what the log says on every node, in the order
// of the log ([Replica.Apply]). Between the two lies a [Node], with which it
// proposes a command ([Node.Propose]), waits until it may read ([Node.Read]), and
// learns whether it leads ([Node.Leads]; a replica that is a [Leader] is told).
//
// # What is real
//
// The protocol. Each node runs go.etcd.io/raft, the library inside etcd, as the
// state machine that it is: elections with PreVote, the vote rule, replication,
// commitment, CheckQuorum, ReadIndex.
//
// # What is modelled
//
// Time and chance. The library draws its election timeout from crypto/rand and
// counts it in ticks. Here only the leader is ticked; of every other node the
// timeout is measured on its monotonic clock and drawn from the seed: evenly from
// [Election, 2 x Election) in whole milliseconds, where etcd draws whole ticks of
// 100 ms. A node that has not heard of a leader for Election may vote for another
// (the lease of CheckQuorum), as the library has it.
//
// The disk. A node writes entries, its term and its vote, and syncs them before it
// acknowledges them, as etcd does; the leader sends entries to the others while
// its own disk is still writing (Raft dissertation, 10.2.1). A node whose disk is
// at work sends nothing else meanwhile.
//
// The network. Messages between nodes go over the links of the simulation, with
// their latency and their faults. The history says nothing of them, only what
// comes of them: who is elected, and who steps down.
//
// # What is left out
//
// Snapshots and changes of the membership: a node that restarts applies its log
// from the beginning. Commands stay in the memory of the run, and an entry of the
// log holds only the number of its command; an entry that a fault takes from the
// logs takes the command with it.
package raft
