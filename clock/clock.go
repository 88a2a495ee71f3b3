package clock

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Kind names one of the clocks that a machine has.
type Kind uint8

// The clocks of a machine, as on Linux.
const (
	// Monotonic counts from the start at the machine's rate and stands still
	// while the machine is suspended: CLOCK_MONOTONIC, and the monotonic reading
	// in Go's time.Time. It is never stepped.
	Monotonic Kind = iota
	// Boottime is Monotonic that counts suspension too: CLOCK_BOOTTIME.
	Boottime
	// Wall is the date: Boottime plus every step. Redis expires keys by it.
	Wall
)

var kindNames = [...]string{Monotonic: "monotonic", Boottime: "boottime", Wall: "wall"}

// String is the clock's name: "monotonic", "boottime" or "wall".
func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the clock's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a clock's name.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, name := range kindNames {
		if string(text) == name {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("no clock %q: want one of %s", text, strings.Join(kindNames[:], ", "))
}

// Rate is how much faster than true time a machine's clocks run, in parts per
// billion: 0 runs true, 100_000_000 gains 10 %, -200_000 loses 200 ppm.
type Rate int64

// The least and the greatest rate that a clock can be set to.
const (
	MinRate Rate = -900_000_000
	MaxRate Rate = 9_000_000_000
)

const billion = 1_000_000_000

// Clock is what one machine reads. All its kinds share one oscillator, so a rate
// holds for all of them. The zero value runs true and reads 0 at instant 0.
//
// A reading is rounded down to the nanosecond, always from the last change of
// rate, with the fraction that was left over then carried on: so a reading
// depends only on how long each rate was in force.
type Clock struct {
	rate Rate
	// At true instant since, the oscillator had counted base and carry billionths
	// of a nanosecond.
	since time.Duration
	base  time.Duration
	carry uint64

	step      time.Duration // sum of all steps of the wall clock
	slept     time.Duration // counted while suspended, up to the last resumption
	suspended bool
	asleep    time.Duration // the oscillator's count at the suspension
}

// Read is what clock k shows at true instant now, which must not be before the
// last change of rate.
func (c *Clock) Read(k Kind, now time.Duration) time.Duration {
	count, _ := c.count(now)
	switch k {
	case Wall:
		return count + c.step
	case Boottime:
		return count
	default:
		if c.suspended {
			count = c.asleep
		}
		return count - c.slept
	}
}

// When is the least true instant, at or after now, at which clock k shows at
// least reading, if nothing changes before. It reports false when that is never:
// the monotonic clock of a suspended machine stands still, and no clock gets to
// the end of time, which stands for "no limit".
func (c *Clock) When(k Kind, now, reading time.Duration) (time.Duration, bool) {
	if c.Read(k, now) >= reading {
		return now, true
	}
	target := reading
	switch k {
	case Wall:
		target -= c.step
	case Monotonic:
		if c.suspended {
			return 0, false
		}
		target += c.slept
	}
	if reading == math.MaxInt64 || target < c.base {
		return 0, false
	}
	at := c.since + c.elapse(target-c.base)
	return at, at >= now && at < math.MaxInt64
}

// SetRate makes every kind run at rate, from MinRate to MaxRate, from true instant
// now on.
func (c *Clock) SetRate(now time.Duration, rate Rate) {
	if rate < MinRate || rate > MaxRate {
		panic(fmt.Sprintf("clock: rate %d: want %d to %d", rate, MinRate, MaxRate))
	}
	c.base, c.carry = c.count(now)
	c.since, c.rate = now, rate
}

// Step moves the wall clock by d, forward or back. The others do not notice. The
// sum of all steps stays within a hundred years.
func (c *Clock) Step(d time.Duration) {
	c.step = max(-century, min(century, c.step+max(-century, min(century, d))))
}

const century = 100 * 365 * 24 * time.Hour

// Suspend stops the monotonic clock at true instant now.
func (c *Clock) Suspend(now time.Duration) {
	if c.suspended {
		return
	}
	c.asleep, _ = c.count(now)
	c.suspended = true
}

// Resume lets the monotonic clock run on from true instant now.
func (c *Clock) Resume(now time.Duration) {
	if !c.suspended {
		return
	}
	count, _ := c.count(now)
	c.slept += count - c.asleep
	c.suspended = false
}

// count is what the oscillator has counted at now: nanoseconds, and billionths
// of one.
func (c *Clock) count(now time.Duration) (time.Duration, uint64) {
	if c.rate == 0 {
		return c.base + now - c.since, c.carry
	}
	hi, lo := bits.Mul64(uint64(now-c.since), uint64(billion+c.rate))
	lo, over := bits.Add64(lo, c.carry, 0)
	whole, part := bits.Div64(hi+over, lo, billion)
	return c.base + time.Duration(whole), part
}

// elapse is the least true time in which the oscillator counts d more, or the
// greatest Duration.
func (c *Clock) elapse(d time.Duration) time.Duration {
	if c.rate == 0 {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), billion)
	lo, under := bits.Sub64(lo, c.carry, 0)
	hi -= under
	if hi >= uint64(billion+c.rate)/2 { // more than a Duration holds
		return math.MaxInt64
	}
	whole, part := bits.Div64(hi, lo, uint64(billion+c.rate))
	if part > 0 {
		whole++
	}
	return time.Duration(whole)
}
