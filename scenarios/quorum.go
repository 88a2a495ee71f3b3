package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/quorum"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// The scenarios about leaderless replicas have three of them, r1 to r3, quorums of
// two, and a millisecond a hop. A read or a write is one round, ask; to acquire the
// lock takes two.

// quorumTerm is how long after its call a client may use the lock: the TTL of 10s
// less 500 ppm.
const quorumTerm = 10*time.Second - 5*time.Millisecond

// answeredApart makes r3 slow for one client and r1 for another: the one is answered by r1
// and r2, the other by r2 and r3. Both send to all.
func answeredApart(one, other string) sim.Latency {
	far := []time.Duration{3 * hop}
	return sim.Latency{Default: []time.Duration{hop}, Links: map[string][]time.Duration{
		one + ">r3": far, "r3>" + one: far, other + ">r1": far, "r1>" + other: far,
	}}
}

// quorumDuplicateToken is S22: A and B read token 5, and both write 6.
func quorumDuplicateToken() *Scenario {
	lock, gap, pause, repair := "quorum", time.Duration(0), "0s", "off"
	s := &Scenario{
		Name: "quorum-duplicate-token", Pair: "copies",
		Claim:  "quorums that overlap are no compare-and-set: two clients that read 5 both get the lock with token 6",
		Claims: []string{"S22", "K8", "K9"},
		Also:   []string{"gap=3ms", "pause=1s", "pause=6s", "repair=on"},
	}
	s.Params = []Param{
		choice("lock", &lock, []string{"quorum", "redlock"}, "last write wins on three replicas, or SET NX on three Redis nodes"),
		milliseconds("gap", &gap, 0, time.Minute, "how much later than c1 c2 asks"),
		choice("pause", &pause, []string{"0s", "1s", "6s"}, "how long c2 is paused between its read and its write"),
		choice("repair", &repair, []string{"off", "on"}, "whether a reader repairs"),
	}
	paused := func() time.Duration { d, _ := time.ParseDuration(pause); return d }
	s.Spec = func() trial.Spec {
		var system models.System = quorum.Lock{ReadRepair: repair == "on"}
		if lock == "redlock" {
			system = redis.Redlock{Nodes: 3, Sends: redis.Parallel, Token: redis.MaxOfCounters}
		}
		spec := trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Fenced("doc")},
				Clients: []trial.Client{
					{Name: "c0", Script: trial.MustScript(strings.Repeat("acquire; release; ", 5) + "until 1s")},
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 5s; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until " + (time.Second + gap).String() + "; acquire every 10s; work 1s; write doc; work 6s; release")},
				},
			},
			Latency: answeredApart("c1", "c2"),
			Horizon: gap + time.Minute,
		}
		if paused() > 0 { // it reads its clock first, and again for the timestamp of a write
			spec.Schedule = faults.Schedule{{Anchor: faults.Before("c2", "now", 2), Action: faults.Pause{Machine: "c2", Kind: sim.GC, For: paused()}}}
		}
		return spec
	}
	s.Expect = func() Expectation { return bothGetIt(lock == "quorum", gap, paused()) }
	s.Control = func() Control { return turned("quorum-duplicate-token", "lock", lock, "redlock", "quorum") }
	return s
}

// bothGetIt: c1 reads at 1s and its write is at the replicas a round and a hop later.
// c2 has read before that, if it came within a round. It goes on to write whatever
// has become of the lock, with the token that c1 has.
func bothGetIt(leaderless bool, gap, pause time.Duration) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	e.Granted = append(slices.Repeat([]string{"c0"}, 5), "c1", "c2")
	switch {
	case !leaderless:
		e.Because = "a node gives its vote once: c1 has those of r1 and r2, c2 that of r3, and gets the lock after c1, with a greater token"
		return e
	case gap > ask:
		e.Because = fmt.Sprintf("c2's read is at r2 at %s, after c1's write at %s: it waits, and finds token 6", short(time.Second+gap+hop), short(time.Second+ask+hop))
		return e
	}
	accepted1, accepted2 := time.Second+2*ask, time.Second+gap+ask+pause+ask
	end1 := accepted1 + 5*time.Second + ask
	e.Promise = check.Broken
	e.Because = fmt.Sprintf("c2's read is at r2 at %s, c1's write at %s: both have read 5 and write 6", short(time.Second+gap+hop), short(time.Second+ask+hop))
	if accepted2 >= end1 {
		e.Breaches = []string{check.TokenOrder}
		e.Because += fmt.Sprintf("; c2 gets its 6 at %s, when c1 is gone since %s", short(accepted2), short(end1))
		return e
	}
	// c2's write is the later one, or that of the greater value: c1's is lost, as c1
	// finds when it releases. The store takes the same token twice.
	e.Breaches = []string{check.DoubleGrant, check.TokenOrder, check.LostLease}
	e.Belief, e.Overlap = check.Overlapping, end1-accepted2
	e.Damage = []string{check.StaleWrite}
	e.Because += fmt.Sprintf("; overlap = %s - %s = %s; c1 writes at %s, after c2 at %s, and the fence accepts 6 after 6",
		short(end1), short(accepted2), short(e.Overlap), short(end1-hop), short(accepted2+time.Second+hop))
	return e
}

