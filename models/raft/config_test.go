package raft_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models/raft"
)

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config raft.Config
		want   string
	}{
		{raft.Config{Nodes: 10}, "nodes 10: want 1 to 9"},
		{raft.Config{Nodes: -1}, "nodes -1: want 1 to 9"},
		{raft.Config{Heartbeat: 1}, "heartbeat 1ns: want 1ms or more"},
		{raft.Config{Election: 150 * ms}, "election 150ms: want a multiple of heartbeat 100ms, at least twice that and at most 1h"},
		{raft.Config{Election: 100 * ms}, "election 100ms: want a multiple of heartbeat 100ms, at least twice that and at most 1h"},
		{raft.Config{Election: 2 * time.Hour}, "election 2h0m0s: want a multiple of heartbeat 100ms, at least twice that and at most 1h"},
		{raft.Config{Fsync: -1}, "fsync -1ns: want more than 0"},
		{raft.Config{Fsync: ms, NoFsync: true}, "fsync 1ms and no-fsync: want one of them"},
		{raft.Config{Timeouts: []time.Duration{sec}}, "timeouts [1s]: want one for each of 3 nodes, or none"},
		{raft.Config{Nodes: 1, Timeouts: []time.Duration{ms}}, "timeouts [1ms]: want each at least election 1s"},
	} {
		require.EqualError(t, c.config.Complete(), c.want)
	}
	var zero raft.Config
	require.NoError(t, zero.Complete())
	require.Equal(t, raft.Config{Nodes: 3, Heartbeat: 100 * ms, Election: sec, Fsync: fsync}, zero)
}
