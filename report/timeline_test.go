package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/report"
	"locksim/scenarios"
	"locksim/trial"
)

// script builds a history by hand.
type script struct {
	h  history.History
	op int32
}

const ms = time.Millisecond

func (s *script) add(at time.Duration, e history.Event) {
	e.At = at
	s.h.Add(e)
	s.h.End, s.h.Stopped = at, history.Quiet
}

// attempt is an acquire that ended as outcome, with a term until until.
func (s *script) attempt(client string, from, to time.Duration, outcome history.Outcome, until time.Duration) {
	s.op++
	e := history.Event{Kind: history.Call, Verb: history.Acquire, Op: s.op, Grant: s.op, Who: client, Lock: "job"}
	s.add(from, e)
	e.Kind, e.Outcome = history.Return, outcome
	if outcome == history.OK {
		e.Until = until
	}
	s.add(to, e)
	if outcome == history.OK {
		s.add(to, history.Event{Kind: history.Believe, Who: client, Lock: "job", Grant: s.op})
	}
}

func (s *script) doubt(client string, at time.Duration, grant int32) {
	s.add(at, history.Event{Kind: history.Doubt, Who: client, Lock: "job", Grant: grant, Why: history.DoubtDeadline})
}

func (s *script) lines(t *testing.T) []string {
	t.Helper()
	return strings.Split(strings.TrimSuffix(timeline(t, &s.h, report.Options{}), "\n"), "\n")
}

func timeline(t *testing.T, h *history.History, o report.Options) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Timeline(&b, h, o))
	return b.String()
}

func TestPollingIsOneLine(t *testing.T) {
	var s script
	s.add(0, history.Event{Kind: history.Step, Who: "c2", Value: "acquire"})
	for i := range 79 {
		at := time.Duration(i) * 102 * ms
		s.attempt("c2", at, at+2*ms, history.Refused, 0)
	}
	s.attempt("c2", 79*102*ms, 79*102*ms+2*ms, history.OK, 20*time.Second)
	require.Equal(t, []string{
		"  time    c2  who  what   (│ believes, ! fault, + over)",
		"  0.000   ·   c2   asks for the lock, is refused 79 times, every 102 ms, last at 7.956",
		"  8.060   │   c2   gets the lock: term until 20.000",
	}, s.lines(t))
}

func TestPollingEndsWithTheStep(t *testing.T) {
	var s script
	for i := range 2 {
		at := time.Duration(i) * time.Second
		s.add(at, history.Event{Kind: history.Step, Who: "c2", Value: "try"})
		s.attempt("c2", at, at+2*ms, history.Refused, 0)
	}
	require.Len(t, s.lines(t), 5, "two tries of the script are no polling")
}

func TestUnevenPollingOfADeadService(t *testing.T) {
	var s script
	for _, at := range []time.Duration{0, 100 * ms, 250 * ms} {
		s.attempt("c1", at, at+50*ms, history.Unknown, 0)
	}
	for i := range 2 {
		at := time.Second + time.Duration(i)*100*ms
		s.attempt("c1", at, at, history.Refused, 0)
	}
	require.Equal(t, []string{
		"  0.000   ·   c1   asks for the lock, learns nothing 3 times, every 100 ms to 150 ms, last at 0.250",
		"  1.000   ·   c1   asks for the lock, is refused 2 times, every 100 ms, last at 1.100",
	}, s.lines(t)[1:])
}

func TestLanes(t *testing.T) {
	var s script
	s.attempt("c1", time.Second, time.Second, history.OK, 3*time.Second)
	s.attempt("c2", 4*time.Second, 4*time.Second, history.OK, 14*time.Second)
	s.doubt("c1", 6*time.Second, 1)
	s.doubt("c2", 8*time.Second, 2)
	require.Equal(t, []string{
		"  time    c1 c2  who  what   (│ believes, █ with another, ╎▒ past its term, ! fault, + over)",
		"  1.000   │  ·   c1   gets the lock: term until 3.000",
		"  3.000   ╎  ·   c1   its term is over; it goes on believing",
		"  4.000   ▒▒ ██  c2   gets the lock: term until 14.000",
		"  4.000   ▒▒ ██       BOTH BELIEVE: c1 and c2, for 2.000 s, until 6.000",
		"  6.000   ·  │   c1   its own deadline is over",
		"  8.000   ·  ·   c2   its own deadline is over",
	}, s.lines(t))
}

