// Package report is how a run is shown: to a person as a timeline with the four
// verdicts under it, to a program as one JSON object on a line.
//
//	 time    c1 c2  who  what
//	0.010    │  ·   c1   gets the lock from r1,r2,r3: term until 9.898
//	0.500 !  │  ·   r3   loses power, restarted empty, without c1's key
//	2.010    ██ ██  c2   gets the lock from r5,r4,r3: term until 11.898
//
// Everything here is a function of what it is given: the same run gives the same
// bytes, and colour changes nothing but colour.
package report
