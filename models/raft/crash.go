package raft

import (
	"fmt"
	"math"

	"go.etcd.io/raft/v3"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// Crash takes what the crash takes from the disk, and everything from memory. It
// is a method of faults.Restarter.
func (n *Node) Crash(_ *sim.Server, how faults.Crash) string {
	lost := n.disk.crash(how)
	n.stop()
	if lost == 0 {
		return "restarted with everything"
	}
	return "restarted without the last " + entries(lost, "entry", "entries") + " of its log"
}

// stop ends the node's process.
func (n *Node) stop() {
	n.raw, n.replica = nil, nil
	n.waiting.reset()
	n.state, n.leads = raft.StateFollower, false
}

// Restarted starts the node again with what its disk has. It is a method of
// faults.Restarter.
func (n *Node) Restarted(*sim.Server) string {
	n.start()
	n.work()
	return "back up"
}

// panicked ends the node's process when its library finds that its log cannot be:
// etcd ends in a panic then, and again each time it is started.
func (n *Node) panicked() {
	switch r := recover().(type) {
	case nil:
	case panicked:
		n.server.Record(history.Event{Kind: history.Fault, Value: "panic", Why: "panics: " + string(r)})
		n.server.Crash(false)
		n.stop()
	default:
		panic(r)
	}
}

// library makes the library's node, with etcd's settings.
func (g *Group) library(n *Node) *raft.RawNode {
	raw, err := raft.NewRawNode(&raft.Config{
		ID:              n.id,
		ElectionTick:    int(g.config.Election / g.config.Heartbeat),
		HeartbeatTick:   1,
		Storage:         &n.disk,
		MaxSizePerMsg:   math.MaxUint64,
		MaxInflightMsgs: 512,
		CheckQuorum:     true,
		PreVote:         true,
		Logger:          logger{},
	})
	if err != nil {
		panic(fmt.Sprintf("raft: the library does not start: %v", err))
	}
	return raw
}

// panicked is what the library says before it gives up.
type panicked string

// logger is deaf to the library, but for what it cannot go on with.
type logger struct{}

func (logger) Debug(...any)            {}
func (logger) Debugf(string, ...any)   {}
func (logger) Error(...any)            {}
func (logger) Errorf(string, ...any)   {}
func (logger) Info(...any)             {}
func (logger) Infof(string, ...any)    {}
func (logger) Warning(...any)          {}
func (logger) Warningf(string, ...any) {}

func (logger) Fatal(v ...any)                 { panic(panicked(fmt.Sprint(v...))) }
func (logger) Fatalf(format string, v ...any) { panic(panicked(fmt.Sprintf(format, v...))) }
func (logger) Panic(v ...any)                 { panic(panicked(fmt.Sprint(v...))) }
func (logger) Panicf(format string, v ...any) { panic(panicked(fmt.Sprintf(format, v...))) }
