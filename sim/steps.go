package sim

import "fmt"

// anchor is a hook at one step of one process.
type anchor struct {
	process string
	step    string
	count   int // the how-manieth time counts
	seen    int
	after   bool
	f       func()
}

// Before lets f happen just before the count-th step called step (from 1) of
// process, which is a name such as "c1", or "c1/renew" for a thread.
func (w *World) Before(process, step string, count int, f func()) {
	w.anchors = append(w.anchors, anchor{process, step, count, 0, false, f})
}

// After lets f happen after that step, before the process's next one.
func (w *World) After(process, step string, count int, f func()) {
	w.anchors = append(w.anchors, anchor{process, step, count, 0, true, f})
}

// Pending lists the anchors that were never reached, as "before c1.write#1".
func (w *World) Pending() []string {
	var missed []string
	for _, a := range w.anchors {
		if a.seen < a.count {
			when := "before"
			if a.after {
				when = "after"
			}
			missed = append(missed, fmt.Sprintf("%s %s.%s#%d", when, a.process, a.step, a.count))
		}
	}
	return missed
}

// Step passes the step called label: a point at which faults can strike. It
// returns when the process is not paused any more; if it was killed there, it
// does not return.
func (p *Process) Step(label string) {
	if p.gone() || len(p.w.anchors) == 0 && p.m.frozen == 0 && p.stalled == 0 {
		return
	}
	p.passed()
	p.reach(label, false)
	p.last = label
}

// Begin passes the beginning of something called label that has steps of its own,
// such as a line of a script: faults before it strike here.
func (p *Process) Begin(label string) {
	if p.gone() || len(p.w.anchors) == 0 && p.m.frozen == 0 && p.stalled == 0 {
		return
	}
	p.passed()
	p.reach(label, false)
}

// End passes its end: faults after it strike here.
func (p *Process) End(label string) {
	if p.gone() || len(p.w.anchors) == 0 && p.m.frozen == 0 && p.stalled == 0 {
		return
	}
	p.passed()
	p.reach(label, true)
}

// passed is the end of the last step.
func (p *Process) passed() {
	if p.last == "" || p.dead {
		return
	}
	last := p.last
	p.last = ""
	p.reach(last, true)
}

func (p *Process) reach(label string, after bool) {
	for i := range p.w.anchors {
		a := &p.w.anchors[i]
		if a.after != after || a.step != label || !p.is(a.process) {
			continue
		}
		if a.seen++; a.seen == a.count {
			a.f()
		}
	}
	p.mortal()
	for p.m.frozen > 0 || p.stalled > 0 {
		p.state = stateStopped
		p.co.yield(struct{}{})
		p.mortal()
	}
}

// is tells whether p is the process, or the thread, that name means.
func (p *Process) is(name string) bool {
	if p.thread == "" {
		return name == p.m.name
	}
	n := len(p.m.name)
	return len(name) == n+1+len(p.thread) && name[:n] == p.m.name && name[n] == '/' && name[n+1:] == p.thread
}