// quorumLock is the row "W+R>N" of the matrix, one fault at a time. c1 does not reach
// r3, and c2 is answered by r2 and r3: what c1 has hangs on r2.
func quorumLock() *Scenario {
	fault := "restart"
	schedules := map[string]string{
		"none":    "",
		"restart": "at 500ms  restart r2 power-loss",
		"jump":    "at 500ms  clock-step r2 +11s",
		"pause":   "at 1s  pause c1 gc 14s",
		"drift":   "at 0s  clock-rate c1 -10%",
	}
	s := &Scenario{
		Name:   "quorum-lock",
		Pair:   "copies",
		Claim:  "a lock on quorums has the faults of every lease, and one replica that forgets is enough",
		Claims: []string{"S22", "S33", "K10", "A1", "A7"},
		Also:   []string{"fault=jump", "fault=pause", "fault=drift"},
	}
	s.Params = []Param{choice("fault", &fault, []string{"none", "restart", "jump", "pause", "drift"}, "what goes wrong")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   quorum.Lock{},
			Cast:     two("acquire; work 5s; write doc; work 1000h; release", "until 2s; acquire; work 1s; write doc; work 1000h; release"),
			Schedule: faults.MustParse("at 0s  partition c1|r3\n" + schedules[fault]),
			Latency:  answeredApart("c1", "c2"),
			Horizon:  time.Minute,
		}
	}
	// c1 writes at 2 ms, for 10s, and believes until 9.995. c2 reads at 2s, and every
	// 102 ms, until r2 says that the term is over: the first time at 10.058.
	s.Expect = func() Expectation {
		const again = 79 * (trial.DefaultEvery + ask)
		accepted2 := 2*time.Second + again + 2*ask
		end1 := quorumTerm
		e := Expectation{Promise: check.Kept, Progress: check.OK}
		switch fault {
		case "restart", "jump":
			accepted2 = 2*time.Second + 2*ask
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
			e.Damage = []string{check.StaleWrite} // c1's at 5.005, after c2's at 3.005
			e.Because = "r2 has forgotten c1 and r3 has never heard of it; "
			if fault == "restart" { // with the lock, r2 has lost what it counts by
				e.Breaches = append(e.Breaches, check.TokenOrder)
				e.Because += "c2 has token 1 again; "
			} else {
				e.Because = "by r2's clock c1's term is over and r3 has never heard of it; c2 has token 2; "
			}
		case "pause":
			end1 = 15 * time.Second // when it can notice; first it goes on with its work, and writes
			e.Damage = []string{check.StaleWrite}
		case "drift":
			end1 = 11105555556 // 9.995s / 0.9, rounded up to the nanosecond
		}
		e.Overlap = max(0, end1-accepted2)
		e.Belief = overlapping(e.Overlap)
		e.Because += fmt.Sprintf("c1 believes until %s, c2 from %s; overlap = %s", short(end1), short(accepted2), short(e.Overlap))
		return e
	}
	s.Control = func() Control {
		if fault == "none" {
			return Control{"quorum-lock", []string{"fault=restart"}}
		}
		return Control{"quorum-lock", []string{"fault=none"}}
	}
	return s
}

// quorumClockSkew is S22 by the clock: what a client whose clock is ahead has
// written stands above whatever others write after it, until their clocks are there.
func quorumClockSkew() *Scenario {
	skew := 5 * time.Second
	s := &Scenario{
		Name:   "quorum-clock-skew",
		Pair:   "copies",
		Claim:  "after a client whose clock is ahead, writes are acknowledged and dropped: the lock is given to whoever asks",
		Claims: []string{"S22"},
	}
	s.Params = []Param{milliseconds("skew", &skew, 0, time.Hour, "how far c1's clock is ahead")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: quorum.Lock{},
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Fenced("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; work 1s; release")},
					{Name: "c2", Script: trial.MustScript("until 3s; acquire; work 4s; write doc; release")},
					{Name: "c3", Script: trial.MustScript("until 4s; try; work 1s; write doc; work 1s; release")},
				},
			},
			Schedule: faults.Schedule{{Anchor: faults.At(0), Action: faults.ClockStep{Machine: "c1", By: skew}}},
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation { return outdated(skew) }
	s.Control = func() Control {
		if skew == 0 {
			return Control{"quorum-clock-skew", []string{"skew=5s"}}
		}
		return Control{"quorum-clock-skew", []string{"skew=0s"}}
	}
	return s
}

// outdated: c1 deletes its record a round after its release began, at 2.006 in true
// time. A write counts if its timestamp is greater. c2's is of 3.002, c3's of 4.002.
func outdated(skew time.Duration) Expectation {
	deleted := time.Second + 2*ask + time.Second + ask + skew
	written2, written3 := 3*time.Second+ask, 4*time.Second+ask
	e := Expectation{
		Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"},
		Because: fmt.Sprintf("c1's deletion bears %s, c2's write %s, c3's %s", short(deleted), short(written2), short(written3)),
	}
	if written2 > deleted {
		return e
	}
	// c3 finds the lock free, takes it, writes, and is gone before c2 writes.
	end2 := written2 + ask + 4*time.Second + ask
	accepted3, end3 := written3+ask, written3+ask+time.Second+ask+time.Second
	e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant, check.TokenOrder, check.LostLease}
	if written3 <= deleted { // c3's record is not there either when it releases
		e.Breaches = append(e.Breaches, check.LostLease)
	}
	e.Belief, e.Overlap = check.Overlapping, end3-accepted3
	e.Damage = []string{check.StaleWrite}
	e.Granted = append(e.Granted, "c3")
	e.Because += fmt.Sprintf("; c2 believes until %s, c3 from %s to %s, both with token 2; overlap = %s",
		short(end2), short(accepted3), short(end3), short(e.Overlap))
	return e
}
