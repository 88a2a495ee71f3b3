package faults

import (
	"locksim/sim"
)

// Crash tells the two ways apart in which a server can go down: they lose
// different things.
type Crash uint8

// The kinds of crash.
const (
	// Kill ends the process alone: what it had written to its files, even unsynced,
	// is still in the kernel's page cache and survives.
	Kill Crash = iota
	// PowerLoss stops the machine: only what was synced to the disk survives.
	PowerLoss
)

// Restarter is a handler whose server can crash and come back.
type Restarter interface {
	// Crash forgets what a crash of that kind at this instant loses, and records
	// each key lost (history.Freed). It returns what became of the server's
	// memory, to be read after its name: "restarted empty".
	Crash(s *sim.Server, how Crash) string
	// Restarted is called at the instant at which s is up again: it loads what the
	// crash has left, by what the machine's clocks show now, and may send messages.
	// It returns how the server is back, to be read after its name: "back up".
	Restarted(s *sim.Server) string
}

// Bounded is a handler whose server has a bound on its memory.
type Bounded interface {
	// Fill is called when other data has filled the memory of s: it drops what the
	// server's policy lets go, and records each key (history.Freed). It returns what
	// comes of it, to be read after "its memory is full: ", such as "evicted 1 key",
	// and what is to be called when there is room again; nil where there is already.
	Fill(s *sim.Server) (why string, drain func())
}

// Replicated is a handler that replicates to others.
type Replicated interface {
	// Replicas names the servers that could take the place of s.
	Replicas(s *sim.Server) []string
	// Promote makes replica the primary in the place of s, which has crashed, and
	// records each key that the replica never had (history.Freed). It returns
	// what happened, to be read after the replica's name: "was promoted without 1
	// key of r1".
	Promote(s, replica *sim.Server) string
}
