package scenarios

import (
	"time"

	"locksim/models"
	"locksim/models/sql"
)

// table is the row of a lease table whose clients measure how long an attempt took,
// and stop at the TTL. The token comes with the row.
func table(name string, standby bool, predicted ...Mark) contender {
	o := sql.Lease{Deadline: true, Timeout: time.Second}
	c := contender{
		Row:    tokened(name, Holds, predicted),
		target: target{servers: []string{"db"}, victim: "db", restart: briefly, deciding: 2},
		system: func(string) models.System { return o },
	}
	if standby {
		o.Standby, o.Lag = true, time.Second
		c.servers, c.heir = []string{"db", "db2"}, "db2"
		c.Fenced = Breaks // since a failover repeats a token
	}
	l := lapsing{
		cost:     func(string) time.Duration { return leasing("postgres") },
		deadline: 10 * time.Second,
		promised: ask + 10*time.Second - 6*time.Millisecond, decided: 3 * hop,
		gives: func(fault string) bool {
			switch fault {
			case "none", "restart": // what was committed is on the disk, and is a date
				return false
			case "failover":
				return standby
			}
			return true
		},
		tokens: func(fault, _ string) (int, int, string) {
			if fault == "failover" {
				return 1, 1, "the standby has not heard of c1's lease, and counts its token up from the same number"
			}
			return 1, 2, ""
		},
	}
	c.fate = l.fate
	return c
}

// advisory is the row of a lock that goes with a session of the database, and has no
// term and no token; or of one whose holder's connection is cut soon after it has the
// lock.
func advisory(name, cut string, predicted ...Mark) contender {
	c := contender{
		Row:    Row{Name: name, Predicted: predicted, Fenced: Nothing, Compared: Holds},
		target: target{servers: []string{"db", "db2"}, victim: "db", restart: briefly, heir: "db2", deciding: 1},
		system: func(string) models.System { return sql.Advisory{Standby: true, Timeout: time.Second} },
	}
	if c.cut = cut; cut != "" {
		c.spared = "advisory"
	}
	l := lapsing{
		cost: func(string) time.Duration { return ask },
		gives: func(fault string) bool {
			switch fault {
			case "restart", "restart-jump", "failover": // the session is gone
				return true
			}
			return cut != ""
		},
	}
	c.fate = l.fate
	return c
}
