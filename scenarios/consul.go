package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/consul"
	"locksim/models/raft"
	"locksim/models/resource"
	"locksim/trial"
)

// What the scenarios of Consul have in common: no message and no disk takes any
// time, so that its own times are all that is seen, and n2 succeeds n1.
var promptly = raft.Config{NoFsync: true, Timeouts: []time.Duration{time.Second, 1200 * time.Millisecond, 1400 * time.Millisecond}}

// consulRetry is the wait of Consul's client between two acquires that a lock-delay
// refuses.
const consulRetry = 5 * time.Second

// consulLock is Consul with a TTL and a lock-delay, which may be none.
func consulLock(ttl, delay time.Duration) consul.Lock {
	return consul.Lock{Config: promptly, TTL: ttl, Delay: delay, NoDelay: delay == 0}
}

// afterDelay is when a client gets the lock that began to try when its holder's
// session ended: at the first of its acquires that comes when the delay is over.
func afterDelay(ended, delay time.Duration) time.Duration {
	return ended + (delay+consulRetry-1)/consulRetry*consulRetry
}

// consulLockDelay is the widget on Consul: what a pause may last.
func consulLockDelay() *Scenario {
	ttl, delay, pause := 10*time.Second, 15*time.Second, 90*time.Second
	s := &Scenario{
		Name:   "consul-lock-delay",
		Pair:   "session",
		Claim:  "a lock-delay makes room for a pause of up to twice the TTL and the delay; no delay is long enough for all",
		Claims: []string{"S7", "K3", "H1"},
		Also:   []string{"pause=34s", "pause=34.5s", "delay=0s pause=20s", "delay=1m", "delay=1m pause=79s"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 10*time.Second, 5*time.Minute, "TTL of a session"),
		milliseconds("delay", &delay, 0, time.Minute, "the lock-delay"),
		milliseconds("pause", &pause, 0, 15*time.Minute, "how long c1 is paused before its write"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:   consulLock(ttl, delay),
			Cast:     trial.Writers(2, resource.Plain("doc")),
			Schedule: pauseBefore("write", "gc", pause),
			Horizon:  max(afterDelay(time.Second+2*ttl, delay), 2*time.Second+pause) + 5*time.Second,
		}
	}
	s.Expect = func() Expectation { return consulWidget(ttl, delay, pause) }
	s.Control = func() Control {
		// The longest pause that does no harm: c1 is back when c2 gets the lock.
		safe := afterDelay(time.Second+2*ttl, delay) - 2*time.Second
		return Control{"consul-lock-delay", []string{"pause=" + short(safe)}}
	}
	return s
}

// consulWidget: c1's session is made at 1 s and ends at 1s + 2 x TTL, unless c1 is
// back before. From then on c2 tries every 5 s.
func consulWidget(ttl, delay, pause time.Duration) Expectation {
	ended, back := time.Second+2*ttl, 2*time.Second+pause
	a2 := max(3*time.Second, back)
	w := story{end1: back, write1: back, form: fmt.Sprintf("c1 is back at %s, before its session ends at %s", short(back), short(ended))}
	if back >= ended {
		a2 = afterDelay(ended, delay)
		w.form = fmt.Sprintf("c1's session ends at 1s + 2 x TTL = %s; c2 gets the lock at a2 = %s, the first of its attempts, every 5s, with the lock-delay of %s over",
			short(ended), short(a2), short(delay))
	}
	w.accepted2, w.write2, w.end2 = a2, a2+time.Second, a2+1500*time.Millisecond
	e := w.expectation()
	if back == ended {
		e.Promise, e.Breaches = check.Broken, []string{check.LostLease, check.DoubleGrant}
		e.Because += "; c1's renewal comes while the servers agree on the end of its session: the leader acknowledges it, and the session ends all the same"
	}
	return e
}

// consulSessionEnd is H18: how long a lock stays with a client that is dead.
func consulSessionEnd() *Scenario {
	ttl, delay, at, end := 10*time.Second, 15*time.Second, time.Second, "dies"
	s := &Scenario{
		Name:   "consul-session-end",
		Pair:   "session",
		Claim:  "who waits for a dead holder waits for twice its TTL and the lock-delay; after a release, for nothing",
		Claims: []string{"H18"},
		Also:   []string{"ttl=15s", "ttl=20s", "ttl=25s", "delay=0s", "at=12s"},
	}
	s.Params = []Param{
		milliseconds("ttl", &ttl, 10*time.Second, 5*time.Minute, "TTL of a session"),
		milliseconds("delay", &delay, 0, time.Minute, "the lock-delay"),
		milliseconds("at", &at, 200*time.Millisecond, time.Minute, "when c1 dies, or releases"),
		choice("c1", &end, []string{"dies", "releases"}, "what c1 does then"),
	}
	s.Spec = func() trial.Spec {
		script, schedule := "acquire; until "+at.String()+"; release", faults.Schedule(nil)
		if end == "dies" {
			script = "acquire; work 1h; release"
			schedule = faults.Schedule{{Anchor: faults.At(at), Action: faults.KillProcess{Process: "c1"}}}
		}
		return trial.Spec{
			System: consulLock(ttl, delay),
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript(script)},
				{Name: "c2", Script: trial.MustScript("until 100ms; acquire; work 1s; release")},
			}},
			Schedule: schedule,
			Horizon:  afterDelay(at+2*ttl, delay) + 5*time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		granted := at
		e.Because = fmt.Sprintf("c1 releases at %s, and there is no lock-delay after a release", short(at))
		if end == "dies" {
			// It renews every half of its TTL. At the very instant it dies first.
			renewed := (at - 1).Truncate(ttl / 2)
			granted = afterDelay(renewed+2*ttl, delay)
			e.Because = fmt.Sprintf("c1's session was renewed at %s and ends at %s; the lock-delay is over at %s, and c2's next attempt, every 5s, is at %s",
				short(renewed), short(renewed+2*ttl), short(renewed+2*ttl+delay), short(granted))
		}
		e.Longest = granted - 100*time.Millisecond
		return e
	}
	s.Control = func() Control { return turned("consul-session-end", "c1", end, "dies", "releases") }
	return s
}

