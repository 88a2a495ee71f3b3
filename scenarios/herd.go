package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// cacheHerd is S5, S64, T24 and T26 on the lock of a cache, as dogpile.cache has it
// (dogpile/lock.py and its Redis backend): who finds a value missing asks for the lock
// every 100 ms and looks again under it; who has an old value makes one attempt, and
// goes on with that. The lock has no TTL there unless lock_timeout is given.
func cacheHerd() *Scenario {
	lock, clients, work, ttl, dies := "none", "5", 2*time.Second, "10s", "nobody"
	s := &Scenario{
		Name: "cache-herd", Pair: "jobs",
		Claim:  "clients that find a cached value missing all compute it; with a lock one does, and the rest wait for it, or for its TTL if it dies or is slow, or go on with the old value",
		Claims: []string{"S5", "S64", "T24", "T26"},
		Also: []string{
			"lock=wait", "lock=old", "lock=wait dies=holder", "lock=wait dies=holder ttl=none", "lock=old dies=holder", "lock=wait work=12s",
		},
	}
	s.Params = []Param{
		choice("lock", &lock, []string{"none", "wait", "old"}, "what a client does that is not the first: computes too; waits for the lock and looks again; takes the old value"),
		choice("clients", &clients, []string{"2", "5", "10"}, "how many find the value missing, or over, at once"),
		milliseconds("work", &work, 0, 15*time.Second, "how long it takes to compute"),
		choice("ttl", &ttl, []string{"10s", "none"}, "PX of the lock's key"),
		choice("dies", &dies, []string{"nobody", "holder"}, "whether c1 dies as it begins to compute"),
	}
	n := func() int {
		n, _ := strconv.Atoi(clients) // the parameter allows numbers alone
		return n
	}
	s.Spec = func() trial.Spec {
		script := "work " + work.String() + "; do db query; write cache blind"
		spec := trial.Spec{Latency: sim.Every(hop), Horizon: herdEnd}
		switch lock {
		case "wait":
			script = "acquire; once cache; " + script + "; release"
			spec.System = redis.SetNX{NoTTL: ttl == "none"}
		case "old":
			script = "try; " + script + "; release"
			spec.System = redis.SetNX{NoTTL: ttl == "none"}
		}
		spec.Cast.Resources = []models.Resource{resource.Mailer{Called: "db"}, resource.Plain("cache")}
		for i := range n() {
			c := trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript(script)}
			if i > 0 {
				startAt(&c, beside)
			}
			spec.Cast.Clients = append(spec.Cast.Clients, c)
		}
		if dies == "holder" {
			spec.Schedule = faults.MustParse("before c1.work#1  kill c1")
		}
		return spec
	}
	s.Expect = func() Expectation {
		switch lock {
		case "wait":
			if ttl == "none" && dies == "holder" {
				return herdStalls(n())
			}
			return herdWaits(n(), work, ttl == "10s", dies == "holder")
		case "old":
			return herdHasOld(n(), dies == "holder")
		}
		return herdComputes(n(), dies == "holder")
	}
	s.Control = func() Control { return turned(s.Name, "lock", lock, "none", "wait") }
	return s
}

// herdComputes: all who live ask the database and write the cache.
func herdComputes(n int, dies bool) Expectation {
	var runs []string
	for i := range n {
		if i > 0 || !dies {
			runs = append(runs, fmt.Sprintf("c%d", i+1))
		}
	}
	e := ran("off", "query", runs...)
	e.Promise, e.Belief = check.None, check.None
	e.Figures = append(e.Figures, Figure{messages, strconv.Itoa(4 * len(runs))})
	e.Because = fmt.Sprintf("%d clients compute it; each asks the database and writes the cache: %[1]d x 4 messages", len(runs))
	return e
}

// herdHasOld: c1 has the lock, which takes four messages, and the others are told so.
func herdHasOld(n int, dies bool) Expectation {
	runs, sent, why := []string{"c1"}, 8, "c1 computes it with 8 messages"
	if dies {
		runs, sent, why = nil, 2, "c1 dies, and nobody computes it"
	}
	e := ran("off", "query", runs...)
	e.Granted, e.Longest = []string{"c1"}, ask
	e.Figures = append(e.Figures, Figure{messages, strconv.Itoa(sent + 2*(n-1))})
	e.Because = fmt.Sprintf("%s; %d others are told within 2ms that somebody does, and have the old value", why, n-1)
	return e
}

// herdEnd is the horizon, later than all that can happen but a lock that is never free,
// and half-way between two attempts of those who began at half a millisecond.
const herdEnd = time.Minute

// herdStalls: c1 has asked for the lock and read the cache, with four messages. The
// others ask for it every 102 ms.
func herdStalls(n int) Expectation {
	e := ran("off", "query")
	e.Progress, e.Granted, e.Longest = check.Stalled, []string{"c1"}, herdEnd-beside
	asked := int((herdEnd-beside)/(trial.DefaultEvery+ask)) + 1
	e.Figures = append(e.Figures, Figure{messages, strconv.Itoa(4 + 2*asked*(n-1))})
	e.Because = fmt.Sprintf("c1's key stands to the end, at %s; each of %d others asks %d times", short(herdEnd), n-1, asked)
	return e
}

// herdWaits follows the lock from one client to the next. All but c1 ask at the same
// instants, every 102 ms, and the first of them that has not had the lock gets it. Who
// has it reads the cache two hops after its key is set; who finds nothing writes it
// six hops and the work later, and its DEL arrives two hops behind that. In a tie that
// of the next SET's timer was set first.
func herdWaits(n int, work time.Duration, expires, dies bool) Expectation {
	const ttl, begins = 10 * time.Second, beside
	var (
		runs, granted []string
		beliefs       []span
		set           = hop
		written       = 1000 * time.Hour // not yet
		sent          = 0
	)
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		granted = append(granted, name)
		sent += 6 // SET, read and DEL, with their answers
		if i > 0 {
			sent += 2 * int((set-begins-hop)/(trial.DefaultEvery+ask))
		}
		gone := time.Duration(math.MaxInt64)
		if expires {
			gone = set.Truncate(time.Millisecond) + ttl + time.Millisecond
		}
		free, end := set+4*hop, set+3*hop
		switch {
		case i == 0 && dies:
			free = gone
			sent -= 2
		case written > set+2*hop:
			runs = append(runs, name)
			written = min(written, set+6*hop+work)
			free, end = min(gone, set+8*hop+work+1), set+7*hop+work
			sent += 4
		}
		beliefs = append(beliefs, span{set + hop, end})
		if i < n-1 {
			set = polled(begins+hop, free)
		}
	}
	e := ran("off", "query", runs...)
	e.Granted, e.Longest = granted, max(ask, set+hop-begins)
	e.Overlap = shared(beliefs)
	e.Belief = overlapping(e.Overlap)
	e.Figures = append(e.Figures, Figure{messages, strconv.Itoa(sent)})
	e.Because = fmt.Sprintf("the lock goes from one to the next, at a DEL or behind its TTL, with the first SET after it of those that all ask every 102ms; %s of %d found nothing in the cache; the last has the lock at %s",
		strings.Join(runs, " and "), n, short(set+hop))
	return e
}

// span is the time from one instant to another.
type span struct{ from, to time.Duration }

// shared is for how long two or more of the spans, which are in the order of their
// begins, last at once.
func shared(spans []span) time.Duration {
	var total, counted, reach time.Duration
	for _, s := range spans {
		if from, to := max(s.from, counted), min(s.to, reach); from < to {
			total += to - from
			counted = to
		}
		reach = max(reach, s.to)
	}
	return total
}
