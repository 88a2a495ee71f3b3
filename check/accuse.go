package check

import (
	"fmt"
	"time"

	"locksim/history"
)

// squeezed is the charge where a grant was made while others held the lock from
// before it was asked for until after it was told.
func (r *record) squeezed(f *finding) charge {
	if c, ok := r.keyless(f.grant); ok {
		return c
	}
	cause := fmt.Sprintf("%s was told at %s that it holds the lock, which was never free since it asked",
		r.owner(f.grant), seconds(r.doneAt(&r.spans[f.span])))
	if f.other != 0 {
		cause += fmt.Sprintf(": %s was granted it at %s", r.owner(f.other), seconds(r.grantedBy(f.other, r.doneAt(&r.spans[f.span]))))
	}
	if c, ok := r.anothers(f.grant, &r.spans[f.span]); ok { // which told it so
		c.cause += "; " + cause
		return c
	}
	return charge{cause, Service, ""}
}

// confirmedAfterLoss is the charge where the promise was over and the lock had
// gone to another, and the operation proof of the old holder was confirmed.
func (r *record) confirmedAfterLoss(f *finding, proof int32, until time.Duration) charge {
	s := &r.spans[proof]
	end := "its term had ended"
	if until < r.standing(f.grant, r.spans[f.span].ret) {
		end = "its lock had been given up or cut off"
	}
	c := charge{fmt.Sprintf("%s's %s was confirmed at %s, after its loss: %s at %s and %s was granted the lock at %s",
		r.owner(f.grant), confirmation(s), seconds(r.doneAt(s)), end, seconds(until),
		r.owner(f.other), seconds(r.doneAt(&r.spans[f.span]))), Service, ""}
	// It was another's key that it was about: the service did as it was asked.
	if d, ok := r.anothers(f.grant, s); ok {
		c.blame, c.who = d.blame, d.who
	}
	return c
}

// misconfirmed is the charge where an operation was confirmed for a grant that
// did not stand at all.
func (r *record) misconfirmed(f *finding) charge {
	s := &r.spans[f.span]
	why := "it had never been granted"
	switch f.fault {
	case premature:
		why = "it had not yet asked for the lock"
	case afterwards:
		why = "it had released the lock already"
	}
	told := fmt.Sprintf("%s's %s was confirmed at %s, though %s", r.owner(f.grant), confirmation(s), seconds(r.doneAt(s)), why)
	if c, ok := r.anothers(f.grant, s); ok {
		c.cause += "; " + told
		return c
	}
	if f.fault == ungranted && r.belief(f.grant) != nil {
		return charge{told + ", and it had gone on without", Recipe, r.owner(f.grant)}
	}
	return charge{told, Service, ""}
}

// lost is the charge where a holder was told that it had lost the lock.
func (j *Judge) lost(f *finding, until time.Duration) charge {
	r := &j.rec
	s := &r.spans[f.span]
	told := fmt.Sprintf("%s was told at %s that it does not hold the lock", r.owner(f.grant), seconds(r.doneAt(s)))
	if proof := j.later(f, until); proof != none {
		return j.gainsaid(f.grant, proof, told+", though ")
	}
	c, ok := r.strayed(f.grant, history.StrayedRelease, s.call, s.ret)
	if !ok {
		c, ok = r.misled(f.grant, s.ret)
	}
	if ok {
		c.cause = fmt.Sprintf("%s; %s; %s", c.cause, told, r.ran(f.grant, until))
		return c
	}
	end := r.ended(f.grant, 0, s.ret, until)
	if since, ok := r.unheard(f.grant, f.span); ok && end == none {
		return charge{fmt.Sprintf("%s told itself at %s that it does not hold the lock, when no message had reached it since its %s; %s",
			r.owner(f.grant), seconds(r.doneAt(s)), since, r.ran(f.grant, until)), Recipe, r.owner(f.grant)}
	}
	if end == none {
		return charge{fmt.Sprintf("%s; %s", told, r.ran(f.grant, until)), Service, ""}
	}
	c = r.ending(f.grant, end)
	c.cause = fmt.Sprintf("%s; %s; %s", c.cause, told, r.ran(f.grant, until))
	return c
}

