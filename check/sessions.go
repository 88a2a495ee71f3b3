package check

import (
	"fmt"
	"time"

	"locksim/history"
)

// endSessions notes with each grant that its session has ended, where it has: what
// it had been promised is over then, whether its client had been told of it or not.
func (r *record) endSessions() {
	var byValue index[key]
	var grants []int32
	next := 0
	for _, i := range r.ends {
		e := r.event(i)
		for ; next < len(r.spans) && r.spans[next].call < i; next++ {
			s := &r.spans[next]
			if s.verb != history.Acquire || s.outcome != history.OK {
				continue
			}
			id := byValue.of(key{r.locks.keys[s.lock], r.event(s.ret).Value})
			grants = grown(grants, int(id)+1)
			grants[id] = s.grant
		}
		if id, ok := byValue.find(key{e.Lock, e.Value}); ok {
			g := r.grant(grants[id])
			g.ended, g.given = i, min(g.given, e.At)
		}
	}
}

// clip ends what was promised to the grant of f with its session, and no reply that
// came later is proof of more.
func (l *lease) clip(r *record, n int32, f *fact) {
	if int(n) >= len(r.grants) || r.grants[n].ended == none {
		return
	}
	i := r.grants[n].ended
	f.ended = eventPos(i)
	f.cutLoss = min(f.cutLoss, f.ended)
	f.cutExcl = min(f.cutExcl, max(f.ended, r.instant(after(r.event(i).At, f.delay))))
}

// expired is the event with which the service recorded that the key of the grant that s
// was told of had expired, and it was told of it all the same; none for all others. Of a
// lock that several nodes vote on, one node's record says nothing.
func (r *record) expired(s *span) int32 {
	e := r.event(s.ret)
	if e.Votes != "" {
		return none
	}
	for _, i := range r.freedOf(e.Value, s.call, s.ret) {
		if f := r.event(i); f.Why == history.FreedExpired && f.Lock == e.Lock {
			return i
		}
	}
	return none
}

// made is the last position at which the grant that s was told of can have been made.
func (r *record) made(s *span) pos {
	if i := r.expired(s); i != none {
		return min(r.returnPos(s), eventPos(i))
	}
	return r.returnPos(s)
}

// keyless is the charge against the recipe of a client that was told of grant n when its
// key had expired: it has not looked at it. There may be none.
func (r *record) keyless(n int32) (charge, bool) {
	s, ok := r.granted(n)
	if !ok {
		return charge{}, false
	}
	i := r.expired(s)
	if i == none {
		return charge{}, false
	}
	e := r.event(i)
	return charge{fmt.Sprintf("%s was told at %s that it holds the lock, though its own key had expired on %s at %s",
		r.owner(n), seconds(r.doneAt(s)), e.Who, seconds(e.At)), Recipe, r.owner(n)}, true
}

// session returns the event that ended the session behind grant n at an instant;
// none where it was something else that ended the promise then.
func (r *record) session(n int32, ended time.Duration) int32 {
	if n <= 0 || int(n) >= len(r.grants) || r.grants[n].ended == none || r.event(r.grants[n].ended).At != ended {
		return none
	}
	return r.grants[n].ended
}

// over says how the promise of client's grant n came to its end at an instant.
func (r *record) over(client string, n int32, ended time.Duration) string {
	if i := r.session(n, ended); i != none {
		return fmt.Sprintf("%s's %s on %s ended at %s", client, r.event(i).Why, r.event(i).Who, seconds(ended))
	}
	return fmt.Sprintf("%s's term ended at %s", client, seconds(ended))
}

// strayed is the charge where a request about the key of grant n came, between two
// events, on a session that it should not have come on: the recipe used a lock that
// goes with a session as if it went with a client. There may be none.
func (r *record) strayed(n int32, why string, from, to int32) (charge, bool) {
	reply := r.reply(n)
	if reply == nil {
		return charge{}, false
	}
	for _, i := range r.strays {
		e := r.event(i)
		if i < from || i >= to || e.Why != why || e.Lock != reply.Lock || e.Value != reply.Value {
			continue
		}
		what := fmt.Sprintf("%s's release reached %s at %s on another session than its lock's, which holds on", e.Peer, e.Who, seconds(e.At))
		if why == history.StrayedEnter {
			what = fmt.Sprintf("%s let %s in at %s on the session that held %s's lock", e.Who, e.Peer, seconds(e.At), r.owner(n))
		}
		return charge{what, Recipe, e.Peer}, true
	}
	return charge{}, false
}
