// Package sim is who is there: machines with their clocks, processes, servers,
// the network between them, and seeded choices, all moved by one virtual clock.
//
// A [World] is one run. Everything in it happens on one goroutine, one event
// after another: a process is a coroutine that runs until it sleeps or waits, a
// server handles one request to completion at one instant. So a run depends on
// nothing but its configuration, and one seed is one trace.
//
//	w := sim.New()
//	defer w.Close()
//	w.Reset(sim.Config{Seed: 1, Latency: sim.Every(time.Millisecond)})
//	db := w.Server("db", handler)
//	w.Go("c1", func(p *sim.Process) {
//		reply, err := sim.Call[string](p, db, "hello", 50*time.Millisecond)
//		...
//	})
//	err := w.Run()
//
// # Steps
//
// What a process does that others could notice is a step: sending a message,
// reading a reply, reading a clock, falling asleep, and every label that its code
// names with [Process.Step]. Between two steps it cannot be observed, so a fault
// that strikes at a step ([World.Before], [World.After]) misses no interleaving.
//
// # Pauses
//
// A machine can be frozen (a garbage collection, a blocked event loop, a
// suspended machine), or one thread of it stalled. Messages go on arriving in
// its buffers; what they and the timers would have caused happens when it thaws,
// in an order that depends on the kind of pause: see [Pause].
package sim
