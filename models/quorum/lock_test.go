package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/models"
	"locksim/sim"
)

// apart makes r3 slow for c1 and r1 for c2, so that c1 is answered by r1 and r2, and
// c2 by r2 and r3.
func apart() map[string]time.Duration {
	return slow(slow(nil, "c1", "r3", 2*hop), "c2", "r1", 2*hop)
}

// S22: A and B read token 5; A writes 6 on r1 and r2, B 6 on r2 and r3.
func TestS22DuplicateToken(t *testing.T) {
	s := newStage(t, Lock{}, apart())
	var before []int64
	s.client("c0", 0, func(p *sim.Process) {
		for range 5 {
			g, err := s.lock.Acquire(p, "k")
			require.NoError(t, err)
			require.NoError(t, s.lock.Release(p, "k", g))
			before = append(before, g.Token)
		}
	})
	a, b := s.acquire("c1", time.Second), s.acquire("c2", time.Second)
	s.run()
	require.Equal(t, []int64{1, 2, 3, 4, 5}, before)
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	require.EqualValues(t, 6, a.grant.Token)
	require.EqualValues(t, 6, b.grant.Token)
	require.Equal(t, []string{"r1", "r2"}, a.grant.Votes)
	require.Equal(t, []string{"r2", "r3"}, b.grant.Votes)
	// Both were written at 1.002: the greater value wins, everywhere.
	require.Equal(t, []string{"r2 overwritten c1", "r3 outdated c1", "r1 overwritten c1"}, s.facts()[15:])
}

// S22: the race is lost by who reads before the other's write has arrived: one
// round trip, and the way there.
func TestS22Gap(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	for _, repair := range []bool{false, true} {
		for ms := range 11 {
			gap := time.Duration(ms) * hop
			s.reset(Lock{ReadRepair: repair}, nil)
			a, b := s.acquire("c1", 0), s.acquire("c2", gap)
			s.run()
			require.NoError(t, a.err)
			if gap <= 2*hop {
				require.NoError(t, b.err, gap)
				require.Equal(t, a.grant.Token, b.grant.Token, gap)
			} else {
				require.ErrorIs(t, b.err, models.ErrHeld, gap)
			}
		}
	}
}

// S22, S24: a write that W have acknowledged is seen by a read of any R others if
// and only if W + R > N.
func TestS22WhyQuorumsOverlap(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	for n := 1; n <= 5; n++ {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("r%d", i+1))
		}
		for w := 1; w <= n; w++ {
			for r := 1; r <= n; r++ {
				// c1 reaches the first w, c2 is answered by the last r.
				links := map[string]time.Duration{}
				for _, name := range names[:n-r] {
					slow(links, "c2", name, hop)
				}
				s.reset(Lock{Nodes: n, Write: w, Read: r}, links)
				s.cut(2*hop, "c1", names[w:]...)
				a, seen := s.acquire("c1", 0), s.look("c2", time.Second)
				s.run()
				require.NoError(t, a.err)
				require.Equal(t, names[:w], a.grant.Votes)
				require.Equal(t, w+r > n, *seen == a.grant.Value, "N%d W%d R%d", n, w, r)
			}
		}
	}
}

// S22: 6 on r1 only. What a reader finds hangs on which two answer it, until one of
// them repairs.
func TestS22PartialWrite(t *testing.T) {
	for _, repair := range []bool{false, true} {
		t.Run(fmt.Sprint("repair ", repair), func(t *testing.T) {
			// Each reader is slow to hear of the one that it is to leave out.
			readers, links := []string{"c2", "c3", "c4", "c5"}, map[string]time.Duration{}
			for i, without := range []string{"r1", "r3", "r1", "r2"} {
				slow(links, readers[i], without, hop)
			}
			s := newStage(t, Lock{ReadRepair: repair}, links)
			s.cut(2*hop, "c1", "r2", "r3")
			a := s.acquire("c1", 0)
			var seen []*string
			for i, reader := range readers {
				seen = append(seen, s.look(reader, time.Duration(2+i)*time.Second))
			}
			s.run()
			require.EqualError(t, a.err, "1 of 3 replicas answered, want 2")
			require.NotErrorIs(t, a.err, models.ErrHeld, "nobody knows the outcome")
			mine, third := a.grant.Value, ""
			if repair {
				third = mine
			}
			require.Equal(t, []string{"", mine, third, mine}, []string{*seen[0], *seen[1], *seen[2], *seen[3]})
		})
	}
}

