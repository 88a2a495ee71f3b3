package check

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/history"
)

const (
	grid  = time.Millisecond
	steps = 10_000_000
)

// drawn lets rapid make the choices, so that it can shrink a history.
type drawn struct{ t *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// tale draws a tiny history and whether the oracle finds it kept.
func tale(r source, o *oracle, j *Judge) (ds []deed, delay int64, h *history.History, kept bool) {
	ds, delay = tiny(r, 6, 9)
	ms := marks(ds, ties(r, len(ds)))
	var late func() (bool, bool)
	if r.IntN(3) == 0 {
		late = func() (bool, bool) { return r.IntN(2) == 0, r.IntN(2) == 0 }
	}
	h = lay(ds, ms, delay, grid, late)
	shorten(ds, h, grid)
	kept = true
	for lock := range 2 {
		own := slices.DeleteFunc(slices.Clone(ds), func(d deed) bool { return d.lock != lock })
		kept = kept && o.legal(own, delay)
	}
	return ds, delay, h, kept
}

// ties orders the ends of deeds within an instant at random, each call before
// its own return.
func ties(r source, n int) func(of int, ret bool) uint64 {
	keys := make([][2]uint64, n)
	for i := range keys {
		a, b := uint64(r.IntN(1<<30)), uint64(r.IntN(1<<30))
		keys[i] = [2]uint64{min(a, b)<<8 + uint64(i), max(a, b)<<8 + uint64(i) + 1}
	}
	return func(of int, ret bool) uint64 {
		if ret {
			return keys[of][1]
		}
		return keys[of][0]
	}
}

// swept is the sweep's answer, None read as kept: nobody asked for a lock.
func swept(j *Judge, h *history.History) bool { return j.Verdicts(h).Promise.Status != Broken }

func TestSweepAgreesWithOracleAndPorcupine(t *testing.T) {
	var o oracle
	var j Judge
	rapid.Check(t, func(t *rapid.T) {
		ds, delay, h, kept := tale(drawn{t}, &o, &j)
		if !acquired(ds) {
			return
		}
		require.Equal(t, kept, swept(&j, h), "sweep\n%s", show(ds, delay))
		require.Equal(t, kept, Porcupine(h, steps) == Kept, "porcupine\n%s", show(ds, delay))
	})
}

func TestSweepAgreesOnManyTinyHistories(t *testing.T) {
	var o oracle
	var j Judge
	r := rand.New(rand.NewPCG(1, 2))
	var kept, broken int
	for range 30_000 {
		ds, delay, h, ok := tale(r, &o, &j)
		if !acquired(ds) {
			continue
		}
		if ok {
			kept++
		} else {
			broken++
		}
		if swept(&j, h) != ok || (Porcupine(h, steps) == Kept) != ok {
			t.Fatalf("oracle %v, sweep %v, porcupine %v\n%s", ok, swept(&j, h), Porcupine(h, steps), show(ds, delay))
		}
	}
	require.Greater(t, kept, 5000)
	require.Greater(t, broken, 5000)
}

// acquired reports whether there is a promise to judge at all.
func acquired(ds []deed) bool {
	return slices.ContainsFunc(ds, func(d deed) bool { return d.verb == history.Acquire })
}

// Two grants that are accused for their tokens are so rightly, whatever else is
// wrong with the lock: alone they could not have been made either.
func TestTokensAreAccusedByThemselves(t *testing.T) {
	var o oracle
	var j Judge
	r := rand.New(rand.NewPCG(3, 4))
	accused := 0
	for range 30_000 {
		ds, delay, h, _ := tale(r, &o, &j)
		j.rec.read(h)
		j.lease.read(&j.rec, false)
		found := slices.Clone(j.sweep.run(&j.lease))
		if !slices.ContainsFunc(found, func(f finding) bool { return f.fault != unordered }) {
			continue
		}
		for _, f := range found {
			if f.fault != unordered {
				continue
			}
			accused++
			two := slices.DeleteFunc(slices.Clone(ds), func(d deed) bool {
				return d.verb == history.Read || d.grant != int(f.grant) && d.grant != int(f.other)
			})
			require.False(t, o.legal(two, delay), "%d and %d of\n%s", f.grant, f.other, show(ds, delay))
		}
	}
	require.Greater(t, accused, 100)
}

// A read that is accused of what it named is so rightly: the two grants that it is
// held against could stand without it, and not with it.
func TestReadsAreAccusedByThemselves(t *testing.T) {
	var o oracle
	var j Judge
	r := rand.New(rand.NewPCG(5, 6))
	accused := map[fault]int{}
	for range 60_000 {
		ds, delay, h, _ := tale(r, &o, &j)
		j.rec.read(h)
		j.lease.read(&j.rec, false)
		j.sweep.run(&j.lease)
		j.sweep.furthest()
		for i := range j.rec.spans {
			f := j.misnamed(int32(i))
			if f.fault == 0 {
				continue
			}
			accused[f.fault]++
			read := int(j.rec.event(j.rec.spans[i].call).Op) - 1
			a, b := without(ds, f.grant), without(ds, f.other)
			both := slices.Concat(a, b)
			require.False(t, o.legal(append(both, ds[read]), delay), "read %d of\n%s", read, show(ds, delay))
			if f.fault == overlap && o.legal(a, delay) && o.legal(b, delay) {
				require.True(t, o.legal(both, delay), "read %d of\n%s", read, show(ds, delay))
			}
		}
	}
	for _, f := range []fault{ungranted, premature, afterwards, lostEarly, overlap} {
		require.Greater(t, accused[f], 20, "fault %d", f)
	}
}

// without is what grant did, without the reads and the tokens.
func without(ds []deed, grant int32) []deed {
	var own []deed
	for _, d := range ds {
		if d.verb != history.Read && d.grant == int(grant) && grant > 0 {
			d.token = 0
			own = append(own, d)
		}
	}
	return own
}
