package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// asyncFailover is S20, S28, T16 and H5: the primary dies before it has told its
// replica of the lock.
func asyncFailover() *Scenario {
	ttl, lag, at, again := 10*time.Second, 200*time.Millisecond, 100*time.Millisecond, time.Second
	s := &Scenario{
		Name: "async-failover", Pair: "copies",
		Claim:  "a primary that dies before its replica knows of the lock takes the lock with it",
		Claims: []string{"S20", "S28", "S57", "T16", "K2", "H5"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 8*time.Second, most, "PX of the key"),
		duration("lag", &lag, 0, "how far the replica is behind"),
		milliseconds("failover-at", &at, 10*time.Millisecond, 4*time.Second, "when the primary dies and the replica takes over"),
		milliseconds("c2-at", &again, 10*time.Millisecond, 4*time.Second, "when c2 asks"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.SetNX{TTL: ttl, Replicas: 1, Lag: lag},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; work 5s; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until " + again.String() + "; try; work 1s; write doc; work 5s; release")},
				},
			},
			Schedule: faults.Schedule{{Anchor: faults.At(at), Action: faults.Failover{Primary: "r1", Replica: "r2"}}},
			Latency:  sim.Every(hop),
			Horizon:  ttl + lag + at + again + time.Minute,
		}
	}
	s.Expect = func() Expectation { return failedOver(lag, at, again) }
	s.Control = func() Control {
		if lost(lag, at) {
			return Control{"async-failover", []string{"lag=0s"}}
		}
		return Control{"async-failover", []string{"lag=" + short(at+time.Second)}}
	}
	return s
}

// lost tells whether the replica is promoted before it hears of c1's key, which
// the primary set at 1 ms.
func lost(lag, at time.Duration) bool { return hop+hop+lag >= at }

// failedOver: c1 believes from 2 ms for 5 s and a write, c2 from two hops after it
// asks for 6 s and a write, if the replica has not heard of c1's key. When c1
// releases, its key is gone, long before its term is over.
func failedOver(lag, at, again time.Duration) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	if !lost(lag, at) {
		e.Because = fmt.Sprintf("the replica has c1's key at %s, before it takes over at %s", short(2*hop+lag), short(at))
		return e
	}
	e.Promise, e.Breaches = check.Broken, []string{check.LostLease}
	e.Because = fmt.Sprintf("the replica would have c1's key at %s, but takes over at %s", short(2*hop+lag), short(at))
	if again < at {
		e.Because += fmt.Sprintf("; c2 has asked the old primary at %s, in vain", short(again))
		return e
	}
	end1, accepted2 := 2*hop+5*time.Second+2*hop, again+2*hop
	e.Breaches = []string{check.DoubleGrant, check.LostLease}
	e.Overlap = end1 - accepted2
	e.Belief = overlapping(e.Overlap)
	e.Because += fmt.Sprintf("; overlap = %s - %s = %s", short(end1), short(accepted2), short(e.Overlap))
	if write1, write2 := 2*hop+5*time.Second+hop, accepted2+time.Second+hop; write1 > write2 {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}