func TestLanesOfOneInstantDoNotOverlap(t *testing.T) {
	var s script
	s.attempt("c1", 0, 0, history.OK, 2*time.Second)
	s.attempt("c2", 2*time.Second, 2*time.Second, history.OK, 4*time.Second)
	s.doubt("c1", 2*time.Second, 1)
	require.Equal(t, []string{
		"  2.000   │  │   c2   gets the lock: term until 4.000",
		"  2.000   ·  │   c1   its own deadline is over",
	}, s.lines(t)[2:4])
}

func TestInstantsStandUnderEachOther(t *testing.T) {
	var s script
	s.attempt("c1", 0, 1500*time.Microsecond, history.Refused, 0)
	s.attempt("c1", 1000*time.Second, 1000*time.Second, history.OK, history.Forever)
	lines := s.lines(t)
	require.Equal(t, "   0.0015   ·   c1   does not get the lock", lines[2])
	require.Equal(t, "1000.000    │   c1   gets the lock: no term", lines[3])
}

func TestKeys(t *testing.T) {
	var s script
	s.attempt("c1", 0, 0, history.OK, 10*time.Second)
	s.h.Events[1].Value = "v1"
	freed := func(at time.Duration, node, value, why, by string) {
		s.add(at, history.Event{Kind: history.Freed, Who: node, Lock: "job", Value: value, Why: why, Peer: by})
	}
	freed(1*time.Second, "r1", "v1", history.FreedExpired, "")
	s.add(1*time.Second, history.Event{Kind: history.Fsync, Who: "r1"})
	freed(1*time.Second, "r2", "v1", history.FreedExpired, "")
	freed(2*time.Second, "r3", "v1", history.FreedDeleted, "c2")
	freed(3*time.Second, "r4", "v1", history.FreedEvicted, "")
	s.add(4*time.Second, history.Event{Kind: history.Fault, Who: "r5", Value: "restart r5 kill", Why: "restarted empty"})
	freed(4*time.Second, "r5", "v1", history.FreedRestart, "")
	freed(5*time.Second, "r1", "v0", history.FreedExpired, "")
	freed(5*time.Second, "r2", "v0", history.FreedOutdated, "c3")
	s.doubt("c1", 6*time.Second, 1)
	require.Equal(t, []string{
		"  1.000   │   nodes  c1's key has expired on r1,r2 (term until 10.000)",
		"  2.000   │   r3     c1's key is deleted by c2 (term until 10.000)",
		"  3.000   │   r4     c1's key is evicted (term until 10.000)",
		"  4.000 ! │   r5     is killed, restarted empty, without c1's key (term until 10.000)",
		"  5.000   │   r1     key v0 has expired",
		"  5.000   │   r2     key v0 is older than c3's: dropped",
	}, s.lines(t)[2:8])
}

func TestResources(t *testing.T) {
	var s script
	write := func(client string, outcome history.Outcome, token int64) {
		s.add(0, history.Event{Kind: history.Write, Who: "doc", Lock: "doc", Peer: client, Outcome: outcome, Token: token})
	}
	write("c2", history.OK, 2)
	write("c1", history.Refused, 1)
	write("c3", history.OK, 3)
	for range 2 {
		s.add(0, history.Event{Kind: history.Effect, Who: "mail", Lock: "m1", Peer: "c1"})
	}
	lines := s.lines(t)
	for i, want := range []string{
		"accepts c2's write with token 2", "rejects c1's write with token 1", "accepts c3's write with token 3, over c2's",
		"does m1 for c1", "does m1 for c1, again",
	} {
		require.True(t, strings.HasSuffix(lines[i+1], "  "+want), lines[i+1])
	}
}

