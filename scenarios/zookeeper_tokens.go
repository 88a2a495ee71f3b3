package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/raft"
	"locksim/models/resource"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperSequence is S14 and T21: what rises through a crash of the leader, and what
// does not rise when nobody has wanted the lock for a while. Curator makes the lock's
// node a container, which is deleted when it has been empty; with it goes the count.
func zookeeperSequence() *Scenario {
	token, node, crash := "zxid", "container", "kill"
	s := &Scenario{
		Name:   "zookeeper-sequence",
		Pair:   "consensus",
		Claim:  "the zxid rises through everything; a sequence number begins anew with the lock's node, which Curator lets ZooKeeper delete",
		Claims: []string{"S14", "S12", "K7", "T21"},
	}
	s.Also = []string{"token=sequence", "token=sequence node=plain"}
	s.Params = []Param{
		choice("token", &token, []string{"zxid", "sequence"}, "what the fencing token is"),
		choice("node", &node, []string{"container", "plain"}, "whether the lock's node goes when it has been empty"),
		choice("crash", &crash, []string{"kill", "power-loss", "off"}, "what happens to the leader at 5s"),
	}
	s.Spec = func() trial.Spec {
		system := zookeeper.Mutex{
			Config: raft.Config{Timeouts: []time.Duration{time.Second, 1200 * time.Millisecond, 3 * time.Second}},
			Plain:  node == "plain",
		}
		mustText(&system.Token, token)
		spec := trial.Spec{System: system, Latency: sim.Every(hop), Horizon: 90 * time.Second}
		spec.Cast.Resources = []models.Resource{resource.Fenced("doc")}
		for i, at := range []string{"1s", "3s", "10s", "80s"} {
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{
				Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript("until " + at + "; acquire; write doc; release"),
			})
		}
		if crash != "off" {
			spec.Schedule = faults.MustParse("at 5s  restart n1 " + crash + " 1h")
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Granted: []string{"c1", "c2", "c3", "c4"}, Because: "the sequence numbers are 0 to 3, the tokens one more",
		}
		list := "1, 2, 3, 4"
		switch {
		case token == "zxid":
			list, e.Because = zxids(crash != "off", node == "container")
		case node == "container":
			list = "1, 2, 3, 1"
			e.Promise, e.Breaches = check.Broken, []string{check.TokenOrder}
			e.Rejected = []string{"c4"}
			e.Because = "the leader has deleted the lock's node, which was empty, when c4 comes; its sequence number is 0 again, and the store has seen token 3"
		}
		e.Figures = []Figure{{tokens, list}}
		return e
	}
	s.Control = func() Control {
		if s.Expect().Promise == check.Broken {
			return Control{"zookeeper-sequence", []string{"token=zxid"}}
		}
		return Control{"zookeeper-sequence", []string{"token=sequence", "node=container"}}
	}
	return s
}

// zxids are the places in the log of the four nodes: each client opens a session,
// creates its node and deletes it; a leader begins with an entry of its own; a
// container is deleted before c4 comes.
func zxids(crash, container bool) (list, because string) {
	zxid := 1 // n1's
	var made []string
	for i := range 4 {
		if i == 2 && crash {
			zxid++
		}
		if i == 3 && container {
			zxid++
		}
		made = append(made, fmt.Sprint(zxid+2))
		zxid += 3
	}
	list = strings.Join(made, ", ")
	return list, "entry 1 of the log is n1's own; each client's session, node and deletion are one more each; so is a new leader's, and the end of the container: " + list
}

// zookeeperRandomToken is S14: a random number that comes with the lock has no order.
func zookeeperRandomToken() *Scenario {
	token := "random"
	s := &Scenario{
		Name:   "zookeeper-random-token",
		Pair:   "consensus",
		Claim:  "of two random numbers the second is smaller half of the time: no token",
		Claims: []string{"S14", "K8"},
	}
	s.Params = []Param{choice("token", &token, []string{"random", "zxid"}, "what the fencing token is")}
	s.Spec = func() trial.Spec {
		system := zookeeper.Mutex{}
		mustText(&system.Token, token)
		return trial.Spec{
			System:  system,
			Cast:    two("acquire; release", "until 500ms; acquire; release"),
			Latency: sim.Every(hop),
			Horizon: time.Second,
		}
	}
	s.Share = func() Share {
		want := map[string]float64{"random": 0.5, "zxid": 0}[token]
		return Share{
			Of: "the second token is not greater than the first", Hit: func(r *trial.Result) bool { return r.Promise.Status == check.Broken },
			Runs: 1000, Want: want, Tolerance: fourSigma(want, 1000),
			Because: "of two random values either is the greater with the same chance, within four standard deviations; a zxid rises",
		}
	}
	s.Control = func() Control { return turned("zookeeper-random-token", "token", token, "zxid", "random") }
	return s
}
