package scenarios

import (
	"time"

	"locksim/models"
	"locksim/models/resource"
)

// How long etcd takes, with a hop from anybody to anybody and the default disks, for
// a client that talks to the leader: a read is confirmed by a majority, a change is
// on a majority's disks.
const (
	fsync     = 2 * time.Millisecond
	etcdRead  = 4 * hop
	etcdWrite = 4*hop + fsync
	// etcdCommit is from the arrival of a change at the leader to its application there.
	etcdCommit = 2*hop + fsync
	// etcdNotice is from the deletion of the key before its own to the client that waits
	// for it holding the lock: it is told, sees that no older key is left, and that its
	// own is.
	etcdNotice = hop + 2*etcdRead
	// etcdHandover is the same where the key was deleted by a release: the leader's disk
	// is then at the revocation of that client's lease when the first read comes.
	etcdHandover = etcdNotice + fsync
)

// etcdSession is a session's timetable: it sends a keepalive when it begins, and
// again at the first of its looks, every 500ms, that comes more than a third of the
// TTL after the last answer.
type etcdSession struct{ start, ttl time.Duration }

// lastBeat is when the last keepalive left, of those that left by an instant.
func (s etcdSession) lastBeat(by time.Duration) time.Duration {
	period := after(2*hop+s.ttl/3, 500*time.Millisecond)
	return s.start + (by-s.start)/period*period
}

// revoked is when the leader has revoked the lease if it has got no keepalive but
// those sent by then: it looks every 500ms of its clock.
func (s etcdSession) revoked(beat time.Duration) time.Duration {
	return from(beat+hop+s.ttl, 500*time.Millisecond) + etcdCommit
}

// done is when the session itself sees that it is over, if no keepalive but those
// sent by then was answered: it looks every second.
func (s etcdSession) done(beat time.Duration) time.Duration {
	return s.start + after(beat+2*hop+s.ttl-s.start, time.Second)
}

// told is when a client that has come back from a pause, and sends its keepalive at
// once, is told that its lease is gone; never where it still stands.
func (s etcdSession) told(beat, thaws time.Duration) time.Duration {
	if thaws+hop < beat+hop+s.ttl {
		return most
	}
	return max(thaws+hop, s.revoked(beat)) + hop
}

// after is the first multiple of period after t; from is the first at t or after it.
func after(t, period time.Duration) time.Duration { return (t/period + 1) * period }
func from(t, period time.Duration) time.Duration  { return (t + period - 1) / period * period }

// storeOf is the store called doc, plain or fenced.
func storeOf(kind string) []models.Resource {
	if kind == "fenced" {
		return []models.Resource{resource.Fenced("doc")}
	}
	return []models.Resource{resource.Plain("doc")}
}
