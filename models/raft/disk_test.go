package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"locksim/faults"
)

func entry(index, term uint64) *raftpb.Entry { return &raftpb.Entry{Index: &index, Term: &term} }

// TestDisk: what is replaced stays as it was in messages that are under way, and
// comes back where it had been synced and its successor had not.
func TestDisk(t *testing.T) {
	t.Parallel()
	var d disk
	d.reset(3)
	first, second, other := entry(1, 1), entry(2, 1), entry(2, 2)
	d.write(&raft.Ready{Entries: []*raftpb.Entry{first, second}})
	d.sync()
	underWay, err := d.Entries(1, 3, 0)
	require.NoError(t, err)
	d.write(&raft.Ready{Entries: []*raftpb.Entry{other}})
	require.Same(t, second, underWay[1])
	d.write(&raft.Ready{Entries: []*raftpb.Entry{entry(3, 2)}})
	require.True(t, d.has(2, 2))

	require.Zero(t, d.crash(faults.Kill))
	require.True(t, d.has(2, 2))
	underWay, err = d.Entries(1, 4, 0)
	require.NoError(t, err)
	require.Equal(t, 1, d.crash(faults.PowerLoss))
	require.True(t, d.has(2, 1))
	require.False(t, d.has(3, 2))
	d.write(&raft.Ready{Entries: []*raftpb.Entry{entry(3, 3)}})
	require.Equal(t, uint64(2), underWay[2].GetTerm())

	_, err = d.Entries(1, 5, 0)
	require.ErrorIs(t, err, raft.ErrUnavailable)
	_, err = d.Term(4)
	require.ErrorIs(t, err, raft.ErrUnavailable)
}
