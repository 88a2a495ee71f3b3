package scenarios

import "time"

// What things take on an ensemble of three with ticks of 2 s, on links of a hop, for a
// client of the leader.
const (
	zkSync   = 2 * time.Millisecond // of a disk
	zkRead   = 2 * hop
	zkCommit = 2*hop + zkSync             // from a request's arrival at the leader until it is applied there
	zkWrite  = 2*hop + zkCommit           // a change
	zkTake   = zkWrite + zkWrite + zkRead // connect, create, getChildren
	zkWake   = hop + zkRead               // from the end of a node until who waits for it knows that it is next
	zkTick   = 2 * time.Second
)

// zkEnd is when a session ends that the leader heard of last at an instant: its
// timeout later, rounded up to a whole tick.
func zkEnd(heard, session time.Duration) time.Duration {
	return ((heard+session)/zkTick + 1) * zkTick
}

// zkDeaf is how long a client that hears nothing keeps its connection: two thirds of
// the timeout. It pings after half of that.
func zkDeaf(session time.Duration) time.Duration {
	return (session * 2 / 3).Truncate(time.Millisecond)
}

func zkPing(session time.Duration) time.Duration {
	return (zkDeaf(session) / 2).Truncate(time.Millisecond)
}

// zkLast is the last ping before an instant of a client that sent its last request at
// first: every zkPing from then on. Where none comes before, it is that request.
func zkLast(first, before, session time.Duration) time.Duration {
	every := zkPing(session)
	if before <= first {
		return first
	}
	return first + (before-first-1)/every*every
}