// unheard reports whether no message has reached the client of grant n since what it
// was granted last by one, its grant or an extension, until span i returned.
func (r *record) unheard(n, i int32) (since string, ok bool) {
	s := &r.spans[i]
	k := r.stood(n, s.ret)
	if k == none || r.spans[k].ret > s.call {
		return "", false
	}
	last := &r.spans[k]
	answered := false
	for i := last.call; i < s.ret; i++ {
		switch e := r.event(i); {
		case e.Kind != history.Send || e.Verb != history.Reply || e.Peer != r.owner(n):
		case e.Until <= r.event(last.ret).At:
			answered = true
		case e.Until <= r.event(s.ret).At:
			return "", false
		}
	}
	since = "grant"
	if last.verb == history.Extend {
		since = confirmation(last)
	}
	return since, answered
}

// later is the operation that confirmed the grant of f after the operation of f, where
// that is what is wrong with it: its promise was over, or its release had been called.
func (j *Judge) later(f *finding, until time.Duration) int32 {
	r := &j.rec
	s, h := &r.spans[f.span], &j.sweep.holds[f.grant]
	end := r.returnPos(s)
	leaving := h.release != nil && h.release.call < end
	if !leaving && min(r.instant(until), j.lease.facts[f.grant].cutLoss) >= end {
		return none
	}
	if h.release != nil && !leaving {
		return h.release.span
	}
	return h.confSpan
}

// gainsaid is the charge where the operation proof confirmed grant n after what is said.
// Where it was about another's key, the service did as it was asked.
func (j *Judge) gainsaid(n, proof int32, said string) charge {
	r := &j.rec
	p := &r.spans[proof]
	if p.verb == history.Read {
		return charge{fmt.Sprintf("%s%s's read at %s named it as the holder", said, r.clients.keys[p.client], seconds(r.doneAt(p))), Service, ""}
	}
	cause := fmt.Sprintf("%sits %s was confirmed at %s", said, confirmation(p), seconds(r.doneAt(p)))
	if c, ok := r.anothers(n, p); ok {
		c.cause += "; " + cause
		return c
	}
	return charge{cause, Service, ""}
}

// unordered is the charge where a token is not greater than that of an earlier
// grant. Where the client fetched its token after the grant had been decided,
// the recipe is to blame: the service never promised an order between the two.
// Where both should not have been made at all, it is whoever is to blame for that.
func (j *Judge) unordered(f *finding) charge {
	r := &j.rec
	late, early := f.grant, f.other
	c := charge{fmt.Sprintf("%s's grant at %s has token %d, not greater than the %d of %s's earlier grant at %s",
		r.owner(late), seconds(r.grantedAt(late)), r.token(late), r.token(early),
		r.owner(early), seconds(r.grantedBy(early, r.grantedAt(late)))), Service, ""}
	for _, g := range [...]int32{early, late} {
		if e := r.fetched(g); e != nil {
			c.cause += fmt.Sprintf("; %s fetched its token with %s at %s, after its grant", e.Who, e.Value, seconds(e.At))
			c.blame, c.who = Recipe, e.Who
			return c
		}
	}
	if d, ok := j.dispute(early, late); ok {
		c.blame, c.who = d.blame, d.who
		if end := r.ended(early, late, r.spans[f.span].ret, r.standing(early, r.spans[f.span].ret)); end != none {
			c.cause = r.ending(early, end).cause + "; " + c.cause
		}
	}
	return c
}

