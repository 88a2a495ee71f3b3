package check

import (
	"github.com/anishathalye/porcupine"

	"locksim/history"
)

// Porcupine checks the promise of h a second way: the rules of the lease
// specification as a sequential machine, searched by porcupine for an order in
// which every operation is legal. It is held against the sweep that Verdict
// uses, and is far slower: its memory grows with the square of the operations on
// one lock.
//
// It gives up after maxSteps steps of the machine over all locks, which a clock
// has no part in, so that the answer is always the same one: Kept, Broken,
// Unknown (too many steps, or the run itself hit its bound), or None.
func Porcupine(h *history.History, maxSteps int) Status {
	var r record
	r.read(h)
	if !r.acquires() {
		return None
	}
	var l lease
	l.read(&r, true)
	byLock := make([][]porcupine.Operation, len(r.locks.keys))
	for i := range l.claims {
		c := &l.claims[i]
		byLock[c.lock] = append(byLock[c.lock], porcupine.Operation{
			ClientId: int(r.spans[c.span].client), Input: c, Call: int64(c.call), Return: int64(c.ret),
		})
	}
	m := machine{left: maxSteps}
	status := Kept
	for _, ops := range byLock {
		if porcupine.CheckOperations(m.model(), ops) {
			continue
		}
		if m.left >= 0 {
			return Broken
		}
		status = Unknown
	}
	if h.Stopped == history.Bound {
		return Unknown
	}
	return status
}

// machine is the lease specification as a sequential machine.
type machine struct {
	left int // steps still allowed
}

// state is the lock between two operations.
type state struct {
	holder int32 // its grant, 0 for none
	left   int32 // the holder's confirmed operations still to come: it cannot be lost before them
	loss   pos
	excl   pos
	at     pos // the least position that can have been reached
	token  int64
}

func (m *machine) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{loss: always, excl: always, at: always} },
		Step: func(s, input, _ any) (bool, any) {
			if m.left--; m.left < 0 {
				return false, s
			}
			next, ok := s.(state).after(input.(*claim))
			return ok, next
		},
		Hash: func(s any) uint64 { return s.(state).hash() },
	}
}

// after is the state after c, and whether c is legal in s:
//
//	granted   nobody's confirmed operation is still to come, the last promise and
//	          its lock-delay are over before the return, the token is greater
//	extended  this grant is the holder; its promise is replaced
//	released  this grant is the holder; free, without a delay
//	heldBy    this grant is the holder
//	notHeld   this grant is not the holder, or its promise is over before the
//	          return and no confirmed operation is to come: free, after the delay
//	nobody    the same, of whoever is the holder
func (s state) after(c *claim) (state, bool) {
	s.at = max(s.at, c.call)
	switch c.act {
	case granted:
		s.at = max(s.at, s.excl)
		if s.left > 0 || c.token != 0 && c.token <= s.token {
			return s, false
		}
		s.holder, s.left, s.loss, s.excl = c.grant, c.left, c.loss, c.excl
		s.token = max(s.token, c.token)
	case extended, released, heldBy:
		if s.holder != c.grant {
			return s, false
		}
		s.left--
		if c.act == extended {
			s.loss, s.excl = c.loss, c.excl
		} else if c.act == released {
			s.holder, s.loss, s.excl = 0, always, always
		}
	case notHeld:
		if s.holder == c.grant && !s.lose() {
			return s, false
		}
	case nobody:
		if !s.lose() {
			return s, false
		}
	}
	return s.canonical(), s.at < c.ret
}

// lose lets the holder's promise pass, and reports whether it may be lost.
func (s *state) lose() bool {
	if s.left > 0 {
		return false
	}
	s.at = max(s.at, s.loss)
	s.holder, s.loss = 0, always
	return true
}

// canonical makes states equal that no later operation can tell apart.
func (s state) canonical() state {
	if s.loss <= s.at {
		s.loss = always
	}
	if s.excl <= s.at {
		s.excl = always
	}
	return s
}

func (s state) hash() uint64 {
	h := uint64(s.holder)*0x9e3779b97f4a7c15 ^ uint64(s.at)*0xbf58476d1ce4e5b9 ^
		uint64(s.excl)*0x94d049bb133111eb ^ uint64(s.token)*0xd6e8feb86659fd93
	return h ^ h>>29
}
