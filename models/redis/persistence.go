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
func (p Persistence) String() string { return nameOf(persistenceNames[:], p) }

// MarshalText writes the way's name.
func (p Persistence) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a way's name.
func (p *Persistence) UnmarshalText(text []byte) error {
	return parseName("persistence", persistenceNames[:], text, p)
}

// write is one change of a node's data, as it goes into the append-only file and
// to the replica: its effect, with the expiry as a date. Redis writes it so too
// (PXAT), and a node that expires by its monotonic clock has no choice: that
// clock begins anew when the machine does. So a step of the wall clock between
// the change and the restart moves the expiry even of such a node.
type write struct {
	kind  writeKind
	key   string
	value string
	date  int64 // of the expiry: wall clock, in milliseconds
	// at is when it was written, on the monotonic clock of the node that did.
	at time.Duration
}

type writeKind uint8

const (
	writeSet writeKind = iota
	writeExpire
	writeDel
)

var writeNames = [...]string{writeSet: "SET", writeExpire: "PEXPIREAT", writeDel: "DEL"}

// Label is the command's name in the history, where it goes to a replica.
func (w *write) Label() string { return writeNames[w.kind] }

// log takes down a change of key to i.
func (n *Node) log(s *sim.Server, kind writeKind, key string, i item) {
	if n.config.Persistence == None && n.pair == nil {
		return
	}
	w := write{kind: kind, key: key, value: i.value}
	if kind != writeDel {
		w.date = i.when - n.now(s) + ms(s, clock.Wall)
	}
	n.append(s, w)
	n.forward(s, w)
}

func (n *Node) append(s *sim.Server, w write) {
	if n.config.Persistence == None {
		return
	}
	w.at = s.Now(clock.Monotonic)
	n.journal = append(n.journal, w)
}

// apply does to the data what w says.
func (n *Node) apply(s *sim.Server, w write) {
	when := w.date - ms(s, clock.Wall) + n.now(s)
	switch w.kind {
	case writeSet:
		n.engine.put(w.key, w.value)
		n.keys[w.key] = item{w.value, when}
	case writeExpire:
		if i, ok := n.keys[w.key]; ok {
			n.keys[w.key] = item{i.value, when}
		}
	case writeDel:
		n.engine.del(w.key)
		delete(n.keys, w.key)
	}
}

// Crash forgets what a crash at this instant loses and loads the rest again: it
// replays the append-only file as far as it survived. It is a method of
// faults.Restarter. Kept keys keep their absolute dates; what an unsynced change
// had replaced or deleted is back.
//
// The file is read at the instant of the crash, not of the restart. Only a node
// that expires by its monotonic clock could tell, by a step of its wall clock
// while it was down.
func (n *Node) Crash(s *sim.Server, how faults.Crash) string {
	before := maps.Clone(n.keys)
	n.empty()
	n.journal = n.journal[:n.surviving(s, how)]
	for _, w := range n.journal {
		n.apply(s, w)
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
