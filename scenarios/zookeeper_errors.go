package scenarios

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models/zookeeper"
	"locksim/sim"
	"locksim/trial"
)

// zookeeperLostReply is the recipe's note on recoverable errors: the node is created,
// and the client is not told. Its session goes on, and with it the node.
func zookeeperLostReply() *Scenario {
	session, recipe := 10*time.Second, "without-guid"
	s := &Scenario{
		Name:   "zookeeper-lost-reply",
		Pair:   "session",
		Claim:  "a client that is not told of the node that it has made, and makes another, waits for itself, and all others with it; a guid in the name tells",
		Claims: []string{"S45"},
	}
	s.Also = []string{"recipe=go-zookeeper"}
	s.Params = []Param{
		milliseconds("session", &session, 4*time.Second, 40*time.Second, "the timeout of a session"),
		choice("recipe", &recipe, []string{"without-guid", "curator", "go-zookeeper"}, "whose recipe it is: all but the first have a guid"),
	}
	s.Spec = func() trial.Spec {
		system := zookeeper.Mutex{Session: session}
		mustText(&system.Recipe, recipe)
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("acquire; work 1s; release")},
				{Name: "c2", Script: trial.MustScript("until 1s; acquire; release")},
			}},
			Schedule: faults.MustParse("after c1.send#1  cut n1>c1"),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	// c1 has heard last when it was connected. It takes the connection for lost, is let in
	// by n2 in 4 hops, and with a guid finds its node by two reads; a third tells that it
	// is the lowest. Its release goes through n2.
	s.Expect = func() Expectation {
		lost := zkWrite + zkDeaf(session)
		a1 := lost + 4*hop + 3*zkRead
		a2 := a1 + time.Second + 2*hop + zkCommit + zkWake
		e := Expectation{
			Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK,
			Granted: []string{"c1", "c2"}, Longest: a2 - time.Second,
			Because: fmt.Sprintf("c1 takes the connection for lost at %s and finds its node through n2, which it knows at %s to be the lowest; c2 has the lock at %s", short(lost), short(a1), short(a2)),
		}
		if recipe == "without-guid" {
			e.Progress, e.Granted, e.Longest = check.Stalled, []string{}, 0
			e.Because = fmt.Sprintf("c1 takes the connection for lost at %s and makes a second node; its first is the lowest for as long as it pings", short(lost))
		}
		return e
	}
	s.Control = func() Control {
		return turned("zookeeper-lost-reply", "recipe", recipe, "curator", "without-guid")
	}
	return s
}

// zookeeperOrphan is H17: the node is made, the list of the children fails, and Lock
// returns an error. The node stays, and the session with it.
func zookeeperOrphan() *Scenario {
	session, recipe, dies := 10*time.Second, "go-zookeeper", "off"
	const death = 20 * time.Second
	s := &Scenario{
		Name:   "zookeeper-orphan",
		Pair:   "session",
		Claim:  "a lock that fails and leaves its node behind locks everybody out for as long as its client's session lasts",
		Claims: []string{"H17", "S45"},
	}
	s.Also = []string{"dies=on"}
	s.Params = []Param{
		milliseconds("session", &session, 4*time.Second, 20*time.Second, "the timeout of a session"),
		choice("recipe", &recipe, []string{"go-zookeeper", "curator"}, "what the client does about the error"),
		choice("dies", &dies, []string{"off", "on"}, "whether c1 dies at 20s"),
	}
	s.Spec = func() trial.Spec {
		system := zookeeper.Mutex{Session: session}
		mustText(&system.Recipe, recipe)
		schedule := "after c1.send#2  cut n1>c1"
		if dies == "on" {
			schedule += fmt.Sprintf("\nat %s  kill c1", death)
		}
		return trial.Spec{
			System: system,
			Cast: trial.Cast{Clients: []trial.Client{
				{Name: "c1", Script: trial.MustScript("try; work 1s; release; work 1h")},
				{Name: "c2", Script: trial.MustScript("until 1s; acquire; work 1s; release")},
			}},
			Schedule: faults.MustParse(schedule),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		lost := 2*zkWrite + zkDeaf(session)
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if recipe == "curator" {
			a1 := lost + 4*hop + zkRead
			a2 := a1 + time.Second + 2*hop + zkCommit + zkWake
			e.Granted, e.Longest = []string{"c1", "c2"}, a2-time.Second
			e.Because = fmt.Sprintf("c1 takes the connection for lost at %s, lists again through n2 and has the lock at %s, c2 at %s", short(lost), short(a1), short(a2))
			return e
		}
		e.Progress, e.Granted = check.Stalled, []string{}
		e.Because = fmt.Sprintf("c1's attempt fails at %s; its node stays, and is lower than c2's", short(lost))
		if dies == "on" {
			end := zkEnd(heardThroughFollower(lost, death, session), session)
			a2 := end + zkCommit + zkWake
			e.Progress, e.Granted, e.Longest = check.OK, []string{"c2"}, a2-time.Second
			e.Because += fmt.Sprintf(", until c1's session ends at %s", short(end))
		}
		return e
	}
	s.Control = func() Control {
		return turned("zookeeper-orphan", "recipe", recipe, "curator", "go-zookeeper")
	}
	return s
}

// heardThroughFollower is when the leader hears last of a client that connects to n2
// at an instant and pings until its death: when it is asked to let it in, or a hop
// after the half tick that follows the last ping's arrival.
func heardThroughFollower(connects, death, session time.Duration) time.Duration {
	ping := zkLast(connects, death, session)
	if ping == connects {
		return connects + 2*hop
	}
	return (ping+hop)/(zkTick/2)*(zkTick/2) + zkTick/2 + hop
}
