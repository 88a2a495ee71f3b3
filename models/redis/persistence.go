package redis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/models/option"
	"locksim/sim"
)

// Persistence is how a node keeps its keys over a restart: the append-only file
// and when it is synced to the disk (appendfsync).
type Persistence uint8

// The ways to persist.
const (
	// None keeps nothing: a restarted node is empty.
	None Persistence = iota
	// EverySec writes each change before it is answered, and syncs at the whole
	// seconds of the node's monotonic clock: a process that is killed loses
	// nothing, a loss of power loses the changes made since the last whole second
	// (those of that very instant included). It is the default of appendonly yes.
	EverySec
	// Always syncs each change before it is answered. It loses nothing.
	Always
)

var persistenceNames = [...]string{None: "none", EverySec: "everysec", Always: "always"}

// String is the way's name: "none", "everysec" or "always".
func (p Persistence) String() string { return option.Name(persistenceNames[:], p) }

// MarshalText writes the way's name.
func (p Persistence) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a way's name.
func (p *Persistence) UnmarshalText(text []byte) error {
	return option.Parse("persistence", persistenceNames[:], text, p)
}

// write is one change of a node's data, as it goes into the append-only file and
// to the replicas: its effect, with the expiry as a date. Redis writes it so too
// (PXAT), and a node that expires by its monotonic clock has no choice: that
// clock begins anew when the machine does. So a step of the wall clock between
// the change and the restart moves the expiry even of such a node.
type write struct {
	kind  writeKind
	key   string
	value string
	by    string
	date  int64 // of the expiry: wall clock, in milliseconds, or never
	// at is when it was written, on the monotonic clock of the node that did.
	at time.Duration
}

type writeKind uint8

const (
	writeSet writeKind = iota
	writeExpire
	writeDel
	writeIncr
)

var writeNames = [...]string{writeSet: "SET", writeExpire: "PEXPIREAT", writeDel: "DEL", writeIncr: "INCR"}

// log takes down a change of key to i.
func (n *Node) log(s *sim.Server, kind writeKind, key string, i item) {
	if n.config.Persistence == None && n.group == nil {
		return
	}
	w := n.written(s, kind, key, i)
	n.append(s, w)
	n.forward(s, w)
}

// written is the change of key to i, with the expiry as a date.
func (n *Node) written(s *sim.Server, kind writeKind, key string, i item) write {
	w := write{kind: kind, key: key, value: i.value, by: i.by, date: i.when}
	if i.when != never {
		w.date += ms(s, clock.Wall) - n.now(s)
	}
	return w
}

func (n *Node) append(s *sim.Server, w write) {
	if n.config.Persistence == None {
		return
	}
	w.at = s.Now(clock.Monotonic)
	n.journal = append(n.journal, w)
	n.wrote(s, w.at)
}

// rewrite makes the append-only file anew, of writes that are synced with it.
func (n *Node) rewrite(s *sim.Server, writes []write) {
	if n.config.Persistence == None {
		return
	}
	n.journal = n.journal[:0]
	for _, w := range writes {
		w.at = -1 // before any sync
		n.journal = append(n.journal, w)
	}
	n.fsync(s)
}

// apply does to the data what w says.
func (n *Node) apply(s *sim.Server, w write) {
	when := w.date
	if when != never {
		when += n.now(s) - ms(s, clock.Wall)
	}
	switch w.kind {
	case writeSet, writeIncr:
		n.engine.put(w.key, w.value, 0)
		n.keys[w.key] = item{w.value, w.by, when, w.kind == writeIncr}
	case writeExpire:
		if i, ok := n.keys[w.key]; ok {
			i.when = when
			n.keys[w.key] = i
		}
	case writeDel:
		n.engine.del(w.key)
		delete(n.keys, w.key)
	}
}

// Crash cuts the append-only file to what a crash at this instant leaves of it,
// and the data to what that says: kept keys keep their absolute dates; what an
// unsynced change had replaced or deleted is back. It is a method of
// faults.Restarter.
func (n *Node) Crash(s *sim.Server, how faults.Crash) string {
	before := maps.Clone(n.keys)
	n.journal = n.journal[:n.surviving(s, how)]
	n.settle(s, s.Now(clock.Monotonic))
	n.fsyncs = fsyncs{}
	n.load(s)
	if n.group != nil {
		n.group.lost(s, how)
	}
	lost := 0
	if n.serves(s) {
		lost = n.lose(s, s, before, n.keys, history.FreedRestart)
	}
	switch {
	case n.config.Persistence == None:
		return "restarted empty"
	case lost == 0:
		return "restarted with everything"
	}
	return "restarted without the last " + count(lost)
}

// Restarted loads the append-only file at the instant at which the node is back:
// one that expires by its monotonic clock makes remaining times of the dates
// there by what its wall clock shows now. It is a method of faults.Restarter.
func (n *Node) Restarted(s *sim.Server) string {
	n.load(s)
	if len(n.keys) == 0 {
		return "back up"
	}
	return "back up with " + count(len(n.keys))
}

// load replays the append-only file.
func (n *Node) load(s *sim.Server) {
	n.empty()
	for _, w := range n.journal {
		n.apply(s, w)
	}
}

// surviving is how many entries of the append-only file outlive a crash.
func (n *Node) surviving(s *sim.Server, how faults.Crash) int {
	if how == faults.Kill || n.config.Persistence != EverySec {
		return len(n.journal)
	}
	synced := s.Now(clock.Monotonic).Truncate(time.Second)
	i, _ := slices.BinarySearchFunc(n.journal, synced, func(w write, at time.Duration) int {
		return cmp.Compare(w.at, at)
	})
	return i
}

// lose records on server to the keys of before that after does not hold, and
// counts them. One whose term was over by the clock of s, where nobody had
// noticed, is recorded there as expired and does not count.
func (n *Node) lose(s, to *sim.Server, before, after map[string]item, why string) int {
	now, lost := n.now(s), 0
	for _, key := range slices.Sorted(maps.Keys(before)) {
		i := before[key]
		if kept, ok := after[key]; ok && kept.value == i.value {
			continue
		}
		if i.over(now) {
			free(s, key, i, history.FreedExpired, "")
			continue
		}
		lost++
		free(to, key, i, why, "")
	}
	return lost
}

func count(keys int) string {
	if keys == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", keys)
}
