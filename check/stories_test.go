package check

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// story is a history of one lock with a name and a known answer. Instants are
// seconds; ends of one instant are in the order of the list, each call before
// its own return.
type story struct {
	name  string
	delay float64
	deeds []deed
	want  []string // kinds of breach
}

// cs is how many grid units a second of a story has.
const cs = 100

func does(verb history.Verb, out history.Outcome, g int, c, r, until float64) deed {
	return deed{
		grant: g, verb: verb, out: out, c: int64(c*cs + .5), r: int64(r*cs + .5), until: int64(until*cs + .5),
	}
}

func acquire(g int, c, r, until float64) deed {
	return does(history.Acquire, history.OK, g, c, r, until)
}
func refused(g int, c, r float64) deed       { return does(history.Acquire, history.Refused, g, c, r, 0) }
func ghost(g int, c float64) deed            { return does(history.Acquire, history.Unknown, g, c, 0, 0) }
func release(g int, c, r float64) deed       { return does(history.Release, history.OK, g, c, r, 0) }
func notReleased(g int, c, r float64) deed   { return does(history.Release, history.NotHeld, g, c, r, 0) }
func lostRelease(g int, c float64) deed      { return does(history.Release, history.Unknown, g, c, 0, 0) }
func extend(g int, c, r, until float64) deed { return does(history.Extend, history.OK, g, c, r, until) }
func notExtended(g int, c, r float64) deed   { return does(history.Extend, history.NotHeld, g, c, r, 0) }
func lostExtend(g int, c, until float64) deed {
	return does(history.Extend, history.Unknown, g, c, 0, until)
}
func names(g int, c, r float64) deed { return does(history.Read, history.OK, g, c, r, 0) }

func (d deed) with(token int64) deed { d.token = token; return d }

var (
	double    = []string{DoubleGrant}
	confirmed = []string{ConfirmedAfterLoss} // nobody was granted anything early
)

func stories() []story {
	return slices.Concat(plainStories(), extendStories(), unknownStories(), delayStories(), instantStories(), tokenStories(), readStories())
}

func plainStories() []story {
	return []story{
		{"a pause after the grant: B's winning poll at 11, A told not held at 16", 0,
			[]deed{acquire(1, 1, 1.01, 11), acquire(2, 3, 11.01, 21), release(2, 12.5, 12.51), notReleased(1, 16, 16.01)}, nil},
		{"redlock restart: A until 9.9, B at 2", 0, []deed{acquire(1, 0, .01, 9.9), acquire(2, 2, 2.01, 11.9)}, double},
		{"told at 14, B granted at 2 and not released: the client's return says nothing", 0,
			[]deed{acquire(1, 0, 14, 10), acquire(2, 2, 2.01, 12)}, nil},
		{"granted twice more within one term", 0,
			[]deed{acquire(1, 0, 1, 20), acquire(2, 2, 3, 4), acquire(3, 5, 6, 7)}, []string{DoubleGrant, DoubleGrant}},
		{"the same with the window closed when the deciding reply left", 0,
			[]deed{acquire(1, 0, .01, 10), acquire(2, 2, 2.01, 12)}, double},
		{"a queued acquire granted at 100.01, another at 101", 0,
			[]deed{acquire(1, 0, .01, 101), release(1, 100, 100.01), acquire(2, .5, 100.01, 110), acquire(3, .6, 101.01, 110)}, double},
		{"early loss laundered by a slow not held", 0,
			[]deed{acquire(1, 1, 2, 6), notExtended(1, 4, 8), acquire(2, 4, 5, 9)}, double},
		{"a delayed request: B holds 9 to 11, A told between 11.5 and 14", 0,
			[]deed{acquire(1, 0, 14, 10), acquire(2, 9, 9.01, 19), release(2, 11, 11.01)}, nil},
		{"told at 14 for a lease until 10 while B surely holds from 1 to 20", 0,
			[]deed{acquire(1, 0, 14, 10), acquire(2, 0, 1, 20), release(2, 20, 20.01)}, double},
		{"etcd 11456 as the clients saw it", 0,
			[]deed{acquire(1, 0, .01, 60), release(1, 4.9, 5), acquire(2, 1, 5, 3), acquire(3, 4, 5, 14), release(3, 6, 6.01)}, nil},
		{"etcd 11456 clipped to the service's record of the session's end", 0,
			[]deed{acquire(1, 0, .01, 60), release(1, 4.9, 5), acquire(2, 1, 3, 3), acquire(3, 4, 5, 14), release(3, 6, 6.01)}, double},
		{"two threads, one token: released while the other holds", 0,
			[]deed{acquire(1, 0, .01, 5), acquire(2, 5, 5.01, 10), release(1, 6, 6.01)}, confirmed},
		{"released twice", 0, []deed{acquire(1, 0, 1, 9), release(1, 2, 3), release(1, 4, 5)}, confirmed},
		{"released, never granted", 0, []deed{refused(1, 0, 1), release(1, 2, 3)}, confirmed},
		{"released before it was asked for", 0, []deed{release(1, 0, 1), acquire(1, 2, 3, 9)}, confirmed},
		{"a clock 200 ppm fast, strictly", 0, []deed{acquire(1, 0, 0, 10), acquire(2, 9.99, 9.99, 19.99)}, double},
		{"a clock 200 ppm fast, with an allowance", 0, []deed{acquire(1, 0, 0, 9.95), acquire(2, 9.99, 9.99, 19.99)}, nil},
	}
}

