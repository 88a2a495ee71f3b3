package faults_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/clock"
	"locksim/faults"
	"locksim/sim"
)

// A schedule is written a fault a line, and prints in one canonical way.
func Example() {
	s, err := faults.Parse(`
		# c1 is paused between its check and its write
		before c1.write#1   pause c1 gc 14s
		at 0.5s             restart r3 power-loss
		at 1000ms           clock-rate r3 +0.02%
	`)
	fmt.Print(s)
	fmt.Println(err)
	// Output:
	// before c1.write#1  pause c1 gc 14s
	// at 500ms  restart r3 power-loss
	// at 1s  clock-rate r3 +200ppm
	// <nil>
}

func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]faults.Fault{
		"at 1s  pause c1 suspend 90s":               {Anchor: faults.At(time.Second), Action: faults.Pause{Machine: "c1", Kind: sim.Suspend, For: 90 * time.Second}},
		"after c1/renew.send#3  kill c1":            {Anchor: faults.After("c1/renew", "send", 3), Action: faults.KillProcess{Process: "c1"}},
		"at 0s  clock-step r3 -4.112s":              {Action: faults.ClockStep{Machine: "r3", By: -4112 * time.Millisecond}},
		"at 0s  clock-rate r3 -200ppm":              {Action: faults.ClockRate{Machine: "r3", Rate: -200_000}},
		"at 0s  clock-rate r3 +12.5%":               {Action: faults.ClockRate{Machine: "r3", Rate: 125_000_000}},
		"at 0s  clock-rate r3 +7ppb":                {Action: faults.ClockRate{Machine: "r3", Rate: 7}},
		"at 0s  restart r3 kill 12s":                {Action: faults.Restart{Server: "r3", How: faults.Kill, For: 12 * time.Second}},
		"at 0s  restart r3 kill 12s wall":           {Action: faults.Restart{Server: "r3", How: faults.Kill, For: 12 * time.Second, Wall: true}},
		"at 0s  failover r1>r2 5s":                  {Action: faults.Failover{Primary: "r1", Replica: "r2", After: 5 * time.Second}},
		"at 0s  fill r1":                            {Action: faults.Fill{Server: "r1"}},
		"at 0s  fill r1 3s":                         {Action: faults.Fill{Server: "r1", For: 3 * time.Second}},
		"at 0s  partition c1,c2|r4,r5 12s":          {Action: faults.Partition{A: []string{"c1", "c2"}, B: []string{"r4", "r5"}, For: 12 * time.Second}},
		"at 0s  cut c1>r4":                          {Action: faults.Partition{A: []string{"c1"}, B: []string{"r4"}, OneWay: true}},
		"at 0s  delay c1>doc 14s":                   {Action: faults.Message{What: faults.Delay, From: "c1", To: "doc", By: 14 * time.Second}},
		"at 0s  drop c1>r1":                         {Action: faults.Message{What: faults.Drop, From: "c1", To: "r1"}},
		"at 0s  duplicate c1>r1 5ms":                {Action: faults.Message{What: faults.Duplicate, From: "c1", To: "r1", By: 5 * time.Millisecond}},
		"before c1.release#1  lose-reply r1>c1   #": {Anchor: faults.Before("c1", "release", 1), Action: faults.Message{What: faults.LoseReply, From: "r1", To: "c1"}},
	} {
		s, err := faults.Parse(line)
		require.NoError(t, err, line)
		require.Equal(t, faults.Schedule{want}, s, line)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, says string }{
		{"noon  kill c1", `line 1, column 1: there is "noon": want at, before or after`},
		{"at noon  kill c1", `line 1, column 4: there is "noon": want an instant such as 500ms`},
		{"at -1s  kill c1", `line 1, column 4: there is "-1s": want an instant such as 500ms`},
		{"at 1s", `line 1, column 6: the line ends: want one of pause, kill, clock-step, clock-rate, restart, failover, fill, partition, cut, delay, drop, duplicate, lose-reply, reset`},
		{"\n at 1s  explode c1", `line 2, column 9: there is "explode": want one of pause, kill,`},
		{"before c1.write  kill c1", `line 1, column 8: there is "c1.write": want a step such as c1.write#1`},
		{"before c1.write#0  kill c1", `want a step such as c1.write#1`},
		{"at 1s  pause c1 nap 1s", `line 1, column 17: there is "nap": want gc, loop, thread or suspend`},
		{"at 1s  pause c1 gc", `line 1, column 19: the line ends: want a duration such as 14s`},
		{"at 1s  pause c1 gc -14s", `line 1, column 20: there is "-14s": want a duration such as 14s`},
		{"at 1s  kill c1 c2", `line 1, column 16: there is "c2": want the end of the line`},
		{"at 1s  clock-step r3 11s", `line 1, column 22: there is "11s": want a signed duration such as +11s or -4.2s, at most 100000h`},
		{"at 1s  clock-rate r3 10%", `want a signed rate such as +10%, -200ppm or +5ppb, from -90% to +900%`},
		{"at 1s  clock-rate r3 -91%", `want a signed rate`},
		{"at 1s  clock-rate r3 +0.5ppb", `want a signed rate`},
		{"at 1s  restart r3 gently", `there is "gently": want kill or power-loss`},
		{"at 1s  restart r3 kill wall", `column 24: there is "wall": want a duration such as 12s, or the end of the line`},
		{"at 1s  restart r3 kill 12s boottime", `column 28: there is "boottime": want wall, or the end of the line`},
		{"at 1s  restart r3 kill 0s wall", `there is "wall": want the end of the line`},
		{"at 1s  restart r3 kill 12s wall wall", `column 33: there is "wall": want the end of the line`},
		{"at 1s  failover r1", `there is "r1": want two machines such as c1>r3`},
		{"at 1s  fill", `the line ends: want a server such as r3`},
		{"at 1s  fill r1 soon", `there is "soon": want a duration such as 12s, or the end of the line`},
		{"at 1s  partition c1>r1", `there is "c1>r1": want two sides such as c1|r4,r5`},
		{"at 1s  cut c1|r1", `there is "c1|r1": want two sides such as c1>r4,r5`},
		{"at 1s  partition c1|r1 soon", `there is "soon": want a duration such as 12s, or the end of the line`},
	} {
		_, err := faults.Parse(c.text)
		require.ErrorContains(t, err, c.says, c.text)
		var where *faults.ParseError
		require.ErrorAs(t, err, &where)
	}
	require.Panics(t, func() { faults.MustParse("at noon") })
	require.Equal(t, "restart r3 kill", faults.Restart{Server: "r3", Wall: true}.String(), "at once is at once on any clock")
}

