package scenarios

// caseH14 is the report itself (Jepsen's analysis of 3.4.3). There a keepalive is lost;
// here its client is paused, and sends none.
func caseH14() *Scenario {
	return etcdWaiterExpired().retold("case-h14",
		"etcd-io/etcd#11456: a client whose session ended while it waited for etcd's lock is told that it has it",
		[]string{"H14", "E4", "J2"}).fromField(Case{
		Report: "etcd-io/etcd#11456",
		Seen:   "Lock returned without an error on two clients at once; in etcd there was one key under the lock's prefix, the later client's, and no lease of the first",
		By:     Client,
		Cure:   "recipe=fixed",
		Means:  "the Go client of etcd 3.5 or later (etcd#11408), which looks at its own key when the wait is over, and says that the session has expired; that of 3.4.23 still does not",
	})
}

// caseH15 is a holder that does not listen to its session; one that does, and stops
// when that says Done, is a variant.
func caseH15() *Scenario {
	s := etcdCutHolder().retold("case-h15",
		"etcd-io/etcd#10811, etcd-io/etcd#6127: a holder cut off from etcd, but not from its storage, writes on under the next one's lock",
		[]string{"H15", "S50", "E1", "K7"}, "done=ignored")
	s.Also = []string{"done=obeyed", "done=obeyed store=fenced"}
	return s.fromField(Case{
		Report: "etcd-io/etcd#10811",
		Seen:   "the storage took writes of two clients at once; in etcd the first one's lease and key were gone and the second's key was there, and nothing had told the first: Lock had returned long before",
		By:     Store,
		Cure:   "store=fenced",
		Means:  "a storage that keeps the revision of the lock's key and takes no older one; where the data is in etcd itself, Mutex.IsOwner in the transaction that writes. To stop when Session.Done says so (etcd#6127) leaves up to a second",
	})
}

// caseH16 has the report's session of 4 s. The ledger has the node deleted at 5 s: the
// leader looks once a tick, so it is 6.
func caseH16() *Scenario {
	s := zookeeperSuspended().retold("case-h16",
		"apache/curator#727 (CURATOR-206): the holder of an InterProcessMutex that is cut off works on under the next one's lock",
		[]string{"H16", "S44", "K14"}, "session=4s", "cut-at=1s", "stop=never")
	s.Also = []string{"stop=lost"}
	return s.fromField(Case{
		Report: "apache/curator#727",
		Seen:   "client #1 logged that it had acquired the lock when client #0's ephemeral node had expired, and client #0's thread, which had it, was not interrupted",
		By:     Client,
		Cure:   "stop=suspended",
		Means:  "a ConnectionStateListener that ends the work at SUSPENDED; LOST comes when the client itself has counted a whole session, and the servers have let the next one in",
	})
}

// caseH17 is the report's first half: the connection is lost between the node and the
// list of the children, and both clients wait from then on.
func caseH17() *Scenario {
	s := zookeeperOrphan().retold("case-h17",
		"samuel/go-zookeeper#229: Lock returns an error and leaves its node behind, which nobody gets past while that client's session lasts",
		[]string{"H17", "S45"})
	s.Also = []string{"dies=on"}
	return s.fromField(Case{
		Report: "samuel/go-zookeeper#229",
		Seen:   "Lock returned that the connection was closed, and from then on every client waited; under the lock's path stood a lowest node that no client knew of, of a session that was alive",
		By:     Client,
		Cure:   "recipe=curator",
		Means:  "a recipe that after an error looks for its own node by the guid in its name, and goes on with it (Curator) or deletes it (go-zookeeper#237, which is not merged); until then, end the client, and with it its session",
	})
}

// caseH18 has the report's first figure; its others are the variants.
func caseH18() *Scenario {
	s := consulSessionEnd().retold("case-h18",
		"hashicorp/consul#4508: the lock of a dead holder with a TTL of 10s is free after 35s; with 15, 20 and 25s after 45, 55 and 65s",
		[]string{"H18"}, "ttl=10s", "delay=15s", "at=1s")
	s.Also = []string{"ttl=15s", "ttl=20s", "ttl=25s", "c1=releases"}
	return s.fromField(Case{
		Report: "hashicorp/consul#4508",
		Seen:   "the key kept the dead holder's session for twice its TTL, and then none for 15s, in which every acquire was refused, though a LockDelay of 0 had been asked for",
		By:     Client,
		Cure:   "delay=0s",
		Means:  "\"LockDelay\": \"0s\" in the body of /v1/session/create. The Go client leaves a 0 out, and 15s come of it (consul#1077): there, a nanosecond. Twice the TTL remains, and a holder that is only paused has less time to come back",
	})
}

// caseH19 has the defaults of kube-scheduler. The report saw the old leader give up
// after two seconds; client-go's renew loop tries on for RenewDeadline.
func caseH19() *Scenario {
	s := kubernetesClock().retold("case-h19",
		"kubernetes/kubernetes#125761, kubernetes/client-go#448: a candidate whose clock is put an hour ahead takes over from a leader that leads on",
		[]string{"H19", "K10"}, "expiry=renew-time", "jump-at=1s")
	s.Also = []string{"stop=at-once"}
	return s.fromField(Case{
		Report: "kubernetes/kubernetes#125761",
		Seen:   "two kube-schedulers were active after the time had been changed: the standby was the Lease's holder, and the old leader stood down seconds later (the report saw two)",
		By:     Client,
		Cure:   "expiry=observed",
		Means:  "a candidate that counts LeaseDuration on its monotonic clock from when it saw the record change, and does not look at renewTime. client-go did so by then (client-go#448 asked for renewTime, and was turned down); what the schedulers of the report did, it does not say",
	})
}
