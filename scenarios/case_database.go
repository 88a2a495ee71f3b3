package scenarios

// caseH12 is the first report; the second asks for its cure.
func caseH12() *Scenario {
	return leaseAppClock().retold("case-h12",
		"lukas-krecan/ShedLock#231, lukas-krecan/ShedLock#263: a node whose clock is three minutes ahead takes a lock of two minutes after a second",
		[]string{"H12", "S56"}, "clock=app", "skew=180s", "ttl=120s").fromField(Case{
		Report: "lukas-krecan/ShedLock#231",
		Seen:   "both nodes ran the job; in the row of table shedlock, locked_at was ahead of the first node's clock, and locked_by was the second's name while the first was still at work",
		Cure:   "clock=db",
		Means:  "JdbcTemplateLockProvider with usingDbTime() (ShedLock#263): every node's UPDATE reads the database's clock",
	})
}
