package raft_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/faults"
	"locksim/history"
	"locksim/models/raft"
	"locksim/sim"
)

const (
	ms  = time.Millisecond
	sec = time.Second
	hop = ms
)

// fsync is the default of the group.
const fsync = 2 * ms

// play runs a group of registers, with faults and whatever before puts into the
// world, and returns what happened.
func play(t require.TestingT, w *sim.World, c sim.Config, group raft.Config, schedule string, before func(g *raft.Group)) *history.History {
	if c.Horizon == 0 {
		c.Horizon = 20 * sec
	}
	if c.Latency.Default == nil {
		c.Latency.Default = []time.Duration{hop}
	}
	w.Reset(c)
	g, err := raft.Open(w, group, func(*raft.Node) raft.Replica { return &register{} })
	require.NoError(t, err)
	before(g)
	require.NoError(t, faults.MustParse(schedule).Apply(w))
	require.NoError(t, w.Run())
	return w.History()
}

// run is play in a world of its own.
func run(t *testing.T, c sim.Config, group raft.Config, schedule string, before func(w *sim.World, g *raft.Group)) *history.History {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	return play(t, w, c, group, schedule, func(g *raft.Group) { before(w, g) })
}

// ask lets a client ask a node at an instant. done gets the answer, -1 where there
// is none within five seconds, and when it came.
func ask(w *sim.World, g *raft.Group, client, node string, at time.Duration, what any, done func(answer int, at time.Duration)) {
	w.Go(client, func(p *sim.Process) {
		p.Sleep(at)
		answer, err := sim.Call[int](p, g.Node(node).Server(), what, 5*sec)
		if err != nil {
			answer = -1
		}
		done(answer, w.Now())
	})
}

// leaders are the elections of h, as "3.509 n2 2", and those that stepped down, as
// "4s -n1 1".
func leaders(h *history.History) (list []string) {
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Elected:
			list = append(list, e.At.String()+" "+e.Who)
		case history.SteppedDown:
			list = append(list, e.At.String()+" -"+e.Who)
		}
	}
	return list
}

// hash is that of the history's file form.
func hash(t require.TestingT, h *history.History) string {
	var b bytes.Buffer
	require.NoError(t, history.Encode(&b, h))
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:8])
}

// value is the number that a node has.
func value(n *raft.Node) int { return n.Replica().(*register).value }

// anyFault is a line of a schedule for a group of n nodes, over by 40 s.
func anyFault(t *rapid.T, n int) string {
	node := func(name string) string { return fmt.Sprintf("n%d", rapid.IntRange(1, n).Draw(t, name)) }
	at := rapid.IntRange(0, 25_000).Draw(t, "at")
	size := fmt.Sprintf("%dms", rapid.IntRange(1, 10_000).Draw(t, "for"))
	a, b := node("node"), node("other")
	kind := rapid.SampledFrom([]string{"kill", "power-loss", "pause", "suspend", "partition", "cut", "rate"}).Draw(t, "kind")
	if a == b && (kind == "partition" || kind == "cut") {
		kind = "kill"
	}
	what := map[string]string{
		"kill":       "restart " + a + " kill " + size,
		"power-loss": "restart " + a + " power-loss " + size,
		"pause":      "pause " + a + " gc " + size,
		"suspend":    "pause " + a + " suspend " + size,
		"partition":  "partition " + a + "|" + b + " " + size,
		"cut":        "cut " + a + ">" + b + " " + size,
		"rate":       "clock-rate " + a + " +20%",
	}[kind]
	return fmt.Sprintf("at %dms %s", at, what)
}
