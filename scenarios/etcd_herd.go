package scenarios

import (
	"fmt"
	"strconv"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/etcd"
	"locksim/sim"
	"locksim/trial"
)

// etcdHerd is S45: clients wait, and the lock is handed from one to the next.
func etcdHerd() *Scenario {
	waiters, watched, dies := "5", "predecessor", "nobody"
	s := &Scenario{
		Name:   "etcd-herd",
		Pair:   "consensus",
		Claim:  "who watches the key before its own is woken once; who watches them all is woken by every release",
		Claims: []string{"S45", "S70"},
	}
	s.Params = []Param{
		choice("waiters", &waiters, []string{"5", "100"}, "how many wait"),
		choice("watched", &watched, []string{"predecessor", "anything"}, "what wakes a waiter: the deletion of the key before its own, or of any"),
		choice("dies", &dies, []string{"nobody", "middle"}, "who dies while it waits: the one in the middle"),
	}
	s.Also = []string{"dies=middle", "waiters=100", "waiters=100 watched=anything"}
	n := func() int { w, _ := strconv.Atoi(waiters); return w }
	s.Spec = func() trial.Spec {
		system := etcd.Etcd{TTL: 5 * time.Second}
		mustText(&system.Wait, watched)
		spec := trial.Spec{System: system, Latency: sim.Every(hop), Horizon: 30 * time.Second}
		spec.Cast.Clients = []trial.Client{{Name: "c0", Script: trial.MustScript("acquire; work 10s; release")}}
		for i := range n() {
			c := trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript("acquire; release")}
			startAt(&c, time.Second+time.Duration(i)*20*time.Millisecond)
			spec.Cast.Clients = append(spec.Cast.Clients, c)
		}
		if dies == "middle" {
			spec.Schedule = faults.Schedule{{Anchor: faults.At(3500 * time.Millisecond), Action: faults.KillProcess{Process: fmt.Sprintf("c%d", n()/2)}}}
		}
		return spec
	}
	s.Expect = func() Expectation { return herd(n(), watched, dies) }
	s.Control = func() Control { return turned("etcd-herd", "watched", watched, "predecessor", "anything") }
	return s
}

// herd: with n waiting, each of the n deletions from c0's on wakes one, or all that
// are left, n + (n - 1) + ... + 1. Of one that died, the key is deleted while c0
// still holds the lock: that wakes the one behind it, or all the others.
func herd(n int, watched, dies string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	for i := range n + 1 {
		if dies == "nobody" || i != n/2 {
			e.Granted = append(e.Granted, fmt.Sprintf("c%d", i))
		}
	}
	left, early, wakes := n, 0, 0
	if dies == "middle" {
		left, early = n-1, 1
	}
	if watched == "predecessor" {
		wakes = left + early
		e.Because = fmt.Sprintf("%d releases wake one client each", left)
	} else {
		early *= left
		wakes = left*(left+1)/2 + early
		e.Because = fmt.Sprintf("%d releases wake all that are left: %d x %d / 2", left, left, left+1)
	}
	if dies == "middle" {
		e.Because += fmt.Sprintf("; the end of c%d's lease wakes %d, of which none has the lock", n/2, early)
	}
	e.Figures = []Figure{{wakeUps, strconv.Itoa(wakes)}}
	return e
}
