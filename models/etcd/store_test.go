package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// noLeases is for stores without any.
func noLeases(int64) bool { return false }

// TestRevisions: a transaction that changes something has one revision; a key keeps
// its create revision until it is deleted.
func TestRevisions(t *testing.T) {
	t.Parallel()
	s := newStore()
	do := func(ops ...op) outcome { return s.apply(txn{then: ops}, noLeases) }
	require.Equal(t, int64(1), do(op{kind: read, key: "a"}).revision, "a read changes nothing")

	o := do(op{kind: put, key: "a", value: "x"}, op{kind: put, key: "b"})
	require.Equal(t, int64(2), o.revision)
	require.Equal(t, keyValue{key: "a", value: "x", create: 2, mod: 2, number: 1}, o.results[0].keyValue)

	o = do(op{kind: put, key: "a", value: "y"})
	require.Equal(t, keyValue{key: "a", value: "y", create: 2, mod: 3, number: 2}, o.results[0].keyValue)

	require.True(t, do(op{kind: remove, key: "a"}).results[0].found)
	require.False(t, do(op{kind: remove, key: "a"}).results[0].found)
	require.Equal(t, int64(4), s.revision, "the second deletion had nothing to delete")

	o = do(op{kind: put, key: "a"})
	require.Equal(t, keyValue{key: "a", create: 5, mod: 5, number: 1}, o.results[0].keyValue)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.apply(txn{then: []op{{kind: put, key: "a", value: "x"}}}, noLeases)
	s.apply(txn{then: []op{{kind: put, key: "a", value: "y"}}}, noLeases)
	for _, c := range []struct {
		name string
		compare
		want bool
	}{
		{"create revision", compare{"a", createRevision, 2, ""}, true},
		{"another create revision", compare{"a", createRevision, 3, ""}, false},
		{"mod revision", compare{"a", modRevision, 3, ""}, true},
		{"another mod revision", compare{"a", modRevision, 2, ""}, false},
		{"version", compare{"a", version, 2, ""}, true},
		{"another version", compare{"a", version, 1, ""}, false},
		{"value", compare{"a", value, 0, "y"}, true},
		{"another value", compare{"a", value, 0, "x"}, false},
		{"no key", compare{"b", createRevision, 0, ""}, true},
		{"no key, but wanted", compare{"b", createRevision, 1, ""}, false},
	} {
		o := s.apply(txn{compares: []compare{{"a", createRevision, 2, ""}, c.compare}}, noLeases)
		require.Equal(t, c.want, o.succeeded, c.name)
	}
	o := s.apply(txn{
		compares: []compare{{"a", createRevision, 0, ""}},
		then:     []op{{kind: put, key: "then"}}, other: []op{{kind: put, key: "else"}},
	}, noLeases)
	require.False(t, o.succeeded)
	require.True(t, s.get("else").found)
	require.False(t, s.get("then").found)
}

// TestPrefix: whose key under a prefix is the oldest, and which the next before one.
func TestPrefix(t *testing.T) {
	t.Parallel()
	s := newStore()
	for _, key := range []string{"job/3", "jobs/1", "job/1", "job/2"} { // revisions 2 to 5
		s.apply(txn{then: []op{{kind: put, key: key}}}, noLeases)
	}
	require.Equal(t, "job/3", s.read(op{kind: first, key: "job/"}).key)
	require.Equal(t, "job/2", s.read(op{kind: last, key: "job/", max: 9}).key)
	require.Equal(t, "job/1", s.read(op{kind: last, key: "job/", max: 4}).key)
	require.Equal(t, "job/3", s.read(op{kind: last, key: "job/", max: 3}).key, "jobs/1 is no key of job/")
	require.False(t, s.read(op{kind: last, key: "job/", max: 1}).found)
}

// TestLeased: a put names a lease that is there, or nothing of its transaction is
// done; the keys of a lease go in one revision.
func TestLeased(t *testing.T) {
	t.Parallel()
	s := newStore()
	seven := func(id int64) bool { return id == 7 }
	o := s.apply(txn{then: []op{{kind: put, key: "a"}, {kind: put, key: "b", lease: 8}}}, seven)
	require.Equal(t, outcome{noLease: true, revision: 1}, o)
	require.Empty(t, s.keys)

	s.apply(txn{then: []op{{kind: put, key: "a", lease: 7}, {kind: put, key: "b"}, {kind: put, key: "c", lease: 7}}}, seven)
	require.Len(t, s.removeLeased(7), 2)
	require.Equal(t, int64(3), s.revision)
	require.Empty(t, s.removeLeased(7))
	require.Equal(t, int64(3), s.revision)
	require.Equal(t, []deletion{{"a", 3}, {"c", 3}}, s.gone)
}

// TestWatched: a watch from a revision is told of the first deletion since.
func TestWatched(t *testing.T) {
	t.Parallel()
	s := newStore()
	for _, key := range []string{"job/1", "job/2"} {
		s.apply(txn{then: []op{{kind: put, key: key}}}, noLeases)
	}
	s.apply(txn{then: []op{{kind: remove, key: "job/1"}}}, noLeases) // revision 4
	s.apply(txn{then: []op{{kind: remove, key: "job/2"}}}, noLeases) // 5
	for _, c := range []struct {
		watch
		want int64
	}{
		{watch{"job/1", false, 3}, 4},
		{watch{"job/1", false, 4}, 4},
		{watch{"job/1", false, 5}, 0},
		{watch{"job/", true, 3}, 4},
		{watch{"job/", true, 5}, 5},
		{watch{"job/", true, 6}, 0},
		{watch{"job/", false, 1}, 0},
	} {
		require.Equal(t, c.want, s.deleted(c.watch), "%+v", c.watch)
	}
}
