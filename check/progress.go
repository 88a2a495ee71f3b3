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
	on    bool // on the path that is being followed
	from  time.Duration
	first int32 // its first attempt's span
	last  int32 // its last attempt's span
	next  int32 // the next wait of its client, or none
}

// outlook is what the end of the run shows of a lock.
type outlook struct {
	left   time.Duration // when the last client to believe in it stopped
	held   bool          // one did
	runs   bool          // a promise of it stands that will run out by itself
	keeper int32         // the first of those who still believe to hold it, or none
}

// keeper is a client that believes to hold a lock at the end of the run.
type keeper struct {
	spell int32
	next  int32 // the next keeper of the lock, or none
}

// waits is scratch memory for the verdict on progress.
type waits struct {
	pairs index[pair]
	list  []wait // by pair
	path  []int32

	byClient []int32   // the first of the client's waits, or none
	locks    []outlook // by lock
	keepers  []keeper
	deaf     []time.Duration // by client: from when on it took nothing in any more
	unread   []int32         // by client: the last reply that it has not taken in, or none
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
	if n == 0 {
		p.Status = undecided(r.h, OK)
		return p
	}
	ws.look(r)
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
		*w = wait{pair: pair{s.client, s.lock}, open: true, from: r.event(s.call).At, first: i}
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

// look takes in who still waits for what, and what the end of the run shows of
// each lock.
func (ws *waits) look(r *record) {
	ws.byClient, ws.locks, ws.keepers, ws.unread = ws.byClient[:0], ws.locks[:0], ws.keepers[:0], ws.unread[:0]
	for range r.lives {
		ws.byClient = append(ws.byClient, none)
	}
	for range r.locks.keys {
		ws.locks = append(ws.locks, outlook{keeper: none})
	}
	for i := len(ws.list) - 1; i >= 0; i-- {
		w := &ws.list[i]
		w.next, ws.byClient[w.client] = ws.byClient[w.client], int32(i)
	}
	for i := len(r.spells) - 1; i >= 0; i-- {
		s := &r.spells[i]
		o, to, ended := &ws.locks[s.lock], s.to, r.lives[s.client].ended
		if ended != none {
			to = min(to, r.event(ended).At)
		}
		o.left, o.held = max(o.left, to), true
		if s.doubt == none && ended == none {
			ws.keepers = append(ws.keepers, keeper{int32(i), o.keeper})
			o.keeper = int32(len(ws.keepers) - 1)
		}
	}
	for _, k := range r.told {
		if s := &r.spans[k]; !r.grants[s.grant].released && r.runsOut(s.grant) {
			ws.locks[s.lock].runs = true
		}
	}
}

// runsOut reports whether the promise of grant n ends by itself after the run.
func (r *record) runsOut(n int32) bool {
	until := r.standing(n, int32(len(r.h.Events)))
	return until != history.Forever && until > r.h.End
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
		if ws.locks[w.lock].keeper == none && ws.hopeless(r, w) && !ws.answered(r, w) {
			return Stalled, fmt.Sprintf("%s waited for %s from %s to the end at %s, and nobody held it",
				r.clients.keys[w.client], r.locks.keys[w.lock], seconds(w.from), seconds(r.h.End))
		}
	}
	return OK, ""
}

// hopeless reports whether w could not have ended soon after the run: it has made
// an attempt, or waits in a queue, since the last belief in its lock ended, and no
// promise that still stands would have run out by itself.
func (ws *waits) hopeless(r *record, w *wait) bool {
	o, s := &ws.locks[w.lock], &r.spans[w.last]
	if o.held && s.ret != none && o.left > r.event(s.call).At {
		return false
	}
	return !o.runs
}

// answered reports whether w is over but for the client, which has not taken in
// yet what the service sent it: the message is under way when the run ends, or
// came while the client was paused.
func (ws *waits) answered(r *record, w *wait) bool {
	s := &r.spans[w.last]
	if s.ret != none {
		return false
	}
	if len(ws.unread) == 0 {
		ws.deliver(r)
	}
	return ws.unread[w.client] > s.call
}

// deliver finds the last reply to each client that it had not taken in when the
// run ended.
func (ws *waits) deliver(r *record) {
	ws.deaf = ws.deaf[:0]
	for range r.lives {
		ws.deaf, ws.unread = append(ws.deaf, r.h.End+1), append(ws.unread, none)
	}
	for _, i := range r.faults {
		e := r.event(i)
		if e.Kind != history.Fault || action(e) != "pause" {
			continue
		}
		c, ok := r.clients.find(e.Who)
		if _, over := r.healed(i); ok && !over {
			ws.deaf[c] = min(ws.deaf[c], e.At)
		}
	}
	for i := range r.h.Events {
		e := r.event(int32(i))
		if e.Kind != history.Send || e.Verb != history.Reply {
			continue
		}
		if c, ok := r.clients.find(e.Peer); ok && e.Until >= ws.deaf[c] {
			ws.unread[c] = int32(i)
		}
	}
}

// cycle follows wait i to the clients that believe to hold what it waits for,
// and to what those wait for, until it comes back to where it was. It leaves the
// cycle in path.
func (ws *waits) cycle(r *record, i int32) bool {
	w := &ws.list[i]
	if w.on {
		ws.path = ws.path[slices.Index(ws.path, i):]
		return true
	}
	if w.clear {
		return false
	}
	ws.path = append(ws.path, i)
	w.on = true
	for k := ws.locks[w.lock].keeper; k != none; k = ws.keepers[k].next {
		s := &r.spells[ws.keepers[k].spell]
		for n := ws.byClient[s.client]; n != none; n = ws.list[n].next {
			if ws.lasts(r, s.grant, n) && ws.cycle(r, n) {
				return true
			}
		}
	}
	ws.path = ws.path[:len(ws.path)-1]
	w.on, w.clear = false, true
	return false
}

// lasts reports whether grant n goes on for as long as its client waits in wait k:
// its promise does not run out by itself after the run, or it is extended in the
// meantime.
func (ws *waits) lasts(r *record, n, k int32) bool {
	if !r.runsOut(n) {
		return true
	}
	last := r.stood(n, int32(len(r.h.Events)))
	return last > ws.list[k].first
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
