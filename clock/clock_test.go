package clock_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/clock"
)

const (
	percent = 10_000_000
	ppm     = 1_000
)

var kinds = []clock.Kind{clock.Monotonic, clock.Boottime, clock.Wall}

func TestClockByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate  clock.Rate
		after time.Duration
		read  time.Duration
	}{
		{0, 5 * time.Second, 5 * time.Second},
		{-10 * percent, 5 * time.Second, 4500 * time.Millisecond},
		{+10 * percent, 5 * time.Second, 5500 * time.Millisecond},
		{-200 * ppm, 10 * time.Second, 9998 * time.Millisecond},
		{+200 * ppm, 10 * time.Second, 10002 * time.Millisecond},
		{clock.MinRate, 10 * time.Second, time.Second},
		{clock.MaxRate, time.Second, 10 * time.Second},
		{clock.MaxRate, 29 * 365 * 24 * time.Hour, 290 * 365 * 24 * time.Hour},
		{1, time.Second, time.Second + 1},
		{-1, time.Second, time.Second - 1},
		{-10 * percent, 1, 0}, // 0.9 ns
		{+10 * percent, 9, 9}, // 9.9 ns
	} {
		var k clock.Clock
		k.SetRate(0, c.rate)
		for _, kind := range kinds {
			require.Equal(t, c.read, k.Read(kind, c.after), "%d ppb, %v on the %v clock", c.rate, c.after, kind)
		}
	}
}

// TestClockCarriesTheFraction: at -10 %, ten times one nanosecond are nine,
// however often the rate is set in between.
func TestClockCarriesTheFraction(t *testing.T) {
	t.Parallel()
	var c clock.Clock
	for now := range time.Duration(10) {
		c.SetRate(now, -10*percent)
	}
	require.EqualValues(t, 9, c.Read(clock.Monotonic, 10))
	at, ok := c.When(clock.Monotonic, 9, 9)
	require.True(t, ok)
	require.EqualValues(t, 10, at)
}

// TestClockBeyondOneWord: products of a duration and a rate that cross 64 bits
// only with the carry.
func TestClockBeyondOneWord(t *testing.T) {
	t.Parallel()
	var c clock.Clock
	c.SetRate(0, -10*percent)
	c.SetRate(1, -10*percent) // carries 0.9 ns
	const t1, t2 = 20_496_382_305, 20_496_382_304
	require.EqualValues(t, 18_446_744_074, c.Read(clock.Wall, t1))
	require.EqualValues(t, 18_446_744_073, c.Read(clock.Wall, t2))
	at, ok := c.When(clock.Wall, 1, 18_446_744_074)
	require.True(t, ok)
	require.EqualValues(t, t1, at)
}

func TestClockSuspended(t *testing.T) {
	t.Parallel()
	var c clock.Clock
	c.Suspend(2 * time.Second)
	c.Suspend(3 * time.Second) // it is already
	require.Equal(t, 2*time.Second, c.Read(clock.Monotonic, 7*time.Second))
	require.Equal(t, 7*time.Second, c.Read(clock.Boottime, 7*time.Second))
	require.Equal(t, 7*time.Second, c.Read(clock.Wall, 7*time.Second))
	_, ok := c.When(clock.Monotonic, 7*time.Second, 3*time.Second)
	require.False(t, ok, "a monotonic clock that stands still")
	c.Resume(10 * time.Second)
	c.Resume(11 * time.Second)
	require.Equal(t, 4*time.Second, c.Read(clock.Monotonic, 12*time.Second))
	at, ok := c.When(clock.Monotonic, 12*time.Second, 5*time.Second)
	require.True(t, ok)
	require.Equal(t, 13*time.Second, at)
}

func TestClockNeverShowsTheEndOfTime(t *testing.T) {
	t.Parallel()
	for _, rate := range []clock.Rate{clock.MinRate, 0, clock.MaxRate} {
		for _, reading := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1} {
			var c clock.Clock
			c.SetRate(0, clock.MinRate)
			c.Suspend(1)
			c.Resume(time.Hour)
			c.SetRate(time.Hour, rate)
			c.Step(-time.Hour)
			for _, kind := range kinds {
				at, ok := c.When(kind, time.Hour, reading)
				require.True(t, !ok || at > time.Hour, "%v at %d ppb: %v", kind, rate, at)
				require.False(t, ok && reading == math.MaxInt64)
			}
		}
	}
}