// faultsOf draws any fault.
func faultsOf() *rapid.Generator[faults.Fault] {
	name := rapid.StringMatching(`[a-z][a-z0-9-]{0,3}`)
	list := rapid.SliceOfN(name, 1, 3)
	duration := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "ns")) })
	return rapid.Custom(func(t *rapid.T) faults.Fault {
		a, b, d := name.Draw(t, "a"), name.Draw(t, "b"), duration.Draw(t, "d")
		f := faults.Fault{Anchor: faults.At(duration.Draw(t, "at"))}
		if rapid.Bool().Draw(t, "step") {
			f.Anchor = faults.Anchor{Process: a, Step: b, Count: rapid.IntRange(1, 99).Draw(t, "count"), After: rapid.Bool().Draw(t, "after")}
		}
		f.Action = rapid.SampledFrom([]faults.Action{
			faults.Pause{Machine: a, Kind: rapid.SampledFrom([]sim.Pause{sim.GC, sim.Loop, sim.Thread, sim.Suspend}).Draw(t, "kind"), For: d},
			faults.KillProcess{Process: a},
			faults.ClockStep{Machine: a, By: d * time.Duration(rapid.SampledFrom([]int{1, -1}).Draw(t, "sign"))},
			faults.ClockRate{Machine: a, Rate: clock.Rate(rapid.Int64Range(int64(clock.MinRate), int64(clock.MaxRate)).Draw(t, "rate"))},
			faults.Restart{Server: a, How: rapid.SampledFrom([]faults.Crash{faults.Kill, faults.PowerLoss}).Draw(t, "how"), For: d, Wall: d > 0 && rapid.Bool().Draw(t, "wall")},
			faults.Failover{Primary: a, Replica: b, After: d},
			faults.Fill{Server: a, For: d},
			faults.Partition{A: list.Draw(t, "left"), B: list.Draw(t, "right"), OneWay: rapid.Bool().Draw(t, "one way"), For: d},
			faults.Message{What: faults.Delay, From: a, To: b, By: max(d, 1)},
			faults.Message{What: faults.Duplicate, From: a, To: b, By: d},
			faults.Message{What: faults.Drop, From: a, To: b},
			faults.Message{What: faults.LoseReply, From: a, To: b},
			faults.Reset{Process: a, Server: b},
		}).Draw(t, "action")
		return f
	})
}

// TestPrintParsePrint: what is printed reads back as the same, and prints the
// same.
func TestPrintParsePrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := faults.Schedule(rapid.SliceOfN(faultsOf(), 1, 5).Draw(t, "schedule"))
		back, err := faults.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s, back)
		require.Equal(t, s.String(), back.String())
	})
}

// TestParseNeverPanics, whatever it is given.
func TestParseNeverPanics(t *testing.T) {
	t.Parallel()
	words := strings.Fields("at before after 1s -1s c1 c1.write#1 pause gc kill clock-rate +1% restart partition c1|r1 cut c1>r1 > | # , .")
	rapid.Check(t, func(t *rapid.T) {
		_, _ = faults.Parse(strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), " "))
		_, _ = faults.Parse(rapid.String().Draw(t, "text"))
	})
}
