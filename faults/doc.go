// Package faults is what goes wrong, when, and to whom: a schedule as data, its
// text form, and its application to a world.
//
// A schedule is a list of lines, each an anchor and an action:
//
//	# anchor                action
//	at 500ms                restart r3 power-loss
//	before c1.write#1       pause c1 gc 14s
//	after c1.send#5         partition c1|r4,r5 12s
//
// An anchor is a true instant since the start, or a step of a process: the
// count-th time that it reaches the label. "after" means before its next step.
//
// The actions:
//
//	pause MACHINE gc|loop|thread|suspend FOR      it stops for a while
//	kill PROCESS                                  it is gone
//	clock-step MACHINE ±BY                        its wall clock jumps
//	clock-rate MACHINE ±BY%|ppm|ppb               its clocks run fast or slow from now on
//	restart SERVER kill|power-loss [FOR [wall]]   it goes down and is back at once, or after FOR (by its own wall clock)
//	failover PRIMARY>REPLICA [AFTER]              the primary dies, the replica takes over at once, or AFTER
//	fill SERVER [FOR]                             other data fills its memory
//	partition A,B|C,D [FOR]                       nothing passes between the two sides
//	cut A,B>C,D [FOR]                             nothing passes from the first to the second
//	delay A>B BY                                  the next message from A to B takes BY longer
//	drop A>B                                      the next message from A to B is lost
//	duplicate A>B [BY]                            the next message from A to B arrives twice, again BY later
//	lose-reply SERVER>PROCESS                     the next reply is lost, after the server has done the work
//	reset PROCESS SERVER                          its connections to the server are cut
//
// A fault that a world's machines cannot have is refused before the run.
package faults
