package check

import (
	"fmt"
	"strings"

	"locksim/history"
)

// lacking is the charge where a leader that did not know of all that was committed
// had been elected between two events; what is what came of that. Whether its own
// log was cut off is told before.
func (r *record) lacking(from, to int32, what string) (charge, bool) {
	for _, i := range r.turns {
		e := r.event(i)
		if i <= from || i >= to || e.Why == "" {
			continue
		}
		what = fmt.Sprintf("%s became the leader at %s %s; %s", e.Who, seconds(e.At), e.Why, what)
		if cut := r.deed(e.Who, "restart", "", i); strings.HasPrefix(cut, "restarted without") {
			what = fmt.Sprintf("%s %s; %s", e.Who, cut, what)
		}
		return charge{what, Service, e.Who}, true
	}
	return charge{}, false
}

// succeeded returns the election of another node than the one that answered span
// s, where that was the last before it answered.
func (r *record) succeeded(s *span) (answered, election *history.Event) {
	if s.ret == none || r.event(s.ret).Decided <= s.call {
		return nil, nil
	}
	decided := r.event(s.ret).Decided
	answered = r.event(decided)
	led := false // a follower that is behind has been succeeded by nobody
	for _, i := range r.turns {
		if i < decided {
			election = r.event(i)
			led = led || election.Who == answered.Who
		}
	}
	if !led || election.Who == answered.Who {
		return nil, nil
	}
	return answered, election
}
