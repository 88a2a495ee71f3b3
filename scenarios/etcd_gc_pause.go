package scenarios

import (
	"fmt"
	"time"

	"locksim/models"
	"locksim/models/etcd"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// etcdGCPause is the widget on three etcd nodes (S7, K14, E1): consensus keeps the
// promise, and no holder's belief.
func etcdGCPause() *Scenario {
	ttl, pause, store := 10*time.Second, 14*time.Second, "plain"
	s := &Scenario{
		Name:   "etcd-gc-pause",
		Pair:   "consensus",
		Claim:  "a pause longer than the session's TTL breaks the belief on etcd as anywhere; the revision as a fence saves the data",
		Claims: []string{"S7", "S44", "K14", "K7", "E1", "T21"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, 2*time.Second, time.Hour, time.Second, "the session's TTL"),
		milliseconds("pause", &pause, 2*time.Second, time.Hour, "how long c1 is paused before its write"),
		choice("store", &store, []string{"plain", "fenced"}, "what the store checks: nothing, or the revision"),
	}
	s.Also = []string{"store=fenced"}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:   etcd.Etcd{TTL: ttl},
			Cast:     trial.Writers(2, resource.Plain("doc")),
			Schedule: pauseBefore("write", "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  ttl + pause + 30*time.Second,
		}
		spec.Cast.Resources = storeOf(store)
		return spec
	}
	s.Expect = func() Expectation {
		w := widgetOnEtcd(ttl, pause, direct)
		e := w.expectation()
		if store == "fenced" && len(e.Damage) > 0 {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += "; the store rejects c1's older revision"
		}
		return e
	}
	s.Control = func() Control {
		return Control{"etcd-gc-pause", []string{"pause=" + short(max(2*time.Second, ttl-2*time.Second))}}
	}
	return s
}

// path is the way of a write to a store: how long it takes there and back, and to
// the store's decision.
type path struct{ back, there time.Duration }

// direct is a store that decides by itself.
var direct = path{2 * hop, hop}

// widgetOnEtcd: c1 opens its session at 1 s, has the lock two writes later, and is
// paused a second after that.
func widgetOnEtcd(ttl, pause time.Duration, to path) story {
	c1 := etcdSession{time.Second + etcdWrite, ttl}
	return c1.pausedBeforeWrite(c1.start+etcdWrite+time.Second, pause, to)
}

// pausedBeforeWrite: a holder is paused before its last write, while another waits
// that will write a second after it has the lock. The keepalives stand still with
// the holder. It goes on with its write; meanwhile it sees its own deadline, or is
// told that its lease is gone.
func (s etcdSession) pausedBeforeWrite(paused, pause time.Duration, to path) story {
	beat, thaws := s.lastBeat(paused), paused+pause
	revoked, released := s.revoked(beat), thaws+to.back
	a2 := min(revoked+etcdNotice, released+hop+etcdCommit+etcdHandover)
	return story{
		accepted2: a2,
		end1:      max(thaws, min(released, s.done(beat), s.told(beat, thaws))),
		end2:      a2 + 1500*time.Millisecond + to.back,
		write1:    thaws + to.there,
		write2:    a2 + time.Second + to.there,
		form: fmt.Sprintf("c1's last keepalive left at %s, so its lease is over at %s and revoked at %s, unless it is back at %s before that; c2 has the lock at a2 = %s",
			short(beat), short(beat+hop+s.ttl), short(revoked), short(thaws), short(a2)),
	}
}

// etcdOwnKeys is E1: where what the lock protects is in etcd too, the write and the
// question whether the writer still holds the lock are one transaction.
func etcdOwnKeys() *Scenario {
	ttl, pause, guard := 10*time.Second, 14*time.Second, "is-owner"
	s := &Scenario{
		Name:   "etcd-own-keys",
		Pair:   "consensus",
		Claim:  "for keys of etcd itself, a write that compares the lock's revision in the same transaction excludes the old holder",
		Claims: []string{"E1", "K7", "J4"},
	}
	s.Params = []Param{
		durations("ttl", &ttl, 2*time.Second, time.Hour, time.Second, "the session's TTL"),
		durations("pause", &pause, 2*time.Second, time.Hour, time.Second, "how long c1 is paused before its write"),
		choice("guard", &guard, []string{"is-owner", "none"}, "what a write compares"),
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System:   etcd.Etcd{TTL: ttl},
			Cast:     trial.Writers(2, resource.Plain("doc")),
			Schedule: pauseBefore("write", "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  ttl + pause + 30*time.Second,
		}
		spec.Cast.Resources = []models.Resource{etcd.Keys{Called: "doc", Guarded: guard == "is-owner"}}
		return spec
	}
	s.Expect = func() Expectation {
		// Two hops to n1 and back, and the answer is recorded on the way.
		w := widgetOnEtcd(ttl, pause, path{4*hop + etcdCommit, 3*hop + etcdCommit})
		e := w.expectation()
		c1 := etcdSession{time.Second + etcdWrite, ttl}
		proposed := w.write1 - hop - etcdCommit
		revoking := c1.revoked(c1.lastBeat(2*time.Second+2*etcdWrite)) - etcdCommit
		if guard == "is-owner" && proposed > revoking {
			e.Damage, e.Rejected = nil, []string{"c1"}
			e.Because += fmt.Sprintf("; c1's transaction is behind the revocation of %s in the log, and finds no key of c1's", short(revoking))
		}
		return e
	}
	s.Control = func() Control { return turned("etcd-own-keys", "guard", guard, "is-owner", "none") }
	return s
}
