package redis

import (
	"time"

	"locksim/clock"
	"locksim/sim"
)

// fsyncs counts what an append-only file costs.
type fsyncs struct {
	count int
	dirty bool // the command that is being served has written
	// due is the whole second that will sync what everysec has written last; 0 where
	// all is synced.
	due time.Duration
}

// written notes a write at an instant of the node's monotonic clock.
func (f *fsyncs) written(p Persistence, at time.Duration) {
	f.dirty = true
	if p != EverySec {
		return
	}
	f.settle(at)
	f.due = at.Truncate(time.Second) + time.Second
}

// settle counts the sync of everysec that has happened by now.
func (f *fsyncs) settle(now time.Duration) {
	if f.due > 0 && f.due <= now {
		f.count, f.due = f.count+1, 0
	}
}

// synced is the end of a command: one fsync, with always, for all that it wrote.
func (n *Node) synced() {
	if !n.fsyncs.dirty {
		return
	}
	n.fsyncs.dirty = false
	if n.config.Persistence == Always {
		n.fsyncs.count++
	}
}

// Fsyncs is how often n, which runs on s, has synced its append-only file so far:
// with always once for each command that changed something, before its answer;
// with everysec at each whole second of its monotonic clock before which there
// was something to sync; and without a file never.
func (n *Node) Fsyncs(s *sim.Server) int {
	n.fsyncs.settle(s.Now(clock.Monotonic))
	return n.fsyncs.count
}
