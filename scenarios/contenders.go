package scenarios

import (
	"time"

	"locksim/models"
	"locksim/models/redis"
)

// contenders are the rows of section 3b, and the two that turn: Redlock without
// step 3, and one Redis whose client has it.
func contenders() []contender {
	const y, n, na = Holds, Breaks, Nothing
	const wait, cutOffAt = "power-loss 12s", "at 250ms  partition c1|n1,n2,n3"
	return []contender{
		majority("redlock", redis.Redlock{}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-monotonic", redis.Redlock{Clock: redis.Monotonic}, briefly, n, y, y, n, y, n, n, na),
		majority("redlock-everysec", redis.Redlock{Persistence: redis.EverySec}, briefly, n, y, n, n, y, n, n, na),
		majority("redlock-fsync", redis.Redlock{Persistence: redis.Always}, briefly, n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-fsync", redis.Redlock{Clock: redis.Monotonic, Persistence: redis.Always}, briefly, n, y, y, n, y, y, n, na),
		majority("redlock-delayed", redis.Redlock{}, wait+" wall", n, y, n, n, y, y, n, na),
		majority("redlock-monotonic-delayed", redis.Redlock{Clock: redis.Monotonic}, wait, n, y, y, n, y, y, y, na),
		majority("redlock-unmeasured", redis.Redlock{SkipValidity: true}, briefly, n, n, n, n, n, n, n, na),
		single("redis", redis.SetNX{}, n, n, n, na, na, n, n, na),
		single("redis-measured", redis.SetNX{Deadline: true}, n, y, n, n, n, n, n, na),
		single("redis-replica", redis.SetNX{Replicas: 1, Lag: time.Second}, n, n, n, na, na, n, n, n),
		etcdRow("etcd", "", n, y, y, y, y, y, y, y),
		etcdRow("etcd-cut-off", cutOffAt, na, na, na, n, na, na, na, na),
		table("lease-table", false, n, y, n, n, y, y, n, na),
		table("lease-table-standby", true, n, y, n, n, y, y, n, n),
		advisory("advisory", "", y, y, y, y, y, n, n, n),
		advisory("advisory-cut-off", "at 250ms  reset c1 db", n, na, na, na, na, na, na, na),
		consulRow("consul", y, y, y, y, y, y, y, y),
		chubbyRow("chubby", 15*time.Second, y, y, y, y, y, y, y, y),
		chubbyRow("chubby-undelayed", 0, n, na, na, na, na, na, na, na),
		quorums("quorum", n, n, n, n, n, n, n, n),
		quorumsAtOnce("quorum-at-once", n, n, n, n, n, n, n, n),
		zookeeperRow("zookeeper", "", n, y, y, y, y, y, y, y),
		zookeeperRow("zookeeper-cut-off", cutOffAt, na, na, na, n, na, na, na, na),
		everywhere("sync-to-all", n, y, n, n, y, y, n, y),
		unlocked("no-lock"),
	}
}

// unlocked is the row without a lock. Nothing was predicted of who believes, and what a
// server's accident does is up to the store.
func unlocked(name string) contender {
	const na = Nothing
	return contender{
		Row:    Row{Name: name, Predicted: []Mark{na, na, na, na, na, na, na, na}, Fenced: na, Compared: Holds, Unlocked: true},
		target: target{deciding: 1},
		system: func(string) models.System { return nil },
		fate: func(fault, _ string) fate {
			first := holder(fault, "cas", 0)
			if fault == "pause-acquire" {
				first.write = ask + paused + hop
			}
			return fate{first: first, second: successor("cas", comes(fault)), why: "both have read doc before either writes"}
		},
	}
}
