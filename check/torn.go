package check

import (
	"fmt"
	"strings"

	"locksim/history"
)

// torn finds what is half done when the run is over: a write that stands, while
// another that belongs to it was refused, or never came although its client's script
// is over. What was accepted and then written over is not torn; nor is what a client
// is still at.
func (j *Judge) torn(d *Damage) {
	r, o := &j.rec, &j.objects
	for k := range o.written.keys {
		e := r.event(pastOf(&o.pasts, int32(k)).last)
		if e.Op == 0 {
			continue
		}
		for object := range strings.SplitSeq(e.Votes, ",") {
			if object != e.Lock {
				d.add(j.missing(e, object))
			}
		}
	}
}

// missing judges the part of a change that belongs to object, where write e, another
// part, stands.
func (j *Judge) missing(e *history.Event, object string) (w Wound, wounded bool) {
	r := &j.rec
	var refused *history.Event
	for _, i := range r.marks {
		f := r.event(i)
		if f.Kind != history.Write || f.Peer != e.Peer || f.Op != e.Op || f.Lock != object {
			continue
		}
		if f.Outcome == history.OK {
			return w, false
		}
		refused = f
	}
	stands := fmt.Sprintf("%s's write of %s at %s stands, and that of %s, which belongs to it, ", e.Peer, e.Lock, seconds(e.At), object)
	const atomic = "; no one step does both"
	if refused != nil {
		stands += fmt.Sprintf("was rejected at %s", seconds(refused.At))
		return wound(TornWrite, Correctness, refused, charge{stands + atomic, Recipe, e.Peer}), true
	}
	client, ok := r.clients.find(e.Peer)
	if !ok || r.lives[client].ended == none {
		return w, false
	}
	end := r.event(r.lives[client].ended)
	how := "its script ended"
	if end.Why == history.DoubtDeath {
		how = "it died"
	}
	w = wound(TornWrite, Correctness, e, charge{fmt.Sprintf("%snever came: %s at %s%s", stands, how, seconds(end.At), atomic), Recipe, e.Peer})
	w.At = end.At
	return w, true
}
