package check_test

import (
	"fmt"
	"time"

	"locksim/check"
	"locksim/history"
)

// A node restarts without its keys, and the lock is granted a second time
// within the first holder's term.
func ExampleVerdict() {
	var h history.History
	acquire := func(op int32, who, value string, call, ret, until time.Duration) {
		e := history.Event{At: call, Kind: history.Call, Verb: history.Acquire, Op: op, Grant: op, Who: who, Lock: "doc"}
		h.Add(e)
		e.At, e.Kind, e.Outcome = ret, history.Return, history.OK
		e.Until, e.Value = until, value
		h.Add(e)
		h.Add(history.Event{At: ret, Kind: history.Believe, Grant: op, Who: who, Lock: "doc"})
	}
	const ms = time.Millisecond
	acquire(1, "c1", "v1", 0, 10*ms, 9898*ms)
	h.Add(history.Event{At: 500 * ms, Kind: history.Freed, Who: "r3", Lock: "doc", Value: "v1", Why: history.FreedRestart})
	acquire(2, "c2", "v2", 2000*ms, 2010*ms, 11898*ms)
	h.Add(history.Event{At: 9898 * ms, Kind: history.Doubt, Grant: 1, Who: "c1", Lock: "doc", Why: history.DoubtDeadline})
	h.End, h.Stopped = 10_000*ms, history.Quiet

	v := check.Verdict(&h)
	fmt.Println(v.Promise.Status, v.Belief.Status, v.Damage.Status, v.Progress.Status)
	b := v.Promise.Breaches[0]
	fmt.Printf("%s, %v early: %s\n", b.Kind, b.Early, b.Cause)
	fmt.Println("blame:", b.Blame, b.Who)
	fmt.Println("overlap:", v.Belief.Total)
	// Output:
	// broken overlapping none ok
	// double-grant, 7.888s early: r3 restarted empty at 0.500; c2's grant at 2.010 needed it; c1's term ran to 9.898
	// blame: service r3
	// overlap: 7.888s
}
