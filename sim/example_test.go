package sim_test

import (
	"fmt"
	"time"

	"locksim/clock"
	"locksim/sim"
)

// A client pauses, for a garbage collection, between the grant of a lease and the
// write that the lease should have protected.
func Example() {
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Seed: 1, Latency: sim.Every(time.Millisecond)})

	lease := w.Server("lease", serve(func(s *sim.Server, r sim.Request) {
		s.After(clock.Wall, 10*time.Second, func() { fmt.Println(w.Now(), "the lease is over") })
		r.Reply("granted")
	}))
	w.Go("c1", func(p *sim.Process) {
		answer, err := sim.Call[string](p, lease, "acquire", 50*time.Millisecond)
		fmt.Println(w.Now(), answer, err)
		p.Step("write")
		fmt.Println(w.Now(), "c1 writes")
		p.Sleep(time.Second)
	})
	w.Before("c1", "write", 1, func() { w.Machine("c1").Pause(sim.GC, 14*time.Second) })

	fmt.Println(w.Run(), w.Events())
	// Output:
	// 2ms granted <nil>
	// 10.001s the lease is over
	// 14.002s c1 writes
	// <nil> 7
}
