package raft

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/clock"
	"locksim/history"
	"locksim/sim"
)

// timer is a node's one timer: a leader's for its next heartbeat, any other's for
// the end of its patience. Instants are of the node's monotonic clock.
type timer struct {
	rand *rand.Rand
	// heard is when the node last had reason to be patient: it heard of a leader, gave
	// its vote or changed its state. timeout is how long it is patient from then on.
	heard, timeout time.Duration
	// forgot: the node has told the library to forget the leader, since it may vote
	// for another.
	forgot bool
	alarm  sim.Alarm
}

// rest begins the node's patience anew.
func (n *Node) rest() {
	n.timer.heard = n.server.Now(clock.Monotonic)
	if n.timer.forgot {
		n.timer.forgot = false
		n.arm()
	}
}

// draw begins it anew, with another timeout.
func (n *Node) draw() {
	n.rest()
	c := &n.group.config
	if len(c.Timeouts) > 0 {
		n.timer.timeout = c.Timeouts[n.id-1]
	} else {
		ms := n.timer.rand.Int64N(c.Election.Milliseconds())
		n.timer.timeout = c.Election + time.Duration(ms)*time.Millisecond
	}
	n.arm()
}

// arm sets the timer. A message that renews the patience does not: the timer sees
// that when it rings.
func (n *Node) arm() {
	t := &n.timer
	t.alarm.Cancel()
	at := t.heard + n.group.config.Election
	switch {
	case n.state == raft.StateLeader:
		at = n.server.Now(clock.Monotonic) + n.group.config.Heartbeat
	case t.forgot || n.leader == 0:
		at = t.heard + t.timeout
	}
	t.alarm = n.server.Machine().SetAlarm(clock.Monotonic, at, n.onTimer)
}

// ring is what the node does when its timer is over.
func (n *Node) ring() {
	defer n.panicked()
	t := &n.timer
	silence := n.server.Now(clock.Monotonic) - t.heard
	switch {
	case n.state == raft.StateLeader:
		n.raw.Tick()
		n.work()
	case silence >= t.timeout:
		n.campaign()
	case silence >= n.group.config.Election && n.leader != 0:
		n.forget()
	}
	n.arm()
}

// campaign lets the node stand for election.
func (n *Node) campaign() {
	n.rest()
	n.leader = 0
	_ = n.raw.Campaign() // no error but of a node that is no member
	n.work()
}

// forget ends the time for which the node votes for nobody but the leader that it
// has heard of. The library counts that in ticks, which only a leader gets here.
// The node goes on to take that leader for the leader.
func (n *Node) forget() {
	n.timer.forgot = true
	_ = n.raw.ForgetLeader() // it has no error
	n.work()
}

// turn takes over the state, the term and the leader that the library has come to.
func (n *Node) turn(rd *raft.Ready) {
	before, term := n.state, n.term
	if !raft.IsEmptyHardState(rd.HardState) {
		n.term = rd.HardState.GetTerm()
	}
	leader := n.leader
	if s := rd.SoftState; s != nil {
		n.state = s.RaftState
		silent := n.timer.forgot && n.state == raft.StateFollower && n.term == term
		if s.Lead != raft.None || !silent {
			n.leader = s.Lead
		}
	}
	if n.term != term || n.state != before && n.state != raft.StatePreCandidate {
		n.draw()
	}
	switch {
	case n.state == raft.StateLeader && before != raft.StateLeader:
		n.elected()
	case n.state != raft.StateLeader && before == raft.StateLeader:
		n.steppedDown(term)
	}
	if n.leader != 0 && n.leader != leader {
		n.arm()
		n.resume()
	}
}

// elected records that the node has become the leader, and whether it lacks what
// was committed before its term, which Raft rules out (Raft paper, 5.4.3: Leader
// Completeness).
func (n *Node) elected() {
	e := history.Event{Kind: history.Elected, Version: int64(n.term)}
	if lost := n.group.lacks(&n.disk, n.term); lost > 0 {
		e.Why = "without " + entries(lost, "committed entry", "committed entries")
	}
	n.server.Record(e)
}

// steppedDown records that the leader of that term is none any more.
func (n *Node) steppedDown(term uint64) {
	why := "no majority answers"
	if n.term != term {
		why = fmt.Sprintf("there is a term %d", n.term)
	}
	n.server.Record(history.Event{Kind: history.SteppedDown, Version: int64(term), Why: why})
	if !n.leads {
		return
	}
	n.leads = false
	if l, ok := n.replica.(Leader); ok {
		l.Follow(n)
	}
}

// blind is a request for a vote as a voter sees it that looks at the length of
// the log alone: every last term is its own.
func (n *Node) blind(m *raftpb.Message) *raftpb.Message {
	last, _ := n.disk.Term(uint64(len(n.disk.written.entries)))
	return &raftpb.Message{
		Type: m.Type, To: m.To, From: m.From, Term: m.Term, Index: m.Index, Context: m.Context,
		LogTerm: &last,
	}
}

func entries(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
