package scenarios

// caseH14 is the report itself (Jepsen's analysis of 3.4.3).
func caseH14() *Scenario {
	return etcdWaiterExpired().retold("case-h14",
		"etcd-io/etcd#11456: a client whose session ended while it waited for etcd's lock is told that it has it",
		[]string{"H14", "E4", "J2"}).fromField(Case{
		Report: "etcd-io/etcd#11456",
		Seen:   "Lock returned without an error on two clients at once; in etcd there was one key under the lock's prefix, the later client's, and no lease of the first",
		Cure:   "recipe=fixed",
		Means:  "a library of etcd 3.4.4 or later, which looks at its own key when the wait is over, and says that the session has expired",
	})
}