func extendStories() []story {
	return []story{
		{"extended just before expiry, told after it; B refused", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 9.99, 10.01, 19.99), refused(2, 10, 10.02)}, nil},
		{"extended just before expiry; B granted meanwhile", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 9.99, 10.01, 19.99), acquire(2, 10, 10.02, 20)}, double},
		{"extended just after expiry, nobody in between", 0, []deed{acquire(1, 0, .01, 10), extend(1, 10.02, 10.03, 20.02)}, nil},
		{"extended after another had held it and released", 0,
			[]deed{acquire(1, 0, .01, 10), acquire(2, 10, 10.01, 20), release(2, 10.5, 10.51), extend(1, 12, 12.01, 22)}, confirmed},
		{"extended after expiry and takeover: not held", 0,
			[]deed{acquire(1, 0, .01, 10), acquire(2, 10, 10.01, 20), notExtended(1, 10.02, 10.03)}, nil},
		{"extended after release", 0, []deed{acquire(1, 0, 1, 10), release(1, 2, 3), extend(1, 4, 5, 14)}, confirmed},
		{"the reply to an extension lost, takeover at 12", 0,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 8, 18), acquire(2, 12, 12.01, 22)}, nil},
		{"the reply to an extension late, takeover at 12", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 8, 14, 18), acquire(2, 12, 12.01, 22)}, confirmed},
		{"a shorter term asked for and granted", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 1, 1.01, 3), acquire(2, 4, 4.01, 14)}, nil},
		{"a shorter term asked for, outcome unknown", 0,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 1, 3), acquire(2, 4, 4.01, 14)}, nil},
		{"a shorter term asked for, outcome unknown, takeover before it", 0,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 1, 3), acquire(2, 2, 2.01, 12)}, double},
		{"a term asked for that was over already, outcome unknown, takeover before the request", 0,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 5, 3), acquire(2, 4, 4.01, 14)}, double},
		{"a term asked for that was over already, outcome unknown, takeover after the request", 0,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 5, 3), acquire(2, 6, 6.01, 14)}, nil},
		{"of two extensions at once the lesser counts", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 1, 3, 20), extend(1, 2, 4, 5), acquire(2, 6, 7, 16)}, nil},
		{"of two extensions in a row the later counts", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 1, 2, 5), extend(1, 3, 4, 20), acquire(2, 6, 7, 16)}, double},
		{"session told expired at 15 although acknowledged until 19", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 9, 9.01, 19), notExtended(1, 15, 15)}, []string{LostLease}},
		{"session expired by the service, B at 20, told at 25", 0,
			[]deed{acquire(1, 0, .01, 10), extend(1, 9, 9.01, 19), acquire(2, 20, 20.01, 30), notExtended(1, 25, 25)}, nil},
	}
}

