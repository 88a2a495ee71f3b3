package scenarios

import (
	"cmp"
	"slices"
	"time"

	"locksim/check"
)

// fate is what becomes of c1 and c2.
type fate struct {
	// first is c1's grant, second is c2's, which is the newer one; nil for none.
	first, second *tenure
	// breaches are those of the promise, but for the order of the tokens; disorder says
	// why they do not rise, where they do not.
	breaches []string
	disorder string
	why      string
	// inTurn: c2 gets the lock when c1 has given it back.
	inTurn bool
}

// turns is the fate of two that have the lock in turn.
func turns(store string, first *tenure, why string) fate {
	return fate{first: first, second: successor(store, first.to), why: why, inTurn: true}
}

// tenure is what a client has of a grant: when it believes, when its claim and its
// write are at doc, and the place of its token among all; 0 for none. A client that
// stops before has no write.
type tenure struct {
	from, to     time.Duration
	claim, write time.Duration
	token        int
}

// number gives both their tokens.
func (f *fate) number(first, second int) {
	if f.first != nil {
		f.first.token = first
	}
	if f.second != nil {
		f.second.token = second
	}
}

// holder is c1, that has the lock from an instant on and believes until it releases.
// Where its clock drifts, so does all that it measures.
func holder(fault, store string, from time.Duration) *tenure {
	sent := max(countUp(writes(fault), slow(fault)), from+claiming(store))
	if fault == "pause-after" {
		sent += paused
	}
	return &tenure{
		from: from, claim: from + hop, write: sent + hop,
		to: countUp(countDown(sent+ask, slow(fault))+resting, slow(fault)),
	}
}

// successor is c2, that has it from an instant on.
func successor(store string, from time.Duration) *tenure {
	sent := from + claiming(store) + brief
	return &tenure{from: from, claim: from + hop, write: sent + hop, to: sent + ask + resting}
}

// stop ends a client's belief at an instant, and what it does then.
func (t *tenure) stop(at time.Duration) {
	t.to = min(t.to, at)
	if t.write-hop >= at {
		t.write = 0
	}
}

// claiming is how long it takes to put a mark on doc, where that is done.
func claiming(store string) time.Duration {
	if store == "cas" {
		return ask
	}
	return 0
}

// deed is what a client does at doc.
type deed struct {
	at     time.Duration
	client string
	claim  bool
	*tenure
}

// deeds are those of both clients, in order.
func (f *fate) deeds() []deed {
	var list []deed
	for _, d := range []deed{{client: "c1", tenure: f.first}, {client: "c2", tenure: f.second}} {
		if d.tenure == nil {
			continue
		}
		list = append(list, deed{d.tenure.claim, d.client, true, d.tenure})
		if d.write > 0 {
			list = append(list, deed{d.tenure.write, d.client, false, d.tenure})
		}
	}
	slices.SortStableFunc(list, func(a, b deed) int { return cmp.Compare(a.at, b.at) })
	return list
}

// stored is what a store with that check makes of what they do: whose writes it
// rejects, and what damage is done. A write is stale where it comes after that of the
// newer grant, c2's, unless its writer has read that, which a claim does.
func (f *fate) stored(store string) (rejected, damage []string) {
	seen, mark, newer := 0, "", false
	for _, d := range f.deeds() {
		switch {
		case d.claim:
			mark = d.client
		case store == "cas" && mark != d.client, store == "fence" && (d.token == 0 || d.token < seen):
			rejected = append(rejected, d.client)
		case d.client == "c1" && newer && store != "cas":
			damage = append(damage, check.StaleWrite)
		default:
			seen, newer = d.token, newer || d.client == "c2"
		}
	}
	return rejected, damage
}
