package zookeeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forest is a tree with two sessions, 1 and 2, and the node of a lock.
func forest(t *testing.T) *tree {
	t.Helper()
	x := newTree()
	x.sessions = []*session{{id: 1, client: "c1", timeout: time.Second}, {id: 2, client: "c2", timeout: time.Second}}
	_, c := x.create(3, create{on: on{Session: 1}, Path: "/job"})
	require.Equal(t, ok, c)
	return &x
}

// queue puts an ephemeral sequential node under the lock.
func (t *tree) queue(zxid, session int64) string {
	z, c := t.create(zxid, create{on: on{Session: session}, Path: "/job/lock-", Ephemeral: true, Sequential: true})
	if c != ok {
		return string(c)
	}
	return z.path
}

// TestSequence: the number counts the children that a parent has ever had, whoever
// made them and whatever became of them (PrepRequestProcessor: the parent's cversion).
func TestSequence(t *testing.T) {
	t.Parallel()
	x := forest(t)
	require.Equal(t, "/job/lock-0000000000", x.queue(4, 1))
	require.Equal(t, "/job/lock-0000000001", x.queue(5, 2))
	_, c := x.remove(6, "/job/lock-0000000001", -1)
	require.Equal(t, ok, c)
	_, c = x.create(7, create{on: on{Session: 1}, Path: "/job/other"})
	require.Equal(t, ok, c)
	require.Equal(t, "/job/lock-0000000003", x.queue(8, 2))
	require.Equal(t, []string{"lock-0000000000", "other", "lock-0000000003"}, x.nodes["/job"].names())

	z, c := x.create(9, create{on: on{Session: 1}, Path: "/other/lock-", Sequential: true, Parent: true})
	require.Equal(t, ok, c)
	require.Equal(t, "/other/lock-0000000000", z.path, "another parent counts for itself")
	require.Equal(t, Stat{Czxid: 9, Mzxid: 9}, z.stat)
}

// TestCreateAndDelete say what was wrong.
func TestCreateAndDelete(t *testing.T) {
	t.Parallel()
	x := forest(t)
	x.queue(4, 1)
	for _, c := range []struct {
		what create
		want code
	}{
		{create{on: on{Session: 1}, Path: "/none/x"}, noNode},
		{create{on: on{Session: 1}, Path: "/job"}, nodeExists},
		{create{on: on{Session: 9}, Path: "/x", Ephemeral: true}, sessionExpired},
		{create{on: on{Session: 9}, Path: "/x"}, sessionExpired},
	} {
		_, got := x.create(5, c.what)
		require.Equal(t, c.want, got, c.what)
	}
	for _, c := range []struct {
		path    string
		version int64
		want    code
	}{
		{"/job", -1, notEmpty}, {"/none", -1, noNode}, {"/", -1, noNode},
		{"/job/lock-0000000000", 1, badVersion}, {"/job/lock-0000000000", 0, ok},
		{"/job/lock-0000000000", -1, noNode}, {"/job", -1, ok},
	} {
		_, got := x.remove(6, c.path, c.version)
		require.Equal(t, c.want, got, c.path)
	}
}

// TestSetData changes the data if the version is the one that is asked for.
func TestSetData(t *testing.T) {
	t.Parallel()
	x := forest(t)
	_, c := x.set(4, setData{Path: "/job", Data: "a", Version: 0})
	require.Equal(t, ok, c)
	z, c := x.set(5, setData{Path: "/job", Data: "b", Version: -1})
	require.Equal(t, ok, c)
	require.Equal(t, Stat{Czxid: 3, Mzxid: 5, Version: 2}, z.stat)
	_, c = x.set(6, setData{Path: "/job", Data: "c", Version: 1})
	require.Equal(t, badVersion, c)
	_, c = x.set(6, setData{Path: "/none", Version: -1})
	require.Equal(t, noNode, c)
	require.Equal(t, "b", x.nodes["/job"].data)
}

// TestEnd: a session's nodes go with it, and no other's.
func TestEnd(t *testing.T) {
	t.Parallel()
	x := forest(t)
	x.queue(4, 1)
	x.queue(5, 2)
	x.queue(6, 1)
	gone := x.end(7, 1)
	require.Len(t, gone, 2)
	require.Equal(t, []string{"lock-0000000001"}, x.nodes["/job"].names())
	require.Equal(t, string(sessionExpired), x.queue(8, 1))
	require.Empty(t, x.end(9, 1), "it has ended")
}

// TestBucket: a session ends at the whole tick after its timeout, never at the very
// instant (ExpiryQueue.roundToNextInterval).
func TestBucket(t *testing.T) {
	t.Parallel()
	const tick, timeout = 2 * time.Second, 10 * time.Second
	for now, want := range map[time.Duration]time.Duration{
		0: 12 * time.Second, 1: 12 * time.Second, 1999 * time.Millisecond: 12 * time.Second,
		2*time.Second - 1: 12 * time.Second, 2 * time.Second: 14 * time.Second,
	} {
		require.Equal(t, want, bucket(now, timeout, tick), now)
	}
}

// TestPredecessor is by sequence number, whatever comes before it in the name.
func TestPredecessor(t *testing.T) {
	t.Parallel()
	list := []string{"_c_b-lock-0000000007", "_c_z-lock-0000000002", "_c_a-lock-0000000010", "lock-0000000009"}
	for _, c := range []struct {
		mine, before string
		found        bool
	}{
		{"_c_z-lock-0000000002", "", true},
		{"_c_b-lock-0000000007", "_c_z-lock-0000000002", true},
		{"lock-0000000009", "_c_b-lock-0000000007", true},
		{"_c_a-lock-0000000010", "lock-0000000009", true},
		{"lock-0000000011", "_c_a-lock-0000000010", false},
	} {
		before, found := predecessor(list, c.mine)
		require.Equal(t, c.before, before, c.mine)
		require.Equal(t, c.found, found, c.mine)
	}
}

// TestTimes of a client are ClientCnxn's, in whole milliseconds.
func TestTimes(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration][2]time.Duration{
		10 * time.Second: {6666 * time.Millisecond, 3333 * time.Millisecond},
		4 * time.Second:  {2666 * time.Millisecond, 1333 * time.Millisecond},
		40 * time.Second: {26666 * time.Millisecond, 13333 * time.Millisecond},
		time.Second:      {666 * time.Millisecond, 333 * time.Millisecond},
	} {
		require.Equal(t, want, [2]time.Duration{readTimeout(timeout), pingAfter(timeout)}, timeout)
	}
}
