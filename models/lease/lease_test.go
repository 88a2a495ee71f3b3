package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/clock"
	"locksim/models"
	"locksim/models/lease"
	"locksim/sim"
)

// play runs clients against an ideal lease.
func play(t *testing.T, options lease.Ideal, clients map[string]func(*sim.Process, models.Lock), order ...string) *sim.World {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{Seed: 1, Latency: sim.Every(time.Hour)}) // which a local server does not feel
	lock, err := options.Open(w)
	require.NoError(t, err)
	for _, name := range order {
		w.Go(name, func(p *sim.Process) { clients[name](p, lock) })
	}
	require.NoError(t, w.Run())
	return w
}

func TestFreeAtExactlyItsEnd(t *testing.T) {
	t.Parallel()
	var grants []models.Grant
	var left []error
	play(t, lease.Ideal{TTL: 10 * time.Second, Tokens: true}, map[string]func(*sim.Process, models.Lock){
		"c1": func(p *sim.Process, l models.Lock) {
			p.Sleep(time.Second)
			g, err := l.Acquire(p, "job")
			require.NoError(t, err)
			grants = append(grants, g)
			p.Sleep(10 * time.Second)
			left = append(left, l.Release(p, "job", g))
		},
		"c2": func(p *sim.Process, l models.Lock) {
			p.Sleep(3 * time.Second)
			g, err := l.Acquire(p, "job")
			require.NoError(t, err)
			require.Equal(t, 11*time.Second, p.World().Now())
			grants = append(grants, g)
			left = append(left, l.Release(p, "job", g))
		},
	}, "c1", "c2")
	require.Equal(t, []models.Grant{
		{Term: 10 * time.Second, Anchor: time.Second, Token: 1, Value: "lease-1"},
		{Term: 10 * time.Second, Anchor: 11 * time.Second, Token: 2, Value: "lease-2"},
	}, grants)
	require.ElementsMatch(t, []error{models.ErrNotHeld, nil}, left)
}

func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	var served []string
	clients := map[string]func(*sim.Process, models.Lock){}
	order := []string{"a", "b", "c", "d"}
	for _, name := range order {
		clients[name] = func(p *sim.Process, l models.Lock) {
			g, err := l.Acquire(p, "job")
			require.NoError(t, err)
			served = append(served, name)
			p.Sleep(time.Second)
			require.NoError(t, l.Release(p, "job", g))
		}
	}
	w := play(t, lease.Ideal{TTL: time.Minute}, clients, order...)
	require.Equal(t, order, served)
	require.Equal(t, 4*time.Second, w.Now())
}

func TestExtendAndLook(t *testing.T) {
	t.Parallel()
	play(t, lease.Ideal{TTL: time.Second, Clock: clock.Wall}, map[string]func(*sim.Process, models.Lock){
		"c1": func(p *sim.Process, l models.Lock) {
			look := func() string {
				v, err := l.(models.Inspector).Holder(p, "job")
				require.NoError(t, err)
				return v
			}
			require.Empty(t, look())
			g, err := l.Acquire(p, "job")
			require.NoError(t, err)
			p.Sleep(900 * time.Millisecond)
			longer, err := l.(models.Extender).Extend(p, "job", g)
			require.NoError(t, err)
			require.Equal(t, 900*time.Millisecond, longer.Anchor)
			p.Sleep(999 * time.Millisecond)
			require.Equal(t, g.Value, look())
			p.Sleep(time.Millisecond)
			require.Empty(t, look())
			_, err = l.(models.Extender).Extend(p, "job", g)
			require.ErrorIs(t, err, models.ErrNotHeld)
		},
	}, "c1")
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	_, err := lease.Ideal{TTL: -1}.Open(sim.New())
	require.EqualError(t, err, "lease: ttl -1ns: want more than 0")
}

// TestExtendIsTheHoldersAlone: a lease that has gone to another is not extended.
func TestExtendIsTheHoldersAlone(t *testing.T) {
	t.Parallel()
	play(t, lease.Ideal{TTL: time.Second}, map[string]func(*sim.Process, models.Lock){
		"c1": func(p *sim.Process, l models.Lock) {
			g, err := l.Acquire(p, "job")
			require.NoError(t, err)
			p.Sleep(1500 * time.Millisecond)
			_, err = l.(models.Extender).Extend(p, "job", g)
			require.ErrorIs(t, err, models.ErrNotHeld)
		},
		"c2": func(p *sim.Process, l models.Lock) {
			p.Sleep(time.Second)
			_, err := l.Acquire(p, "job")
			require.NoError(t, err)
			p.Sleep(900 * time.Millisecond)
		},
	}, "c1", "c2")
}

// TestClockOfTheTerm: a term on the wall clock ends with its jump, one on the
// monotonic clock does not.
func TestClockOfTheTerm(t *testing.T) {
	t.Parallel()
	for kind, want := range map[clock.Kind]string{clock.Wall: "", clock.Monotonic: "lease-1"} {
		play(t, lease.Ideal{TTL: 10 * time.Second, Clock: kind}, map[string]func(*sim.Process, models.Lock){
			"c1": func(p *sim.Process, l models.Lock) {
				_, err := l.Acquire(p, "job")
				require.NoError(t, err)
				p.World().Machine("lease").StepClock(time.Minute)
				p.Sleep(time.Second)
				holder, err := l.(models.Inspector).Holder(p, "job")
				require.NoError(t, err)
				require.Equal(t, want, holder, kind)
			},
		}, "c1")
	}
}
