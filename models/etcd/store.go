package etcd

import "strings"

// store is the keys of one node.
type store struct {
	// revision is that of the last change; it begins at 1.
	revision int64
	keys     []keyValue // in the order of their creation
	gone     []deletion // in the order of their revisions
}

type deletion struct {
	key      string
	revision int64
}

func newStore() store { return store{revision: 1} }

// apply does a transaction. Its changes have one revision.
func (s *store) apply(t txn, leased func(lease int64) bool) outcome {
	o := outcome{succeeded: s.holds(t.compares)}
	list := t.then
	if !o.succeeded {
		list = t.other
	}
	for _, op := range list {
		if op.kind == put && op.lease != 0 && !leased(op.lease) {
			return outcome{noLease: true, revision: s.revision}
		}
	}
	next := s.revision + 1
	for _, op := range list {
		o.results = append(o.results, s.do(op, next))
	}
	o.revision = s.revision
	return o
}

func (s *store) holds(list []compare) bool {
	for _, c := range list {
		k := s.get(c.key)
		got, want := [...]int64{k.create, k.mod, k.number, 0}[c.field], c.number
		if got != want || c.field == value && k.value != c.value {
			return false
		}
	}
	return true
}

// do does one operation; a change has revision next.
func (s *store) do(op op, next int64) result {
	switch op.kind {
	case put:
		return s.put(op, next)
	case remove:
		return s.remove(op.key, next)
	}
	return s.read(op)
}

// read does an operation that changes nothing.
func (s *store) read(op op) result {
	switch op.kind {
	case read:
		return s.get(op.key)
	case first:
		for i := range s.keys {
			if strings.HasPrefix(s.keys[i].key, op.key) {
				return result{true, s.keys[i]}
			}
		}
	case last:
		for i := len(s.keys) - 1; i >= 0; i-- {
			if k := &s.keys[i]; k.create <= op.max && strings.HasPrefix(k.key, op.key) {
				return result{true, *k}
			}
		}
	}
	return result{}
}

func (s *store) put(op op, next int64) result {
	s.revision = next
	i := s.find(op.key)
	if i < 0 {
		i = len(s.keys)
		s.keys = append(s.keys, keyValue{key: op.key, create: next})
	}
	k := &s.keys[i]
	k.value, k.lease, k.mod = op.value, op.lease, next
	k.number++
	return result{true, *k}
}

func (s *store) remove(key string, next int64) result {
	i := s.find(key)
	if i < 0 {
		return result{}
	}
	s.revision = next
	k := s.keys[i]
	s.keys = append(s.keys[:i], s.keys[i+1:]...)
	s.gone = append(s.gone, deletion{key, next})
	return result{true, k}
}

// removeLeased deletes the keys of a lease, in one revision, and returns them.
func (s *store) removeLeased(lease int64) []keyValue {
	var list []keyValue
	next := s.revision + 1
	for i := 0; i < len(s.keys); {
		if s.keys[i].lease != lease {
			i++
			continue
		}
		list = append(list, s.remove(s.keys[i].key, next).keyValue)
	}
	return list
}

func (s *store) get(key string) result {
	if i := s.find(key); i >= 0 {
		return result{true, s.keys[i]}
	}
	return result{}
}

func (s *store) find(key string) int {
	for i := range s.keys {
		if s.keys[i].key == key {
			return i
		}
	}
	return -1
}

// deleted is the revision of the first deletion that w asks for; 0 where there has
// been none.
func (s *store) deleted(w watch) int64 {
	at := int64(0)
	for i := len(s.gone) - 1; i >= 0 && s.gone[i].revision >= w.from; i-- {
		if w.wants(s.gone[i].key) {
			at = s.gone[i].revision
		}
	}
	return at
}

// wants tells whether w is about key.
func (w watch) wants(key string) bool {
	return key == w.key || w.prefix && strings.HasPrefix(key, w.key)
}
