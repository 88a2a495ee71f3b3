package clock_test

import (
	"fmt"
	"time"

	"locksim/clock"
)

// A timeline moves true time from one event to the next.
func ExampleTimeline() {
	var line clock.Timeline[string]
	line.Schedule(10*time.Second, "the lease ends")
	line.Schedule(2*time.Second, "the holder pauses")
	timeout := line.Schedule(5*time.Second, "the call times out")
	line.Cancel(timeout)
	for event := line.Next(time.Minute); event != nil; event = line.Next(time.Minute) {
		fmt.Println(line.Now(), *event)
	}
	// Output:
	// 2s the holder pauses
	// 10s the lease ends
}

// A machine reads clocks that may be wrong: here, ones that lose 10 %, on a
// machine that is suspended for a while and whose date is then set back.
func ExampleClock() {
	var c clock.Clock
	c.SetRate(0, -100_000_000)
	fmt.Println(c.Read(clock.Monotonic, 5*time.Second))
	c.Suspend(10 * time.Second)
	c.Resume(20 * time.Second)
	c.Step(-time.Minute)
	for _, k := range []clock.Kind{clock.Monotonic, clock.Boottime, clock.Wall} {
		fmt.Println(k, c.Read(k, 20*time.Second))
	}
	// Output:
	// 4.5s
	// monotonic 9s
	// boottime 18s
	// wall -42s
}
