package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// The setting of the Redlock scenarios: five nodes r1 to r5, asked one after
// another, a millisecond a hop, and the client's allowance for drift of
// node-redlock.
const (
	hop = time.Millisecond
	// ask is what one node costs, acquisition what all five do.
	ask         = 2 * hop
	acquisition = 5 * ask
	// leastTTL leaves a client time to write within the validity.
	leastTTL = 2 * time.Second
)

// deadline is how long after T1 a client may use the lock: TTL - drift.
func deadline(ttl time.Duration) time.Duration {
	return ttl - ttl/100 - 2*time.Millisecond
}

// onThree is the cast in which c1 holds exactly three nodes, so that one of them
// is enough to lose the lock (H3). c2 lists the nodes from the other end: it
// takes r5 and r4 while c1 takes r1, r2 and r3, fails, releases, and comes back
// at again. Each writes while it holds the lock, c1 late.
func onThree(again time.Duration) trial.Cast {
	return trial.Cast{
		Resources: []models.Resource{resource.Plain("doc")},
		Clients: []trial.Client{
			{Name: "c1", Script: trial.MustScript("acquire; work 5s; write doc; work 1000h; release")},
			{Name: "c2", Script: trial.MustScript(
				"until 1ms; try; release; until " + again.String() + "; try; work 1s; write doc; work 1000h; release")},
		},
	}
}

func fromTheOtherEnd() map[string][]string {
	return map[string][]string{"c2": {"r5", "r4", "r3", "r2", "r1"}}
}

// secondHolder is what follows when r3 gives c2 the third vote at again, or does
// not: c1 accepted at 10 ms, c2 accepts at again + 10 ms, both believe until their
// deadlines, and each writes once. The promise is broken when r3's vote leaves it,
// at again + 5 ms, before c1's is over.
func secondHolder(lost bool, ttl, again time.Duration, why string) Expectation {
	end1, decided2, accepted2 := deadline(ttl), again+2*ask+hop, again+acquisition
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	if decided2 >= end1 {
		e.Because = fmt.Sprintf("c1's promise ends at T1 + TTL - drift = %s, before r3 could give c2 its vote at %s", short(end1), short(decided2))
		return e
	}
	if !lost {
		e.Because = why + ": c2 gets 2 of 5"
		return e
	}
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
	e.Overlap = max(0, end1-accepted2)
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("%s: c1 believes until T1 + TTL - drift = %s, c2 from %s + 5 x 2 x 1ms = %s; overlap = %s",
		why, short(end1), short(again), short(accepted2), short(e.Overlap))
	write1, write2 := acquisition+5*time.Second+hop, accepted2+time.Second+hop
	if acquisition+5*time.Second < end1 && write1 > write2 {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}

// redlockRestart is S33, K11 and H3: one of three nodes restarts without c1's
// key. Its controls are a node that syncs every write, and one that stays away
// for longer than a TTL.
func redlockRestart(name string) *Scenario {
	ttl, at, again, down := 10*time.Second, 500*time.Millisecond, 2*time.Second, time.Duration(0)
	persistence, crash := "none", "power-loss"
	s := &Scenario{Name: name, Pair: "restart", Claims: []string{"S33", "K11", "H3"}}
	control := Control{Name: "redlock-restart-fsync"}
	switch name {
	case "redlock-restart-fsync":
		s.Claim = "a node that syncs every write restarts with the key: no second holder"
		s.Claims = []string{"S35", "A10"}
		persistence, control.Name = "always", "redlock-restart"
		control.Set = []string{"persistence=none"}
	case "redlock-restart-delayed":
		s.Claim = "a node that stays away for longer than the TTL lets nobody in too early"
		s.Claims = []string{"S36", "A10", "K11"}
		down, control.Name = 12*time.Second, "redlock-restart"
		control.Set = []string{"down=0s"}
	default:
		s.Claim = "a node that restarts empty gives a lock away that is still held"
		control.Set = []string{"persistence=always"}
		s.Also = []string{"persistence=everysec", "persistence=everysec crash=kill"}
	}
	s.Control = func() Control { return control }
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, most, "PX of the keys"),
		duration("restart-at", &at, 100*time.Millisecond, "when r3 goes down"),
		duration("down", &down, 0, "how long it stays down"),
		choice("crash", &crash, []string{"kill", "power-loss"}, "what takes it down"),
		choice("persistence", &persistence, []string{"none", "everysec", "always"}, "what it keeps on its disk"),
		duration("c2-at", &again, 100*time.Millisecond, "when c2 comes back"),
	}
	s.Spec = func() trial.Spec {
		system := redis.Redlock{TTL: ttl, Order: fromTheOtherEnd()}
		how := faults.Kill
		if crash == "power-loss" {
			how = faults.PowerLoss
		}
		mustText(&system.Persistence, persistence)
		return trial.Spec{
			System:   system,
			Cast:     onThree(again),
			Schedule: faults.Schedule{{Anchor: faults.At(at), Action: faults.Restart{Server: "r3", How: how, For: down}}},
			Latency:  sim.Every(hop),
			Horizon:  ttl + at + down + again + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		why, lost := restarted(persistence, crash, at, down, again)
		return secondHolder(lost, ttl, again, why)
	}
	return s
}

