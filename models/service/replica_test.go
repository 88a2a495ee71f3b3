package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/models/raft"
	"locksim/sim"
)

// stage is the replica of a group of one, which leads, and a way to apply commands
// to it as if they came from the log.
func stage(t *testing.T) (x *replica, n *raft.Node, apply func(term int64, command any)) {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{})
	o := Lock{TTL: 10 * time.Second}
	require.NoError(t, o.complete())
	x = &replica{options: &o}
	g, err := raft.Open(w, raft.Config{Nodes: 1}, func(*raft.Node) raft.Replica { return x })
	require.NoError(t, err)
	n = g.Node("n1")
	require.True(t, n.Leads())
	index := int64(1)
	return x, n, func(term int64, command any) {
		index++
		x.Apply(n, raft.Entry{Index: index, Term: term, Command: command, First: true})
	}
}

func members(q *queue) (list []string) {
	for _, m := range q.members {
		list = append(list, m.session)
	}
	return list
}

// TestExpireIsTheLeadersOwn: what a former leader wanted put out stays, wherever
// its command ends up: the present one may have heard of the session since.
func TestExpireIsTheLeadersOwn(t *testing.T) {
	t.Parallel()
	x, _, apply := stage(t)
	apply(1, acquire{key: "job", session: "a"})
	apply(2, expire{"a", 1})
	require.Equal(t, []string{"a"}, members(x.queue("job")))
	apply(2, expire{"a", 2})
	require.Empty(t, members(x.queue("job")))
}

// TestLateCopy: a session that is over does not queue again, and one that queues
// does so once.
func TestLateCopy(t *testing.T) {
	t.Parallel()
	x, _, apply := stage(t)
	apply(1, acquire{key: "job", session: "a"})
	apply(1, acquire{key: "job", session: "a"})
	require.Equal(t, []string{"a"}, members(x.queue("job")))
	apply(1, release{"job", "a", "c1"})
	apply(1, acquire{key: "job", session: "a"})
	require.Empty(t, members(x.queue("job")))
}

// TestUnconfirmedIsNotGranted: a request that came to a leader which has not been
// confirmed since is not answered by a release that was committed before.
func TestUnconfirmedIsNotGranted(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{false, true} {
		x, _, apply := stage(t)
		apply(1, acquire{key: "job", session: "a"})
		apply(1, acquire{key: "job", session: "b"})
		x.keep(kept{key: "job", session: "b", confirmed: confirmed})
		x.kept[0].request = sim.Request{}
		if confirmed {
			require.Panics(t, func() { apply(1, release{"job", "a", "c1"}) }, "it is answered, and this one is nobody's")
			continue
		}
		apply(1, release{"job", "a", "c1"})
		require.Len(t, x.kept, 1)
	}
}

// TestLeadAgain: a session that was being put out when the leader stepped down has
// its whole TTL again when it leads again.
func TestLeadAgain(t *testing.T) {
	t.Parallel()
	x, n, apply := stage(t)
	apply(1, acquire{key: "job", session: "a"})
	require.True(t, x.alive("a"))
	x.lease("a").over = true
	require.False(t, x.alive("a"))
	x.renew(n, "a")
	require.False(t, x.alive("a"), "a heartbeat comes too late")
	x.Follow(n)
	require.False(t, x.alive("a"))
	x.Lead(n)
	require.True(t, x.alive("a"))
}
