package claims

// field is what was reported in public; each row is the scenario case-hNN.
func field() Source {
	return Source{"H", "The field: public reports", []Row{
		{"H1", "any lease: a pause between the check and the write lets an old holder write last"},
		{"H2", "Redlock: the clock of one node is set ahead, and a second client gets a majority"},
		{"H3", "redsync: a node that restarts empty gives a majority to a second client"},
		{"H4", "redsync: an extension counts the nodes that still have the key, and nodes that restart one after another give the lock away"},
		{"H5", "infrahub, Redisson: the primary dies before its replica knows of the lock"},
		{"H6", "Laravel: a release that does not compare deletes the next holder's lock"},
		{"H7", "dogpile.cache: threads that share one lock object share its value, and one gives back another's lock"},
		{"H8", "ShedLock, Horizon: a crash between SETNX and EXPIRE locks everybody out for ever"},
		{"H9", "RedLock.net: a Redis that is out of memory evicts the key of the lock"},
		{"H10", "redbeat: an extension that does not compare prolongs the next holder's lock"},
		{"H11", "redbeat: a client that takes an error for a grant runs without the lock"},
		{"H12", "ShedLock: a lease that ends by the clock of the application is taken by whose clock is ahead"},
		{"H13", "node-redlock: a validity that counts from the first attempt is over when the last one succeeds"},
		{"H14", "etcd: a waiter whose session is over is told that it has the lock"},
		{"H15", "etcd: a holder that is cut off from etcd alone works on until it notices"},
		{"H16", "Curator: a holder that waits for LOST, and does not stop at SUSPENDED, overlaps with the next"},
		{"H17", "go-zookeeper: a lock that fails half-way leaves its node behind, and nobody gets the lock"},
		{"H18", "Consul: the lock of a dead holder is free only after twice the TTL and the lock-delay"},
		{"H19", "client-go: a candidate that goes by its wall clock takes over from a live leader"},
		{"H20", "authentik: behind PgBouncer in transaction pooling an unlock goes to another connection, or a lock to the same"},
		{"H21", "Galera, gh-ost: each node has its own GET_LOCKs, and two clients hold one"},
		{"H22", "pglock: a heartbeat that failed is not told to the holder, and another takes the lease"},
	}}
}
