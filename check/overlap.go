package check

import (
	"fmt"
	"strings"
	"time"

	"locksim/history"
)

// overlapCause says why two clients or more believed in w: because the service
// broke its word between two of them, or because one of them went on believing
// after its promise was over.
func (j *Judge) overlapCause(w *Window) charge {
	r := &j.rec
	var stale *spell
	var ended time.Duration
	for i := range r.spells {
		p := &r.spells[i]
		if !r.covers(p, w) {
			continue
		}
		for k := i + 1; k < len(r.spells); k++ {
			if q := &r.spells[k]; r.covers(q, w) {
				if c, ok := j.dispute(p.grant, q.grant); ok {
					return c
				}
			}
		}
		if end := r.promiseEnd(p.grant); end < p.to && (stale == nil || end < ended) {
			stale, ended = p, end
		}
	}
	if stale == nil { // told of a promise that was over by the service's own record
		return charge{strings.Join(w.Holders, " and ") + " were promised the lock at once", Service, ""}
	}
	return r.lingering(stale, ended)
}

// covers reports whether p is one of the beliefs that make w.
func (r *record) covers(p *spell, w *Window) bool {
	return r.locks.keys[p.lock] == w.Lock && p.from <= w.From && w.To <= p.to
}

// promiseEnd is the instant at which the promise of grant n ended: what it was
// last promised, or an earlier release, whatever came of that.
func (r *record) promiseEnd(n int32) time.Duration {
	end := r.standing(n, int32(len(r.h.Events)))
	for i := range r.spans {
		s := &r.spans[i]
		if s.grant == n && s.verb == history.Release && (s.outcome == history.OK || s.outcome == history.Unknown) {
			end = min(end, r.event(s.call).At)
		}
	}
	return end
}

// lingering is the charge against the holder that believed in p after its
// promise had ended: what kept it from noticing, or that it had no way to.
func (r *record) lingering(p *spell, ended time.Duration) charge {
	c := r.clients.keys[p.client]
	if r.reply(p.grant) == nil {
		return charge{fmt.Sprintf("%s believed from %s on without having been granted the lock", c, seconds(p.from)), Recipe, c}
	}
	end := fmt.Sprintf("%s's term ended at %s", c, seconds(ended))
	if r.standing(p.grant, int32(len(r.h.Events))) > ended {
		end = fmt.Sprintf("%s's lock was given up or cut off at %s", c, seconds(ended))
	}
	if what, ok := r.hindrance(c, ended); ok {
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
	return charge{fmt.Sprintf("%s; %s has no deadline of its own and went on believing until %s", end, c, seconds(p.to)), Recipe, c}
}

// hindrance says what kept client c from noticing instant t: a pause over it, or
// a clock of its own that was wrong by then.
func (r *record) hindrance(c string, t time.Duration) (string, bool) {
	clock := ""
	for i := range r.h.Events {
		e := r.event(int32(i))
		if e.At > t {
			break
		}
		if e.Kind != history.Fault || e.Who != c {
			continue
		}
		switch {
		case strings.Contains(e.Value, "pause"):
			if to, ok := r.healed(int32(i)); to > t || !ok {
				return paused(e, to, ok), true
			}
		case strings.Contains(e.Value, "clock") && e.Why != "":
			clock = fmt.Sprintf("%s had a clock that %s at %s", c, e.Why, seconds(e.At))
		}
	}
	return clock, clock != ""
}

// healed returns when the fault at event i was over, if it was.
func (r *record) healed(i int32) (time.Duration, bool) {
	f := r.event(i)
	for k := int(i) + 1; k < len(r.h.Events); k++ {
		if e := r.event(int32(k)); e.Kind == history.Heal && e.Who == f.Who && e.Value == f.Value {
			return e.At, true
		}
	}
	return r.h.End, false
}

// paused describes the pause f, with its kind where the schedule's line has it:
// "... pause c1 gc 14s".
func paused(f *history.Event, to time.Duration, ended bool) string {
	kind := ""
	words := strings.Fields(f.Value)
	for i, w := range words {
		if w == "pause" && i+2 < len(words) && words[i+1] == f.Who {
			kind = " (" + words[i+2] + ")"
		}
	}
	until := " on"
	if ended {
		until = " to " + seconds(to)
	}
	return fmt.Sprintf("%s was paused%s from %s%s", f.Who, kind, seconds(f.At), until)
}
