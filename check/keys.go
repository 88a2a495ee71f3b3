package check

import (
	"sort"
	"strings"
	"time"

	"locksim/history"
)

// keys is what became of the keys on the lock's servers. All but freed is made
// only once a verdict asks for it.
type keys struct {
	freed []int32 // the events with which the key of a value ended

	sorted  bool
	values  index[string]
	byValue []int32 // freed, by value
	next    []int32 // by value: where the next goes, while they are sorted
	at      []int32 // by value: where its own begin in byValue

	traced   bool
	requests []request // beside freed: what deleted or overwrote the key
}

// request is a message to a server, as a sentence names it.
type request struct {
	name  string
	again bool // its second copy, which the network made
}

func (k *keys) reset() {
	k.freed, k.sorted, k.traced = k.freed[:0], false, false
}

// freedOf returns the events before event stop with which a key of value ended,
// from event from on.
func (r *record) freedOf(value string, from, stop int32) []int32 {
	k := &r.keys
	if !k.sorted {
		k.sort(r)
	}
	id, ok := k.values.find(value)
	if !ok {
		return nil
	}
	list := k.byValue[k.at[id]:k.at[id+1]]
	first := sort.Search(len(list), func(i int) bool { return list[i] >= from })
	last := sort.Search(len(list), func(i int) bool { return list[i] >= stop })
	return list[first:max(first, last)]
}

func (k *keys) sort(r *record) {
	k.sorted = true
	k.values.reset()
	k.at = k.at[:0]
	for _, i := range k.freed {
		id := k.values.of(r.event(i).Value)
		k.at = grown(k.at, int(id)+2)
		k.at[id+1]++
	}
	for id := 1; id < len(k.at); id++ {
		k.at[id] += k.at[id-1]
	}
	k.byValue = grown(k.byValue[:0], len(k.freed))
	k.next = append(k.next[:0], k.at...)
	for _, i := range k.freed {
		id, _ := k.values.find(r.event(i).Value)
		k.byValue[k.next[id]] = i
		k.next[id]++
	}
}

// deleter returns the request by which the key of event i was ended: the one
// that arrived then, or else the last one before.
func (r *record) deleter(i int32) request {
	k := &r.keys
	if !k.traced {
		k.trace(r)
	}
	n := sort.Search(len(k.freed), func(n int) bool { return k.freed[n] >= i })
	return k.requests[n]
}

// route is one direction between two machines.
type route struct{ from, to string }

// requests is the named requests on a route.
type requests struct {
	last     string
	underway []arrival
	doubled  bool // the next one arrives twice,
	by       time.Duration
}

// arrival is when a request arrives.
type arrival struct {
	at time.Duration
	request
}

// trace goes through the messages once, and finds the request behind every
// deletion.
func (k *keys) trace(r *record) {
	k.traced = true
	k.requests = grown(k.requests[:0], len(k.freed))
	var routes index[route]
	var lines []requests
	line := func(from, to string) *requests {
		id := routes.of(route{from, to})
		lines = grown(lines, int(id)+1)
		return &lines[id]
	}
	n := 0
	for i := range r.h.Events {
		switch e := r.event(int32(i)); {
		case e.Kind == history.Fault && action(e) == "duplicate":
			l := line(e.Who, e.Peer)
			l.doubled, l.by = true, again(e)
		case e.Kind == history.Send && e.Verb == history.Request:
			line(e.Who, e.Peer).send(e)
		case n < len(k.freed) && k.freed[n] == int32(i):
			if e.Why == history.FreedDeleted || e.Why == history.FreedOverwritten {
				k.requests[n] = line(e.Peer, e.Who).arrived(e.At)
			}
			n++
		}
	}
}

func (l *requests) send(e *history.Event) {
	if e.Value != "" {
		l.last = e.Value
		l.underway = append(l.underway, arrival{e.Until, request{name: e.Value}})
	}
	if l.doubled {
		l.doubled = false
		l.underway = append(l.underway, arrival{e.Until + l.by, request{e.Value, true}})
	}
}

func (l *requests) arrived(now time.Duration) request {
	found := request{name: l.last}
	n := 0
	for _, a := range l.underway {
		if a.at < now {
			continue
		}
		l.underway[n] = a
		n++
		if a.at == now {
			found = a.request
		}
	}
	l.underway = l.underway[:n]
	return found
}

// String names q: "DEL", "duplicated DEL", "request".
func (q request) String() string {
	name := q.name
	if name == "" {
		name = "request"
	}
	if q.again {
		return "duplicated " + name
	}
	return name
}

// action is what fault e does: the first word of its line, such as "pause".
func action(e *history.Event) string {
	word, _, _ := strings.Cut(e.Value, " ")
	return word
}

// argument is the last word of the line of fault e, such as "+11s".
func argument(e *history.Event) string {
	return e.Value[strings.LastIndexByte(e.Value, ' ')+1:]
}

// again is how much later the second copy of a message arrives that the fault e
// duplicates.
func again(e *history.Event) time.Duration {
	by, err := time.ParseDuration(argument(e))
	if err != nil {
		return 0
	}
	return by
}

// twice reports whether event e of a resource is the work of the second copy of a
// request that a fault had duplicated.
func (r *record) twice(e *history.Event) bool {
	for _, f := range r.faults {
		d := r.event(f)
		if d.Kind != history.Fault || action(d) != "duplicate" || d.Who != e.Peer || d.Peer != e.Who || d.At > e.At {
			continue
		}
		for i := int(f) + 1; i < len(r.h.Events); i++ {
			s := r.event(int32(i))
			if s.Kind != history.Send || s.Who != d.Who || s.Peer != d.Peer {
				continue
			}
			if s.Until+again(d) == e.At {
				return true
			}
			break
		}
	}
	return false
}

// turned returns the last fault before event end that made a clock of machine go
// wrong in the direction of sign, "+" or "-", for what is timed from event from
// on: a step after from, or a rate that was in force then. A step before it, or
// the other way, ends no term too early.
func (r *record) turned(machine, sign string, from, end int32) *history.Event {
	var last *history.Event
	for _, i := range r.faults {
		e := r.event(i)
		if i >= end {
			break
		}
		if e.Kind != history.Fault || e.Who != machine || e.Why == "" {
			continue
		}
		by := argument(e)
		wrong := strings.HasPrefix(by, sign) && !strings.HasPrefix(by, sign+"0")
		switch action(e) {
		case "clock-step":
			if wrong && i > from {
				last = e
			}
		case "clock-rate":
			if wrong {
				last = e
			} else if i <= from {
				last = nil // no step before from is kept
			}
		}
	}
	return last
}
