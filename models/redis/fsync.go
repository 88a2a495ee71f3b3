package redis

import (
	"time"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// fsyncs is when an append-only file is to be synced. Each sync is recorded
// (history.Fsync): it is what the file costs.
//
// With always that is once for each command that has changed something, before its
// answer. Real Redis syncs once for all commands of one turn of its event loop; here
// a command is a turn. With everysec it is at each whole second of the node's
// monotonic clock before which there was something to sync.
type fsyncs struct {
	dirty bool // the command that is being served has written
	// due is the whole second that will sync what everysec has written last; 0 where
	// all is synced.
	due time.Duration
}

// wrote notes a write to the file at an instant of the node's monotonic clock.
func (n *Node) wrote(s *sim.Server, at time.Duration) {
	n.fsyncs.dirty = true
	if n.config.Persistence != EverySec {
		return
	}
	n.settle(s, at)
	if n.fsyncs.due == 0 {
		n.fsyncs.due = at.Truncate(time.Second) + time.Second
		s.After(clock.Monotonic, n.fsyncs.due-at, func() { n.settle(s, s.Now(clock.Monotonic)) })
	}
}

// settle is the sync of everysec, where it is due.
func (n *Node) settle(s *sim.Server, now time.Duration) {
	if n.fsyncs.due > 0 && n.fsyncs.due <= now {
		n.fsync(s)
	}
}

// synced is the end of a command: with always, the sync of all that it wrote.
func (n *Node) synced(s *sim.Server) {
	if n.fsyncs.dirty && n.config.Persistence == Always {
		n.fsync(s)
	}
	n.fsyncs.dirty = false
}

func (n *Node) fsync(s *sim.Server) {
	n.fsyncs = fsyncs{}
	s.Record(history.Event{Kind: history.Fsync})
}
