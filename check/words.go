package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/history"
)

// charge is a cause, and whom it blames.
type charge struct {
	cause string
	blame Blame
	who   string // the node or the client
}

// seconds writes an instant as seconds with three decimals, and with more only
// where it takes more to be exact: 9.898, 9.8985.
func seconds(t time.Duration) string {
	sign := ""
	n := uint64(t)
	if t < 0 {
		sign, n = "-", -n
	}
	frac := strconv.FormatUint(1e9+n%1e9, 10)[1:]
	frac = frac[:3] + strings.TrimRight(frac[3:], "0")
	return sign + strconv.FormatUint(n/1e9, 10) + "." + frac
}

// owner is the name of the client that grant n was for.
func (r *record) owner(n int32) string {
	if n <= 0 || int(n) >= len(r.grants) || r.grants[n].client == none {
		return "nobody"
	}
	return r.clients.keys[r.grants[n].client]
}

// doneAt is when span s returned, or was called where it never did.
func (r *record) doneAt(s *span) time.Duration {
	if s.ret == none {
		return r.event(s.call).At
	}
	return r.event(s.ret).At
}

// confirmation names an operation that confirmed a grant.
func confirmation(s *span) string {
	if s.verb == history.Extend {
		return "extension"
	}
	return "release"
}

// grantedAt is when the client was told of grant n.
func (r *record) grantedAt(n int32) time.Duration {
	if n <= 0 || int(n) >= len(r.grants) || r.grants[n].acquire == none {
		return 0
	}
	return r.doneAt(&r.spans[r.grants[n].acquire])
}

// grantedBy is when the client was told of grant n; where that was only after t,
// when it was decided, if that is known.
func (r *record) grantedBy(n int32, t time.Duration) time.Duration {
	told := r.grantedAt(n)
	if s, ok := r.granted(n); ok && told > t && r.decision(s) != none {
		return r.event(r.decision(s)).At
	}
	return told
}

// reply is the Return of the acquire that got grant n, or nil.
func (r *record) reply(n int32) *history.Event {
	if s, ok := r.granted(n); ok {
		return r.event(s.ret)
	}
	return nil
}

// ran says how far the promise of grant n went.
func (r *record) ran(n int32, until time.Duration) string {
	switch plain := r.standing(n, int32(len(r.h.Events))); {
	case until == history.Forever:
		return r.owner(n) + "'s term had no end"
	case until > plain && plain != 0:
		return fmt.Sprintf("%s's lock-delay ran to %s", r.owner(n), seconds(until))
	}
	return fmt.Sprintf("%s's term ran to %s", r.owner(n), seconds(until))
}

// doubleGrant says why the service made grant b, told at told, while a stood
// until until.
func (r *record) doubleGrant(a, b int32, told, until time.Duration) charge {
	if c, ok := r.keyless(b); ok {
		return c
	}
	stop := int32(len(r.h.Events))
	if newer, ok := r.granted(b); ok {
		stop = newer.ret
		if told >= until {
			told = r.grantedBy(b, until-1)
		}
	}
	at := seconds(told)
	if c, ok := r.strayed(a, history.StrayedEnter, 0, stop); ok && c.who == r.owner(b) {
		c.cause += "; " + r.ran(a, until)
		return c
	}
	if c, ok := r.misled(a, stop); ok {
		c.cause = fmt.Sprintf("%s; %s was granted the lock at %s; %s", c.cause, r.owner(b), at, r.ran(a, until))
		return c
	}
	end := r.ended(a, b, stop, until)
	if end == none {
		return r.suspicion(a, b, fmt.Sprintf("%s was granted the lock at %s while %s%s", r.owner(b), at, r.ran(a, until), r.apart(a, b)))
	}
	c := r.ending(a, end)
	c.cause = fmt.Sprintf("%s; %s's grant at %s %s; %s", c.cause, r.owner(b), at, r.need(a, b, end, stop, until), r.ran(a, until))
	return c
}

// apart says of two grants that no node knows of both, where that is so.
func (r *record) apart(a, b int32) string {
	ra, rb := r.reply(a), r.reply(b)
	if ra == nil || rb == nil || ra.Votes == "" || rb.Votes == "" {
		return ""
	}
	for v := range strings.SplitSeq(ra.Votes, ",") {
		if votes(rb, v) {
			return ""
		}
	}
	return fmt.Sprintf("; %s's lock is on %s, %s's on %s, and neither knows of the other's", r.owner(a), ra.Votes, r.owner(b), rb.Votes)
}

