// Package zookeeper is the lock recipe of ZooKeeper, as Apache Curator and
// go-zookeeper have it, on a simulated ensemble ([Mutex]).
//
// # What is as in ZooKeeper
//
// The tree: znodes that are ephemeral or sequential or containers, with a count of
// children created for each parent, czxid, mzxid and version; watches that fire once,
// on the server that the client is connected to, and are set anew when it connects
// elsewhere. A change goes through the leader; a read is answered by the client's own
// server and may be stale ("Programmer's Guide", Consistency Guarantees).
//
// Sessions. A client gets 2 to 20 ticks. It pings a third of the timeout after its
// last message, takes the connection for lost when it has heard nothing for two
// thirds, and goes to the next server (ClientCnxn). A follower answers a ping by
// itself, and tells the leader twice a tick of whom it has heard (Leader.lead,
// Learner.ping). The leader ends a session at the whole tick after its timeout, by
// its monotonic clock (ExpiryQueue, SessionTrackerImpl). A new leader lets all
// sessions begin anew. A server lets a client go on with its session only if the
// leader says so, and if it is not behind what the client has seen.
//
// So an answered ping is no promise of the ensemble's: a follower that dies before
// it told the leader takes it along. That is ZooKeeper's, not the simulation's.
//
// The recipe: an ephemeral sequential node, the lowest holds, each watches the next
// lower ("ZooKeeper Recipes and Solutions", Locks; LockInternals; lock.go).
//
// # What is not
//
//   - Raft stands in for Zab (models/raft). A zxid is the index in the log, without an
//     epoch in its upper half: it rises as a zxid does, by 1 where ZooKeeper's does by
//     1, and by 1 where it would begin a new epoch.
//   - Servers notice that their leader is gone by its silence, for 1 to 2 s by
//     default. In ZooKeeper a killed leader is noticed by its connections, at once, and
//     a silent one after syncLimit ticks, 10 s with the usual settings. Until then a
//     follower here keeps its clients, and lets them wait.
//   - sync asks a majority whether the leader still leads. ZooKeeper's asks the leader
//     alone, so that one who has been deposed may answer (ZOOKEEPER-1675).
//   - A node is told its stat when it is created (create2), and its parent is created
//     with it, in one step: in Curator that is a few requests more, the first time.
//   - Servers are tried in a fixed order, and again a second after all have failed, as
//     go-zookeeper does; the Java client waits up to a second each time. The Java client
//     also pings up to a second early when something else wakes it, and go-zookeeper by
//     a ticker.
//   - An event that a fault swallows comes with the answer to the next ping; TCP would
//     send it again sooner.
//   - Curator's retries while it acquires are not counted: it goes on while its session
//     lasts. There are no ACLs, quotas, observers and no transactions.
package zookeeper