// The replicas and clients that are there when a quorum is not.
func TestNoQuorum(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.server("r1").Crash(false)
	s.server("r2").Crash(true)
	a := s.acquire("c1", 0)
	s.client("c2", 0, func(p *sim.Process) {
		err := s.lock.Release(p, "k", models.Grant{Value: "v"})
		require.EqualError(t, err, "1 of 3 replicas answered, want 2")
	})
	s.run()
	require.ErrorIs(t, a.err, models.ErrHeld, "it has written nothing")
	require.ErrorContains(t, a.err, "1 of 3 replicas answered, want 2")
	require.Equal(t, time.Second, s.w.Now(), "r2 does not answer at all")

	s.reset(Lock{}, nil)
	s.server("r1").Crash(false)
	s.server("r2").Crash(false)
	s.acquire("c1", 0)
	s.run()
	require.Equal(t, 2*hop, s.w.Now(), "two have refused the connection")
}

func TestReleaseOfWhatIsAnothers(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.client("c1", 0, func(p *sim.Process) {
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		require.Equal(t, 10*time.Second-5*hop, g.Deadline.Reading)
		require.Equal(t, 5*hop, g.Allowance, "500 ppm")
		p.Sleep(11 * time.Second)
		require.ErrorIs(t, s.lock.Release(p, "k", g), models.ErrNotHeld)
	})
	b := s.acquire("c2", 10*time.Second+2*hop)
	seen := s.look("c3", 12*time.Second)
	s.run()
	require.NoError(t, b.err)
	require.EqualValues(t, 2, b.grant.Token)
	require.Equal(t, b.grant.Value, *seen)
}

// A term ends at its very instant by each replica's own wall clock: 10.002 for a
// write of 0.002.
func TestExpiry(t *testing.T) {
	for _, c := range []struct {
		name string
		step time.Duration // of all replicas' clocks, at 1s
		one  bool          // only of r1's
		asks time.Duration // when the replicas are asked
		free bool
	}{
		{"just before", 0, false, 10*time.Second + hop, false},
		{"at the instant", 0, false, 10*time.Second + 2*hop, true},
		{"a clock ahead", 5 * time.Second, false, 5*time.Second + 2*hop, true},
		{"a clock behind", -5 * time.Second, false, 15*time.Second + hop, false},
		{"one clock ahead: a deletion with the same timestamp", 10 * time.Second, true, 2 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, Lock{}, nil)
			s.w.At(time.Second, func() {
				for _, name := range []string{"r1", "r2", "r3"} {
					if !c.one || name == "r1" {
						s.w.Machine(name).StepClock(c.step)
					}
				}
			})
			a, seen := s.acquire("c1", 0), s.look("c2", c.asks-hop)
			s.run()
			require.NoError(t, a.err)
			require.Equal(t, c.free, *seen == "")
		})
	}
}

// DDIA, chapter 5: the order of writes is that of clocks. Whoever writes after a
// client whose clock is ahead is acknowledged, and ignored.
func TestClockAhead(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.client("c1", 0, func(p *sim.Process) {
		p.Machine().StepClock(time.Minute)
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		require.NoError(t, s.lock.Release(p, "k", g))
	})
	b := s.acquire("c2", time.Second)
	seen := s.look("c3", 2*time.Second)
	s.run()
	require.NoError(t, b.err)
	require.Empty(t, *seen)
	require.Equal(t, []string{"r1 outdated c2", "r2 outdated c2", "r3 outdated c2"}, s.facts()[3:])
}

// The token is counted up from the greatest that was seen, though the record that
// counts is one with a smaller: c0's, whose clock is ahead, and which r1 has not.
func TestTokenIsCountedFromTheGreatest(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.cut(0, "c0", "r1")
	s.client("c0", 0, func(p *sim.Process) {
		p.Machine().StepClock(time.Minute)
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		require.NoError(t, s.lock.Release(p, "k", g))
	})
	a, b := s.acquire("c1", time.Second), s.acquire("c2", 2*time.Second)
	s.run()
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	require.EqualValues(t, 2, a.grant.Token)
	require.EqualValues(t, 3, b.grant.Token)
}

// S33, S22: a restarted replica has forgotten the lock and its tokens.
func TestRestart(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.cut(0, "c1", "r3")
	a := s.acquire("c1", 0)
	s.w.At(time.Second, func() {
		r2 := s.server("r2")
		require.Equal(t, "restarted empty", r2.Handler().(faults.Restarter).Crash(r2, faults.Kill))
		require.Equal(t, "back up", r2.Handler().(faults.Restarter).Restarted(r2))
	})
	s.cut(0, "c2", "r1")
	b := s.acquire("c2", 2*time.Second)
	s.run()
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	require.Equal(t, a.grant.Token, b.grant.Token)
	require.Equal(t, []string{"r2 restart c1"}, s.facts())
}