func unknownStories() []story {
	return []story{
		{"the reply to a release lost, B at 5", 0, []deed{acquire(1, 0, .01, 10), lostRelease(1, 3), acquire(2, 5, 5.01, 15)}, nil},
		{"the reply to a release lost, B before the release was called", 0,
			[]deed{acquire(1, 0, .01, 10), acquire(2, 2, 2.01, 12), lostRelease(1, 3)}, double},
		{"the reply to a release lost, B at 5, a second release confirmed at 7", 0,
			[]deed{acquire(1, 0, .01, 10), lostRelease(1, 3), acquire(2, 5, 5.01, 15), release(1, 7, 7.01)}, confirmed},
		{"a lost release of an earlier grant does not excuse the theft of a later one", 0,
			[]deed{acquire(1, 0, .01, 10), lostRelease(1, 3), acquire(3, 10, 10.01, 20), acquire(2, 15, 15.01, 25)}, double},
		{"an acquire's reply lost, B refused, then granted at its end", 0,
			[]deed{ghost(1, 0), refused(2, 1, 1.01), acquire(3, 10, 10.01, 20)}, nil},
		{"an acquire's reply lost, B granted at once", 0, []deed{ghost(1, 0), acquire(2, 1, 1.01, 11)}, nil},
		{"a ghost confirmed by its clean-up", 0, []deed{ghost(1, 0), release(1, 2, 2.01), acquire(2, 3, 3.01, 13)}, nil},
		{"a ghost confirmed by a release while B surely holds", 0,
			[]deed{acquire(2, 0, .01, 10), ghost(1, 1), release(1, 2, 2.01)}, double},
		{"a ghost extended holds on", 0, []deed{ghost(1, 0), extend(1, 1, 2, 11), acquire(2, 3, 4, 13)}, double},
		{"a ghost told not held", 0, []deed{ghost(1, 0), notReleased(1, 1, 2), acquire(2, 1, 2, 12)}, nil},
		{"a retry with the same value refused, released all the same", 0,
			[]deed{ghost(1, 0), refused(3, .5, .51), release(1, .6, .61), acquire(2, .7, .71, 10.7)}, nil},
		{"an advisory lock: its connection cut at 2 is an unknown release", 0,
			[]deed{acquire(1, 0, .01, 200), lostRelease(1, 2), acquire(2, 3, 3.01, 200)}, nil},
	}
}

