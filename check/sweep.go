package check

// hold is one grant as the sweep sees it: from when to when it surely kept the
// lock from everybody else.
type hold struct {
	grant, lock int32
	from, hi    pos // it was made at a position in [from, hi)
	confirmed   pos // greatest call of a confirmed operation: held at least so long
	renewed     pos // greatest call of an extension
	loss, excl  pos // as in claim; never before confirmed, and a release ends both
	token       int64
	made        bool // its acquire was granted, or proved to have been
	replaced    bool // an extension has taken the place of its first promise
	sound       bool // nothing confirms it outside its own time

	release          *claim
	before           *hold // one before it in the order of the starts, with the same token
	hiSpan, confSpan int32 // the operations behind hi and confirmed
}

// core reports whether h surely holds through [hi, excl). A hold without a core
// needs only one point at which it was made and was over again.
func (h *hold) core() bool { return h.excl >= h.hi }

// fault names a rule of the lease specification that does not hold.
type fault uint8

const (
	overlap    fault = iota + 1 // grant other was made while grant held the lock
	squeezed                    // grant was made while others held the lock, other among them
	ungranted                   // an operation confirmed grant, which was never made
	premature                   // an operation confirmed grant before it was asked for
	afterwards                  // an operation confirmed grant after it was released
	lostEarly                   // grant was told that it had lost the lock before it could have
	unordered                   // the token of grant is not greater than that of other
	staleRead                   // a read named nobody while grant held the lock
)

// finding is one fault, as the sweep finds it.
type finding struct {
	fault        fault
	lock         int32
	grant, other int32
	span         int32 // the operation that proves it
}

// sweep decides whether the promises of a lease were kept, exactly and in nearly
// linear time. They were if and only if
//   - the cores of a lock's grants are disjoint;
//   - every grant without a core finds a point outside all cores;
//   - tokens strictly increase, when those points are placed greedily in the
//     order of the tokens;
//   - every "not held" returned after its grant could be lost, or was called
//     before the grant was surely made;
//   - every read that found nobody finds a point at which no grant surely holds;
//   - nothing confirms a grant outside its own time.
type sweep struct {
	holds    []hold  // by grant number
	cores    []*hold // by lock and hi
	points   []*hold
	tokens   []*hold // by lock, and by token or start
	over     []*hold // the cores among the tokens of one lock, by their ends
	tops     []*hold // beside the tokens of one lock, by start: the greatest up to here
	findings []finding
	bad      []bool // by lock: something was found on it

	reads []*claim  // those that found nobody
	far   []*hold   // beside cores: the one up to here, of its lock, that reaches furthest
	kept  []*hold   // by lock and hi: grants that were surely held for some time
	reach []*hold   // beside kept: the one up to here, of its lock, that was held furthest
	taken []stretch // by lock and position
}

// run sweeps l. The findings hold until the next call.
func (s *sweep) run(l *lease) []finding {
	s.findings, s.holds, s.reads, s.bad = s.findings[:0], s.holds[:0], s.reads[:0], s.bad[:0]
	s.holds = grown(s.holds, len(l.facts))
	for i := range s.holds {
		h := &s.holds[i]
		h.hi, h.from, h.confirmed, h.renewed = never, never, always, always
		h.loss, h.excl = never, never
		h.hiSpan, h.confSpan = none, none
	}
	for i := range l.claims {
		s.take(&l.claims[i])
	}
	for i := range l.claims {
		s.renew(&l.claims[i])
	}
	s.settle()
	for i := range l.claims {
		s.told(&l.claims[i])
	}
	s.readNobody()
	s.exclude()
	return s.findings
}

func (s *sweep) found(f fault, h *hold, other, span int32) {
	s.find(finding{fault: f, lock: h.lock, grant: h.grant, other: other, span: span})
}

func (s *sweep) find(f finding) {
	s.findings = append(s.findings, f)
	s.bad = grown(s.bad, int(f.lock)+1)
	s.bad[f.lock] = true
}

// take adds a claim to its grant's hold.
func (s *sweep) take(c *claim) {
	if c.act == nobody {
		s.reads = append(s.reads, c)
		return
	}
	h := &s.holds[c.grant]
	h.grant, h.lock = c.grant, c.lock
	switch c.act {
	case notHeld:
		return
	case granted:
		h.made, h.from, h.token = true, c.call, c.token
		h.loss, h.excl = c.loss, c.excl
	case released:
		if h.release != nil {
			s.found(afterwards, h, 0, c.span)
		} else {
			h.release = c
		}
	case extended, heldBy:
		if c.act == extended {
			h.renewed = max(h.renewed, c.call)
		}
		if c.call > h.confirmed {
			h.confirmed, h.confSpan = c.call, c.span
		}
	}
	// Where a confirmation is all that is known of a grant, it is the proof.
	if c.ret < h.hi || c.ret == h.hi && c.act != granted {
		h.hi, h.hiSpan = c.ret, c.span
	}
}

// renew lets an extension replace the promise of its hold: the least promise
// among the extensions that can have been the last one counts.
func (s *sweep) renew(c *claim) {
	if c.act != extended {
		return
	}
	h := &s.holds[c.grant]
	if c.ret <= h.renewed {
		return // another extension was called after this one had returned
	}
	if !h.replaced {
		h.replaced = true
		h.loss, h.excl = never, never
	}
	h.loss, h.excl = min(h.loss, c.loss), min(h.excl, c.excl)
}

// settle makes out the stretch of every hold from all its claims.
func (s *sweep) settle() {
	for i := range s.holds {
		h := &s.holds[i]
		proof := h.confSpan
		if h.release != nil {
			proof = h.release.span
		}
		switch {
		case !h.made && proof != none:
			s.found(ungranted, h, 0, proof)
			continue
		case !h.made:
			continue
		case h.from >= h.hi:
			s.found(premature, h, 0, h.hiSpan)
			continue
		}
		if h.release != nil {
			h.loss, h.excl = h.release.call, h.release.call
			if h.confirmed >= h.release.ret {
				s.found(afterwards, h, 0, h.confSpan)
				continue
			}
		}
		h.loss, h.excl = max(h.loss, h.confirmed), max(h.excl, h.confirmed)
		h.sound = true
	}
}

// told checks that a "not held" was no lie.
func (s *sweep) told(c *claim) {
	if c.act != notHeld {
		return
	}
	if h := &s.holds[c.grant]; h.sound && c.call >= h.hi && h.loss >= c.ret {
		s.found(lostEarly, h, 0, c.span)
	}
}
