package scenarios

import (
	"fmt"
	"math/big"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// drifts are how far clocks run apart: the client's slow by it, the nodes' fast.
var drifts = map[string]clock.Rate{"0": 0, "200ppm": 200_000, "500ppm": 500_000, "10%": 100_000_000}

// redlockDrift is A7 and K13: c1's clock runs slow and those of all nodes fast.
func redlockDrift(name string) *Scenario {
	ttl, rate, allowance, again := 10*time.Second, "10%", time.Duration(0), 9200*time.Millisecond
	s := &Scenario{
		Name: name, Pair: "drift",
		Claim:  "clocks ten per cent off, with the usual allowance of one: the lock is given away early",
		Claims: []string{"A7", "K13", "S31", "S37"},
	}
	control := "redlock-drift-ppm"
	if name == "redlock-drift-ppm" {
		rate, control, again = "500ppm", "redlock-drift", 9900*time.Millisecond
		s.Claim = "clocks 500 parts per million off, which is worse than real ones: the promise is kept"
		s.Claims = []string{"A7", "S31", "S39"}
		s.Also = []string{"rate=200ppm"}
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, time.Hour, "PX of the keys"),
		choice("rate", &rate, []string{"0", "200ppm", "500ppm", "10%"}, "how slow c1's clock runs, and how fast the nodes'"),
		milliseconds("allowance", &allowance, 0, time.Hour, "the client's for drift; at most half the TTL; 0s means 1 % of it and 2ms"),
		milliseconds("c2-at", &again, 100*time.Millisecond, time.Hour, "when c2, whose clock runs true, asks"),
	}
	s.Control = func() Control {
		if rate != "10%" {
			return Control{Name: control, Set: []string{"rate=10%", "c2-at=" + short(ttl*92/100/time.Millisecond*time.Millisecond)}}
		}
		// An allowance by the formula: what c1 counts is over before any node's count.
		return Control{Name: "redlock-drift", Set: []string{"allowance=" + short((apart(ttl, drifts[rate]) + time.Millisecond).Truncate(time.Millisecond))}}
	}
	s.Spec = func() trial.Spec {
		var f faults.Schedule
		if r := drifts[rate]; r != 0 {
			f = append(f, faults.Fault{Action: faults.ClockRate{Machine: "c1", Rate: -r}})
			for _, node := range []string{"r1", "r2", "r3", "r4", "r5"} {
				f = append(f, faults.Fault{Action: faults.ClockRate{Machine: node, Rate: r}})
			}
		}
		return trial.Spec{
			System: redis.Redlock{TTL: ttl, Drift: min(allowance, ttl/2)},
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("until 1ms; acquire; work 1000h; release")},
				{Name: "c2", Script: trial.MustScript("until " + again.String() + "; try; work 1000h; release")},
			}},
			Schedule: f,
			Latency:  sim.Every(hop),
			Horizon:  2*ttl + again + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		if allowance == 0 {
			return drifted(ttl, ttl-deadline(ttl), again, drifts[rate])
		}
		return drifted(ttl, min(allowance, ttl/2), again, drifts[rate])
	}
	return s
}

// drifted: c1's T1 is the true instant at which its clock shows 1 ms. Each node
// sets the key a hop after it is asked and drops it, by its own clock, after the
// millisecond of its expiry. c2 asks all five and has the lock from the third OK
// on. c1 stops when its clock has counted TTL - allowance from T1.
func drifted(ttl, allowance, again time.Duration, rate clock.Rate) Expectation {
	t1 := countUp(time.Millisecond, -rate)
	end1 := countUp(time.Millisecond+ttl-allowance, -rate)
	votes, decided2 := 0, time.Duration(0)
	for i := range time.Duration(5) {
		set := countDown(t1+i*ask+hop, rate).Truncate(time.Millisecond)
		asked := again + i*ask + hop
		if countDown(asked, rate).Truncate(time.Millisecond) > set+ttl {
			if votes++; votes == 3 {
				decided2 = asked
			}
		}
	}
	promised, accepted2 := t1+ttl-allowance, again+acquisition
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	e.Because = fmt.Sprintf("safe iff the allowance %s >= TTL x (1 - client/node) = %s; c1 stops at %s, c2 gets %d of 5 votes",
		short(allowance), short(apart(ttl, rate)), short(end1), votes)
	if votes < 3 {
		return e
	}
	if decided2 < promised {
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
	}
	e.Overlap = max(0, min(end1, again+ttl-allowance)-accepted2)
	e.Belief = overlapping(e.Overlap)
	e.Because += fmt.Sprintf(" and accepts at %s; overlap = %s - %s = %s", short(accepted2), short(end1), short(accepted2), short(e.Overlap))
	return e
}

// apart is TTL x (1 - client's rate / node's rate), rounded up to the microsecond.
func apart(ttl time.Duration, rate clock.Rate) time.Duration {
	x := new(big.Rat).SetFrac64(1e9-int64(rate), 1e9+int64(rate))
	x.Sub(big.NewRat(1, 1), x).Mul(x, big.NewRat(int64(ttl), 1000))
	return time.Duration(ceil(x)) * time.Microsecond
}

// countUp is the true instant at which a clock of that rate shows reading.
func countUp(reading time.Duration, rate clock.Rate) time.Duration {
	return time.Duration(ceil(new(big.Rat).Mul(big.NewRat(int64(reading), 1), big.NewRat(1e9, 1e9+int64(rate)))))
}

// countDown is what a clock of that rate shows at a true instant.
func countDown(instant time.Duration, rate clock.Rate) time.Duration {
	x := new(big.Rat).Mul(big.NewRat(int64(instant), 1), big.NewRat(1e9+int64(rate), 1e9))
	return time.Duration(new(big.Int).Div(x.Num(), x.Denom()).Int64())
}

func ceil(x *big.Rat) int64 {
	n := new(big.Int).Add(x.Num(), new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	return n.Div(n, x.Denom()).Int64()
}