// need says how grant b hung on the end of the key of a at event end: it needed
// that node, or one of several that a lost, for a majority of all that the two
// stand on; or it did not.
func (r *record) need(a, b, end, stop int32, until time.Duration) string {
	ra, rb := r.reply(a), r.reply(b)
	node := r.event(end).Who
	switch {
	case rb == nil || rb.Votes == "":
		return "needed it"
	case !votes(rb, node):
		return "followed"
	}
	var lost []string
	last := &r.spans[r.stood(a, stop)]
	for _, i := range r.freedOf(ra.Value, last.call, stop) {
		if e := r.event(i); e.At < until && votes(rb, e.Who) && r.standsOn(last, e.Who) && !slices.Contains(lost, e.Who) {
			lost = append(lost, e.Who)
		}
	}
	has := strings.Count(rb.Votes, ",") + 1
	all := has
	for v := range strings.SplitSeq(ra.Votes, ",") {
		if !votes(rb, v) {
			all++
		}
	}
	switch {
	case has-len(lost) > all/2:
		return "followed"
	case len(lost) <= 1:
		return "needed it"
	}
	return "needed one of " + strings.Join(lost, ", ")
}

// suspicion is the charge where the servers do not say what became of the key of
// grant a. A leader that did not know of it is named first, or else what struck one
// of them before b was granted.
func (r *record) suspicion(a, b int32, what string) charge {
	from, to := r.between(a, b)
	c, ok := r.lacking(from, to, what)
	if ok {
		return c
	}
	c = charge{what, Service, ""}
	for _, i := range r.faults {
		e := r.event(i)
		if i >= to {
			break
		}
		if e.Kind != history.Fault || e.Why == "" || r.isClient(e.Who) {
			continue
		}
		name := e.Who
		switch action(e) {
		case "clock-step", "clock-rate":
			if r.turned(e.Who, "+", from, to) != e {
				continue
			}
			name += "'s clock"
		case "restart", "failover":
			if i < from {
				continue
			}
		default:
			continue // it takes no key away
		}
		c.cause, c.who = fmt.Sprintf("%s %s at %s; %s", name, e.Why, seconds(e.At), what), e.Who
	}
	return c
}

func (r *record) isClient(name string) bool {
	_, ok := r.clients.find(name)
	return ok
}

// between is the stretch of events from the call from which grant a stood to the
// return that told of grant b.
func (r *record) between(a, b int32) (from, to int32) {
	x, ok := r.granted(b)
	k := none
	if ok {
		k = r.stood(a, x.ret)
	}
	if k == none {
		return 0, 0
	}
	return r.spans[k].call, x.ret
}

// ended returns the event with which the key of grant a ended on a node before
// until and before event stop: preferably on a node that both grants stand on.
// What a stands on is what it was last told, whatever it stood on at first.
func (r *record) ended(a, b, stop int32, until time.Duration) int32 {
	ra, rb := r.reply(a), r.reply(b)
	if ra == nil || ra.Value == "" {
		return none
	}
	last := &r.spans[r.stood(a, stop)]
	best, rank := none, -1
	for _, i := range r.freedOf(ra.Value, r.spans[r.grants[a].acquire].call, stop) {
		e := r.event(i)
		if e.At >= until {
			break
		}
		k := 0
		if i > last.call && r.standsOn(last, e.Who) {
			k++
		}
		if rb != nil && votes(rb, e.Who) {
			k += 2
		}
		if k > rank {
			best, rank = i, k
		}
	}
	return best
}

// standsOn reports whether the grant stands on node since span s. What does not
// name its nodes changes nothing about them.
func (r *record) standsOn(s *span, node string) bool {
	e := r.event(s.ret)
	if e.Votes == "" {
		if e = r.reply(s.grant); e == nil {
			return false
		}
	}
	return votes(e, node)
}

// votes reports whether the grant of reply e stands on node.
func votes(e *history.Event, node string) bool {
	for v := range strings.SplitSeq(e.Votes, ",") {
		if v == node {
			return true
		}
	}
	return false
}

