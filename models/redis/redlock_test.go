package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

var _ models.Extender = (*redlock)(nil)

// takes lets another client's key stand on the named nodes from the start.
func (s *stage) takes(names ...string) {
	for _, name := range names {
		s.node(name).set(s.server(name), &Set{"k", "theirs", time.Hour}, "another")
	}
}

// cut lets the named nodes hear nothing.
func (s *stage) cut(names ...string) {
	s.w.AddRule("cut", func(m sim.Message) sim.Ruling {
		for _, name := range names {
			if m.To == name {
				return sim.Lose()
			}
		}
		return sim.Pass()
	})
}

func (s *stage) value(node string) string { return s.node(node).keys["k"].value }

// S30: one attempt on five nodes at 1 ms a hop.
func TestRedlockAcquire(t *testing.T) {
	const timeout = 50 * hop
	tests := []struct {
		name        string
		sends       Sends
		taken, cut  []string
		votes       []string // nil: refused
		done        time.Duration
		leftOnNodes []string // afterwards
	}{
		{"5 of 5", OneByOne, nil, nil, []string{"r1", "r2", "r3", "r4", "r5"}, 10 * hop, []string{"r1", "r2", "r3", "r4", "r5"}},
		{"3 of 5, 2 taken", OneByOne, []string{"r1", "r3"}, nil, []string{"r2", "r4", "r5"}, 10 * hop, []string{"r2", "r4", "r5"}},
		{"3 of 5, 2 cut off", OneByOne, nil, []string{"r1", "r3"}, []string{"r2", "r4", "r5"}, 6*hop + 2*timeout, []string{"r2", "r4", "r5"}},
		{"2 of 5", OneByOne, []string{"r1", "r3", "r4"}, nil, nil, 20 * hop, nil},
		{"2 of 5, 3 cut off", OneByOne, nil, []string{"r1", "r3", "r4"}, nil, 2 * (4*hop + 3*timeout), nil},
		{"parallel, 5 of 5", Parallel, nil, nil, []string{"r1", "r2", "r3", "r4", "r5"}, 2 * hop, []string{"r1", "r2", "r3", "r4", "r5"}},
		{"parallel, 3 of 5, 2 cut off", Parallel, nil, []string{"r1", "r3"}, []string{"r2", "r4", "r5"}, timeout, []string{"r2", "r4", "r5"}},
		{"parallel, 2 of 5", Parallel, []string{"r1", "r3", "r4"}, nil, nil, 4 * hop, nil},
		{"parallel, 2 of 5, 3 cut off", Parallel, nil, []string{"r1", "r3", "r4"}, nil, 2 * timeout, nil},
	}
	for _, test := range tests {
		t.Run("S30 "+test.name, func(t *testing.T) {
			s := newStage(t, Redlock{Sends: test.sends})
			s.takes(test.taken...)
			s.cut(test.cut...)
			a := s.acquire("c1", 0)
			s.run()

			require.Equal(t, test.done, a.done)
			if test.votes == nil {
				require.ErrorIs(t, a.err, models.ErrHeld)
			} else {
				require.NoError(t, a.err)
				require.Equal(t, test.votes, a.grant.Votes)
				require.Equal(t, &models.Deadline{Clock: clock.Monotonic, Reading: 9898 * hop}, a.grant.Deadline)
				require.Equal(t, ttl, a.grant.Term)
				require.Equal(t, 102*hop, a.grant.Allowance)
			}
			var left []string
			for _, node := range []string{"r1", "r2", "r3", "r4", "r5"} {
				if v := s.value(node); v != "" && v != "theirs" {
					left = append(left, node)
				}
			}
			require.Equal(t, test.leftOnNodes, left)
		})
	}
}

// S31 and S40: a client that is frozen between sending and reading has the lock
// only if something of TTL - elapsed - drift is left. Parallel, so that elapsed is
// the pause and a hop; without the pause it is two hops.
func TestRedlockValidity(t *testing.T) {
	const least = ttl - 102*hop // elapsed that leaves nothing
	tests := []struct {
		name   string
		system Redlock
		pause  time.Duration // from the first hop on
		kind   sim.Pause
		step   time.Duration // of the client's wall clock, in the pause
		ok     bool
	}{
		{"S31 1ns before", Redlock{}, least - hop - 1, sim.GC, 0, true},
		{"S31 nothing left", Redlock{}, least - hop, sim.GC, 0, false},
		{"S31 without drift, 1ns before", Redlock{NoDrift: true}, ttl - hop - 1, sim.GC, 0, true},
		{"S31 without drift, nothing left", Redlock{NoDrift: true}, ttl - hop, sim.GC, 0, false},
		{"S40 K12", Redlock{}, 14 * time.Second, sim.GC, 0, false},
		{"S40 skipped", Redlock{SkipValidity: true}, 14 * time.Second, sim.GC, 0, true},
		{"S39 wall clock steps back by less", Redlock{ClientClock: clock.Wall}, 14 * time.Second, sim.GC, -4 * time.Second, false},
		{"S39 wall clock steps back by more", Redlock{ClientClock: clock.Wall}, 14 * time.Second, sim.GC, -5 * time.Second, true},
		{"S39 monotonic clock, wall steps back", Redlock{}, 14 * time.Second, sim.GC, -time.Hour, false},
		{"monotonic clock of a suspended machine", Redlock{}, 14 * time.Second, sim.Suspend, 0, true},
		{"boottime of a suspended machine", Redlock{ClientClock: clock.Boottime}, 14 * time.Second, sim.Suspend, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.system.Sends = Parallel
			s := newStage(t, test.system)
			s.w.At(hop, func() {
				s.w.Machine("c1").Pause(test.kind, test.pause)
				s.w.Machine("c1").StepClock(test.step)
			})
			a := s.acquire("c1", 0)
			s.run()
			if !test.ok {
				require.ErrorIs(t, a.err, models.ErrHeld)
				return
			}
			require.NoError(t, a.err)
			require.Len(t, a.grant.Votes, 5)
			require.Equal(t, test.system.SkipValidity, a.grant.Deadline == nil)
		})
	}
}

