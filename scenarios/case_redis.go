package scenarios

// caseH5 is a lock on a Redis that Sentinel watches: its primary dies 0.1 s after the
// grant, which the replica would have had 0.1 s later.
func caseH5() *Scenario {
	return waitFailover().retold("case-h05",
		"opsmill/infrahub#9450 (and redisson/redisson#2669): a failover loses a lock that no replica has yet, and another worker gets it",
		[]string{"H5", "S20", "T16"},
		"wait=off", "work=8s", "takeover=4900ms", "c2-at=5100ms").fromField(Case{
		Report: "opsmill/infrahub#9450",
		Seen:   "two workers change the graph at once for the rest of the first one's work; the new primary has one lock key, the second's; the first is told at its release that it does not own the lock",
		Cure:   "wait=on",
		Means:  "WAIT 1 behind the SET, and no lock where no replica has acknowledged, as Redisson does with each command of its RLock since #2669; while there is no replica, nobody gets a lock",
	})
}

// caseH6 is a release that was a DEL.
func caseH6() *Scenario {
	return plainDel().retold("case-h06",
		"laravel/framework#26213: a cache lock that took too long deletes the next holder's lock, and a third client gets in",
		[]string{"H6", "S26", "T5"},
		"c1-at=0s", "pause=11s", "c2-at=11s", "c3-at=13s").fromField(Case{
		Report: "laravel/framework#26213",
		Seen:   "two jobs at a time, twice: the late release throws nothing, and the lock is free long before it expires",
		Cure:   "release=compare",
		Means:  "Laravel 5.8 (#26645): the key's value is the owner's, and release compares it in a script before it deletes",
	})
}

// caseH8 is a lock that gets its term by a second command.
func caseH8() *Scenario {
	return holderDies().retold("case-h08",
		"lukas-krecan/ShedLock#65 (and laravel/horizon#1738): a process dies between SETNX and EXPIRE, and nobody ever gets the lock again",
		[]string{"H8", "S6", "T4"},
		"expire=separate").fromField(Case{
		Report: "lukas-krecan/ShedLock#65",
		Seen:   "the scheduled task never runs again, on any instance, and nothing fails; TTL of the lock's key is -1, and DEL helps",
		Cure:   "expire=px",
		Means:  "SET key value NX PX: ShedLock's Redis provider for spring-data-redis 2 (#66); Laravel's own RedisLock in the place of Horizon's",
	})
}
