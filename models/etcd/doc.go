// Package etcd is etcd as a lock service: its key-value store and its leases on a
// Raft group (models/raft), and the session and mutex of its client library
// (go.etcd.io/etcd/client/v3/concurrency).
//
// What is modelled, and where each rule and figure comes from in etcd's source
// (github.com/etcd-io/etcd, releases 3.4 to 3.6):
//
//   - A key has a create revision, a mod revision, a version and a lease. The store
//     has one revision, which rises by one with each transaction that changes
//     something (server/storage/mvcc). A transaction compares and then does one or
//     the other list of operations. Compaction and history but for deletions are
//     left out.
//   - Reads are linearizable (ReadIndex) unless they ask to be serializable, which
//     are answered by the node from what it has. Watches are served by the node that
//     was asked (server/etcdserver/v3_server.go, api/v3rpc/watch.go).
//   - A lease lasts for whole seconds, at least 1.5 election timeouts rounded up
//     (server.go: minTTL). Only the leader counts it, on its monotonic clock (Go's
//     time.Now); 3.4 and 3.0 looked at the wall clock too (Counts). It looks for leases
//     that are over every 500ms and has them revoked through the log
//     (server/lease/lessor.go: runLoop). A new leader gives every lease its full TTL
//     anew, and an election timeout more (server.go: Promote).
//     Left out are the limit of 1000 revocations a second and that a revocation is
//     proposed again when it takes too long: here a leader's proposal is lost only
//     with its leadership.
//   - A keepalive is answered from the leader's memory; a follower hands it on. A
//     lease that is over but not yet revoked is not prolonged: the answer waits for
//     the revocation (lessor.go: Renew). A leader that sees that it has stood still
//     for more than three heartbeats asks a majority first whether it still leads
//     (v3_server.go: ensureLeadership, the fix of etcd#15247).
//   - A session is a lease that a loop keeps alive: it looks every 500ms, and sends
//     when a third of the TTL has passed since the last answer, or again when there
//     was none. The client's own deadline is the TTL from the last answer, looked at
//     every second; then Done is closed (client/v3/lease.go: sendKeepAliveLoop,
//     recvKeepAlive, deadlineLoop).
//   - A mutex puts a key of its session under the lock's name, if it is not there
//     yet; whose key has the lowest create revision holds the lock. Any other waits
//     for the deletion of the key before its own, and in the end looks whether its
//     own is still there (client/v3/concurrency/mutex.go, key.go).
//
// A lease's number is the term and the index of its grant in the log, where etcd
// draws one: a log that has lost entries does not give it again.
package etcd
