package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/models/lease"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

var pauseKinds = []string{"gc", "loop", "thread", "suspend"}

// gcPause is the widget of both documents (S7): the holder is paused between its
// last check and its write, on a lock service that cannot fail.
func gcPause() *Scenario {
	s := gcPauseWith("gc-pause", "pause", "off")
	s.Also = []string{"kind=loop", "kind=thread", "kind=suspend", "pause=9.5s"}
	return s
}

// fencing is the same with a store that checks the token (S12, K7, T8).
func fencing() *Scenario {
	s := gcPauseWith("gc-pause-fenced", "fence", "on")
	s.Claim = "a fencing token keeps the late write out; the overlap stays as long as it was"
	s.Claims = []string{"S12", "S15", "K7", "T8", "R9"}
	s.Control = func() Control { return Control{"gc-pause-fenced", []string{"fencing=off"}} }
	return s
}

func gcPauseWith(name, pair, fencing string) *Scenario {
	ttl, pause, kind := 10*time.Second, 14*time.Second, "gc"
	first, second := time.Second, 3*time.Second
	s := &Scenario{
		Name:   name,
		Pair:   pair,
		Claim:  "a pause after the grant breaks the belief, not the promise; fencing saves the data",
		Claims: []string{"S7", "S8", "S12", "K3", "K4", "K5", "K7", "A1", "H1"},
	}
	s.Params = []Param{
		duration("ttl", &ttl, time.Millisecond, "the term of a lease"),
		duration("pause", &pause, 0, "how long c1 is paused before its write"),
		choice("kind", &kind, pauseKinds, "what pauses it"),
		choice("fencing", &fencing, []string{"on", "off"}, "whether the store checks a fencing token"),
		durations("c1-at", &first, 0, time.Second, 1, "when c1 asks; it writes a second later"),
		durations("c2-at", &second, 3*time.Second, time.Hour, 1, "when c2 asks"),
	}
	s.Spec = func() trial.Spec {
		store := resource.Plain("doc")
		if fencing == "on" {
			store = resource.Fenced("doc")
		}
		cast := trial.Writers(2, store)
		cast.Clients[0].Script[0].For, cast.Clients[1].Script[0].For = first, second
		return trial.Spec{
			System:   lease.Ideal{TTL: ttl, Tokens: fencing == "on"},
			Cast:     cast,
			Schedule: pauseBefore("write", kind, pause),
			Horizon:  ttl + pause + second + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widgetFrom(first, second, ttl, pause)
		e := w.expectation()
		if fencing == "on" && len(e.Damage) > 0 {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += "; the store rejects c1's older token"
		}
		return e
	}
	s.Control = func() Control {
		// The longest pause that does no harm: c1 is back when its term ends.
		return Control{"gc-pause", []string{"pause=" + short(max(0, ttl-time.Second))}}
	}
	return s
}

// story is the widget in figures: when c2 accepts the lock, when each believes
// until, and when each write reaches the store.
type story struct {
	accepted2, end1, end2, write1, write2 time.Duration
	form                                  string
}

// widget on the ideal lease: c1 acquires at 1 s and is paused at 2 s, at its
// write; c2 waits from 3 s, accepts at a2, writes a second later and releases
// half a second after that.
func widget(ttl, pause time.Duration) story {
	return widgetFrom(time.Second, 3*time.Second, ttl, pause)
}

// widgetFrom is the same where c1 acquires at first, and c2 asks at second.
func widgetFrom(first, second, ttl, pause time.Duration) story {
	paused := first + time.Second
	a2 := max(second, min(first+ttl, paused+pause))
	return story{
		accepted2: a2,
		end1:      paused + pause,
		end2:      a2 + 1500*time.Millisecond,
		write1:    paused + pause,
		write2:    a2 + time.Second,
		form:      fmt.Sprintf("a2 = max(%s, min(%s+TTL, %s+P)) = %s", short(second), short(first), short(paused), short(a2)),
	}
}

// expectation: L = max(0, min(end1, end2) - a2), and c1's write is stale when it
// reaches the store after c2's. In a tie c1's comes first, since its timer was
// set first: nothing is overwritten.
func (w story) expectation() Expectation {
	overlap := max(0, min(w.end1, w.end2)-w.accepted2)
	e := Expectation{
		Promise:  check.Kept,
		Belief:   overlapping(overlap),
		Overlap:  overlap,
		Progress: check.OK,
		Because: fmt.Sprintf("%s; overlap = max(0, min(%s, %s) - a2) = %s; c1's write reaches the store at %s, c2's at %s",
			w.form, short(w.end1), short(w.end2), short(overlap), short(w.write1), short(w.write2)),
	}
	if w.write1 > w.write2 {
		e.Damage = []string{check.StaleWrite}
	}
	return e
}

// gcPauseRedis is the widget on one Redis: with hops, with a waiter that polls,
// and with a key that still stands at the millisecond of its expiry.
func gcPauseRedis() *Scenario {
	ttl, pause, kind, hop, every := 10*time.Second, 14*time.Second, "gc", time.Millisecond, trial.DefaultEvery
	s := &Scenario{
		Name:   "gc-pause-redis",
		Pair:   "pause",
		Claim:  "the same pause on SET NX PX: Redis keeps its word, and two clients hold the lock",
		Claims: []string{"S7", "S25", "T6"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 100*time.Millisecond, time.Hour, "PX of the key"),
		durations("pause", &pause, 0, time.Hour, 1, "how long c1 is paused before its write"),
		choice("kind", &kind, pauseKinds, "what pauses it"),
		milliseconds("hop", &hop, 0, 20*time.Millisecond, "how long a message takes, one way"),
		durations("every", &every, time.Millisecond, time.Hour, 1, "how long c2 waits between attempts"),
	}
	s.Spec = func() trial.Spec {
		cast := trial.Writers(2, resource.Plain("doc"))
		for i := range cast.Clients[1].Script {
			if l := &cast.Clients[1].Script[i]; l.Verb == "acquire" {
				l.Every = every
			}
		}
		return trial.Spec{
			System:   redis.SetNX{TTL: ttl},
			Cast:     cast,
			Schedule: pauseBefore("write", kind, pause),
			Latency:  sim.Every(hop),
			Horizon:  ttl + pause + 2*every + time.Minute,
		}
	}
	s.Expect = func() Expectation {
		w := widgetOnRedis(ttl, pause, hop, every)
		return w.expectation()
	}
	s.Control = func() Control {
		return Control{"gc-pause-redis", []string{"pause=" + short(max(0, ttl-time.Second))}}
	}
	return s
}

// widgetOnRedis: the key is set a hop after 1 s and stands through the millisecond
// of its expiry; c1 is paused two hops after 2 s. Each attempt of c2 takes two
// hops and is followed by a wait; the first that Redis sees after the key is gone
// succeeds. An attempt that arrives in the same instant as c1's release comes
// first, since c2's timer was set first.
func widgetOnRedis(ttl, pause, hop, every time.Duration) story {
	set := (time.Second + hop).Truncate(time.Millisecond)
	gone := set + ttl + time.Millisecond
	released := 2*time.Second + pause + 5*hop // two hops to c1's grant, two to its write, one to Redis
	seen := 3*time.Second + hop
	period := every + 2*hop
	if free := min(gone, released+1); seen < free {
		seen += (free - seen + period - 1) / period * period
	}
	a2 := seen + hop
	return story{
		accepted2: a2,
		end1:      2*time.Second + pause + 4*hop,
		end2:      a2 + 1500*time.Millisecond + 2*hop,
		write1:    2*time.Second + pause + 3*hop,
		write2:    a2 + time.Second + hop,
		form:      fmt.Sprintf("the key is gone at %s, c1's release arrives at %s, c2's next attempt is answered at a2 = %s", short(gone), short(released), short(a2)),
	}
}
