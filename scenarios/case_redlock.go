package scenarios

// caseH2 is the report itself, and that of whoever keeps locks there (valkey#2651).
func caseH2() *Scenario {
	return redlockClockJump("redlock-clock-jump").retold("case-h02",
		"redis/redis#416, valkey-io/valkey#2651: the clock of one node is set ahead, its keys expire, and a second client has a majority",
		[]string{"H2", "K10", "S29", "R8"}, "jump-at=1s", "c2-at=2s").fromField(Case{
		Report: "redis/redis#416",
		Seen:   "ntpdate had set a server's time ahead by days, and clients timed out all at once (#416); every lock was gone, and others got them while they were held (#2651)",
		Cure:   "how=slew",
		Means:  "an NTP client that never steps a running server's clock, and slews it by less than the 1 % that Redlock allows for; Redis expires keys by the date, and has no other clock for them",
	})
}

// caseH3 is the scenario that the report sets out, step by step.
func caseH3() *Scenario {
	s := redlockRestart("redlock-restart").retold("case-h03",
		"go-redsync/redsync#186: a client that has three of five pools loses the lock with the first of them that restarts empty",
		[]string{"H3", "S33", "K11", "T20"}, "restart-at=1s").fromField(Case{
		Report: "go-redsync/redsync#186",
		Seen:   "it is reasoned there, and not seen: Lock would return nil to both clients, and Unlock false to the first, since only two pools still have its value",
		Cure:   "down=10s",
		Means:  "a server that crashed stays away for as long as the longest lock lives, before redsync may ask it again",
	})
	expect := s.Expect
	s.Expect = func() Expectation {
		e := expect()
		if e.Overlap > 0 {
			e.Because += "; redsync takes off 1 % alone, without our 2ms, and so believes 2ms longer"
		}
		return e
	}
	return s
}
