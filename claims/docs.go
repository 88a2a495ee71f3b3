package claims

// redis is the documentation's page on locks, and the pages that it stands on.
func redis() Source {
	return Source{"R", "Redis, documentation", []Row{
		{"R1", "the time-out of a node is small against the TTL: 5 to 50 ms for ten seconds"},
		{"R2", "a client that failed gives back the lock on all nodes, even where it heard nothing"},
		{"R3", "a client that is cut off with the lock costs the others a TTL, each time anew"},
		{"R4", "keys expire while their node is off"},
		{"R5", "an extension takes the majority, within the validity, and not without end"},
		{"R6", "a replica does not expire keys by itself but waits for the primary's DEL"},
		{"R7", "WAIT makes no consistent store of Redis"},
		{"R8", "a key with a TTL of 1000 s is gone at once when the clock is set ahead by 2000 s"},
		{"R9", "use fencing tokens; a TTL goes by a clock that can be set, and a live process may have lost the lock that it extends"},
	}}
}

// etcd is its documentation on why a lock alone does not exclude, and on leases.
func etcd() Source {
	return Source{"E", "etcd, documentation and issues", []Row{
		{"E1", "a lock alone does not exclude; the lease saves work, and a comparison of the revision excludes, for etcd's own keys"},
		{"E2", "all but watches is linearizable unless asked for otherwise"},
		{"E3", "a lease lasts at least 1.5 election timeouts, 2 s as it is set up, and a new leader extends all"},
		{"E4", "a waiter whose session was over was told that it had the lock, until it looked at its own key again"},
		{"E5", "groups of 1 to 9 tolerate 0, 0, 1, 1, 2, 2, 3, 3, 4 failures"},
	}}
}

// jepsen is the analysis of etcd 3.4.3 of 2020, by those who quote it and by its code.
func jepsen() Source {
	return Source{"J", "Jepsen, etcd 3.4.3", []Row{
		{"J1", "etcd's keys are strictly serializable under pauses, crashes and clocks that are hundreds of seconds off"},
		{"J2", "its lock does not exclude, even in a healthy cluster"},
		{"J3", "under pauses, to read, work and write under the lock loses updates, 18 % of them in that analysis"},
		{"J4", "with a fence, once y was used a smaller x must fail; the writes of each holder are together, not atomic"},
	}}
}