func TestNothingHappened(t *testing.T) {
	require.Equal(t, "(nothing happened)\n", timeline(t, &history.History{Stopped: history.Quiet}, report.Options{}))
}

func TestManyClientsGetNarrowLanes(t *testing.T) {
	var s script
	for i := range 12 {
		s.attempt(fmt.Sprintf("worker%d", i), 0, 0, history.Refused, 0)
	}
	require.Contains(t, s.lines(t)[0], " 0 1 2 3 4 5 6 7 8 9 0 1  who ")
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		who, peer, value, why, want, over string
	}{
		{"c1", "", "pause c1 gc 14s", "paused (gc)", "is paused (gc) for 14s", "goes on"},
		{"c1", "", "kill c1", "killed", "is killed", ""},
		{"r3", "", "clock-step r3 +11s", "stepped +11s", "its clock stepped +11s", ""},
		{"r3", "", "restart r3 power-loss", "restarted empty", "loses power, restarted empty", ""},
		{"r3", "", "restart r3 kill 2s", "restarted empty", "is killed, down for 2s, restarted empty", "is back up"},
		{"m", "s", "failover m>s 1s", "died", "died", ""},
		{"c1", "r4,r5", "partition c1|r4,r5", "cut off", "is cut off from r4,r5", ""},
		{"c1", "r4", "cut c1>r4 12s", "cut off", "cannot reach r4 for 12s", "reaches r4 again"},
		{"c1", "r3", "delay c1>r3 200ms", "", "its next message to r3 takes 200ms longer", ""},
		{"c1", "r3", "duplicate c1>r3", "", "its next message to r3 will arrive twice", ""},
		{"c1", "r3", "drop c1>r3", "", "its next message to r3 will be lost", ""},
		{"c1", "db", "reset c1 db", "lost its connection", "lost its connection to db", ""},
		{"r3", "c1", "lose-reply r3>c1", "", "its next reply to c1 will be lost", ""},
		{"r3", "", "flood r3", "flooded", "flooded [flood r3]", "over: flood r3"},
	} {
		t.Run(c.value, func(t *testing.T) {
			var s script
			e := history.Event{Kind: history.Fault, Who: c.who, Peer: c.peer, Value: c.value, Why: c.why}
			s.add(time.Second, e)
			require.Regexp(t, `^  1\.000 ! +`+regexp.QuoteMeta(c.who)+" +"+regexp.QuoteMeta(c.want)+"$", s.lines(t)[1])
			if c.over != "" {
				e.Kind = history.Heal
				s.add(2*time.Second, e)
				require.Regexp(t, `^  2\.000 \+ +`+regexp.QuoteMeta(c.who)+" +"+regexp.QuoteMeta(c.over)+"$", s.lines(t)[2])
			}
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]+m")

// TestEveryScenarioFits holds each scenario's timeline to a screen, and its
// coloured form to the plain one.
func TestEveryScenarioFits(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r, err := trial.Run(s.Spec())
			require.NoError(t, err)
			plain := timeline(t, r.History, report.Options{})
			lines := strings.Split(plain, "\n")
			require.LessOrEqual(t, len(lines)-1, 30)
			for _, line := range lines {
				require.LessOrEqual(t, utf8.RuneCountInString(line), report.DefaultWidth, line)
			}
			colored := timeline(t, r.History, report.Options{Color: true})
			require.NotEqual(t, plain, colored)
			require.Equal(t, blanks(plain), blanks(escape.ReplaceAllString(colored, "")))
		})
	}
}

// blanks takes those at the ends of lines away: a colour can stand behind them.
func blanks(text string) string {
	return regexp.MustCompile(` +\n`).ReplaceAllString(text, "\n")
}
