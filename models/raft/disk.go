package raft

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/faults"
)

// disk is what a node has written: its log, and its term, vote and commit index.
// It is the raft.Storage of the node's library. What it holds is in files, and of
// that, what it holds as synced outlives a loss of power.
type disk struct {
	config  *raftpb.ConfState
	written journal
	synced  journal
}

// journal is a state of the files. Entry i has index i + 1; entries are never
// changed.
type journal struct {
	entries []*raftpb.Entry
	state   *raftpb.HardState
}

func (j *journal) reset() {
	clear(j.entries)
	j.entries, j.state = j.entries[:0], nil
}

// reset empties the disk of one of nodes nodes.
func (d *disk) reset(nodes int) {
	d.written.reset()
	d.synced.reset()
	voters := make([]uint64, nodes)
	for i := range voters {
		voters[i] = uint64(i + 1)
	}
	d.config = &raftpb.ConfState{Voters: voters}
}

// write writes what the library wants to be kept.
func (d *disk) write(rd *raft.Ready) {
	if !raft.IsEmptyHardState(rd.HardState) {
		d.written.state = rd.HardState
	}
	if len(rd.Entries) > 0 {
		at := int(rd.Entries[0].GetIndex()) - 1
		if at < len(d.written.entries) { // messages under way may share what is replaced
			d.written.entries = d.written.entries[:at:at]
		}
		d.written.entries = append(d.written.entries, rd.Entries...)
	}
}

// sync syncs all that is written.
func (d *disk) sync() {
	same := min(len(d.written.entries), len(d.synced.entries))
	for same > 0 && d.written.entries[same-1] != d.synced.entries[same-1] {
		same--
	}
	d.synced.entries = append(d.synced.entries[:same], d.written.entries[same:]...)
	d.synced.state = d.written.state
}

// crash takes what a crash takes, and returns how many entries those are.
func (d *disk) crash(how faults.Crash) int {
	if how == faults.Kill {
		return 0
	}
	lost := len(d.written.entries) - len(d.synced.entries)
	d.written = journal{slices.Clone(d.synced.entries), d.synced.state}
	return max(lost, 0)
}

// has tells whether the log has the entry of that index and term.
func (d *disk) has(index, term uint64) bool {
	return index <= uint64(len(d.written.entries)) && d.written.entries[index-1].GetTerm() == term
}

// InitialState is a method of raft.Storage.
func (d *disk) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return d.written.state, d.config, nil
}

// Entries is a method of raft.Storage. What the group writes is small: no message
// and no batch is ever too long.
func (d *disk) Entries(lo, hi, _ uint64) ([]*raftpb.Entry, error) {
	if hi > uint64(len(d.written.entries))+1 {
		return nil, raft.ErrUnavailable
	}
	return d.written.entries[lo-1 : hi-1 : hi-1], nil
}

// Term is a method of raft.Storage.
func (d *disk) Term(i uint64) (uint64, error) {
	switch {
	case i == 0:
		return 0, nil
	case i > uint64(len(d.written.entries)):
		return 0, raft.ErrUnavailable
	}
	return d.written.entries[i-1].GetTerm(), nil
}

// LastIndex is a method of raft.Storage.
func (d *disk) LastIndex() (uint64, error) { return uint64(len(d.written.entries)), nil }

// FirstIndex is a method of raft.Storage.
func (d *disk) FirstIndex() (uint64, error) { return 1, nil }

// Snapshot is a method of raft.Storage. There is none, and none is needed: no log
// is ever cut off at its beginning.
func (d *disk) Snapshot() (*raftpb.Snapshot, error) {
	return nil, raft.ErrSnapshotTemporarilyUnavailable
}
