package scenarios

import (
	"slices"
	"time"

	"locksim/models/redis"
)

// contenders are the rows of section 3b, in its order, and some that turn, of which it
// says nothing: Redlock without step 3, one Redis whose client has it, etcd's client that
// does not listen. Where what was predicted hangs on something, there is a
// row for either case. A restart and a jump together were expected to break what one of
// them breaks, and what a footnote says besides.
func contenders() []contender {
	const y, n, na = Holds, Breaks, Nothing
	const wait = "power-loss 12s"
	return []contender{
		majority("redlock", redis.Redlock{}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-monotonic", redis.Redlock{Clock: redis.Monotonic}, briefly, n, y, y, n, y, n, n, na),
		majority("redlock-everysec", redis.Redlock{Persistence: redis.EverySec}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-fsync", redis.Redlock{Persistence: redis.Always}, briefly, n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-fsync", redis.Redlock{Clock: redis.Monotonic, Persistence: redis.Always}, briefly, n, y, y, n, y, y, n, na),
		majority("redlock-delayed", redis.Redlock{}, wait+" wall", n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-delayed", redis.Redlock{Clock: redis.Monotonic}, wait, n, y, y, n, y, y, y, na),
		unpredicted(majority("redlock-unmeasured", redis.Redlock{SkipValidity: true}, briefly)),
		single("redis", redis.SetNX{}, n, n, n, na, na, n, n, na),
		unpredicted(single("redis-measured", redis.SetNX{Deadline: true})),
		single("redis-replica", redis.SetNX{Replicas: 1, Lag: time.Second}, n, n, n, na, na, n, n, n),
		everywhere("sync-to-all", n, y, n, n, y, y, n, y),
		quorums("quorum", n, n, n, n, n, n, n, n),
		quorumsAtOnce("quorum-at-once", n, n, n, n, n, n, n, n),
		table("lease-table", false, n, y, n, n, y, y, n, na),
		table("lease-table-standby", true, n, y, n, n, y, y, n, n),
		advisory("advisory", "", y, y, y, y, y, n, n, n),
		advisory("advisory-cut-off", "at 250ms  reset c1 db", n, na, na, na, na, na, na, na),
		etcdRow("etcd", "", false, n, y, y, y, y, y, y, y),
		etcdRow("etcd-cut-off", cutOffFrom, false, na, na, na, n, na, na, na, na),
		unpredicted(etcdRow("etcd-deaf", "", true)),
		zookeeperRow("zookeeper", "", n, y, y, y, y, y, y, y),
		zookeeperRow("zookeeper-cut-off", cutOffFrom, na, na, na, n, na, na, na, na),
		consulRow("consul", y, y, y, y, y, y, y, y),
		chubbyRow("chubby", 15*time.Second, y, y, y, y, y, y, y, y),
		chubbyRow("chubby-undelayed", 0, n, na, na, na, na, na, na, na),
		lockless("no-lock", na, na, na, na, na, na, na, na),
	}
}

// unpredicted is a row of which the ledger says nothing.
func unpredicted(c contender) contender {
	c.Predicted = slices.Repeat([]Mark{Nothing}, len(Faults()))
	c.Fenced, c.Compared = Nothing, Nothing
	return c
}
