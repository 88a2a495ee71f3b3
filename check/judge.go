package check

import "locksim/history"

// Judge reaches the verdicts on one run after another. It holds scratch memory,
// so that judging many runs allocates little. The zero value is ready. A Judge
// is for one goroutine at a time; what it returns is the caller's to keep.
type Judge struct {
	rec   record
	lease lease
	sweep sweep

	disputed  index[dispute]
	disputes  []accusation
	believers believers
	objects   objects
	waits     waits
}

// Verdict returns the four verdicts on h.
func Verdict(h *history.History) Verdicts {
	var j Judge
	return j.Verdicts(h)
}

// Verdicts returns the four verdicts on h, whose events are in order of time.
func (j *Judge) Verdicts(h *history.History) Verdicts {
	j.rec.read(h)
	return Verdicts{
		Promise:  j.promise(),
		Belief:   j.belief(),
		Damage:   j.damage(),
		Progress: j.progress(),
	}
}

// undecided is good, unless the run hit its bound before it could be decided.
func undecided(h *history.History, good Status) Status {
	if h.Stopped == history.Bound {
		return Unknown
	}
	return good
}