// A pause beyond the timeout does not make the client wait for ever for a node
// that does not answer: it takes what is there.
func TestRedlockPauseParallel(t *testing.T) {
	s := newStage(t, Redlock{Sends: Parallel})
	s.cut("r1")
	s.w.At(hop, func() { s.w.Machine("c1").Pause(sim.GC, time.Second) })
	a := s.acquire("c1", 0)
	s.run()
	require.NoError(t, a.err)
	require.Equal(t, []string{"r2", "r3", "r4", "r5"}, a.grant.Votes)
	require.Equal(t, time.Second+hop, a.done)
}

// One by one, a pause between a send and its reply lets that node's timeout pass.
func TestRedlockPauseOneByOne(t *testing.T) {
	s := newStage(t, Redlock{})
	s.w.Before("c1", "receive", 3, func() { s.w.Machine("c1").Pause(sim.GC, 14*time.Second) })
	a := s.acquire("c1", 0)
	s.run()
	require.ErrorIs(t, a.err, models.ErrHeld)
}

// S32, S30: whoever fails must let go of the minority that it got.
func TestRedlockCleanup(t *testing.T) {
	for cleanup, kept := range map[Cleanup]bool{OnAll: false, OnGranted: false, OnRelease: true} {
		s := newStage(t, Redlock{Cleanup: cleanup})
		s.takes("r3", "r4", "r5")
		a := s.acquire("c1", 0)
		s.run()
		require.ErrorIs(t, a.err, models.ErrHeld)
		require.Equal(t, kept, s.value("r1") != "", cleanup)
		require.Equal(t, kept, s.value("r2") != "", cleanup)
	}
}

// R2: a node that set the key and whose reply was lost has it too.
func TestRedlockCleansUpWhereItHeardNothing(t *testing.T) {
	for cleanup, kept := range map[Cleanup]bool{OnAll: false, OnGranted: true} {
		s := newStage(t, Redlock{Cleanup: cleanup})
		s.takes("r3", "r4", "r5")
		lost := s.w.AddRule("", func(m sim.Message) sim.Ruling {
			if m.Reply && m.From == "r1" {
				return sim.Lose()
			}
			return sim.Pass()
		})
		s.w.At(20*time.Millisecond, func() { s.w.RemoveRule(lost) })
		a := s.acquire("c1", 0)
		s.run()
		require.ErrorIs(t, a.err, models.ErrHeld)
		require.Equal(t, kept, s.value("r1") != "", cleanup)
	}
}

// Without a timeout, one silent node holds the client up for ever.
func TestRedlockWithoutTimeout(t *testing.T) {
	for _, sends := range []Sends{OneByOne, Parallel} {
		s := newStage(t, Redlock{NoTimeout: true, Sends: sends})
		s.cut("r2")
		a := s.acquire("c1", 0)
		s.run()
		require.Zero(t, a.done, "%s", sends)
	}
}

func TestRedlockQuorum(t *testing.T) {
	s := newStage(t, Redlock{Quorum: 2})
	s.takes("r3", "r4", "r5")
	a := s.acquire("c1", 0)
	s.run()
	require.NoError(t, a.err, "two of five do for it")
	require.Equal(t, []string{"r1", "r2"}, a.grant.Votes)
}

