package check

import (
	"fmt"
	"time"

	"locksim/history"
)

// squeezed is the charge where a grant was made while others held the lock from
// before it was asked for until after it was told.
func (r *record) squeezed(f *finding) charge {
	cause := fmt.Sprintf("%s was told at %s that it holds the lock, which was never free since it asked",
		r.owner(f.grant), seconds(r.doneAt(&r.spans[f.span])))
	if f.other != 0 {
		cause += fmt.Sprintf(": %s was granted it at %s", r.owner(f.other), seconds(r.grantedAt(f.other)))
	}
	return charge{cause, Service, ""}
}

// confirmedAfterLoss is the charge where the promise was over and the lock had
// gone to another, and the operation proof of the old holder was confirmed.
func (r *record) confirmedAfterLoss(f *finding, proof int32, until time.Duration) charge {
	s := &r.spans[proof]
	return charge{fmt.Sprintf("%s's %s was confirmed at %s, after its loss: its term had ended at %s and %s was granted the lock at %s",
		r.owner(f.grant), confirmation(s), seconds(r.doneAt(s)), seconds(until),
		r.owner(f.other), seconds(r.doneAt(&r.spans[f.span]))), Service, ""}
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
	return charge{fmt.Sprintf("%s's %s was confirmed at %s, though %s",
		r.owner(f.grant), confirmation(s), seconds(r.doneAt(s)), why), Service, ""}
}

// lost is the charge where a holder was told that it had lost the lock.
func (r *record) lost(f *finding, until time.Duration) charge {
	s := &r.spans[f.span]
	told := fmt.Sprintf("%s was told at %s that it does not hold the lock", r.owner(f.grant), seconds(r.doneAt(s)))
	end := r.ended(f.grant, 0, until)
	if end == nil {
		return charge{fmt.Sprintf("%s; %s", told, r.ran(f.grant, until)), Service, ""}
	}
	c := r.ending(f.grant, end)
	c.cause = fmt.Sprintf("%s; %s; %s", c.cause, told, r.ran(f.grant, until))
	return c
}

// unordered is the charge where a token is not greater than that of an earlier
// grant. Where the client fetched its token after the grant had been decided,
// the recipe is to blame: the service never promised an order between the two.
func (r *record) unordered(f *finding) charge {
	late, early := f.grant, f.other
	c := charge{fmt.Sprintf("%s's grant at %s has token %d, not greater than the %d of %s's earlier grant at %s",
		r.owner(late), seconds(r.grantedAt(late)), r.token(late), r.token(early),
		r.owner(early), seconds(r.grantedAt(early))), Service, ""}
	for _, g := range [...]int32{early, late} {
		if e := r.fetched(g); e != nil {
			c.cause += fmt.Sprintf("; %s fetched its token with %s at %s, after its grant", e.Who, e.Value, seconds(e.At))
			c.blame, c.who = Recipe, e.Who
			break
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
	first := ""
	for i := s.call; i < s.ret; i++ {
		e := r.event(i)
		if e.Kind != history.Send || e.Verb != history.Request || e.Who != r.owner(n) {
			continue
		}
		switch {
		case first == "":
			first = e.Value
		case i > r.event(s.ret).Decided && e.Value != first:
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

// staleRead is the charge where a read found nobody while a grant stood.
func (r *record) staleRead(f *finding) charge {
	s := &r.spans[f.span]
	return charge{fmt.Sprintf("%s's read at %s found no holder, though %s held the lock from %s on",
		r.clients.keys[s.client], seconds(r.doneAt(s)), r.owner(f.grant), seconds(r.grantedAt(f.grant))), Service, ""}
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
		cause += ", which had released the lock already"
	case f.fault == premature:
		cause += ", which had not yet asked for the lock"
	case other != 0:
		cause += fmt.Sprintf(", though %s was granted the lock at %s", r.owner(other), seconds(r.grantedAt(other)))
	}
	return charge{cause, Service, ""}
}
