package trial

import (
	"fmt"
	"testing"

	"locksim/check"
	"locksim/history"
)

// again is how often Test repeats a run. What hangs on the order of a map of two
// entries shows in nine of ten tests.
const again = 4

// Test runs spec for a test and returns what it showed. It runs it several times,
// in worlds of their own, and fails the test with the first event that differs:
// then something in the lock's code depends on more than the Spec (a real clock,
// the order of a map, a random source that is not the process's). It also has the
// promise verdict confirmed by the second checker.
func Test(t testing.TB, spec Spec) Result {
	t.Helper()
	first, err := Run(spec)
	if err != nil {
		t.Fatalf("locksim: %v", err)
	}
	for range again {
		next, err := Run(spec)
		if err != nil {
			t.Fatalf("locksim: another run of the same spec failed: %v", err)
		}
		if at, ok := differ(first.History, next.History); ok {
			t.Fatalf("locksim: two runs of the same spec differ: the lock depends on more than the spec.\n"+
				"first difference, event %d:\n  first:   %s\n  another: %s", at, event(first.History, at), event(next.History, at))
		}
	}
	const steps = 10_000_000
	if other := check.Porcupine(first.History, steps); other != check.Unknown && other != first.Promise.Status && first.Promise.Status != check.Unknown {
		t.Fatalf("locksim: its two checkers disagree about the promise: the sweep says %s, porcupine says %s", first.Promise.Status, other)
	}
	return first
}

// differ finds the first event in which a and b differ.
func differ(a, b *history.History) (int, bool) {
	for i := range min(len(a.Events), len(b.Events)) {
		if a.Events[i] != b.Events[i] {
			return i, true
		}
	}
	return min(len(a.Events), len(b.Events)), len(a.Events) != len(b.Events)
}

// event shows event i of h, or that there is none.
func event(h *history.History, i int) string {
	if i >= len(h.Events) {
		return "(the run is over)"
	}
	return fmt.Sprintf("%+v", h.Events[i])
}