// fetched returns the request of a new kind that the client of grant n sent
// within its acquire after the grant had been decided, where that is known.
func (r *record) fetched(n int32) *history.Event {
	s, ok := r.granted(n)
	if !ok || r.event(s.ret).Decided <= s.call {
		return nil
	}
	decided := r.event(s.ret).Decided
	first := r.request(r.owner(n), s.call, decided)
	if first == nil {
		return nil
	}
	for i := decided + 1; i < s.ret; i++ {
		if e := r.request(r.owner(n), i, i+1); e != nil && e.Value != first.Value {
			return e
		}
	}
	return nil
}

// request returns the first request that client who sent between two events.
func (r *record) request(who string, from, to int32) *history.Event {
	for i := from; i < to; i++ {
		if e := r.event(i); e.Kind == history.Send && e.Verb == history.Request && e.Who == who && e.Value != "" {
			return e
		}
	}
	return nil
}

// token is the fencing token of grant n.
func (r *record) token(n int32) int64 {
	if e := r.reply(n); e != nil {
		return e.Token
	}
	return 0
}

// staleRead is the charge where a read found nobody while a grant stood: by a node
// that another had succeeded as the leader, or because the key had ended.
func (j *Judge) staleRead(f *finding) charge {
	r := &j.rec
	s := &r.spans[f.span]
	cause := fmt.Sprintf("%s's read at %s found no holder, though %s held the lock from %s on",
		r.clients.keys[s.client], seconds(r.doneAt(s)), r.owner(f.grant), seconds(r.grantedBy(f.grant, r.doneAt(s))))
	until := r.standing(f.grant, s.ret)
	c, proof := charge{cause, Service, ""}, j.later(f, until)
	if proof != none {
		c = j.gainsaid(f.grant, proof, cause+": ")
	}
	if answered, e := r.succeeded(s); e != nil {
		c.cause += fmt.Sprintf("; %s answered, and %s had become the leader at %s", answered.Who, e.Who, seconds(e.At))
		return charge{c.cause, Service, answered.Who}
	}
	stop := s.ret
	if d := r.decision(s); d != none {
		stop = d
	}
	end := r.ended(f.grant, 0, stop, until)
	if proof != none || end == none {
		return c
	}
	c = r.ending(f.grant, end)
	c.cause += "; " + cause
	return c
}

// misread is the charge where what the read proof found contradicts the grants.
func (r *record) misread(f *finding, proof int32) charge {
	s := &r.spans[proof]
	cause := fmt.Sprintf("%s's read at %s named %s as the holder", r.clients.keys[s.client], seconds(r.doneAt(s)), r.owner(s.grant))
	other := f.other
	if other == s.grant {
		other = f.grant
	}
	switch {
	case f.fault == ungranted:
		cause += ", which had never been granted the lock"
	case f.fault == afterwards:
		cause += fmt.Sprintf(", by its grant of %s, which it had released already", seconds(r.grantedAt(s.grant)))
		if e := r.setBack(s); e != nil {
			return charge{fmt.Sprintf("%s %s at %s; %s", e.Who, e.Why, seconds(e.At), cause), Service, e.Who}
		}
	case f.fault == premature:
		cause += ", which had not yet asked for the lock"
	case f.fault == lostEarly:
		cause += fmt.Sprintf(", which had been told at %s that it does not hold the lock", seconds(r.doneAt(&r.spans[f.span])))
	case other != 0:
		cause += fmt.Sprintf(", though %s was granted the lock at %s", r.owner(other), seconds(r.grantedBy(other, r.doneAt(s))))
	}
	return charge{cause, Service, ""}
}

// setBack returns the last restart of the node that answered the read s since the
// grant that it named, or nil: what that node had been told since may be lost.
func (r *record) setBack(s *span) *history.Event {
	d, grant := r.decision(s), &r.spans[r.grants[s.grant].acquire]
	var last *history.Event
	for _, i := range r.faults {
		e := r.event(i)
		if e.Kind == history.Fault && e.Why != "" && action(e) == "restart" && i > grant.call && i < d && e.Who == r.event(d).Who {
			last = e
		}
	}
	return last
}