// ending says how the key of grant a ended at event i, and whom that blames.
func (r *record) ending(a, i int32) charge {
	end := r.event(i)
	owner, node, at := r.owner(a), end.Who, seconds(end.At)
	switch end.Why {
	case history.FreedDeleted:
		return r.deletion(owner, i)
	case history.FreedOverwritten: // whoever asks for a lock should not get it that way
		return charge{
			fmt.Sprintf("%s's %s at %s overwrote %s's key on %s", end.Peer, r.deleter(i), at, owner, node), Recipe, end.Peer,
		}
	case history.FreedOutdated:
		return charge{fmt.Sprintf("%s dropped %s's write at %s: %s's bears a greater timestamp", node, owner, at, end.Peer), Service, node}
	case history.FreedRestart:
		return charge{fmt.Sprintf("%s %s at %s", node, r.deed(node, "restart", "restarted empty", i), at), Service, node}
	case history.FreedFailover:
		return charge{fmt.Sprintf("%s %s at %s", node, r.deed(node, "failover", "was promoted without it", i), at), Service, node}
	case history.FreedEvicted:
		return charge{fmt.Sprintf("%s evicted %s's key at %s", node, owner, at), Service, node}
	}
	timed := &r.spans[r.grants[a].acquire] // its term on the node began with this
	if k := r.stood(a, i); r.spans[k].ret < i && r.standsOn(&r.spans[k], node) {
		timed = &r.spans[k]
	}
	f := r.turned(node, "+", timed.call, i)
	if k := r.cut(a, timed.call, i); k != none && (f == nil || f.At < r.event(k).At) {
		c := r.renewal(owner, r.event(k))
		c.cause += fmt.Sprintf(", which was over at %s", at)
		return c
	}
	if f != nil {
		return charge{
			fmt.Sprintf("%s's clock %s at %s and it freed %s's key", node, f.Why, seconds(f.At), owner), Service, node,
		}
	}
	return charge{fmt.Sprintf("%s freed %s's key at %s", node, owner, at), Service, node}
}

// cut is the last event from event from to event end at which another client gave the
// key of grant a that ended then a new term on its node, or none.
func (r *record) cut(a, from, end int32) int32 {
	for i := end - 1; i > from; i-- {
		e, over := r.event(i), r.event(end)
		if e.Kind == history.Prolonged && e.Who == over.Who && e.Lock == over.Lock && e.Value == over.Value && e.Peer != r.owner(a) {
			return i
		}
	}
	return none
}

// deletion says who deleted owner's key at event i, and blames that client.
func (r *record) deletion(owner string, i int32) charge {
	e := r.event(i)
	return charge{
		fmt.Sprintf("%s's %s at %s deleted %s's key on %s", e.Peer, r.deleter(i), seconds(e.At), owner, e.Who),
		Holder, e.Peer,
	}
}

// renewal says that e gave owner's key a new term, and blames the client who asked for
// it.
func (r *record) renewal(owner string, e *history.Event) charge {
	return charge{
		fmt.Sprintf("%s's %s at %s gave %s's key on %s a new term", e.Peer, e.Why, seconds(e.At), owner, e.Who),
		Holder, e.Peer,
	}
}

// misled is the charge where what grant n was last promised, as of event stop, came of
// an extension that gave another's key a new term. There may be none.
func (r *record) misled(n, stop int32) (charge, bool) {
	k := r.stood(n, stop)
	if k == none || r.spans[k].verb != history.Extend {
		return charge{}, false
	}
	return r.anothers(n, &r.spans[k])
}

// anothers is what the client of grant n did, in the operation s, to a key that was not
// that of its grant: deleted it, or prolonged it. There may be none, as in an acquire,
// which may have cleared away what an earlier one had left.
func (r *record) anothers(n int32, s *span) (charge, bool) {
	mine := r.value(n)
	if mine == "" || s.verb == history.Acquire {
		return charge{}, false
	}
	for i := s.call; i < s.ret; i++ {
		e := r.event(i)
		if e.Peer != r.owner(n) || e.Lock != r.locks.keys[s.lock] || e.Value == mine {
			continue
		}
		switch {
		case e.Kind == history.Prolonged:
			return r.renewal(r.holding(e), e), true
		case e.Kind == history.Freed && e.Why == history.FreedDeleted:
			return r.deletion(r.holding(e), i), true
		}
	}
	return charge{}, false
}

// value is by what the client of grant n knows its key, whatever it was told of its
// acquire; "" where that is not known.
func (r *record) value(n int32) string {
	if k := r.grantOf(n); k != none && r.spans[k].ret != none {
		return r.event(r.spans[k].ret).Value
	}
	return ""
}

// holding is the client whose grant the key of e stands for.
func (r *record) holding(e *history.Event) string {
	for i := range r.told {
		s := &r.spans[r.told[i]]
		if s.verb == history.Acquire && r.event(s.ret).Value == e.Value && r.event(s.ret).Lock == e.Lock {
			return r.owner(s.grant)
		}
	}
	return "another"
}

// deed is what the last fault before event stop did to node by an action; did
// where that is not known.
func (r *record) deed(node, by, did string, stop int32) string {
	for _, i := range r.faults {
		e := r.event(i)
		if i >= stop {
			break
		}
		if e.Kind == history.Fault && action(e) == by && (e.Who == node || e.Peer == node) && e.Why != "" {
			did = e.Why
		}
	}
	return did
}
