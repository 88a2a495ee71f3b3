package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/redis"
	"locksim/sim"
	"locksim/trial"
)

// fsyncPrice is S35: what a sync of every write is worth, and what it costs.
func fsyncPrice() *Scenario {
	persistence, rounds, every := "always", "5", 400*time.Millisecond
	s := &Scenario{
		Name: "fsync-price", Pair: "restart",
		Claim:  "a sync of every write keeps the lock over a loss of power; it costs a sync for each change, not one a second",
		Claims: []string{"S35", "S34", "A10"},
		Also:   []string{"persistence=none", "persistence=everysec rounds=10 every=988ms"},
	}
	s.Params = []Param{
		choice("persistence", &persistence, []string{"none", "everysec", "always"}, "what the node keeps on its disk"),
		choice("rounds", &rounds, []string{"1", "5", "10"}, "how often c1 takes the lock; r1 loses power in the last"),
		milliseconds("every", &every, 200*time.Millisecond, 5*time.Second, "the time from one round to the next"),
	}
	n := func() int { n, _ := strconv.Atoi(rounds); return n } // the parameter allows numbers alone
	last := func() time.Duration { return time.Duration(n()-1) * every }
	s.Spec = func() trial.Spec {
		system := redis.SetNX{}
		mustText(&system.Persistence, persistence)
		c1 := trial.Script{}
		for i := range n() - 1 {
			c1 = append(c1, trial.MustScript("until "+(time.Duration(i)*every).String()+"; acquire; work 100ms; release")...)
		}
		spec := trial.Spec{
			System:   system,
			Cast:     two("until "+last().String()+"; acquire; work 5s; release", "until "+(last()+200*time.Millisecond).String()+"; look; try; work 1s; release"),
			Schedule: faults.Schedule{{Anchor: faults.At(last() + 100*time.Millisecond), Action: faults.Restart{Server: "r1", How: faults.PowerLoss}}},
			Latency:  sim.Every(hop),
		}
		spec.Cast.Clients[0].Script = append(c1, spec.Cast.Clients[0].Script...)
		return spec
	}
	s.Expect = func() Expectation { return fsynced(persistence, n(), every) }
	s.Control = func() Control { return turned(s.Name, "persistence", persistence, "always", "everysec") }
	return s
}

// fsynced: each round sets the key 1 ms after it begins and deletes it 102 ms later;
// in the last, r1 loses power in between. r1 comes back with what the last write that
// it has synced says: the last key, no key, or, where a deletion was not synced, an
// earlier one. Then c2 looks, which changes nothing, and asks: where it gets the
// lock, it deletes the key a second later. c1 releases after 5 s what it still has.
func fsynced(persistence string, rounds int, every time.Duration) Expectation {
	var before, after []time.Duration
	begin := time.Duration(0)
	for range rounds - 1 {
		before = append(before, begin+hop, begin+3*hop+100*time.Millisecond)
		begin += every
	}
	before = append(before, begin+hop)
	cut := begin + 100*time.Millisecond
	kept := outlasting(persistence, before, cut)
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	e.Granted = slices.Repeat([]string{"c1"}, rounds)
	owner := "c1"
	switch {
	case kept == len(before):
		after = []time.Duration{begin + 3*hop + 5*time.Second}
		e.Because = "r1 has kept c1's last key"
	case kept%2 == 1:
		e.Promise, e.Breaches = check.Broken, []string{check.StaleRead, check.LostLease}
		e.Because = "r1 has lost the deletion of an earlier key of c1's, which is back: c2 finds a grant that was released, and is refused"
	default:
		owner = "nobody"
		c2 := begin + 203*hop
		after = []time.Duration{c2 + hop, c2 + 3*hop + time.Second}
		e.Granted = append(e.Granted, "c2")
		e.Promise, e.Breaches = check.Broken, []string{check.StaleRead, check.DoubleGrant, check.LostLease}
		e.Belief, e.Overlap = check.Overlapping, time.Second
		e.Because = "r1 has lost c1's last key, and c2 gets the lock for its second of work"
	}
	count := synced(persistence, before, cut) + synced(persistence, after, most)
	e.Because += fmt.Sprintf("; %d changes, %s: %d", len(before)+len(after), syncing[persistence], count)
	e.Figures = []Figure{{owners, owner}, {fsyncs, strconv.Itoa(count)}}
	return e
}

// outlasting is how many of the writes a loss of power at an instant leaves. Those
// at the very second are synced at the next.
func outlasting(persistence string, writes []time.Duration, cut time.Duration) int {
	switch persistence {
	case "none":
		return 0
	case "always":
		return len(writes)
	}
	n, _ := slices.BinarySearch(writes, cut.Truncate(time.Second))
	return n
}

// syncing is how often a file is synced.
var syncing = map[string]string{
	"none":     "never synced",
	"everysec": "a sync at each whole second after a change, if the power is on by then",
	"always":   "a sync for each",
}

// synced is how many syncs the writes take until an instant.
func synced(persistence string, writes []time.Duration, end time.Duration) int {
	switch persistence {
	case "none":
		return 0
	case "always":
		return len(writes)
	}
	seconds := map[time.Duration]bool{}
	for _, at := range writes {
		if next := at.Truncate(time.Second) + time.Second; next <= end {
			seconds[next] = true
		}
	}
	return len(seconds)
}