// consulLockIndex is the sequencer of the documentation, (Key, LockIndex, Session),
// for a store that compares numbers: which of the key's indexes is safe.
func consulLockIndex() *Scenario {
	token, plain, pause := "lock-index", "on", 40*time.Second
	s := &Scenario{
		Name:   "consul-lock-index",
		Pair:   "consensus",
		Claim:  "Consul's LockIndex alone is no fencing token: a plain PUT takes it back to 0; the ModifyIndex is one",
		Claims: []string{"S14", "K7"},
		Also:   []string{"put=off", "token=modify-index put=off"},
	}
	s.Params = []Param{
		choice("token", &token, []string{"lock-index", "modify-index"}, "which index of the key a holder shows to the store"),
		choice("put", &plain, []string{"on", "off"}, "whether a holder writes its name into the key with a plain PUT"),
		milliseconds("pause", &pause, 0, 3*time.Minute, "how long c1 is paused before its write"),
	}
	const ttl, delay = 10 * time.Second, 15 * time.Second
	s.Spec = func() trial.Spec {
		system := consulLock(ttl, delay)
		mustText(&system.Token, token)
		system.Put = plain == "on"
		return trial.Spec{
			System:   system,
			Cast:     trial.Writers(2, resource.Fenced("doc")),
			Schedule: pauseBefore("write", "gc", pause),
			Horizon:  max(afterDelay(time.Second+2*ttl, delay), 2*time.Second+pause) + 5*time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := consulWidget(ttl, delay, pause)
		if token == "lock-index" && plain == "on" {
			if e.Promise == check.Kept { // else c2's grant is a breach already
				e.Promise, e.Breaches = check.Broken, []string{check.TokenOrder}
			}
			e.Because += "; c1 and c2 both have LockIndex 1, since c1's PUT has taken it to 0 between"
			return e
		}
		if len(e.Damage) > 0 {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += "; the store rejects c1's smaller index"
		}
		return e
	}
	s.Control = func() Control {
		return turned("consul-lock-index", "token", token, "modify-index", "lock-index")
	}
	return s
}

// consulLeaderCrash: the time of a session is in the leader's memory alone. Its
// successor gives every session twice its TTL again.
func consulLeaderCrash() *Scenario {
	at, holder := 19050*time.Millisecond, "dead"
	s := &Scenario{
		Name:   "consul-leader-crash",
		Pair:   "consensus",
		Claim:  "a new leader lets every session begin anew: a live holder loses nothing, and a dead one is waited for again",
		Claims: []string{"S23", "S69", "H18"},
		Also:   []string{"c1=alive"},
	}
	s.Params = []Param{
		milliseconds("crash-at", &at, 3*time.Second, 19500*time.Millisecond, "when the leader's process dies, for 10s"),
		choice("c1", &holder, []string{"dead", "alive"}, "whether the holder is dead from 1s on, or works for 60s"),
	}
	const ttl, delay, heartbeat, timeout = 10 * time.Second, 15 * time.Second, 100 * time.Millisecond, 1200 * time.Millisecond
	s.Spec = func() trial.Spec {
		schedule := faults.Schedule{{Anchor: faults.At(at), Action: faults.Restart{Server: "n1", How: faults.Kill, For: 10 * time.Second}}}
		if holder == "dead" {
			schedule = append(schedule, faults.Fault{Anchor: faults.At(time.Second), Action: faults.KillProcess{Process: "c1"}})
		}
		return trial.Spec{
			System: consulLock(ttl, delay),
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; until 60s; write doc; release")},
					{Name: "c2", Script: trial.MustScript("until 2s; acquire; write doc; work 1s; release")},
				},
			},
			Schedule: schedule,
			Horizon:  65 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		granted := 60 * time.Second
		e.Because = "c1 releases at 1m0s, having renewed its session with both leaders"
		if holder == "dead" {
			// n1's last heartbeat came at the last tenth of a second before it died.
			leads := (at - 1).Truncate(heartbeat) + timeout
			granted = afterDelay(leads+2*ttl, delay)
			e.Because = fmt.Sprintf("n2 leads at %s; c1's session, due to end at 20s, ends at %s, and c2 gets the lock at %s",
				short(leads), short(leads+2*ttl), short(granted))
		}
		e.Longest = granted - 2*time.Second
		return e
	}
	s.Control = func() Control { return turned("consul-leader-crash", "c1", holder, "dead", "alive") }
	return s
}
