package check

import (
	"slices"
	"sort"
	"time"

	"locksim/history"
)

// none is the event index, or span index, of something that never happened.
const none = int32(-1)

// span is one operation on a lock: a Call with its Return.
type span struct {
	call, ret    int32 // event indexes; ret is none when the operation never returned
	lock, client int32
	grant        int32
	acted        int32 // the client's last Step before it, or none
	verb         history.Verb
	outcome      history.Outcome // Unknown when it never returned
	misread      bool            // a read that is known to be wrong: it shows nothing about others
	stood        time.Duration   // the greatest until that its grant had been promised when it was called
}

// grant is one acquire, by the number that the history gives it.
type grant struct {
	client, lock int32
	acquire      int32         // its span, or none
	spell        int32         // the open spell of belief in it, or none
	latest       int32         // the last spell of belief in it, or none
	most         time.Duration // the greatest until that it was promised so far
	given        time.Duration // when it was first given up, whatever came of that; Forever for never
	released     bool          // a release of it was confirmed
	ended        int32         // the event with which its session ended, or none
}

// spell is one stretch of belief: client believes in grant during [from, to).
type spell struct {
	client, lock int32
	grant        int32
	from, to     time.Duration
	doubt        int32 // the event that ended it, or none
	before       int32 // the client's spell before it, or none
}

// life is what became of a client.
type life struct {
	acted int32 // its last Step or End, or none
	ended int32 // its End, or none
	spell int32 // its last spell of belief, or none
}

// record is what the verdicts need of one history, read in one pass.
type record struct {
	h       *history.History
	clients index[string]
	locks   index[string]

	spans  []span
	byOp   []int32 // by operation number: its span, or none
	grants []grant // by grant number; 0 is no grant
	spells []spell
	lives  []life  // by client
	marks  []int32 // the events of the resource, and the keys that clients deleted or prolonged
	faults []int32 // the events of the schedule: faults, and their ends
	turns  []int32 // the elections of leaders
	ends   []int32 // the events with which the session behind a key ended
	strays []int32 // the requests that came on the wrong session

	told      []int32 // the confirmed acquires and extensions, in the order of their returns
	replies   []int32 // the same by grant
	repliesAt []int32 // by grant: where its own begin in replies
	keys      keys
}

// read takes in h, which it keeps until the next call.
func (r *record) read(h *history.History) {
	r.h = h
	r.clients.reset()
	r.locks.reset()
	r.spans, r.byOp, r.grants = r.spans[:0], r.byOp[:0], r.grants[:0]
	r.spells, r.lives, r.marks = r.spells[:0], r.lives[:0], r.marks[:0]
	r.faults, r.turns, r.told = r.faults[:0], r.turns[:0], r.told[:0]
	r.ends, r.strays = r.ends[:0], r.strays[:0]
	r.keys.reset()
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Call:
			r.called(int32(i), e)
		case history.Return:
			r.returned(int32(i), e)
		case history.Believe:
			r.believed(e)
		case history.Doubt:
			r.doubted(int32(i), e)
		case history.Step, history.End:
			r.lived(int32(i), e)
		case history.Write, history.Effect:
			r.marks = append(r.marks, int32(i))
		case history.Freed:
			if e.Value == "" {
				continue
			}
			r.keys.freed = append(r.keys.freed, int32(i))
			switch e.Why {
			case history.FreedDeleted:
				r.marks = append(r.marks, int32(i))
			case history.FreedSession, history.FreedTransaction:
				r.ends = append(r.ends, int32(i))
			}
		case history.Prolonged:
			r.marks = append(r.marks, int32(i))
		case history.Strayed:
			r.strays = append(r.strays, int32(i))
		case history.Fault, history.Heal:
			r.faults = append(r.faults, int32(i))
		case history.Elected:
			r.turns = append(r.turns, int32(i))
		}
	}
	for i := range r.spells {
		if s := &r.spells[i]; s.doubt == none {
			s.to = h.End
		}
	}
	r.sortReplies()
	r.endSessions()
}

// event returns the event at index i.
func (r *record) event(i int32) *history.Event { return &r.h.Events[i] }

func (r *record) called(i int32, e *history.Event) {
	s := span{
		call: i, ret: none, lock: r.locks.of(e.Lock), client: r.client(e.Who),
		grant: e.Grant, verb: e.Verb, outcome: history.Unknown,
	}
	s.acted = r.lives[s.client].acted
	for len(r.byOp) <= int(e.Op) {
		r.byOp = append(r.byOp, none)
	}
	r.byOp[e.Op] = int32(len(r.spans))
	if e.Grant > 0 {
		g := r.grant(e.Grant)
		s.stood = g.most
		if e.Verb == history.Acquire {
			g.client, g.lock, g.acquire = s.client, s.lock, int32(len(r.spans))
		}
	}
	r.spans = append(r.spans, s)
}

func (r *record) returned(i int32, e *history.Event) {
	if int(e.Op) >= len(r.byOp) || r.byOp[e.Op] == none {
		return // its Call is not in the history
	}
	s := &r.spans[r.byOp[e.Op]]
	s.ret = i
	if s.verb == history.Read {
		s.grant = e.Grant // known only now
	}
	if e.Outcome != 0 {
		s.outcome = e.Outcome
	}
	if s.verb == history.Acquire && e.Verb == history.Extend { // it held the lock already
		r.grant(s.grant).acquire = none
		s.verb, s.grant = e.Verb, e.Grant
		s.stood = r.grant(s.grant).most
	}
	if s.grant <= 0 || s.outcome != history.OK {
		return
	}
	g := r.grant(s.grant)
	switch s.verb {
	case history.Acquire, history.Extend:
		g.most = max(g.most, e.Until)
		r.told = append(r.told, r.byOp[e.Op])
	case history.Release:
		g.released = true
	}
}

