package check

import (
	"slices"

	"locksim/history"
)

// source draws numbers in [0, n): from a generator, or from rapid, which shrinks.
type source interface{ IntN(n int) int }

// small draws instants of a tiny history.
func small(r source, n int64) int64 { return int64(r.IntN(int(n))) }

// tiny draws a history of at most ops deeds and three grants, dense with ties.
func tiny(r source, ops int, grid int64) (ds []deed, delay int64) {
	n := 2 + r.IntN(ops-1)
	grants := min(n, 2+r.IntN(2))
	locks := 1 + r.IntN(5)/4
	last := make([]int64, grants+1)
	asked := make([]bool, grants+1)
	calm, unknowns, reads := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	for len(ds) < n {
		g := 1 + r.IntN(grants)
		d := deed{grant: g, lock: g % locks, c: small(r, grid)}
		switch {
		case reads && r.IntN(3) == 0:
			d.verb, d.out = history.Read, history.OK
			if d.grant = g * r.IntN(2); d.grant == 0 {
				d.lock = r.IntN(locks)
			}
		case !asked[g]:
			asked[g] = true
			d.verb, d.out = history.Acquire, oneOf(r, unknowns, history.Refused, 12, 1, 4)
		default:
			d.verb = history.Release + history.Verb(r.IntN(2))
			d.out = oneOf(r, unknowns, history.NotHeld, 10, 2, 5)
			if calm || r.IntN(4) != 0 {
				d.c = last[g] + small(r, 3)
			}
		}
		d.measure(r, grid)
		if d.verb != history.Read {
			last[g] = max(last[g], d.c)
			if d.out != history.Unknown {
				last[g] = max(last[g], d.r)
			}
		}
		ds = append(ds, d)
	}
	if r.IntN(3) == 0 {
		g := 1 + r.IntN(grants)
		at := last[g] + small(r, 3)
		ds = append(ds, deed{grant: g, lock: g % locks, verb: sessionEnd, out: history.OK, c: at, r: at})
	}
	if r.IntN(4) == 0 {
		g := 1 + r.IntN(grants)
		at := small(r, grid)
		ds = append(ds, deed{grant: g, lock: g % locks, verb: keyExpiry, out: history.OK, c: at, r: at})
	}
	if r.IntN(2) == 0 {
		number(r, ds)
	}
	if r.IntN(2) == 0 {
		delay = 1 + small(r, 6)
	}
	return ds, delay
}

// oneOf draws an outcome: of n chances, no gets the first few, and Unknown the
// others up to some where it is allowed.
func oneOf(r source, unknowns bool, no history.Outcome, n, few, some int) history.Outcome {
	switch k := r.IntN(n); {
	case k < few:
		return no
	case k < some && unknowns:
		return history.Unknown
	}
	return history.OK
}

// measure draws how long d takes and what it promises.
func (d *deed) measure(r source, grid int64) {
	d.r = d.c + min(small(r, grid), small(r, grid))
	if r.IntN(2) == 0 {
		d.r = d.c + small(r, 2)
	}
	d.until = d.c + 1 + small(r, 6)
	if r.IntN(2) == 0 {
		d.until += small(r, d.r-d.c+1)
	}
	if d.verb == history.Extend {
		d.until = max(1, d.until-small(r, 6))
	}
}

// number gives the grants of ds tokens, mostly in the order of their returns.
func number(r source, ds []deed) {
	var at []int
	for i, d := range ds {
		if d.verb == history.Acquire && d.out == history.OK {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return int(ds[a].r - ds[b].r) })
	if len(at) > 1 && r.IntN(3) == 0 {
		at[0], at[1] = at[1], at[0]
	}
	for t, i := range at {
		ds[i].token = int64(t + 1)
	}
	if len(at) > 1 && r.IntN(10) == 0 {
		ds[at[1]].token = ds[at[0]].token
	}
	if len(at) > 0 && r.IntN(6) == 0 {
		ds[at[r.IntN(len(at))]].token = 0
	}
}