// restarted tells whether r3, which c2 asks third, has lost c1's key and is there
// to give its vote away. c1's SET was seen by r3 at 5 ms; everysec syncs at whole
// seconds.
func restarted(persistence, crash string, at, down, again time.Duration) (string, bool) {
	sent := again + 2*ask
	asked := sent + hop
	switch {
	case at > sent:
		// A request that is under way when a server crashes is lost with it.
		return "r3 restarts only after c2 has sent its request", false
	case persistence == "always":
		return "r3 syncs every write and still has c1's key", false
	case persistence == "everysec" && crash == "kill":
		return "r3's page cache survives the kill of its process, with c1's key", false
	case persistence == "everysec" && at >= time.Second:
		return "r3 has synced c1's key at 1s", false
	case at+down > asked:
		return fmt.Sprintf("r3 is down until %s", short(at+down)), false
	}
	return "r3 has lost c1's key", true
}

// redlockClockJump is K10, S29 and H2: the wall clock of one of three nodes
// jumps. The control expires keys by a monotonic clock.
func redlockClockJump(name string) *Scenario {
	ttl, at, again, jump, how := 10*time.Second, 500*time.Millisecond, time.Second, 11*time.Second, "step"
	s := &Scenario{
		Name: name, Pair: "clock", Claim: "a node whose clock jumps forgets a lock that is still held",
		Claims: []string{"K10", "S29", "S37", "T20", "R8", "H2"},
	}
	expiry, control := redis.Wall, Control{Name: "redlock-clock-jump-monotonic"}
	if name == "redlock-clock-jump-monotonic" {
		s.Claim, s.Claims = "a node that expires keys by a monotonic clock does not notice the jump", []string{"S39", "A7", "K10"}
		expiry, control.Name = redis.Monotonic, "redlock-clock-jump"
	}
	s.Control = func() Control { return control }
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, most, "PX of the keys"),
		duration("jump-at", &at, 100*time.Millisecond, "when the clock of r3 jumps"),
		milliseconds("jump", &jump, 0, most, "how far it jumps ahead"),
		choice("how", &how, []string{"step", "slew"}, "whether it jumps, or from then on runs 1 % fast"),
		milliseconds("c2-at", &again, 100*time.Millisecond, most, "when c2 comes back"),
	}
	s.Spec = func() trial.Spec {
		set := faults.Action(faults.ClockStep{Machine: "r3", By: jump})
		if how == "slew" {
			set = faults.ClockRate{Machine: "r3", Rate: slewRate}
		}
		return trial.Spec{
			System:   redis.Redlock{TTL: ttl, Order: fromTheOtherEnd(), Clock: expiry},
			Cast:     onThree(again),
			Schedule: faults.Schedule{{Anchor: faults.At(at), Action: set}},
			Latency:  sim.Every(hop),
			Horizon:  ttl + at + again + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		asked := again + 2*ask + hop
		gained := time.Duration(0)
		switch {
		case at > asked:
		case how == "slew": // which all clocks of a machine follow
			gained = countDown(asked-at, slewRate) - (asked - at)
		case expiry == redis.Wall:
			gained = jump
		}
		why, lost := jumped(ttl, asked, gained)
		return secondHolder(lost, ttl, again, why)
	}
	return s
}

// slewRate is that of a clock which is brought to the right time without a step.
const slewRate clock.Rate = 10_000_000

// jumped tells whether c1's key, which r3 set at 5 ms, is gone when c2 asks r3, by
// whose clock that is so much later: real Redis still holds it at the millisecond of
// its expiry.
func jumped(ttl, asked, gained time.Duration) (string, bool) {
	reads := (asked + gained).Truncate(time.Millisecond)
	expires := 2*ask + hop + ttl
	why := fmt.Sprintf("r3 is asked when its clock shows %s, c1's key expires there at %s", short(reads), short(expires))
	return why, reads > expires
}

