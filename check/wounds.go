package check

import (
	"fmt"
	"time"

	"locksim/history"
)

// staleWrite says why write e was accepted after newer, one under a newer grant.
func (j *Judge) staleWrite(e, newer *history.Event, p *past) charge {
	r := &j.rec
	did := fmt.Sprintf("%s wrote %s at %s under its grant of %s, after %s's write at %s under the newer grant of %s",
		e.Peer, e.Lock, seconds(e.At), seconds(r.grantedBy(e.Grant, r.grantedAt(newer.Grant))),
		newer.Peer, seconds(newer.At), seconds(r.grantedAt(newer.Grant)))
	if c, ok := j.dispute(e.Grant, newer.Grant); ok {
		return c.of(did)
	}
	if e.Anchor != 0 && e.Anchor < newer.At {
		c := charge{fmt.Sprintf("%s had checked it at %s, and looked no second time", e.Who, seconds(e.Anchor)), Resource, e.Who}
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
	switch {
	case e.Why != "":
		c := charge{fmt.Sprintf("its condition, %s, held: what %s compares was as before", e.Why, e.Who), Recipe, ""}
		return c.of(did)
	case other.Anchor != 0:
		c := charge{fmt.Sprintf("%s wrote then what it had checked at %s", e.Who, seconds(other.Anchor)), Resource, e.Who}
		return c.of(did)
	case j.rec.promised(e) && !j.rec.promised(other):
		return j.rec.outlived(other).of(did)
	case j.rec.promised(e) && j.rec.promised(other) && j.rec.lockOf(e.Grant) != j.rec.lockOf(other.Grant):
		c := charge{"each was promised a lock of its own", Recipe, ""}
		return c.of(did)
	}
	return j.rec.outlived(e).of(did)
}

// duplicate says why effect e was performed again after first: by whoever did it
// when it was not promised the lock, or because of the recipe where both were.
func (j *Judge) duplicate(e, first *history.Event) charge {
	r := &j.rec
	did := fmt.Sprintf("%s did %s at %s, which %s had done at %s",
		e.Peer, e.Lock, seconds(e.At), first.Peer, seconds(first.At))
	if e.Peer == first.Peer && e.Grant == first.Grant && r.twice(e) {
		c := charge{fmt.Sprintf("the network delivered one request twice, and %s did it again", e.Who), Resource, e.Who}
		return c.of(did)
	}
	if c, ok := j.dispute(e.Grant, first.Grant); ok {
		return c.of(did)
	}
	switch {
	case e.Peer == first.Peer && e.Grant == 0 && first.Grant == 0:
		return charge{"it asked again, and nothing recorded that it was done", Recipe, e.Peer}.of(did)
	case !r.promised(e):
		return r.outlived(e).of(did)
	case !r.promised(first):
		return r.outlived(first).of(did)
	}
	why := "each held the lock"
	switch {
	case e.Peer == first.Peer:
		why = "it held the lock both times"
	case r.lockOf(e.Grant) != r.lockOf(first.Grant):
		why = "each held a lock of its own"
	}
	return charge{why + ", and nothing recorded that it was done", Recipe, ""}.of(did)
}

// wrongRelease says whose key event i deleted, and what its client was doing.
func (j *Judge) wrongRelease(i int32, e *history.Event, owner int32) charge {
	r := &j.rec
	c := r.deletion(r.clients.keys[r.spans[owner].client], i)
	k := j.objects.owners.releasing(r, i, e)
	if k == none {
		return c
	}
	s := &r.spans[k]
	when := "after the release of"
	if s.ret == none || s.ret > i {
		when = "while it was releasing"
	}
	c.cause += fmt.Sprintf(", %s its own grant of %s", when, seconds(r.grantedBy(s.grant, e.At)))
	return c
}

// promised reports whether the client of e was promised the lock when it acted.
func (r *record) promised(e *history.Event) bool {
	return e.Grant != 0 && r.promiseEnd(e.Grant) >= e.At
}

// outlived is the charge against the client of e for acting under its grant: it
// did not notice that the promise was over, or nothing in the recipe made it.
func (r *record) outlived(e *history.Event) charge {
	if e.Grant == 0 {
		return charge{e.Peer + " held no lock", Recipe, e.Peer}
	}
	if r.reply(e.Grant) == nil {
		return charge{e.Peer + " had not been granted the lock", Recipe, e.Peer}
	}
	end := r.promiseEnd(e.Grant)
	if r.promised(e) {
		return charge{e.Peer + "'s grant was still promised to it", Recipe, e.Peer}
	}
	what, hindered := r.hindrance(e.Grant, end)
	if p := r.belief(e.Grant); p != nil && p.from >= end {
		return r.accepted(p, end, what)
	}
	if !hindered {
		what, hindered = r.pausedWithin(e.Peer, end, e.At)
	}
	cause := r.over(e.Peer, e.Grant, end)
	if hindered {
		return charge{cause + "; " + what, Holder, e.Peer}
	}
	return charge{cause + " and nothing checked it at the resource", Recipe, e.Peer}
}

// belief is the first spell of belief in grant n; nil for none.
func (r *record) belief(n int32) *spell {
	for i := range r.spells {
		if r.spells[i].grant == n {
			return &r.spells[i]
		}
	}
	return nil
}

// pausedWithin names the last pause of client c that ended between two instants:
// what kept it from acting earlier.
func (r *record) pausedWithin(c string, from, to time.Duration) (string, bool) {
	for k := len(r.faults) - 1; k >= 0; k-- {
		e := r.event(r.faults[k])
		if e.Kind != history.Fault || e.Who != c || action(e) != "pause" {
			continue
		}
		if end, ok := r.healed(r.faults[k]); ok && end > from && end <= to {
			return paused(e, end, ok), true
		}
	}
	return "", false
}

// of puts what was done before the reason for it.
func (c charge) of(did string) charge {
	c.cause = did + "; " + c.cause
	return c
}
