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
	at := seconds(told)
	end := r.ended(a, b, until)
	if end == nil {
		return r.suspicion(a, b, fmt.Sprintf("%s was granted the lock at %s while %s", r.owner(b), at, r.ran(a, until)))
	}
	c := r.ending(a, end)
	link := "needed it"
	if e := r.reply(b); e != nil && e.Votes != "" && !votes(e, end.Who) {
		link = "followed"
	}
	c.cause = fmt.Sprintf("%s; %s's grant at %s %s; %s", c.cause, r.owner(b), at, link, r.ran(a, until))
	return c
}

// suspicion is the charge where the servers do not say what became of the key of
// grant a. What struck one of them before b was granted is named first.
func (r *record) suspicion(a, b int32, what string) charge {
	c := charge{what, Service, ""}
	from, to := r.between(a, b)
	for i := from; i < to; i++ {
		e := r.event(i)
		if e.Kind != history.Fault || e.Why == "" || slices.Contains(r.clients.keys, e.Who) {
			continue
		}
		name := e.Who
		switch word, _, _ := strings.Cut(e.Value, " "); word {
		case "clock-step", "clock-rate":
			name += "'s clock"
		case "restart", "failover":
		default:
			continue // it takes no key away
		}
		c.cause, c.who = fmt.Sprintf("%s %s at %s; %s", name, e.Why, seconds(e.At), what), e.Who
	}
	return c
}

// between is the stretch of events from the call that got grant a to the return
// that told of grant b.
func (r *record) between(a, b int32) (from, to int32) {
	x, ok := r.granted(a)
	y, also := r.granted(b)
	if !ok || !also {
		return 0, 0
	}
	return x.call, y.ret
}

// ended returns the event with which the key of grant a ended on a node before
// until and before b was made: preferably on a node that both grants stand on.
func (r *record) ended(a, b int32, until time.Duration) *history.Event {
	ra, rb := r.reply(a), r.reply(b)
	if ra == nil || ra.Value == "" {
		return nil
	}
	stop := len(r.h.Events)
	if s, ok := r.granted(b); ok {
		stop = int(s.ret)
	}
	var best *history.Event
	rank := -1
	for i := int(r.spans[r.grants[a].acquire].call); i < stop; i++ {
		e := r.event(int32(i))
		if e.Kind != history.Freed || e.Value != ra.Value || e.At >= until {
			continue
		}
		k := 0
		if votes(ra, e.Who) {
			k++
		}
		if rb != nil && votes(rb, e.Who) {
			k += 2
		}
		if k > rank {
			best, rank = e, k
		}
	}
	return best
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

// ending says how the key of grant a ended, and whom that blames.
func (r *record) ending(a int32, end *history.Event) charge {
	owner, node, at := r.owner(a), end.Who, seconds(end.At)
	switch end.Why {
	case history.FreedDeleted:
		return r.deletion(owner, end)
	case history.FreedRestart:
		did := "restarted empty"
		if f := r.fault(node, "restart", end); f != nil && f.Why != "" {
			did = f.Why
		}
		return charge{fmt.Sprintf("%s %s at %s", node, did, at), Service, node}
	case history.FreedFailover:
		did := "was promoted without it"
		if f := r.fault(node, "failover", end); f != nil && f.Why != "" {
			did = f.Why
		}
		return charge{fmt.Sprintf("%s %s at %s", node, did, at), Service, node}
	case history.FreedEvicted:
		return charge{fmt.Sprintf("%s evicted %s's key at %s", node, owner, at), Service, node}
	}
	if f := r.fault(node, "clock", end); f != nil && f.Why != "" {
		return charge{
			fmt.Sprintf("%s's clock %s at %s and it freed %s's key", node, f.Why, seconds(f.At), owner), Service, node,
		}
	}
	return charge{fmt.Sprintf("%s freed %s's key at %s", node, owner, at), Service, node}
}

// deletion says who deleted owner's key, and blames that client.
func (r *record) deletion(owner string, end *history.Event) charge {
	what := "request"
	for i := range r.h.Events {
		e := r.event(int32(i))
		if e == end {
			break
		}
		if e.Kind == history.Send && e.Verb == history.Request && e.Who == end.Peer && e.Peer == end.Who && e.Value != "" {
			what = e.Value
		}
	}
	return charge{
		fmt.Sprintf("%s's %s at %s deleted %s's key on %s", end.Peer, what, seconds(end.At), owner, end.Who),
		Holder, end.Peer,
	}
}

// fault returns the last fault that struck node before event end and whose line
// in the schedule has word.
func (r *record) fault(node, word string, end *history.Event) *history.Event {
	var last *history.Event
	for i := range r.h.Events {
		e := r.event(int32(i))
		if e == end {
			break
		}
		if e.Kind == history.Fault && (e.Who == node || e.Peer == node) && strings.Contains(e.Value, word) {
			last = e
		}
	}
	return last
}
