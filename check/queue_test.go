package check

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

// traffic is what a long history of one lock looks like.
type traffic struct {
	deeds, clients int
	queued         bool    // acquires wait in a queue; else each winning attempt is short
	expiring       float64 // share of holds that end by expiry
	extensions     int     // in a hold, at most
	hops           int     // how long a message takes, at most
	tokens, reads  bool
}

const term = 10_000

// draw makes a history that a right lock service could have made.
func (o traffic) draw(r *rand.Rand) []deed {
	free := make([]int64, o.clients)
	hop := func() int64 { return 1 + int64(r.IntN(o.hops)) }
	var ds []deed
	now := int64(10)
	for g := 1; len(ds) < o.deeds; g++ {
		c := r.IntN(o.clients)
		now = max(now, free[c]+1)
		sent := max(free[c], now-hop())
		call := sent
		if o.queued {
			call = free[c] + r.Int64N(max(1, now-free[c]))
		}
		d := deed{grant: g, verb: history.Acquire, out: history.OK, c: call, r: now + hop(), until: sent + term}
		if o.tokens {
			d.token = int64(g)
		}
		ds = append(ds, d)
		told, until := d.r, d.until
		for range r.IntN(o.extensions + 1) {
			x := told + term/3
			told, until = x+hop()+hop(), x+term
			ds = append(ds, deed{grant: g, verb: history.Extend, out: history.OK, c: x, r: told, until: until})
		}
		if o.reads && r.IntN(2) == 0 {
			ds = append(ds, deed{grant: g, verb: history.Read, out: history.OK, c: told, r: told + hop()})
		}
		end := deed{grant: g, verb: history.Release, out: history.OK, c: told + 1 + r.Int64N(term/4)}
		if now = end.c + hop(); r.Float64() < o.expiring {
			end.out, end.c = history.NotHeld, until+1+r.Int64N(term)
			now = until + r.Int64N(20)
		}
		end.r = max(now, end.c) + hop()
		free[c] = end.r + 1
		ds = append(ds, end)
		if o.reads && r.IntN(3) == 0 {
			ds = append(ds, deed{verb: history.Read, out: history.OK, c: now, r: now + hop()})
		}
	}
	return ds
}

// spoil changes one deed into something that may be wrong, or unknown.
func spoil(r *rand.Rand, ds []deed) {
	d := &ds[r.IntN(len(ds))]
	switch k := r.IntN(7); {
	case d.out == history.Unknown:
	case k == 0:
		d.r += r.Int64N(2 * term)
	case k == 1:
		d.c = max(1, d.c-r.Int64N(term))
	case k == 2 && d.verb == history.Release:
		d.out = history.NotHeld
	case k == 3:
		d.until += r.Int64N(term) - term/2
	case k == 4 && d.token > 1:
		d.token -= int64(r.IntN(3))
	case k >= 5:
		d.out = history.Unknown
	}
}

func TestSweepAgreesWithPorcupineOnLongerHistories(t *testing.T) {
	var j Judge
	r := rand.New(rand.NewPCG(9, 9))
	agreed := map[Status]int{}
	for range 3000 {
		ds := traffic{
			deeds: 15 + r.IntN(40), clients: 2 + r.IntN(5), queued: r.IntN(2) == 0,
			expiring: []float64{0, .2, .5}[r.IntN(3)], extensions: r.IntN(4), hops: []int{5, 50, 2000}[r.IntN(3)],
			tokens: r.IntN(2) == 0, reads: r.IntN(2) == 0,
		}.draw(r)
		for range r.IntN(9) {
			spoil(r, ds)
		}
		delay := int64(0)
		if r.IntN(5) == 0 {
			delay = r.Int64N(30)
		}
		h := lay(ds, marks(ds, ties(r, len(ds))), delay, grid, nil)
		got := j.Verdicts(h).Promise.Status
		require.Equal(t, Porcupine(h, steps), got, "%s", show(ds, delay))
		agreed[got]++
	}
	require.Greater(t, agreed[Kept], 500)
	require.Greater(t, agreed[Broken], 500)
}

func BenchmarkJudgeQueue(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	ds := traffic{deeds: 10_000, clients: 20, queued: true, expiring: .1, extensions: 2, hops: 50}.draw(r)
	h := lay(ds, marks(ds, ties(r, len(ds))), 0, grid, nil)
	var j Judge
	b.ReportAllocs()
	for b.Loop() {
		j.Verdicts(h)
	}
}
