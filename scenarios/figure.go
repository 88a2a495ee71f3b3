package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/history"
	"locksim/trial"
)

// Figure is what a run must show besides the verdicts: Of is the name of what is
// looked at, one of those below, Want what it must come to, in words.
type Figure struct{ Of, Want string }

// What a Figure can be of. Each lists what happened in the order of time, except for
// fsyncs, messages and wake-ups, which are numbers.
const (
	tokens    = "tokens"     // of the grants: "1, 2"
	releases  = "releases"   // what each was told: "c1 ok, c2 not held"
	owners    = "owners"     // who each look was told has the lock: "c2, nobody"
	effects   = "effects"    // what was done, for whom: "c1 report, c2 report"
	lastWrite = "last write" // whose was accepted last: "c2", "none"
	beliefs   = "beliefs"    // how long each lasted that has ended: "c1 9.792s"
	fsyncs    = "fsyncs"     // how often any node has synced its file: "10"
	messages  = "messages"   // how many were sent: "20"
	wakeUps   = "wake-ups"   // how often a client that waits was told of an event: "10"
)

// Measured is what the figures that e is about come to in h, and the longest wait
// where it is about that. Whose writes were rejected is always told.
func (e *Expectation) Measured(r *trial.Result) []Figure {
	var list []Figure
	for _, f := range e.Figures {
		list = append(list, Figure{f.Of, figure(f.Of, r.History)})
	}
	if clients := rejected(r); len(clients) > 0 {
		list = append(list, Figure{"rejected", strings.Join(clients, ", ")})
	}
	if e.Longest != 0 {
		list = append(list, Figure{"longest wait", short(r.Progress.Longest)})
	}
	return list
}

// figure is what of comes to in h.
func figure(of string, h *history.History) string {
	var list []string
	syncs, sent := 0, 0
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Fsync:
			syncs++
		case e.Kind == history.Send:
			sent++
		case of == tokens && returned(e, history.Acquire) && e.Outcome == history.OK:
			list = append(list, strconv.FormatInt(e.Token, 10))
		case of == releases && returned(e, history.Release):
			list = append(list, e.Who+" "+outcomes[e.Outcome])
		case of == owners && returned(e, history.Read):
			list = append(list, owner(h, e))
		case of == effects && e.Kind == history.Effect:
			list = append(list, e.Peer+" "+e.Lock)
		case of == lastWrite && e.Kind == history.Write && e.Outcome == history.OK:
			list = []string{e.Peer}
		case of == beliefs && e.Kind == history.Doubt:
			list = append(list, e.Who+" "+short(e.At-believed(h, e.Grant)))
		}
	}
	switch of {
	case fsyncs:
		return strconv.Itoa(syncs)
	case messages:
		return strconv.Itoa(sent)
	case wakeUps:
		return strconv.Itoa(woken(h))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// woken counts the messages by which a server tells a client, which is still there,
// that a key has been deleted.
func woken(h *history.History) int {
	n, ended := 0, map[string]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.End:
			ended[e.Who] = true
		case e.Kind == history.Send && e.Verb == history.Reply && (e.Value == "deleted" || e.Value == "event") && !ended[e.Peer]:
			n++
		}
	}
	return n
}

var outcomes = map[history.Outcome]string{
	history.OK: "ok", history.Refused: "failed", history.NotHeld: "not held", history.Unknown: "unknown",
}

func returned(e *history.Event, v history.Verb) bool { return e.Kind == history.Return && e.Verb == v }

// believed is when the belief in a grant began.
func believed(h *history.History, grant int32) time.Duration {
	i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Believe && e.Grant == grant })
	return h.Events[i].At
}

// owner is the client whose grant a read found.
func owner(h *history.History, read *history.Event) string {
	switch {
	case read.Outcome != history.OK:
		return "unknown"
	case read.Grant == 0:
		return "nobody"
	}
	i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Call && e.Grant == read.Grant })
	return h.Events[i].Who
}
