// Package clock is what time it is: the timeline of events that moves true
// time, and the clocks that each machine reads instead of it.
//
// True time is a duration since the start of the run. It moves only when the
// next event is taken from the [Timeline]; nothing in a simulation reads a real
// clock. A machine cannot see true time: it reads a [Clock], which may run fast
// or slow, be stepped, or stand still while the machine is suspended.
//
// All arithmetic is on integers, with one rounding, so that a run is the same
// on every processor architecture (floating point is fused differently on some).
package clock
