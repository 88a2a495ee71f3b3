package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/history"
)

// pair is one client that wants one lock.
type pair struct{ client, lock int32 }

// wait is a pair's wait since its first attempt that has not ended in a grant.
type wait struct {
	pair
	open  bool
	clear bool // known to be part of no cycle
	from  time.Duration
	last  int32 // its last attempt's span
}

// waits is scratch memory for the verdict on progress.
type waits struct {
	pairs index[pair]
	list  []wait // by pair
	path  []int32
}

// progress is the verdict on waiting.
func (j *Judge) progress() Progress {
	r, ws := &j.rec, &j.waits
	ws.pairs.reset()
	ws.list = ws.list[:0]
	var p Progress
	for i := range r.spans {
		if s := &r.spans[i]; s.verb == history.Acquire {
			p.Longest = max(p.Longest, ws.attempt(r, int32(i), s))
		}
	}
	n := 0 // those who still wait
	for i := range ws.list {
		w := &ws.list[i]
		if !w.open {
			continue
		}
		end, waiting := r.waited(w)
		p.Longest = max(p.Longest, end-w.from)
		if waiting {
			ws.list[n] = *w
			n++
		}
	}
	ws.list = ws.list[:n]
	p.Status, p.Cause = ws.stuck(r)
	if r.h.Stopped == history.Bound {
		p.Status = Unknown
	}
	return p
}

// attempt takes in acquire s and returns how long its client had waited, if a wait
// ended with it or before it.
func (ws *waits) attempt(r *record, i int32, s *span) time.Duration {
	k := ws.pairs.of(pair{s.client, s.lock})
	ws.list = grown(ws.list, int(k)+1)
	w := &ws.list[k]
	var before time.Duration
	if w.open {
		if last := &r.spans[w.last]; last.ret != none && s.acted > last.ret { // it gave up, and has come back
			before = r.event(last.ret).At - w.from
			w.open = false
		}
	}
	if !w.open {
		*w = wait{pair: pair{s.client, s.lock}, open: true, from: r.event(s.call).At}
	}
	w.last = i
	if s.outcome != history.OK {
		return before
	}
	w.open = false
	return max(before, r.event(s.ret).At-w.from)
}

// waited returns when an open wait ended, and whether it was only the run that
// ended it. A client that did something else after its last attempt had given
// up when that attempt returned.
func (r *record) waited(w *wait) (time.Duration, bool) {
	s, l := &r.spans[w.last], r.lives[w.client]
	switch {
	case s.ret != none && l.acted > s.ret:
		return r.event(s.ret).At, false
	case s.ret == none && l.ended > s.call:
		return r.event(l.ended).At, false
	}
	return r.h.End, true
}

// stuck reports what those who still wait at the end of the run wait for.
func (ws *waits) stuck(r *record) (Status, string) {
	for i := range ws.list {
		ws.path = ws.path[:0]
		if ws.cycle(r, int32(i)) {
			return Deadlocked, ws.describe(r)
		}
	}
	for i := range ws.list {
		w := &ws.list[i]
		if r.believer(w.lock, 0) == none && r.hopeless(w) {
			return Stalled, fmt.Sprintf("%s waited for %s from %s to the end at %s, and nobody held it",
				r.clients.keys[w.client], r.locks.keys[w.lock], seconds(w.from), seconds(r.h.End))
		}
	}
	return OK, ""
}

// hopeless reports whether w could not have ended soon after the run: it has made
// an attempt, or waits in a queue, since the last belief in its lock ended, and no
// promise that still stands would have run out by itself.
func (r *record) hopeless(w *wait) bool {
	s := &r.spans[w.last]
	for i := range r.spells {
		b := &r.spells[i]
		to := b.to
		if ended := r.lives[b.client].ended; ended != none {
			to = min(to, r.event(ended).At)
		}
		if b.lock == w.lock && s.ret != none && to > r.event(s.call).At {
			return false
		}
	}
	for i := range r.spans {
		g := &r.spans[i]
		if g.lock != w.lock || g.outcome != history.OK || g.verb != history.Acquire && g.verb != history.Extend {
			continue
		}
		if until := r.event(g.ret).Until; until != history.Forever && until > r.h.End {
			return false
		}
	}
	return true
}

// believer returns the next spell from k on whose client is alive and believes
// to hold lock at the end of the run, or none.
func (r *record) believer(lock, k int32) int32 {
	for ; int(k) < len(r.spells); k++ {
		if s := &r.spells[k]; s.lock == lock && s.doubt == none && r.lives[s.client].ended == none {
			return k
		}
	}
	return none
}

// cycle follows wait i to the clients that believe to hold what it waits for,
// and to what those wait for, until it comes back to where it was. It leaves the
// cycle in path.
func (ws *waits) cycle(r *record, i int32) bool {
	if k := slices.Index(ws.path, i); k >= 0 {
		ws.path = ws.path[k:]
		return true
	}
	if ws.list[i].clear {
		return false
	}
	ws.path = append(ws.path, i)
	lock := ws.list[i].lock
	for k := r.believer(lock, 0); k != none; k = r.believer(lock, k+1) {
		for n := range ws.list {
			if ws.list[n].client == r.spells[k].client && ws.cycle(r, int32(n)) {
				return true
			}
		}
	}
	ws.path = ws.path[:len(ws.path)-1]
	ws.list[i].clear = true
	return false
}

// describe says who of the cycle in path waits for whom.
func (ws *waits) describe(r *record) string {
	var b strings.Builder
	for i, k := range ws.path {
		if i > 0 {
			b.WriteString("; ")
		}
		w := &ws.list[k]
		next := &ws.list[ws.path[(i+1)%len(ws.path)]]
		fmt.Fprintf(&b, "%s waits for %s, which %s holds",
			r.clients.keys[w.client], r.locks.keys[w.lock], r.clients.keys[next.client])
	}
	return b.String()
}