// redlockGCInFlight is K12 and A8: c1 is paused while the last reply is in
// flight, and measures.
func redlockGCInFlight() *Scenario {
	ttl, pause, validity := 10*time.Second, 14*time.Second, "on"
	s := &Scenario{
		Name:   "redlock-gc-in-flight",
		Pair:   "in-flight",
		Claim:  "a pause while the replies are in flight is noticed: the client refuses the lock",
		Claims: []string{"K12", "A8", "S30", "S31", "S40", "T23"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, most, "PX of the keys"),
		duration("pause", &pause, 0, "how long c1 is paused before it reads the last reply"),
		choice("validity", &validity, []string{"on", "off"}, "whether the client measures how long it took (step 3)"),
	}
	c2At := func() time.Duration { return ttl + 500*time.Millisecond }
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.Redlock{TTL: ttl, SkipValidity: validity == "off"},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("try; work 1s; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until " + c2At().String() + "; try; work 1s; write doc; work 7s; release")},
				},
			},
			Schedule: faults.Schedule{{
				Anchor: faults.Before("c1", "receive", 5),
				Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause},
			}},
			Latency: sim.Every(hop),
			Horizon: ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation { return gcInFlight(ttl, pause, c2At(), validity == "on") }
	s.Control = func() Control { return Control{"redlock-gc-in-flight", []string{"validity=" + other(validity)}} }
	return s
}

func other(onOff string) string {
	if onOff == "on" {
		return "off"
	}
	return "on"
}

// gcInFlight: c1 has read all replies at 10 ms + P. With step 3 it refuses the
// lock from T1 + TTL - drift on. c2 finds all keys expired half a second after
// the TTL, unless c1, which believed that it held the lock, has released before.
func gcInFlight(ttl, pause, c2At time.Duration, measures bool) Expectation {
	accepted1, limit := acquisition+pause, deadline(ttl)
	end1 := accepted1 + time.Second + ask
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	if measures && accepted1 >= limit {
		e.Granted = []string{"c2"}
		e.Because = fmt.Sprintf("elapsed %s >= TTL - drift = %s: refused", short(accepted1), short(limit))
		return e
	}
	if measures {
		e.Granted = []string{"c1", "c2"}
		e.Because = fmt.Sprintf("elapsed %s < TTL - drift = %s: c1 holds until %s, c2 comes at %s",
			short(accepted1), short(limit), short(min(limit, end1)), short(c2At))
		return e
	}
	accepted2 := c2At + acquisition
	end2 := accepted2 + 8*time.Second + ask
	e.Overlap = max(0, min(end1, end2)-max(accepted1, accepted2))
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("without step 3 c1 believes from %s to %s, c2 from %s to %s; overlap = %s",
		short(accepted1), short(end1), short(accepted2), short(end2), short(e.Overlap))
	if write1, write2 := accepted1+time.Second+hop, accepted2+time.Second+hop; write1 > write2 {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}

// redlockGCAfterGrant is A1 and S40: after the grant no check helps. c1 holds all
// five nodes, is paused at 1 s, and notices only when it wakes.
func redlockGCAfterGrant() *Scenario {
	ttl, pause := 10*time.Second, 14*time.Second
	s := &Scenario{
		Name:   "redlock-gc-after-grant",
		Pair:   "pause",
		Claim:  "a pause after the grant is noticed too late: Redlock keeps its word, two clients hold the lock",
		Claims: []string{"A1", "S40", "T20", "S37"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, leastTTL, most, "PX of the keys"),
		duration("pause", &pause, 0, "how long c1 is paused from 1s on"),
	}
	c2At := func() time.Duration { return ttl + 500*time.Millisecond }
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: redis.Redlock{TTL: ttl},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; work 1000h; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until " + c2At().String() + "; acquire; work 1s; write doc; work 1000h; release")},
				},
			},
			Schedule: faults.Schedule{{
				Anchor: faults.At(time.Second),
				Action: faults.Pause{Machine: "c1", Kind: sim.GC, For: pause},
			}},
			Latency: sim.Every(hop),
			Horizon: 2*ttl + pause + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		end1 := max(deadline(ttl), time.Second+pause)
		accepted2 := c2At() + acquisition
		end2 := c2At() + deadline(ttl)
		overlap := max(0, min(end1, end2)-accepted2)
		return Expectation{
			Promise: check.Kept, Belief: overlapping(overlap), Overlap: overlap, Progress: check.OK,
			Because: fmt.Sprintf("c1's deadline is T1 + TTL - drift = %s, it can notice at %s; c2 believes from %s to %s; overlap = %s",
				short(deadline(ttl)), short(end1), short(accepted2), short(end2), short(overlap)),
		}
	}
	s.Control = func() Control {
		return Control{"redlock-gc-after-grant", []string{"pause=" + short(max(0, ttl-2*time.Second))}}
	}
	return s
}

// mustText sets an option from a word that a parameter allows.
func mustText(v interface{ UnmarshalText([]byte) error }, word string) {
	if err := v.UnmarshalText([]byte(word)); err != nil {
		panic(err)
	}
}
