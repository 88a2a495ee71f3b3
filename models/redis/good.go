package redis

import (
	"time"

	"locksim/clock"
	"locksim/sim"
)

// maxLag is min-replicas-max-lag: for how many seconds a primary counts on a replica
// of which it hears nothing.
const maxLag = 10

// noReplicas is what a primary answers to a write when it has fewer good replicas
// than min-replicas-to-write.
const noReplicas = Error("NOREPLICAS Not enough good replicas to write.")

// writes tells whether a command may change something.
func writes(command any) bool {
	switch command.(type) {
	case *Get, *PTTL:
		return false
	}
	return true
}

// good is how many replicas the primary s counts on: those that are connected, and
// have reported no more than maxLag seconds ago. Redis takes both in whole seconds of
// the primary's wall clock. (It counts anew once a second; here for each write.)
func (g *group) good(s *sim.Server) int {
	n := 0
	for _, r := range g.replicas {
		if r.connected && second(s)-r.seen <= maxLag {
			n++
		}
	}
	return n
}

// second is the date by the wall clock of s, in whole seconds.
func second(s *sim.Server) int64 { return int64((epoch + s.Now(clock.Wall)) / time.Second) }

// report lets the replica s tell its primary every second that it is there, and what
// it has (REPLCONF ACK), until it is promoted. Where nothing hangs on that, it does
// not.
func (m member) report(s *sim.Server) {
	if m.group.minReplicas == 0 {
		return
	}
	s.After(clock.Monotonic, time.Second, func() {
		if r := m.group.replica(s.Name()); r != nil {
			s.Whisper(m.group.primary, &ack{r.have})
			m.report(s)
		}
	})
}
