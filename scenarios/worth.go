package scenarios

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// replicaLag is how far the replica is behind where a scenario does not say.
const replicaLag = 200 * time.Millisecond

// oneOf is a lock on one Redis, on one with a replica, or on five.
func oneOf(system string, lag time.Duration) models.System {
	switch system {
	case "replica":
		return redis.SetNX{Replicas: 1, Lag: lag}
	case "redlock":
		return redis.Redlock{}
	}
	return redis.SetNX{}
}

// failoverOdds is K2 and what antirez holds against it: how often a job is done twice
// when a node dies at any instant of two seconds, in the middle of which c1 gets the
// lock.
func failoverOdds() *Scenario {
	system, lag := "replica", replicaLag
	const within = 2 * time.Second
	s := &Scenario{
		Name:   "failover-odds",
		Pair:   "overkill",
		Claim:  "where the node dies before its replica knows of the lock, the job runs twice; of five nodes, one that dies changes nothing",
		Claims: []string{"K2", "T19", "S20", "S28", "S43"},
	}
	s.Params = []Param{
		choice("system", &system, []string{"single", "replica", "redlock"}, "one Redis that restarts empty, one whose replica takes over, or five of which one restarts empty"),
		milliseconds("lag", &lag, 0, 900*time.Millisecond, "how far the replica is behind"),
	}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System: oneOf(system, lag),
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "mailer"}},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript("until 1s; acquire; do mailer report; work 3s; release")},
					{Name: "c2", Script: trial.MustScript("until 2500ms; try; do mailer report; release")},
				},
			},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Vary = func(spec *trial.Spec, choose *rand.Rand) {
		at := faults.At(time.Duration(choose.Int64N(int64(within))))
		var dies faults.Action = faults.Restart{Server: "r1", How: faults.PowerLoss}
		switch system {
		case "replica":
			dies = faults.Failover{Primary: "r1", Replica: "r2"}
		case "redlock":
			dies = faults.Restart{Server: fmt.Sprintf("r%d", 1+choose.IntN(5)), How: faults.PowerLoss}
		}
		spec.Schedule = faults.Schedule{{Anchor: at, Action: dies}}
	}
	// c1's SET reaches r1 a hop after 1 s, and the replica a lag and another hop later.
	s.Share = func() Share {
		set := time.Second + hop
		lost, why := time.Duration(0), "one of c1's five votes is lost, and c2 gets that one alone"
		switch system {
		case "single":
			lost, why = within-set, fmt.Sprintf("the key is lost if the node dies from %s on, of %s", short(set), short(within))
		case "replica":
			lost, why = lag+hop, fmt.Sprintf("the key is lost if the node dies from %s to lag + 1ms later, of %s", short(set), short(within))
		}
		const runs = 2000
		want := float64(lost) / float64(within)
		return Share{
			Of: "a job that is done twice", Hit: doneTwice,
			Runs: runs, Want: want, Tolerance: fourSigma(want, runs),
			Because: why + "; give or take four standard deviations",
		}
	}
	s.Control = func() Control { return turned("failover-odds", "system", system, "redlock", "replica") }
	return s
}

func doneTwice(r *trial.Result) bool {
	for _, w := range r.Damage.Events {
		if w.Kind == check.DuplicateEffect {
			return true
		}
	}
	return false
}

// lockMessages is the price of it (K2): what it takes to lock and unlock once.
func lockMessages() *Scenario {
	system := "redlock"
	s := &Scenario{
		Name:   "lock-messages",
		Pair:   "overkill",
		Claim:  "to lock and unlock once takes 4 messages with one Redis, 6 with a replica, 20 with five",
		Claims: []string{"K2", "T19", "S30"},
	}
	s.Params = []Param{choice("system", &system, []string{"single", "replica", "redlock"}, "one Redis, one with a replica, or five")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:  oneOf(system, replicaLag),
			Cast:    trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("acquire; work 1s; release")}}},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		sent := 4
		e.Because = "SET and its answer, DEL and its answer: 4 messages"
		switch system {
		case "replica":
			sent += 2
			e.Because += ", and 2 that tell the replica"
		case "redlock":
			sent *= 5
			e.Because += ", with each of 5 nodes: 20"
		}
		e.Figures = []Figure{{messages, strconv.Itoa(sent)}}
		return e
	}
	s.Control = func() Control { return turned("lock-messages", "system", system, "single", "redlock") }
	return s
}
