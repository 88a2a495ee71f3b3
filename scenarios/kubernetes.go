package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/models/kubernetes"
	"locksim/models/resource"
	"locksim/trial"
)

// What the scenarios of Kubernetes have in common: c1 leads from 0 s on and renews
// every two seconds, c2 tries every two seconds, and no message takes any time.
const (
	electionPeriod = 2 * time.Second
	electionLease  = 15 * time.Second
	electionRenew  = 10 * time.Second
)

// elections is Kubernetes with a lease duration and a renew deadline.
func elections(lease, renew time.Duration) kubernetes.LeaderElection {
	return kubernetes.LeaderElection{Config: promptly, LeaseDuration: lease, RenewDeadline: renew}
}

// attemptFrom is the first of c2's attempts, every two seconds from first on, that
// is at or after an instant.
func attemptFrom(first, at time.Duration) time.Duration {
	return first + (max(0, at-first)+electionPeriod-1)/electionPeriod*electionPeriod
}

// kubernetesClock is H19: by which clock a candidate tells that a lease is over.
func kubernetesClock() *Scenario {
	expiry, stop, at := "renew-time", "deadline", time.Second
	s := &Scenario{
		Name:   "kubernetes-clock",
		Pair:   "session",
		Claim:  "a candidate that trusts the time in the record takes over when its own wall clock jumps",
		Claims: []string{"H19", "K10"},
		Also:   []string{"stop=at-once", "expiry=observed"},
	}
	s.Params = []Param{
		choice("expiry", &expiry, []string{"renew-time", "observed"}, "whether c2 goes by the time in the record, or by when it saw that change"),
		choice("stop", &stop, []string{"at-once", "deadline"}, "when c1 stops that finds c2's name in the record: at once, or at its RenewDeadline, as client-go"),
		milliseconds("jump-at", &at, 0, 15*time.Second, "when c2's wall clock jumps 1h ahead"),
	}
	const first, write1, end = 500 * time.Millisecond, 8 * time.Second, 30 * time.Second
	s.Spec = func() trial.Spec {
		system := elections(electionLease, electionRenew)
		mustText(&system.Expiry, expiry)
		system.StopAtOnce = stop == "at-once"
		system.ReleaseOnCancel = true
		return trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Plain("doc")},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("acquire; work 8s; write doc; work 22s; release")},
					{Name: "c2", Script: trial.MustScript("until 500ms; acquire every 2s; work 1s; write doc; work 12s; release")},
				},
			},
			Schedule: faults.Schedule{{Anchor: faults.At(at), Action: faults.ClockStep{Machine: "c2", By: time.Hour}}},
			Horizon:  50 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		if expiry == "observed" {
			e.Because = fmt.Sprintf("c2 sees the record change at least every 2s; c1 releases at %s", short(end))
			return e
		}
		// c1's next renewal is the first of 2s, 4s, 6s ... after c2 has taken over.
		taken := attemptFrom(first, at)
		noticed := taken.Truncate(electionPeriod) + electionPeriod
		end1, worst, why := noticed, electionPeriod, "at once"
		e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
		switch {
		case stop == "deadline":
			end1, worst = end1+electionRenew, worst+electionRenew
			why = "when it has tried for RenewDeadline, as client-go does"
		default: // it was promised RenewDeadline from its last renewal
			e.Breaches = append(e.Breaches, check.LostLease)
		}
		e.Overlap = end1 - taken
		e.Belief = check.Overlapping
		e.Because = fmt.Sprintf("c2's first attempt after the jump is at %s; c1 finds its name at its next renewal, at %s, and stops %s, at %s; overlap = %s, and at most %s",
			short(taken), short(noticed), why, short(end1), short(e.Overlap), short(worst))
		// In a tie with its notice, c1's write is on its way first.
		if write2 := taken + time.Second; write1 <= end1 && write1 > write2 {
			e.Damage = []string{check.StaleWrite}
		}
		return e
	}
	s.Control = func() Control { return turned("kubernetes-clock", "expiry", expiry, "renew-time", "observed") }
	return s
}

// rates are how fast c2's clock may run: what they make of whole seconds is exact.
var rates = map[string]clock.Rate{"0%": 0, "25%": 250_000_000, "60%": 600_000_000, "100%": 1_000_000_000}

// faster is the true time in which a clock that runs fast by rate shows d.
func faster(d time.Duration, rate clock.Rate) time.Duration {
	return d * 20 / time.Duration(20+rate/50_000_000)
}

