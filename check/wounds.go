package check

import (
	"fmt"

	"locksim/history"
)

// staleWrite says why write e was accepted after one under a newer grant.
func (j *Judge) staleWrite(e *history.Event, p *past) charge {
	r := &j.rec
	newer := r.event(p.newest)
	did := fmt.Sprintf("%s wrote %s at %s under its grant of %s, after %s's write at %s under the newer grant of %s",
		e.Peer, e.Lock, seconds(e.At), seconds(r.grantedAt(e.Grant)),
		newer.Peer, seconds(newer.At), seconds(r.grantedAt(newer.Grant)))
	if c, ok := j.dispute(e.Grant, newer.Grant); ok {
		return c.of(did)
	}
	if p.top != none && e.Token != 0 && e.Token < r.event(p.top).Token {
		c := charge{fmt.Sprintf("%s accepted token %d after %d", e.Who, e.Token, r.event(p.top).Token), Resource, e.Who}
		return c.of(did)
	}
	if e.Token != 0 && newer.Token != 0 && e.Token > newer.Token {
		c := charge{fmt.Sprintf("the older grant has the greater token, %d against %d", e.Token, newer.Token), Recipe, e.Peer}
		return c.of(did)
	}
	return r.outlived(e).of(did)
}

// lostUpdate says why write e replaced a version that it had not read.
func (j *Judge) lostUpdate(e *history.Event, p *past) charge {
	did := fmt.Sprintf("%s wrote %s at %s from version %d, which had become %d",
		e.Peer, e.Lock, seconds(e.At), e.Base, e.Version-1)
	if p.last == none {
		return j.rec.outlived(e).of(did)
	}
	other := j.rec.event(p.last)
	did += fmt.Sprintf(" by %s's write at %s", other.Peer, seconds(other.At))
	if c, ok := j.dispute(e.Grant, other.Grant); ok {
		return c.of(did)
	}
	return j.rec.outlived(e).of(did)
}

// duplicate says why effect e was performed again after first.
func (j *Judge) duplicate(e, first *history.Event) charge {
	did := fmt.Sprintf("%s did %s at %s, which %s had done at %s",
		e.Peer, e.Lock, seconds(e.At), first.Peer, seconds(first.At))
	if c, ok := j.dispute(e.Grant, first.Grant); ok {
		return c.of(did)
	}
	if c := j.rec.outlived(e); c.blame == Holder {
		return c.of(did)
	}
	return j.rec.outlived(first).of(did)
}

// wrongRelease says whose key event e deleted instead of that of grant mine.
func (r *record) wrongRelease(e *history.Event, mine, owner int32) charge {
	c := r.deletion(whose(r, owner), e)
	c.cause += fmt.Sprintf(", while it was releasing its own grant of %s", seconds(r.grantedAt(mine)))
	return c
}

func whose(r *record, owner int32) string {
	if owner == 0 {
		return "another"
	}
	return r.owner(owner)
}

// outlived is the charge against the client of e for acting under its grant: it
// did not notice that the promise was over, or nothing in the recipe made it.
func (r *record) outlived(e *history.Event) charge {
	if e.Grant == 0 {
		return charge{e.Peer + " held no lock", Recipe, e.Peer}
	}
	end := r.promiseEnd(e.Grant)
	if end >= e.At {
		return charge{e.Peer + "'s grant was still promised to it", Recipe, e.Peer}
	}
	cause := fmt.Sprintf("%s's term ended at %s", e.Peer, seconds(end))
	if what, ok := r.hindrance(e.Peer, end); ok {
		return charge{cause + "; " + what, Holder, e.Peer}
	}
	return charge{cause + " and nothing checked it at the resource", Recipe, e.Peer}
}

// of puts what was done before the reason for it.
func (c charge) of(did string) charge {
	c.cause = did + "; " + c.cause
	return c
}
