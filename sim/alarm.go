package sim

import (
	"slices"
	"time"

	"locksim/clock"
)

// alarm is a callback at a reading of one of the machine's clocks.
type alarm struct {
	live  bool
	gen   uint32
	by    clock.Kind
	at    time.Duration
	timer clock.Timer
	f     func()
}

// Alarm names a callback that was set with [Machine.SetAlarm].
type Alarm struct {
	m *Machine
	t Ticket
}

// SetAlarm lets f happen when clock k of the machine shows at least reading, as
// a timer of the process or server there: a frozen machine runs it when it
// thaws, a dead one never. f must not wait.
func (m *Machine) SetAlarm(k clock.Kind, reading time.Duration, f func()) Alarm {
	i := slices.IndexFunc(m.alarms, func(a alarm) bool { return !a.live })
	if i < 0 {
		i = len(m.alarms)
		m.alarms = append(m.alarms, alarm{})
	}
	a := &m.alarms[i]
	a.live, a.by, a.at, a.f = true, k, reading, f
	a.gen++
	m.schedule(uint32(i))
	return Alarm{m, Ticket{uint32(i), a.gen}}
}

// Cancel takes the alarm back. It does nothing when it has rung.
func (a Alarm) Cancel() {
	if a.m == nil {
		return
	}
	if x := &a.m.alarms[a.t.slot]; x.gen == a.t.gen {
		a.m.drop(x)
	}
}

func (m *Machine) drop(a *alarm) {
	if !a.live {
		return
	}
	a.live, a.f = false, nil
	m.w.timeline.Cancel(a.timer)
}

func (m *Machine) schedule(i uint32) {
	a := &m.alarms[i]
	a.timer = clock.Timer{}
	if at, ok := m.clock.When(a.by, m.w.timeline.Now(), a.at); ok {
		a.timer = m.w.timeline.Schedule(at, event{kind: evAlarm, to: m, call: Ticket{i, a.gen}})
	}
}

func (m *Machine) ring(e *event) {
	a := &m.alarms[e.call.slot]
	if !a.live || a.gen != e.call.gen {
		return
	}
	if m.frozen > 0 {
		m.due = append(m.due, *e)
		return
	}
	f := a.f
	a.live, a.f = false, nil
	if !m.Dead() {
		f()
	}
}
