package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/models"
	"locksim/sim"
)

// drawLinks draws how long a message takes, for each of the clients and replicas.
func drawLinks(t *rapid.T, clients, nodes int) map[string]time.Duration {
	links := map[string]time.Duration{}
	for c := 1; c <= clients; c++ {
		for n := 1; n <= nodes; n++ {
			there, back := fmt.Sprintf("c%d>r%d", c, n), fmt.Sprintf("r%d>c%d", n, c)
			links[there] = time.Duration(rapid.IntRange(1, 50).Draw(t, there)) * hop
			links[back] = time.Duration(rapid.IntRange(1, 50).Draw(t, back)) * hop
		}
	}
	return links
}

// drawQuorums draws a number of replicas, and quorums that overlap.
func drawQuorums(t *rapid.T) Lock {
	n := rapid.IntRange(1, 5).Draw(t, "N")
	w := rapid.IntRange(1, n).Draw(t, "W")
	return Lock{Nodes: n, Write: w, Read: rapid.IntRange(n-w+1, n).Draw(t, "R")}
}

// S22: with W + R > N, and no fault, grants that follow one another have tokens that
// follow one another, over whatever links.
func TestTokensOfSequentialGrantsRise(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	rapid.Check(t, func(t *rapid.T) {
		system := drawQuorums(t)
		system.ReadRepair = rapid.Bool().Draw(t, "read repair")
		s.reset(system, drawLinks(t, 3, system.Nodes))
		var tokens []int64
		order := rapid.SliceOfN(rapid.IntRange(1, 3), 6, 6).Draw(t, "order")
		for c := 1; c <= 3; c++ {
			s.client(fmt.Sprintf("c%d", c), 0, func(p *sim.Process) {
				for i, who := range order {
					p.Sleep(time.Duration(i+1)*time.Second - s.w.Now())
					if who != c {
						continue
					}
					g, err := s.lock.Acquire(p, "k")
					require.NoError(t, err)
					tokens = append(tokens, g.Token)
					require.NoError(t, s.lock.Release(p, "k", g))
				}
			})
		}
		s.run()
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, tokens)
	})
}

// S22: of two that ask at about the same time, at least one gets the lock; where both
// do, both have the same token.
func TestTwoAtOnceHaveOneToken(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	rapid.Check(t, func(t *rapid.T) {
		system := drawQuorums(t)
		s.reset(system, drawLinks(t, 2, system.Nodes))
		a := s.acquire("c1", 0)
		b := s.acquire("c2", time.Duration(rapid.IntRange(0, 200).Draw(t, "gap"))*hop)
		s.run()
		switch {
		case a.err == nil && b.err == nil:
			require.Equal(t, a.grant.Token, b.grant.Token)
		case a.err == nil:
			require.ErrorIs(t, b.err, models.ErrHeld)
		default:
			require.ErrorIs(t, a.err, models.ErrHeld)
			require.NoError(t, b.err)
		}
	})
}

// DDIA, chapter 9: a reader that repairs before it goes on never lets a later one
// find less, however few replicas the write had reached; provided that it asks so
// many that the later one asks one of them, more than half.
func TestReadRepairMakesReadsMonotonic(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	rapid.Check(t, func(t *rapid.T) {
		system := drawQuorums(t)
		system.ReadRepair = true
		system.Read = max(system.Read, system.Nodes/2+1)
		s.reset(system, drawLinks(t, 4, system.Nodes))
		s.acquire("c1", 0)
		for n := rapid.IntRange(0, system.Nodes).Draw(t, "reached") + 1; n <= system.Nodes; n++ {
			s.loseSecond("c1", fmt.Sprintf("r%d", n)) // its write, after its read
		}
		var seen []*string
		for i := range 3 {
			seen = append(seen, s.look(fmt.Sprintf("c%d", i+2), time.Duration(i+2)*time.Second))
		}
		s.run()
		for i := range 2 {
			require.False(t, *seen[i] != "" && *seen[i+1] == "", "read %d", i+1)
		}
	})
}

// Two readers of four that ask two each need not have asked one in common.
func TestReadRepairOfAMinority(t *testing.T) {
	links := map[string]time.Duration{}
	for link, by := range map[string]string{"c2": "r3,r4", "c3": "r1,r2"} {
		for node := range strings.SplitSeq(by, ",") {
			slow(links, link, node, hop)
		}
	}
	s := newStage(t, Lock{Nodes: 4, Write: 3, Read: 2, ReadRepair: true}, links)
	s.cut(2*hop, "c1", "r2", "r3", "r4")
	a := s.acquire("c1", 0)
	first, second := s.look("c2", 2*time.Second), s.look("c3", 3*time.Second)
	s.run()
	require.Equal(t, a.grant.Value, *first)
	require.Empty(t, *second)
}