// model is the clock in exact rational arithmetic.
type model struct {
	now       time.Duration
	count     *big.Rat // what the oscillator has counted
	rate      clock.Rate
	steps     time.Duration
	slept     time.Duration
	suspended bool
	asleep    time.Duration
}

func (m *model) floor() time.Duration {
	return time.Duration(new(big.Int).Div(m.count.Num(), m.count.Denom()).Int64())
}

func (m *model) advance(d time.Duration) {
	m.now += d
	ticks := new(big.Rat).SetInt64(int64(d))
	m.count.Add(m.count, ticks.Mul(ticks, big.NewRat(1e9+int64(m.rate), 1e9)))
}

func (m *model) read(k clock.Kind) time.Duration {
	switch {
	case k == clock.Wall:
		return m.floor() + m.steps
	case k == clock.Boottime:
		return m.floor()
	case m.suspended:
		return m.asleep - m.slept
	}
	return m.floor() - m.slept
}

// TestClockIsExact holds a clock against exact arithmetic: a reading is the floor
// of the sum of rate times time, whatever happened before, and When is the least
// instant of a reading.
func TestClockIsExact(t *testing.T) {
	t.Parallel()
	rates := rapid.OneOf(
		rapid.SampledFrom([]clock.Rate{0, clock.MinRate, clock.MaxRate, 200 * ppm, -200 * ppm, -10 * percent, 1, -1}),
		rapid.Map(rapid.Int64Range(int64(clock.MinRate), int64(clock.MaxRate)), func(r int64) clock.Rate { return clock.Rate(r) }),
	)
	durations := rapid.OneOf(
		rapid.Int64Range(0, 20),
		rapid.Int64Range(0, int64(time.Minute)),
		rapid.Int64Range(0, int64(1000*time.Hour)),
	)
	rapid.Check(t, func(t *rapid.T) {
		var c clock.Clock
		m := model{count: new(big.Rat)}
		t.Repeat(map[string]func(*rapid.T){
			"advance": func(t *rapid.T) { m.advance(time.Duration(durations.Draw(t, "d"))) },
			"rate": func(t *rapid.T) {
				m.rate = rates.Draw(t, "rate")
				c.SetRate(m.now, m.rate)
			},
			"step": func(t *rapid.T) {
				d := time.Duration(durations.Draw(t, "d"))
				if rapid.Bool().Draw(t, "back") {
					d = -d
				}
				m.steps += d
				c.Step(d)
			},
			"suspend": func(*rapid.T) {
				if !m.suspended {
					m.suspended, m.asleep = true, m.floor()
				}
				c.Suspend(m.now)
			},
			"resume": func(*rapid.T) {
				if m.suspended {
					m.suspended = false
					m.slept += m.floor() - m.asleep
				}
				c.Resume(m.now)
			},
			"when": func(t *rapid.T) {
				k := rapid.SampledFrom(kinds).Draw(t, "kind")
				target := c.Read(k, m.now) + time.Duration(durations.Draw(t, "d")-5)
				at, ok := c.When(k, m.now, target)
				if k == clock.Monotonic && m.suspended && target > c.Read(k, m.now) {
					require.False(t, ok)
					return
				}
				require.True(t, ok)
				require.GreaterOrEqual(t, at, m.now)
				require.GreaterOrEqual(t, c.Read(k, at), target)
				if at > m.now {
					require.Less(t, c.Read(k, at-1), target)
				}
			},
			"": func(t *rapid.T) {
				for _, k := range kinds {
					require.Equal(t, m.read(k), c.Read(k, m.now), k)
				}
			},
		})
	})
}

func TestKindText(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		text, err := json.Marshal(k)
		require.NoError(t, err)
		require.Equal(t, `"`+k.String()+`"`, string(text))
		var back clock.Kind
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, k, back)
	}
	var k clock.Kind
	require.EqualError(t, k.UnmarshalText([]byte("lunar")),
		`no clock "lunar": want one of monotonic, boottime, wall`)
}
