package scenarios

import (
	"fmt"
	"time"

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
		w := widgetOnEtcd(ttl, pause)
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

// widgetOnEtcd: c1 opens its session at 1 s, has the lock two writes later, and is
// paused a second after that.
func widgetOnEtcd(ttl, pause time.Duration) story {
	c1 := etcdSession{time.Second + etcdWrite, ttl}
	return c1.pausedBeforeWrite(c1.start+etcdWrite+time.Second, pause)
}

// pausedBeforeWrite: a holder is paused before its last write, while another waits
// that will write a second after it has the lock. The keepalives stand still with
// the holder. It goes on with its write, and then sees whether it is over.
func (s etcdSession) pausedBeforeWrite(paused, pause time.Duration) story {
	beat, thaws := s.lastBeat(paused), paused+pause
	revoked, released := s.revoked(beat), thaws+2*hop
	a2 := min(revoked+etcdNotice, released+hop+etcdCommit+etcdHandover)
	return story{
		accepted2: a2,
		end1:      max(thaws, min(released, s.done(beat))),
		end2:      a2 + 1500*time.Millisecond + 2*hop,
		write1:    thaws + hop,
		write2:    a2 + time.Second + hop,
		form: fmt.Sprintf("c1's last keepalive left at %s, so its lease is over at %s and revoked at %s, unless it is back at %s before that; c2 has the lock at a2 = %s",
			short(beat), short(beat+hop+s.ttl), short(revoked), short(thaws), short(a2)),
	}
}