// sortReplies sorts what was told by grant, and notes when each was given up.
func (r *record) sortReplies() {
	r.repliesAt = grown(r.repliesAt[:0], len(r.grants)+1)
	for _, k := range r.told {
		r.repliesAt[r.spans[k].grant]++
	}
	end := int32(0)
	for n := range r.repliesAt {
		end += r.repliesAt[n]
		r.repliesAt[n] = end
	}
	r.replies = grown(r.replies[:0], len(r.told))
	for _, k := range slices.Backward(r.told) {
		n := r.spans[k].grant
		r.repliesAt[n]--
		r.replies[r.repliesAt[n]] = k
	}
	for i := range r.spans {
		s := &r.spans[i]
		if s.verb == history.Release && s.grant > 0 && (s.outcome == history.OK || s.outcome == history.Unknown) {
			g := r.grant(s.grant)
			g.given = min(g.given, r.event(s.call).At)
		}
	}
}

// stood returns the confirmed acquire or extension on which grant n stood at
// event i: the last that returned before; the first one where none had; none for
// a grant that never was.
func (r *record) stood(n, i int32) int32 {
	if n <= 0 || int(n) >= len(r.grants) {
		return none
	}
	list := r.replies[r.repliesAt[n]:r.repliesAt[n+1]]
	if len(list) == 0 {
		return none
	}
	k := sort.Search(len(list), func(k int) bool { return r.spans[list[k]].ret >= i })
	return list[max(0, k-1)]
}

// standing is until when grant n had been promised at event i.
func (r *record) standing(n, i int32) time.Duration {
	if k := r.stood(n, i); k != none {
		return r.event(r.spans[k].ret).Until
	}
	return 0
}

func (r *record) believed(e *history.Event) {
	g := r.grant(e.Grant)
	if g.spell != none {
		return // it believes already
	}
	c := r.client(e.Who)
	k := int32(len(r.spells))
	r.spells = append(r.spells, spell{
		client: c, lock: r.locks.of(e.Lock), grant: e.Grant, from: e.At, doubt: none, before: r.lives[c].spell,
	})
	g.spell, g.latest, r.lives[c].spell = k, k, k
}

func (r *record) doubted(i int32, e *history.Event) {
	if g := r.grant(e.Grant); g.spell != none {
		r.close(g.spell, i)
	}
}

func (r *record) lived(i int32, e *history.Event) {
	c := r.client(e.Who)
	l := &r.lives[c]
	l.acted = i
	if e.Kind != history.End {
		return
	}
	l.ended = i
	if e.Why != history.DoubtDeath {
		return
	}
	for k := l.spell; k != none; k = r.spells[k].before {
		if r.spells[k].doubt == none {
			r.close(k, i)
		}
	}
}

// close ends a spell of belief at event i.
func (r *record) close(k, i int32) {
	s := &r.spells[k]
	s.to, s.doubt = r.event(i).At, i
	r.grants[s.grant].spell = none
}

// client numbers the client called name.
func (r *record) client(name string) int32 {
	c := r.clients.of(name)
	for len(r.lives) <= int(c) {
		r.lives = append(r.lives, life{acted: none, ended: none, spell: none})
	}
	return c
}

// grant returns the grant numbered n, to be used before the next call of grant.
func (r *record) grant(n int32) *grant {
	for len(r.grants) <= int(n) {
		r.grants = append(r.grants, grant{
			client: none, lock: none, acquire: none, spell: none, latest: none, given: history.Forever, ended: none,
		})
	}
	return &r.grants[n]
}

// granted returns the span of the acquire that got grant n, if it was granted.
func (r *record) granted(n int32) (*span, bool) {
	if n <= 0 || int(n) >= len(r.grants) || r.grants[n].acquire == none {
		return nil, false
	}
	s := &r.spans[r.grants[n].acquire]
	return s, s.outcome == history.OK
}

// lockOf is the lock that grant n is of, or none.
func (r *record) lockOf(n int32) int32 {
	if k := r.grantOf(n); k != none {
		return r.spans[k].lock
	}
	return none
}

// pos is a position on the axis on which operations are compared. The event
// with index s stands at 2s+1, and a virtual instant at 2s where s is the first
// event at or after it: before everything that happens in that instant. All
// comparisons are between such integers, so ties are exact.
type pos int64

// The ends of the axis.
const (
	never  = pos(1<<63 - 1)
	always = -never
)

// eventPos is the position of the event with index i.
func eventPos(i int32) pos { return 2*pos(i) + 1 }

// instant is the position of the virtual instant t.
func (r *record) instant(t time.Duration) pos {
	ev := r.h.Events
	return 2 * pos(sort.Search(len(ev), func(i int) bool { return ev[i].At >= t }))
}

// returnPos is where the operation was over: its return, or, where it is known,
// the earlier point at which the deciding reply left the server.
func (r *record) returnPos(s *span) pos {
	if s.ret == none {
		return never
	}
	if d := r.decision(s); d != none {
		return eventPos(d)
	}
	return eventPos(s.ret)
}

// decision is the event with which the reply that decided s left the server, or
// none where that is not known.
func (r *record) decision(s *span) int32 {
	if s.ret == none {
		return none
	}
	if d := r.event(s.ret).Decided; d > s.call && d < s.ret {
		return d
	}
	return none
}
