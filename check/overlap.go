package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/history"
)

// overlapCause says why two clients or more believed in w, by the spells among
// which those that make it are: because the service broke its word between two of
// them, or because one of them went on believing after its promise was over. What was
// promised when w had begun is no cause of it.
func (j *Judge) overlapCause(w *Window, spells []int32) charge {
	r := &j.rec
	var stale *spell
	var ended time.Duration
	for i, k := range spells {
		p := &r.spells[k]
		if p.to < w.To {
			continue
		}
		for _, k := range spells[i+1:] {
			if q := &r.spells[k]; q.client != p.client && w.To <= q.to {
				if d, ok := j.dispute(p.grant, q.grant); ok && d.at <= w.From {
					return d.charge
				}
			}
		}
		if end := r.promisedAt(p.grant, w.From); end < p.to && (stale == nil || end < ended) {
			stale, ended = p, end
		}
	}
	if stale == nil { // told of a promise that was over by the service's own record
		return charge{strings.Join(w.Holders, " and ") + " were promised the lock at once", Service, ""}
	}
	return r.lingering(stale, ended, w.From)
}

// promiseEnd is the instant at which the promise of grant n ended: what it was
// last promised, or an earlier release, whatever came of that.
func (r *record) promiseEnd(n int32) time.Duration {
	end := r.promisedLast(n)
	if n > 0 && int(n) < len(r.grants) {
		end = min(end, r.grants[n].given)
	}
	return end
}

// promisedAt is the end of the promise of grant n, by what it had been promised at an
// instant.
func (r *record) promisedAt(n int32, at time.Duration) time.Duration {
	return min(r.promiseEnd(n), r.standing(n, int32(r.instant(at+1)/2)))
}

// promisedLast is until when grant n was promised last. What its client was told of
// another's key is no promise, nor is anything after a refusal.
func (r *record) promisedLast(n int32) time.Duration {
	k := r.grantOf(n)
	if k == none || r.spans[k].outcome == history.Refused {
		return 0
	}
	for _, k := range slices.Backward(r.replies[r.repliesAt[n]:r.repliesAt[n+1]]) {
		if _, ok := r.anothers(n, &r.spans[k]); !ok {
			return r.event(r.spans[k].ret).Until
		}
	}
	return 0
}

// lingering is the charge against the holder that believed in p after its
// promise had ended: what kept it from noticing, or that it had no way to.
func (r *record) lingering(p *spell, ended, at time.Duration) charge {
	c := r.clients.keys[p.client]
	if r.reply(p.grant) == nil {
		return charge{fmt.Sprintf("%s believed from %s on without having been granted the lock", c, seconds(p.from)), Recipe, c}
	}
	end := r.over(c, p.grant, ended)
	session := r.session(p.grant, ended) != none
	if !session && r.grants[p.grant].given == ended {
		end = fmt.Sprintf("%s's lock was given up or cut off at %s", c, seconds(ended))
	}
	what, hindered := r.hindrance(p.grant, ended)
	if p.from >= ended {
		return r.accepted(p, ended, what)
	}
	if !hindered { // not when the term ended, but when it mattered
		what, hindered = r.hindrance(p.grant, at)
	}
	if hindered {
		return charge{fmt.Sprintf("%s; %s and went on believing until %s", end, what, seconds(p.to)), Holder, c}
	}
	why := ""
	if p.doubt != none {
		why = r.event(p.doubt).Why
	}
	switch why {
	case history.DoubtDeadline:
		return charge{fmt.Sprintf("%s; %s noticed its deadline only at %s", end, c, seconds(p.to)), Recipe, c}
	case history.DoubtLost:
		return charge{fmt.Sprintf("%s; %s learned of the loss only at %s", end, c, seconds(p.to)), Recipe, c}
	}
	if session {
		return charge{fmt.Sprintf("%s; %s was not told and went on believing until %s", end, c, seconds(p.to)), Recipe, c}
	}
	return charge{fmt.Sprintf("%s; %s has no deadline of its own and went on believing until %s", end, c, seconds(p.to)), Recipe, c}
}

// accepted is the charge against the recipe of a client that took a lock whose term
// was over: it did not measure how long it took to get it, or measured by a clock
// that did not tell. what hindered it meanwhile may be known.
func (r *record) accepted(p *spell, ended time.Duration, what string) charge {
	c := r.clients.keys[p.client]
	if i := r.session(p.grant, ended); i != none {
		return charge{fmt.Sprintf("%s accepted at %s a lock that had ended with its %s on %s at %s",
			c, seconds(p.from), r.event(i).Why, r.event(i).Who, seconds(ended)), Recipe, c}
	}
	if c, ok := r.keyless(p.grant); ok {
		return c
	}
	cause := fmt.Sprintf("%s accepted at %s a lock whose term had ended at %s", c, seconds(p.from), seconds(ended))
	if what != "" {
		cause = what + "; " + cause
	}
	if r.minded(p.grant) {
		return charge{cause + ", since its clock did not tell", Recipe, c}
	}
	return charge{cause + ", since it did not measure how long that took", Recipe, c}
}

// hindrance says what kept the client of grant n from noticing instant t: a pause
// over it, or, where it went by a deadline of its own, a clock that was behind.
func (r *record) hindrance(n int32, t time.Duration) (string, bool) {
	c := r.owner(n)
	for _, i := range r.faults {
		e := r.event(i)
		if e.At > t {
			break
		}
		if e.Kind != history.Fault || e.Who != c || action(e) != "pause" {
			continue
		}
		if to, ok := r.healed(i); to > t || !ok {
			return paused(e, to, ok), true
		}
	}
	k := r.stood(n, int32(len(r.h.Events)))
	if k == none || !r.minded(n) {
		return "", false
	}
	f := r.turned(c, "-", r.spans[k].call, int32(r.instant(t+1)/2))
	if f == nil {
		return "", false
	}
	return fmt.Sprintf("%s had a clock that %s at %s", c, f.Why, seconds(f.At)), true
}

// minded reports whether the client of grant n ended its belief in it by a
// deadline of its own.
func (r *record) minded(n int32) bool {
	k := r.grants[n].latest
	return k != none && r.spells[k].doubt != none && r.event(r.spells[k].doubt).Why == history.DoubtDeadline
}

// healed returns when the fault at event i was over, if it was.
func (r *record) healed(i int32) (time.Duration, bool) {
	f := r.event(i)
	for _, k := range r.faults {
		if e := r.event(k); k > i && e.Kind == history.Heal && e.Who == f.Who && e.Value == f.Value {
			return e.At, true
		}
	}
	return r.h.End, false
}

// paused describes the pause f, with its kind where the schedule's line has it:
// "pause c1 gc 14s".
func paused(f *history.Event, to time.Duration, ended bool) string {
	kind := ""
	if words := strings.Fields(f.Value); len(words) > 2 {
		kind = " (" + words[2] + ")"
	}
	until := " on"
	if ended {
		until = " to " + seconds(to)
	}
	return fmt.Sprintf("%s was paused%s from %s%s", f.Who, kind, seconds(f.At), until)
}
