package check

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
)

func TestABoundLeavesUnknownWhatWasNotFound(t *testing.T) {
	tp := newTape()
	tp.granted(0, 1, "c1", 1, 10)
	tp.h.Stopped = history.Bound
	v := Verdict(&tp.h)
	require.Equal(t, []Status{Unknown, Unknown, Unknown, Unknown},
		[]Status{v.Promise.Status, v.Belief.Status, v.Damage.Status, v.Progress.Status})
	require.Equal(t, Unknown, Porcupine(&tp.h, steps))
}

func TestABoundDoesNotTakeBackWhatWasFound(t *testing.T) {
	tp := crossed(func(*tape) {})
	tp.wrote(3, "c2", 2, 1, -1, 0)
	tp.wrote(4, "c1", 1, 2, -1, 0)
	tp.h.Stopped = history.Bound
	v := Verdict(&tp.h)
	require.Equal(t, []Status{Broken, Overlapping, Damaged, Unknown},
		[]Status{v.Promise.Status, v.Belief.Status, v.Damage.Status, v.Progress.Status})
	require.Equal(t, Broken, Porcupine(&tp.h, steps))
}

func TestWithoutAcquireThereIsNoPromise(t *testing.T) {
	tp := newTape()
	tp.wrote(1, "c1", 0, 1, -1, 0)
	require.Equal(t, Promise{Status: None, Breaches: []Breach{}}, Verdict(&tp.h).Promise)
	require.Equal(t, None, Porcupine(&tp.h, steps))
}

func TestPorcupineGivesUpAtItsBound(t *testing.T) {
	require.Equal(t, Unknown, Porcupine(&crossed(func(*tape) {}).h, 1))
	require.Equal(t, Broken, Porcupine(&crossed(func(*tape) {}).h, steps))
}

func TestBreachesAreInOrderOfTimeAndLock(t *testing.T) {
	tp := newTape()
	for i, lock := range []string{"b", "a", "b", "a"} {
		c := string("wxyz"[i])
		tp.callOn(float64(i), c, history.Acquire, int32(i)+1, lock)
		tp.ret(float64(i), c, history.OK, promise(100))
	}
	p := Verdict(&tp.h).Promise
	require.Len(t, p.Breaches, 2)
	require.Equal(t, "b", p.Breaches[0].Lock)
	require.Equal(t, "a", p.Breaches[1].Lock)
	for i := range tp.h.Events {
		tp.h.Events[i].At = 0
	}
	p = Verdict(&tp.h).Promise
	require.Equal(t, []string{"b", "a"}, []string{p.Breaches[0].Lock, p.Breaches[1].Lock})
}

func TestAJudgeForgets(t *testing.T) {
	var j Judge
	bad, good := &crossed(func(*tape) {}).h, redlockRun()
	bad.End = sec(3)
	first, clean := j.Verdicts(bad), Verdict(good)
	require.Equal(t, Broken, first.Promise.Status)
	require.Equal(t, clean, j.Verdicts(good))
	require.Equal(t, Verdict(bad), first, "what was returned is not touched by the next run")
	require.Equal(t, first, j.Verdicts(bad))
}

func TestJSON(t *testing.T) {
	v := Verdicts{
		Promise:  Promise{Broken, []Breach{{Kind: DoubleGrant, Lock: "doc", At: 2010 * time.Millisecond, Early: 7888 * time.Millisecond, Cause: "why", Blame: Service, Who: "r3"}}},
		Belief:   Belief{Overlapping, []Window{{Lock: "doc", Holders: []string{"c1", "c2"}, From: sec(2), To: sec(3.5), Cause: "why", Blame: Recipe}}, sec(1.5)},
		Damage:   Damage{Damaged, []Wound{{Kind: StaleWrite, Class: Correctness, Client: "c1", At: 1, Cause: "why", Blame: Resource}}},
		Progress: Progress{OK, 1500 * time.Microsecond, ""},
	}
	got, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"promise": {"status": "broken", "breaches": [
			{"kind": "double-grant", "lock": "doc", "at_ms": 2010, "early_ms": 7888, "cause": "why", "blame": "service", "who": "r3"}]},
		"belief": {"status": "overlapping", "total_ms": 1500, "windows": [
			{"lock": "doc", "holders": ["c1", "c2"], "from_ms": 2000, "to_ms": 3500, "ms": 1500, "cause": "why", "blame": "recipe"}]},
		"damage": {"status": "damaged", "events": [
			{"kind": "stale-write", "class": "correctness", "client": "c1", "at_ms": 0.000001, "cause": "why", "blame": "resource"}]},
		"progress": {"status": "ok", "longest_wait_ms": 1.5}}`, string(got))
}

func TestJSONHasNoNull(t *testing.T) {
	for _, h := range []*history.History{{}, redlockRun()} {
		got, err := json.Marshal(Verdict(h))
		require.NoError(t, err)
		require.NotContains(t, string(got), "null")
	}
}

func TestMillisAreExact(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0": 0, "1500": 1500 * time.Millisecond, "9898.5": 9898500 * time.Microsecond, "-0.000001": -1,
		"9223372036854.775807": history.Forever, "-1": -time.Millisecond,
	} {
		got, err := json.Marshal(Millis(d))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestIndexKeepsTheOrderOfAppearance(t *testing.T) {
	var x index[int]
	for range 2 {
		for i := range 40 {
			require.Equal(t, int32(i), x.of(100-i))
			require.Equal(t, int32(i), x.of(100-i))
		}
		_, ok := x.find(1000)
		require.False(t, ok)
		x.reset()
		_, ok = x.find(100)
		require.False(t, ok)
	}
}
