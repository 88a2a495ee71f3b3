package check

import "locksim/history"

// oracle is the lease as an explicit machine with a clock that ticks and expiry
// as an event of its own. It knows nothing of positions, cores, folding or lazy
// expiry, and tries everything; it is for tiny histories of one lock.
//
//	tick:    now++            not past the return of a definite deed still to come
//	expire:  held, now >= until -> free, not granted again before until+delay
//	acquire: ok: free, now >= that, token > last; unknown: nothing, or held with nothing promised
//	release: ok: held by it -> free at once; unknown: nothing, or that
//	extend:  ok: held by it -> until; unknown: nothing, or, if shorter, the lesser until
//	not held: not held by it
//	read:    held by the one it named, or by nobody
//	session ends: the grant had been made; what it was promised, and will be, is over now
type oracle struct {
	ds    []deed
	pred  []uint16
	must  uint16
	delay int64
	end   int64
	seen  map[moment]struct{}
}

type moment struct {
	mask             uint16
	holder           int8 // grant, 0 for none
	until, free, now int16
	token            int8
}

const past0 = -999 // before everything

func (o *oracle) legal(ds []deed, delay int64) bool {
	o.ds, o.delay, o.pred, o.must, o.end = ds, delay, o.pred[:0], 0, 0
	if o.seen == nil {
		o.seen = map[moment]struct{}{}
	}
	clear(o.seen)
	for i, d := range ds {
		var p uint16
		for k, other := range ds {
			if i != k && other.out != history.Unknown && other.rs < d.cs {
				p |= 1 << k
			}
		}
		o.pred = append(o.pred, p)
		if d.out != history.Unknown {
			o.must |= 1 << i
			o.end = max(o.end, d.r)
		}
	}
	return o.search(moment{until: past0, free: past0})
}

func (o *oracle) search(m moment) bool {
	if m.mask&o.must == o.must {
		return true
	}
	if _, ok := o.seen[m]; ok {
		return false
	}
	o.seen[m] = struct{}{}
	now := int64(m.now)
	if m.holder != 0 && m.now >= m.until {
		n := m
		n.holder, n.free, n.until = 0, past0, past0
		if m.until > past0 {
			n.free = m.until + int16(o.delay)
		}
		if o.search(n) {
			return true
		}
	}
	tick := now < o.end
	for i, d := range o.ds {
		if m.mask>>i&1 == 1 {
			continue
		}
		if d.out != history.Unknown && d.r <= now {
			tick = false
		}
		if o.pred[i]&^m.mask != 0 || now < d.c || d.out != history.Unknown && now > d.r {
			continue
		}
		n := m
		n.mask |= 1 << i
		if d.record() && !o.made(m, d) {
			continue
		}
		if o.apply(&n, d) && o.search(n) {
			return true
		}
	}
	if tick {
		m.now++
		return o.search(m)
	}
	return false
}

// made reports whether the grant whose session ends with d, or whose key expires, had
// been made, if its client was ever told of it.
func (o *oracle) made(m moment, d deed) bool {
	for i, a := range o.ds {
		if a.verb == history.Acquire && a.grant == d.grant && a.out == history.OK && a.cs < d.cs {
			return m.mask>>i&1 == 1
		}
	}
	return true
}

// over is when the session of a grant ended, if it had by then; the end of time
// where it had not, or where it was never known that the grant goes with it.
func (o *oracle) over(m *moment, grant int) int16 {
	for i, d := range o.ds {
		if d.verb != sessionEnd || d.grant != grant || m.mask>>i&1 == 0 {
			continue
		}
		for _, a := range o.ds {
			if a.verb == history.Acquire && a.grant == grant && a.out == history.OK && a.cs < d.cs {
				return int16(d.c)
			}
		}
	}
	return 1 << 14
}

// apply lets d take effect now, and reports whether it can.
func (o *oracle) apply(m *moment, d deed) bool {
	mine := m.holder == int8(d.grant)
	switch {
	case d.record():
		if mine && d.verb == sessionEnd {
			m.until = min(m.until, o.over(m, d.grant))
		}
		return true
	case d.verb == history.Read:
		return d.out == history.Unknown || mine // nobody is 0
	case d.out == history.Refused:
		return true
	case d.out == history.NotHeld:
		return !mine
	case d.verb == history.Acquire:
		if m.holder != 0 || m.now < m.free {
			return false
		}
		m.holder, m.free, m.until = int8(d.grant), past0, past0
		if d.out == history.Unknown {
			return true
		}
		if d.token != 0 {
			if int8(d.token) <= m.token {
				return false
			}
			m.token = int8(d.token)
		}
		m.until = int16(d.until)
		return true
	case d.verb == history.Release:
		m.holder, m.until, m.free = 0, past0, past0
		return mine
	case d.out == history.OK:
		m.until = min(int16(d.until), o.over(m, d.grant))
		return mine
	}
	m.until = min(m.until, int16(d.until))
	return mine && d.short
}