// A repair that brings the end of a term is no deletion by anybody.
func TestRepairOfAnExpiredRecord(t *testing.T) {
	s := newStage(t, Lock{ReadRepair: true}, nil)
	s.w.At(time.Second, func() { s.w.Machine("r1").StepClock(time.Minute) })
	s.acquire("c1", 0)
	seen := s.look("c2", 2*time.Second)
	s.run()
	require.Empty(t, *seen)
	require.Equal(t, []string{"r1 expired c1", "r2 expired c1"}, s.facts())
}

// What was over before a crash is not lost by it.
func TestRestartAfterTheTerm(t *testing.T) {
	s := newStage(t, Lock{}, nil)
	s.acquire("c1", 0)
	for i, at := range []time.Duration{10*time.Second + hop, 10*time.Second + 2*hop} {
		s.w.At(at, func() {
			node := s.server([]string{"r1", "r2"}[i])
			node.Handler().(faults.Restarter).Crash(node, faults.PowerLoss)
		})
	}
	s.run()
	require.Equal(t, []string{"r1 restart c1", "r2 expired c1"}, s.facts())
}

func TestRecordsInOrder(t *testing.T) {
	ordered := []record{
		nothing,
		{value: "z", stamp: -time.Hour},
		{value: "a", stamp: 1},
		{value: "b", stamp: 1},
		{stamp: 1},
		{value: "a", stamp: 2},
	}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, i > j, a.newer(b), "%v %v", a, b)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		lock Lock
		want string
	}{
		{Lock{Nodes: -1}, "quorum: nodes -1: want 1 to 99"},
		{Lock{Nodes: 100}, "quorum: nodes 100: want 1 to 99"},
		{Lock{Write: 4}, "quorum: write 4: want 1 to 3, the number of nodes"},
		{Lock{Write: -1}, "quorum: write -1: want 1 to 3, the number of nodes"},
		{Lock{Nodes: 5, Read: 6}, "quorum: read 6: want 1 to 5, the number of nodes"},
		{Lock{Read: -1}, "quorum: read -1: want 1 to 3, the number of nodes"},
		{Lock{TTL: -1}, "quorum: ttl -1ns: want more than 0"},
		{Lock{Timeout: -1}, "quorum: timeout -1ns: want more than 0"},
	} {
		_, err := c.lock.Open(sim.New())
		require.EqualError(t, err, c.want)
	}
}

// A run is a function of its configuration: the same trace in a fresh world and in
// one that was used before.
func TestDeterminism(t *testing.T) {
	kept := sim.New()
	defer kept.Close()
	for _, system := range []Lock{{}, {ReadRepair: true}, {Nodes: 5, Write: 4, Read: 2, TTL: time.Second, Timeout: 9 * hop}} {
		fresh := sim.New()
		want := trace(t, fresh, system)
		fresh.Close()
		require.Greater(t, len(want), 10_000)
		require.Equal(t, want, trace(t, kept, system))
		require.Equal(t, want, trace(t, kept, system))
	}
}

// trace is the history of a busy run: three clients, random delays, messages lost, a
// replica that restarts, and clocks that jump.
func trace(t *testing.T, w *sim.World, system Lock) string {
	t.Helper()
	w.Reset(sim.Config{Seed: 7, Latency: sim.Latency{Default: []time.Duration{hop, 2 * hop, 5 * hop}}})
	l, err := system.Open(w)
	require.NoError(t, err)
	sent := 0
	w.AddRule("lost", func(sim.Message) sim.Ruling {
		if sent++; sent%17 == 0 {
			return sim.Lose()
		}
		return sim.Pass()
	})
	for _, name := range []string{"c1", "c2", "c3"} {
		w.Go(name, func(p *sim.Process) {
			for range 10 {
				if g, err := l.Acquire(p, "k"); err == nil {
					p.Sleep(50 * hop)
					_ = l.Release(p, "k", g)
				}
				p.Sleep(time.Duration(p.Rand().IntN(100)) * hop)
			}
		})
	}
	w.At(200*hop, func() {
		s := w.Machine("r1").Server()
		s.Handler().(faults.Restarter).Crash(s, faults.PowerLoss)
	})
	w.At(300*hop, func() { w.Machine("r2").StepClock(time.Minute) })
	require.NoError(t, w.Run())
	return fmt.Sprintf("%+v", *w.History())
}
