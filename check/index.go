package check

// index numbers keys in the order of their first appearance, so that everything
// that follows works on small integers and visits them in a fixed order.
type index[K comparable] struct {
	keys []K
	ids  map[K]int32 // filled only once there are more than few keys
}

// few is up to how many keys a scan beats a map.
const few = 8

// of returns the number of k, a new one where k is new.
func (x *index[K]) of(k K) int32 {
	if id, ok := x.find(k); ok {
		return id
	}
	x.keys = append(x.keys, k)
	id := int32(len(x.keys) - 1)
	switch {
	case len(x.keys) == few+1:
		if x.ids == nil {
			x.ids = make(map[K]int32, 4*few)
		}
		for i, k := range x.keys {
			x.ids[k] = int32(i)
		}
	case len(x.keys) > few:
		x.ids[k] = id
	}
	return id
}

// find returns the number of k, if it has one.
func (x *index[K]) find(k K) (int32, bool) {
	if len(x.keys) > few {
		id, ok := x.ids[k]
		return id, ok
	}
	for i := range x.keys {
		if x.keys[i] == k {
			return int32(i), true
		}
	}
	return 0, false
}

// reset forgets every key and keeps the memory.
func (x *index[K]) reset() {
	clear(x.keys) // let go of the strings
	x.keys = x.keys[:0]
	clear(x.ids)
}

// grown returns s with at least n elements, the added ones zero.
func grown[E any](s []E, n int) []E {
	for len(s) < n {
		var zero E
		s = append(s, zero)
	}
	return s
}
