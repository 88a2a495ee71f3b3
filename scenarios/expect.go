package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locksim/check"
	"locksim/history"
	"locksim/trial"
)

// Expectation is what one run must come out as.
type Expectation struct {
	Promise  check.Status
	Breaches []string // kinds, in order
	Belief   check.Status
	// Overlap is the total time for which two clients believed.
	Overlap time.Duration
	Damage  []string // kinds, in order
	// Rejected are the clients whose writes the resource refused, in order.
	Rejected []string
	Progress check.Status
	// Granted are the clients that were told that they have the lock, in order; nil
	// where that is not what the scenario is about. A lock that is taken too late and
	// dropped at once leaves no other trace.
	Granted []string
	// Longest is the longest wait; 0 where it is not what the scenario is about.
	Longest time.Duration
	// Figures are what it must show besides.
	Figures []Figure
	// Because is where the figures come from: the closed form, with its numbers.
	Because string
}

// overlapping is the belief status that goes with an overlap.
func overlapping(overlap time.Duration) check.Status {
	if overlap > 0 {
		return check.Overlapping
	}
	return check.Exclusive
}

// Differences says in what r is not as expected; nil when it is.
func (e *Expectation) Differences(r *trial.Result) []string {
	var list []string
	differ := func(what string, want, got any) {
		list = append(list, fmt.Sprintf("%s: expected %v, got %v", what, want, got))
	}
	if r.Promise.Status != e.Promise {
		differ("promise", e.Promise, r.Promise.Status)
	}
	if got := breaches(r); !slices.Equal(got, e.Breaches) {
		differ("breaches", e.Breaches, got)
	}
	if r.Belief.Status != e.Belief {
		differ("belief", e.Belief, r.Belief.Status)
	}
	if r.Belief.Total != e.Overlap {
		differ("overlap", e.Overlap, r.Belief.Total)
	}
	if got := wounds(r); !slices.Equal(got, e.Damage) {
		differ("damage", e.Damage, got)
	}
	if got := rejected(r); !slices.Equal(got, e.Rejected) {
		differ("rejected", e.Rejected, got)
	}
	if r.Progress.Status != e.Progress {
		differ("progress", e.Progress, r.Progress.Status)
	}
	if got := granted(r); e.Granted != nil && !slices.Equal(got, e.Granted) {
		differ("granted", e.Granted, got)
	}
	if e.Longest != 0 && r.Progress.Longest != e.Longest {
		differ("longest wait", e.Longest, r.Progress.Longest)
	}
	for _, f := range e.Figures {
		if got := figure(f.Of, r.History); got != f.Want {
			differ(f.Of, f.Want, got)
		}
	}
	return list
}

// Undecided tells whether one of the verdicts is unknown.
func Undecided(r *trial.Result) bool {
	return r.Promise.Status == check.Unknown || r.Belief.Status == check.Unknown ||
		r.Damage.Status == check.Unknown || r.Progress.Status == check.Unknown
}

func breaches(r *trial.Result) []string {
	var kinds []string
	for _, b := range r.Promise.Breaches {
		kinds = append(kinds, b.Kind)
	}
	return kinds
}

func rejected(r *trial.Result) []string {
	var clients []string
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == history.Write && e.Outcome == history.Refused {
			clients = append(clients, e.Peer)
		}
	}
	return clients
}

func granted(r *trial.Result) []string {
	var clients []string
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == history.Return && e.Verb == history.Acquire && e.Outcome == history.OK {
			clients = append(clients, e.Who)
		}
	}
	return clients
}

func wounds(r *trial.Result) []string {
	var kinds []string
	for _, e := range r.Damage.Events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}
