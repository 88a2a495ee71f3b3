package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
)

// lapsing is a lock whose term nobody renews: keys of Redis, or a row. Its holders are
// told nothing, and have a deadline of their own, or none.
type lapsing struct {
	// cost is how long a client that is alone takes from asking to believing.
	cost func(store string) time.Duration
	// deadline is how long after it has asked a client stops; 0 for one that
	// believes until it releases.
	deadline time.Duration
	// unmeasured: it does not look how long it took, and takes the lock whose deadline is
	// over for its own until it sees that.
	unmeasured bool
	// promised is how long after a client has asked the lock is promised, and decided when
	// the servers have decided.
	promised, decided time.Duration
	// gives tells whether c2 gets the lock.
	gives func(fault string) bool
	// tokens are those of c1 and c2, and why the second is not the greater where it is
	// not; nil without any.
	tokens func(fault, store string) (first, second int, disorder string)
}

// first is c1's tenure.
func (l *lapsing) first(fault, store string) *tenure {
	from := l.cost(store)
	if fault == "pause-acquire" {
		from += paused
	}
	t := holder(fault, store, from)
	switch {
	case l.deadline > 0 && fault == "pause-acquire":
		t.stop(from)
	case l.deadline > 0 && fault == "pause-after":
		t.to = t.write - hop // its deadline is over when it goes on, and it notices
	case l.deadline > 0:
		t.stop(countUp(l.deadline, slow(fault)))
	}
	return t
}

// second is c2's.
func (l *lapsing) second(fault, store string) *tenure {
	t := successor(store, comes(fault)+l.cost(store))
	if l.deadline > 0 {
		t.stop(comes(fault) + l.deadline)
	}
	return t
}

// fate is what comes of the two.
func (l *lapsing) fate(fault, store string) fate {
	var f fate
	switch {
	case fault == "pause-acquire" && l.deadline > 0 && !l.unmeasured:
		f.second = l.second(fault, store)
		f.why = fmt.Sprintf("c1 measures %s, more than %s, and refuses", short(paused+l.cost(store)), short(l.deadline))
	case !l.gives(fault):
		f.first = l.first(fault, store)
		f.why = "c2 gets nothing: the lock is c1's still"
	default:
		f.first, f.second = l.first(fault, store), l.second(fault, store)
		if comes(fault)+l.decided < l.promised {
			f.breaches = []string{check.DoubleGrant}
		}
	}
	if l.tokens != nil {
		one, two, disorder := l.tokens(fault, store)
		f.number(one, two)
		f.disorder = disorder
	}
	return f
}