// The one-fault attacks: c1 holds r1, r2, r3 when r3 loses its key; c2 then finds
// three free. Its own time on the way to the grant is 10 ms, c1's deadline 9.898.
func TestRedlockOneNodeForgets(t *testing.T) {
	const c2 = 2 * time.Second
	restart := func(how faults.Crash) func(*stage) {
		return func(s *stage) {
			r3 := s.server("r3")
			r3.Handler().(*Node).Crash(r3, how)
		}
	}
	jump := func(s *stage) { s.w.Machine("r3").StepClock(11 * time.Second) }
	tests := []struct {
		name   string
		system Redlock
		fault  func(*stage)
		twice  bool
		why    string
	}{
		{"S33 restart without persistence", Redlock{}, restart(faults.Kill), true, history.FreedRestart},
		{"S34 everysec, killed", Redlock{Persistence: EverySec}, restart(faults.Kill), false, ""},
		{"S34 everysec, power loss", Redlock{Persistence: EverySec}, restart(faults.PowerLoss), true, history.FreedRestart},
		{"S35 always, power loss", Redlock{Persistence: Always}, restart(faults.PowerLoss), false, ""},
		{"S39 clock jumps", Redlock{}, jump, true, history.FreedExpired},
		{"S39 clock jumps, expiry by the monotonic clock", Redlock{Clock: Monotonic}, jump, false, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.system.Order = map[string][]string{"c1": {"r1", "r2", "r3"}}
			s := newStage(t, test.system)
			a := s.acquire("c1", 0)
			s.w.At(500*hop, func() { test.fault(s) })
			b := s.acquire("c2", c2)
			freed := s.run()

			require.NoError(t, a.err)
			require.Equal(t, []string{"r1", "r2", "r3"}, a.grant.Votes)
			if !test.twice {
				require.ErrorIs(t, b.err, models.ErrHeld)
				return
			}
			require.NoError(t, b.err)
			require.Equal(t, []string{"r3", "r4", "r5"}, b.grant.Votes)
			require.Equal(t, 7888*hop, a.grant.Deadline.Reading-b.done)
			require.Equal(t, test.why, freed[0].Why)
			require.Equal(t, "r3", freed[0].Who)
			require.Equal(t, a.grant.Value, freed[0].Value)
		})
	}
}

// The grant is decided by the reply that completed the quorum when it left its
// node, even where the client reads the replies in another order.
func TestRedlockDecided(t *testing.T) {
	for _, sends := range []Sends{OneByOne, Parallel} {
		t.Run(sends.String(), func(t *testing.T) {
			s := newStage(t, Redlock{Sends: sends})
			s.w.AddRule("", func(m sim.Message) sim.Ruling {
				if m.From == "r1" || m.To == "r3" {
					return sim.Deliver(10 * hop)
				}
				return sim.Pass()
			})
			a := s.acquire("c1", 0)
			s.run()
			require.NoError(t, a.err)
			e := s.w.History().Events[a.grant.Decided]
			require.Equal(t, history.Reply, e.Verb)
			want := "r3" // the third asked
			if sends == Parallel {
				want = "r4" // r1, r2, r4, r5 leave at 1 ms, r1 is read after them
			}
			require.Equal(t, want, e.Who)
		})
	}
}

func TestRedlockRelease(t *testing.T) {
	tests := []struct {
		name   string
		forget []string // nodes that lose the key before
		cut    []string
		want   error // nil, ErrNotHeld; ErrTimeout stands for unknown
	}{
		{"all", nil, nil, nil},
		{"a majority", []string{"r1"}, []string{"r2"}, nil},
		{"not held by a majority", []string{"r1", "r2", "r3"}, nil, models.ErrNotHeld},
		{"not held, though some do not answer", []string{"r1", "r2", "r3"}, []string{"r4", "r5"}, models.ErrNotHeld},
		{"unknown", nil, []string{"r1", "r2", "r3"}, sim.ErrTimeout},
		{"unknown, with two not held", []string{"r1", "r2"}, []string{"r3"}, sim.ErrTimeout},
	}
	for _, sends := range []Sends{OneByOne, Parallel} {
		for _, test := range tests {
			t.Run(sends.String()+" "+test.name, func(t *testing.T) {
				s := newStage(t, Redlock{Sends: sends})
				s.client("c1", 0, func(p *sim.Process) {
					a := &attempt{}
					s.acquireNow(p, a)
					require.NoError(t, a.err)
					for _, name := range test.forget {
						s.node(name).Crash(s.server(name), faults.Kill)
					}
					s.cut(test.cut...)
					_, extended := s.lock.(models.Extender).Extend(p, "k", a.grant)
					for _, err := range []error{extended, s.release(p, a).err} {
						if test.want == nil {
							require.NoError(t, err)
							continue
						}
						require.ErrorContains(t, err, test.want.Error())
						require.Equal(t, test.want == models.ErrNotHeld, err == models.ErrNotHeld)
					}
				})
				s.run()
			})
		}
	}
}

func TestRedlockExtend(t *testing.T) {
	s := newStage(t, Redlock{})
	s.client("c1", 0, func(p *sim.Process) {
		extend := s.lock.(models.Extender).Extend
		g, err := s.lock.Acquire(p, "k")
		require.NoError(t, err)
		p.Sleep(5*time.Second - 10*hop)
		longer, err := extend(p, "k", g)
		require.NoError(t, err)
		require.Equal(t, 5*time.Second+9898*hop, longer.Deadline.Reading)
		require.Equal(t, g.Value, longer.Value)
		require.Equal(t, g.Votes, longer.Votes)
		require.Greater(t, longer.Decided, g.Decided)

		// The nodes agreed, but the client hears of it too late to rely on it.
		s.w.Before("c1", "now", 2, func() { s.w.Machine("c1").Pause(sim.GC, 10*time.Second) })
		_, err = extend(p, "k", longer)
		require.ErrorIs(t, err, errLate)
	})
	s.run()
}