func delayStories() []story {
	return []story{
		{"lock-delay 15: expiry at 10, B at 12", 15, []deed{acquire(1, 0, .01, 10), acquire(2, 12, 12.01, 22)}, double},
		{"lock-delay 15: not held at 12, B at 25", 15,
			[]deed{acquire(1, 0, .01, 10), notExtended(1, 12, 12.01), acquire(2, 25, 25.01, 35)}, nil},
		{"lock-delay 15: not held at 12, B at 20", 15,
			[]deed{acquire(1, 0, .01, 10), notExtended(1, 12, 12.01), acquire(2, 20, 20.01, 30)}, double},
		{"lock-delay 15: a release lifts it", 15,
			[]deed{acquire(1, 0, .01, 10), release(1, 2, 2.01), acquire(2, 2.01, 2.02, 12.01)}, nil},
		{"lock-delay 15: so may a lost one", 15, []deed{acquire(1, 0, .01, 10), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, nil},
		{"lock-delay 15: but not once told not held", 15,
			[]deed{acquire(1, 0, .01, 10), notExtended(1, 11, 11.01), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, double},
		{"lock-delay 15: nor once it was seen free", 15,
			[]deed{acquire(1, 0, .01, 10), names(0, 11, 11.01), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, []string{StaleRead}},
		{"lock-delay 15: nor by the second of two that saw it free", 15,
			[]deed{acquire(1, 0, .01, 10), names(0, 11, 30), names(0, 11.1, 11.2), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, []string{StaleRead}},
		{"lock-delay 15: seen free while the release was on its way", 15,
			[]deed{acquire(1, 0, .01, 10), names(0, 11, 14), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, nil},
		{"lock-delay 15: seen free before it was granted", 15,
			[]deed{names(0, 0, 11), acquire(1, .5, 2, 10), lostRelease(1, 12), acquire(2, 13, 13.01, 23)}, nil},
		{"lock-delay 15: an unknown shorter term shortens it too", 15,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 1, 3), acquire(2, 18, 18.01, 28)}, nil},
		{"lock-delay 15: which is not over before it", 15,
			[]deed{acquire(1, 0, .01, 10), lostExtend(1, 1, 3), acquire(2, 17, 17.01, 28)}, double},
	}
}

func instantStories() []story {
	return []story{
		{"granted exactly at the end of the promise", 0, []deed{acquire(1, 0, 0, 10), acquire(2, 10, 10, 20)}, nil},
		{"one instant: extension confirmed after B's grant", 0,
			[]deed{acquire(1, 0, 0, 10), acquire(2, 10, 10, 20), extend(1, 10, 10, 20)}, confirmed},
		{"one instant: extension confirmed before B's grant", 0,
			[]deed{acquire(1, 0, 0, 10), extend(1, 10, 10, 20), acquire(2, 10, 10, 20)}, double},
		{"one instant: release, then grant", 0, []deed{acquire(1, 0, 0, 10), release(1, 5, 5), acquire(2, 5, 5, 15)}, nil},
		{"one instant: grant, then release", 0, []deed{acquire(1, 0, 0, 10), acquire(2, 5, 5, 15), release(1, 5, 5)}, double},
		{"one instant: B's grant, then A's lost release", 0,
			[]deed{acquire(1, 0, .01, 10), acquire(2, 4.99, 5, 15), lostRelease(1, 5)}, double},
	}
}

func tokenStories() []story {
	return []story{
		{"exclusive, but the token falls", 0,
			[]deed{acquire(1, 0, .01, 10).with(2), release(1, 1, 1.01), acquire(2, 2, 2.01, 12).with(1)}, []string{TokenOrder}},
		{"the token repeats", 0,
			[]deed{acquire(1, 0, .01, 10).with(7), release(1, 1, 1.01), acquire(2, 2, 2.01, 12).with(7)}, []string{TokenOrder}},
		{"tokens rise", 0, []deed{acquire(1, 0, .01, 10).with(1), release(1, 1, 1.01), acquire(2, 2, 2.01, 12).with(2)}, nil},
		{"a late grant with a term long over fits before", 0,
			[]deed{acquire(1, 0, 5, 1).with(1), acquire(2, 2, 3, 12).with(2)}, nil},
		{"a late grant with a term long over fits no gap after", 0,
			[]deed{acquire(1, 0, 5, 1).with(3), acquire(2, 2, 3, 12).with(2)}, []string{TokenOrder}},
		{"of two late grants the one with the lesser token finds no gap before the other", 0,
			[]deed{acquire(1, 3, 4, 15), acquire(2, 6, 16, 1).with(1), acquire(3, 0, 10, 1).with(2)}, []string{TokenOrder}},
		{"every inversion is named once", 0,
			[]deed{acquire(1, 0, 1, 2).with(2), acquire(2, 2, 3, 4).with(1), acquire(3, 4, 5, 6).with(4), acquire(4, 6, 7, 8).with(3)},
			[]string{TokenOrder, TokenOrder}},
		{"granted twice, with one token", 0,
			[]deed{acquire(1, 0, 1, 10).with(1), acquire(2, 2, 3, 12).with(1)}, []string{DoubleGrant, TokenOrder}},
		{"granted twice, and the token falls", 0,
			[]deed{acquire(1, 0, 1, 10).with(2), acquire(2, 2, 3, 12).with(1)}, []string{DoubleGrant, TokenOrder}},
		{"granted twice at once: which was the earlier nobody knows", 0,
			[]deed{acquire(1, 0, 3, 10).with(2), acquire(2, 2, 4, 12).with(1)}, []string{DoubleGrant}},
		{"granted twice, and the token falls later, after one that queued", 0,
			[]deed{acquire(1, 0, 1, 10).with(1), acquire(2, 2, 3, 12).with(3), acquire(3, 2.5, 14, 24).with(2)}, []string{DoubleGrant, TokenOrder}},
	}
}

func readStories() []story {
	stale := []string{StaleRead}
	return []story{
		{"a read names the holder", 0, []deed{acquire(1, 0, 1, 10), names(1, 2, 3), names(1, 12, 13)}, nil},
		{"a read finds nobody after the term", 0, []deed{acquire(1, 0, 1, 10), names(0, 9, 10.01)}, nil},
		{"a read finds nobody within the term", 0, []deed{acquire(1, 0, 1, 10), names(0, 2, 9.99)}, stale},
		{"a read finds nobody at the very end of the term", 0, []deed{acquire(1, 0, 1, 10), names(0, 2, 10)}, nil},
		{"a read finds nobody while the grant is on its way", 0, []deed{acquire(1, 0, 3, 10), names(0, 1, 2)}, nil},
		{"found free, then confirmed", 0, []deed{acquire(1, 0, 1, 10), names(0, 11, 12), extend(1, 13, 14, 24)}, stale},
		{"found free, then named again", 0, []deed{acquire(1, 0, 1, 10), names(0, 11, 12), names(1, 13, 14)}, stale},
		{"a follower still names the old holder", 0,
			[]deed{acquire(1, 0, 1, 10), release(1, 2, 3), acquire(2, 4, 5, 14), names(1, 6, 7)}, stale},
		{"a follower names the old holder after its release", 0, []deed{acquire(1, 0, 1, 10), release(1, 2, 3), names(1, 6, 7)}, stale},
		{"a read names who was refused", 0, []deed{acquire(2, 0, 1, 10), refused(1, 2, 3), names(1, 4, 5)}, stale},
		{"a read names who has not asked yet", 0, []deed{names(1, 0, 1), acquire(1, 2, 3, 12)}, stale},
		{"a read proves a ghost", 0, []deed{ghost(1, 0), names(1, 1, 2), acquire(2, 3, 4, 13)}, nil},
		{"a read proves a ghost inside another's term", 0, []deed{acquire(2, 0, 1, 10), ghost(1, 2), names(1, 3, 4)}, stale},
		{"a double grant within, and a read that finds nobody after it", 0,
			[]deed{acquire(1, 0, 1, 20), acquire(2, 2, 3, 4), names(0, 5, 6)}, []string{DoubleGrant, StaleRead}},
		{"a double grant and a read that finds nobody", 0,
			[]deed{acquire(1, 0, 1, 10), names(0, 2, 3), acquire(2, 4, 5, 14)}, []string{StaleRead, DoubleGrant}},
		{"a read names a released grant, and the lock is lost", 0,
			[]deed{acquire(1, 0, 1, 10), release(1, 2, 3), acquire(2, 4, 5, 14), names(1, 6, 7), notReleased(2, 8, 9)}, []string{StaleRead, LostLease}},
		{"a read names the older of three after the double grant", 0,
			[]deed{acquire(1, 0, 1, 10), acquire(2, 11, 12, 30), acquire(3, 13, 14, 32), names(1, 15, 16)}, []string{DoubleGrant, StaleRead}},
		{"a read names one of two that were granted the lock", 0,
			[]deed{acquire(1, 0, 1, 10), acquire(2, 4, 5, 14), names(1, 6, 7), names(2, 6, 7)}, double},
		{"a read names a holder that was told that it is none, which was wrong", 0,
			[]deed{acquire(1, 0, 1, 10), notExtended(1, 2, 3), names(1, 4, 5)}, []string{LostLease}},
		{"a read names another since a holder was told that it is none, which was wrong", 0,
			[]deed{acquire(1, 0, 1, 20), notExtended(1, 2, 3), ghost(2, 4), names(2, 5, 6)}, []string{LostLease}},
		{"one read of an old holder is one breach, however many held the lock since", 0,
			[]deed{acquire(1, 0, 1, 10), acquire(2, 11, 12, 20), acquire(3, 21, 22, 30), names(1, 25, 26)}, stale},
		{"an old holder named is no reason against who found nobody before", 0,
			[]deed{acquire(1, 0, 1, 10), acquire(2, 11, 12, 20), release(2, 13, 14), names(0, 15, 16), names(1, 25, 26)}, stale},
	}
}

// tell makes a history of s.
func (s *story) tell() ([]deed, int64, *history.History) {
	ds := slices.Clone(s.deeds)
	delay := int64(s.delay * cs)
	ms := marks(ds, func(of int, ret bool) uint64 {
		if ret {
			return 2*uint64(of) + 1
		}
		return 2 * uint64(of)
	})
	h := lay(ds, ms, delay, time.Second/cs, nil)
	shorten(ds, h, time.Second/cs)
	return ds, delay, h
}

// kinds are the kinds of breach in order.
func kinds(p Promise) []string {
	var ks []string
	for _, b := range p.Breaches {
		ks = append(ks, b.Kind)
	}
	return ks
}

func TestStories(t *testing.T) {
	var o oracle
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			ds, delay, h := s.tell()
			p := Verdict(h).Promise
			require.Equal(t, s.want, kinds(p))
			want := Kept
			if len(s.want) > 0 {
				want = Broken
			}
			require.Equal(t, want, p.Status)
			require.Equal(t, want, Porcupine(h, steps), "porcupine")
			require.Equal(t, want == Kept, o.legal(ds, delay), "oracle")
		})
	}
}