// kubernetesRate is client-go's own word on what it tolerates: clocks whose rates
// differ by less than LeaseDuration / RenewDeadline, such as 60 / 30 for a clock
// that is twice as fast.
func kubernetesRate() *Scenario {
	lease, renew, rate := 60*time.Second, 30*time.Second, "100%"
	s := &Scenario{
		Name:   "kubernetes-rate",
		Pair:   "session",
		Claim:  "client-go's 60s to 30s for a clock twice as fast is short of a RetryPeriod: the deadline begins with the next attempt",
		Claims: []string{"A7", "S39"},
		Also:   []string{"renew=28s", "lease=15s renew=10s rate=60%", "lease=15s renew=10s rate=25%", "rate=60%", "lease=15s renew=10s"},
	}
	s.Params = []Param{
		durations("lease", &lease, 15*time.Second, time.Minute, time.Second, "LeaseDuration"),
		durations("renew", &renew, 3*time.Second, 30*time.Second, time.Second, "RenewDeadline; at most a second less than LeaseDuration, whatever is set"),
		choice("rate", &rate, []string{"0%", "25%", "60%", "100%"}, "how fast c2's clock runs"),
	}
	const cut, last, first = 7 * time.Second, 6 * time.Second, time.Second
	deadline := func() time.Duration { return min(renew, lease-time.Second) }
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: elections(lease, deadline()),
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 1h; release")},
				{Name: "c2", Script: trial.MustScript("until 1s; acquire every 2s; work 8s; release")},
			}},
			Schedule: faults.Schedule{
				{Action: faults.ClockRate{Machine: "c2", Rate: rates[rate]}},
				{Anchor: faults.At(cut), Action: faults.Partition{A: []string{"c1"}, B: []string{"n1", "n2", "n3"}}},
			},
			Horizon: 80 * time.Second,
		}
	}
	s.Expect = func() Expectation {
		r := rates[rate]
		stops := last + electionPeriod + deadline()
		// Of its attempts, at 1s, 3s, 5s ... of its clock, the first that sees c1's last
		// renewal, and the first that is LeaseDuration later.
		seen := first
		for faster(seen, r) < last {
			seen += electionPeriod
		}
		attempt := attemptFrom(seen, seen+lease)
		taken, end2 := faster(attempt, r), faster(attempt+8*time.Second, r)
		e := Expectation{
			Promise: check.Kept, Progress: check.OK, Granted: []string{"c1", "c2"},
			Overlap: max(0, min(stops, end2)-taken), Belief: overlapping(stops - taken),
			Because: fmt.Sprintf("c1's last renewal is at %s, its next due at %s, and it stops RenewDeadline after that, at %s; c2 has seen that renewal at %s, and takes over at %s",
				short(last), short(last+electionPeriod), short(stops), short(faster(seen, r)), short(taken)),
		}
		if promised := last + deadline(); taken < promised {
			e.Promise, e.Breaches = check.Broken, []string{check.DoubleGrant}
			e.Because += fmt.Sprintf("; RenewDeadline after that renewal is at %s", short(promised))
		}
		return e
	}
	s.Control = func() Control {
		if rate == "0%" {
			return Control{"kubernetes-rate", []string{"rate=100%", "lease=15s", "renew=14s"}}
		}
		return Control{"kubernetes-rate", []string{"rate=0%"}}
	}
	return s
}

// kubernetesRelease is what ReleaseOnCancel is for.
func kubernetesRelease() *Scenario {
	release, at := "on", 9500*time.Millisecond
	s := &Scenario{
		Name:   "kubernetes-release",
		Pair:   "session",
		Claim:  "a leader that goes without taking its name from the record leaves a LeaseDuration without any",
		Claims: []string{"S69"},
	}
	s.Params = []Param{
		choice("release", &release, []string{"on", "off"}, "ReleaseOnCancel"),
		milliseconds("at", &at, 100*time.Millisecond, time.Minute, "when c1 stops leading"),
	}
	const first = time.Second
	s.Spec = func() trial.Spec {
		system := elections(electionLease, electionRenew)
		system.ReleaseOnCancel = release == "on"
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; until " + at.String() + "; release")},
				{Name: "c2", Script: trial.MustScript("until 1s; acquire every 2s; work 1s; release")},
			}},
			Horizon: at + 25*time.Second,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
		granted := attemptFrom(first, at)
		e.Because = fmt.Sprintf("c1's name is gone at %s; c2's next attempt is at %s", short(at), short(granted))
		if release == "off" {
			renewed := (at - 1).Truncate(electionPeriod)
			seen := attemptFrom(first, renewed)
			granted = attemptFrom(first, seen+electionLease)
			e.Because = fmt.Sprintf("c1's last renewal, at %s, is seen by c2 at %s; c2's first attempt from %s on is at %s",
				short(renewed), short(seen), short(seen+electionLease), short(granted))
		}
		e.Longest = granted - first
		return e
	}
	s.Control = func() Control { return turned("kubernetes-release", "release", release, "off", "on") }
	return s
}
