package sim

import (
	"fmt"
	"runtime"
)

// kill makes p dead. Unless it is running, which unwinds at its next step, its
// defers have run when kill returns.
func (p *Process) kill() {
	p.dead = true
	if p.state == stateEnded || p.state == stateRunning {
		return
	}
	if p.co == nil { // never started
		p.end()
		return
	}
	p.resume()
}

func (p *Process) end() {
	if p.timed {
		p.timed = false
		p.w.timeline.Cancel(p.timer)
	}
	p.state = stateEnded
	p.due = p.due[:0]
	if len(p.m.conns) > 0 && p.m.Dead() {
		p.m.hangUpAll()
	}
}

// mortal unwinds p if it is dead.
func (p *Process) mortal() {
	if p.dead {
		p.unwinding = true
		panic(killed{})
	}
}

// gone tells whether p is dead and unwinding, so that what it asks of the world
// must do nothing. If it does not know yet that it is dead, that unwinds it.
func (p *Process) gone() bool {
	return (p.dead || p.state != stateRunning) && p.unwind()
}

func (p *Process) unwind() bool {
	if p.state != stateRunning {
		panic(fmt.Sprintf("sim: a method of process %s is called outside its own body", p.label()))
	}
	if !p.unwinding {
		p.mortal()
	}
	if p.undead++; p.undead > lastWishes {
		p.w.fail(p, "goes on after its death: a loop in a defer, or a recover?")
		runtime.Goexit()
	}
	return true
}

// lastWishes is how often a dead process may call the world before that is taken
// for a loop that never ends.
const lastWishes = 100_000