func TestDecidedClosesTheWindow(t *testing.T) {
	h := &history.History{Stopped: history.Quiet}
	a := history.Event{Kind: history.Call, Verb: history.Acquire, Op: 1, Grant: 1, Who: "c1", Lock: "doc"}
	h.Add(a)
	a.Kind, a.Outcome, a.Until = history.Return, history.OK, 10*time.Second
	decided := h.Add(history.Event{Kind: history.Send, Verb: history.Reply, Who: "r1", Peer: "c1"})
	b := history.Event{At: 2 * time.Second, Kind: history.Call, Verb: history.Acquire, Op: 2, Grant: 2, Who: "c2", Lock: "doc"}
	h.Add(b)
	b.Kind, b.Outcome, b.Until = history.Return, history.OK, 12*time.Second
	h.Add(b)
	a.At = 14 * time.Second
	at := h.Add(a)
	require.Equal(t, Kept, Verdict(h).Promise.Status)
	h.Events[at].Decided = int32(decided)
	p := Verdict(h).Promise
	require.Equal(t, Broken, p.Status)
	require.Equal(t, 2*time.Second, p.Breaches[0].At)
	require.Equal(t, 8*time.Second, p.Breaches[0].Early)
	require.Equal(t, Broken, Porcupine(h, steps))
}

// A checker that drops what it does not know the outcome of, instead of folding
// it into the promises, is exposed by the stories.
func TestPlantedCheckerIgnoresUnknown(t *testing.T) {
	var exposed []string
	for _, s := range stories() {
		known := s
		known.deeds = slices.DeleteFunc(slices.Clone(s.deeds), func(d deed) bool { return d.out == history.Unknown })
		_, _, h := known.tell()
		if planted := Verdict(h).Promise.Status == Broken; planted != (len(s.want) > 0) {
			exposed = append(exposed, s.name)
		}
	}
	require.Contains(t, exposed, "the reply to a release lost, B at 5")
	require.Contains(t, exposed, "a ghost confirmed by its clean-up")
}
