package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/clock"
)

// ParseError says where a schedule's text is wrong and what was wanted there.
type ParseError struct {
	Line, Column int // from 1; columns count bytes
	Got, Wanted  string
}

func (e *ParseError) Error() string {
	got := "the line ends"
	if e.Got != "" {
		got = fmt.Sprintf("there is %q", e.Got)
	}
	return fmt.Sprintf("line %d, column %d: %s: want %s", e.Line, e.Column, got, e.Wanted)
}

// MustParse is [Parse] for a text that is known to be right; it panics.
func MustParse(text string) Schedule {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Parse reads a schedule: a fault a line; empty lines and what follows a # do
// not count. The error is a *ParseError.
func Parse(text string) (Schedule, error) {
	var s Schedule
	for i, line := range strings.Split(text, "\n") {
		p := &parser{line: i + 1, rest: uncommented(line)}
		if strings.TrimSpace(p.rest) == "" {
			continue
		}
		f := p.fault()
		if p.err == nil {
			p.end()
		}
		if p.err != nil {
			return nil, p.err
		}
		s = append(s, f)
	}
	return s, nil
}

// LineOf is the line, from 1, of the fault with that index in a text that parses.
func LineOf(text string, index int) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(uncommented(line)) == "" {
			continue
		}
		if index--; index < 0 {
			return i + 1
		}
	}
	return 0
}

// uncommented is line without its comment: a # that begins a word.
func uncommented(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// parser reads the words of one line. After the first error it reads nothing.
type parser struct {
	line   int
	column int // of rest, from 0
	rest   string
	err    *ParseError
	word   string // the last word taken, and its column from 1
	at     int
}

// next takes a word, "" at the end of the line.
func (p *parser) next() string {
	trimmed := strings.TrimLeft(p.rest, " \t\r")
	p.column += len(p.rest) - len(trimmed)
	n := strings.IndexAny(trimmed, " \t\r")
	if n < 0 {
		n = len(trimmed)
	}
	p.word, p.at = trimmed[:n], p.column+1
	p.rest, p.column = trimmed[n:], p.column+n
	return p.word
}

// fail says that something else was wanted in the place of the last word.
func (p *parser) fail(wanted string) {
	if p.err == nil {
		p.err = &ParseError{p.line, p.at, p.word, wanted}
	}
}

func (p *parser) end() {
	if p.next() != "" {
		p.fail("the end of the line")
	}
}

func (p *parser) fault() Fault {
	var f Fault
	switch word := p.next(); word {
	case "at":
		f.Anchor = At(p.duration("an instant such as 500ms"))
	case "before", "after":
		f.Anchor = p.step(word == "after")
	default:
		p.fail("at, before or after")
	}
	if p.err == nil {
		f.Action = p.action()
	}
	return f
}

// step reads c1.write#1.
func (p *parser) step(after bool) Anchor {
	const wanted = "a step such as c1.write#1"
	name, count, ok := strings.Cut(p.next(), "#")
	process, step, dot := strings.Cut(name, ".")
	n, err := strconv.Atoi(count)
	if !ok || !dot || process == "" || step == "" || err != nil || n < 1 {
		p.fail(wanted)
	}
	return Anchor{Process: process, Step: step, Count: n, After: after}
}

// duration reads one that is not negative.
func (p *parser) duration(wanted string) time.Duration {
	d, err := time.ParseDuration(p.next())
	if err != nil || d < 0 || strings.HasPrefix(p.word, "+") {
		p.fail(wanted)
	}
	return d
}

// more reads a duration if the line goes on.
func (p *parser) more() time.Duration {
	if strings.TrimSpace(p.rest) == "" {
		return 0
	}
	return p.duration("a duration such as 12s, or the end of the line")
}

func (p *parser) name(wanted string) string {
	word := p.next()
	if word == "" || strings.ContainsAny(word, "|>,#") {
		p.fail(wanted)
	}
	return word
}

// pair reads A>B.
func (p *parser) pair() (string, string) {
	a, b, ok := strings.Cut(p.next(), ">")
	if !ok || a == "" || b == "" || strings.ContainsAny(a+b, "|>,#") {
		p.fail("two machines such as c1>r3")
	}
	return a, b
}

// sides reads A,B|C,D with the given mark between.
func (p *parser) sides(mark string) ([]string, []string) {
	a, b, ok := strings.Cut(p.next(), mark)
	left, right := strings.Split(a, ","), strings.Split(b, ",")
	if !ok || slices.Contains(left, "") || slices.Contains(right, "") || strings.ContainsAny(a+b, "|>#") {
		p.fail("two sides such as c1" + mark + "r4,r5")
	}
	return left, right
}

// actions in the order in which an error lists them.
var actionNames = [...]string{
	"pause", "kill", "clock-step", "clock-rate", "restart", "failover", "fill",
	"partition", "cut", "delay", "drop", "duplicate", "lose-reply", "reset",
}

func (p *parser) action() Action {
	switch word := p.next(); word {
	case "pause":
		return p.pause()
	case "kill":
		return KillProcess{p.name("a process such as c1")}
	case "clock-step":
		return ClockStep{p.name("a machine such as r3"), p.signedDuration()}
	case "clock-rate":
		return ClockRate{p.name("a machine such as r3"), p.rate()}
	case "restart":
		return p.restart()
	case "failover":
		a, b := p.pair()
		return Failover{a, b, p.more()}
	case "fill":
		return Fill{p.name("a server such as r3"), p.more()}
	case "partition":
		a, b := p.sides("|")
		return Partition{a, b, false, p.more()}
	case "cut":
		a, b := p.sides(">")
		return Partition{a, b, true, p.more()}
	case "delay":
		a, b := p.pair()
		return Message{Delay, a, b, p.duration("a duration such as 200ms")}
	case "drop":
		a, b := p.pair()
		return Message{What: Drop, From: a, To: b}
	case "duplicate":
		a, b := p.pair()
		return Message{Duplicate, a, b, p.more()}
	case "lose-reply":
		a, b := p.pair()
		return Message{What: LoseReply, From: a, To: b}
	case "reset":
		return Reset{p.name("a process such as c1"), p.name("a server such as db")}
	default:
		p.fail("one of " + strings.Join(actionNames[:], ", "))
		return nil
	}
}

func (p *parser) pause() Action {
	f := Pause{Machine: p.name("a machine such as c1")}
	if err := f.Kind.UnmarshalText([]byte(p.next())); err != nil {
		p.fail("gc, loop, thread or suspend")
	}
	f.For = p.duration("a duration such as 14s")
	return f
}

func (p *parser) restart() Action {
	f := Restart{Server: p.name("a server such as r3")}
	switch p.next() {
	case "kill":
		f.How = Kill
	case "power-loss":
		f.How = PowerLoss
	default:
		p.fail("kill or power-loss")
	}
	f.For = p.more()
	if f.For > 0 && strings.TrimSpace(p.rest) != "" {
		if p.next() != "wall" {
			p.fail("wall, or the end of the line")
		}
		f.Wall = true
	}
	return f
}

func (p *parser) signedDuration() time.Duration {
	d, err := time.ParseDuration(p.next())
	if err != nil || p.word[0] != '+' && p.word[0] != '-' || d < -MaxStep || d > MaxStep {
		p.fail("a signed duration such as +11s or -4.2s, at most 100000h")
	}
	return d
}

var units = []struct {
	name string
	ppb  int64
}{{"%", 10_000_000}, {"ppm", 1000}, {"ppb", 1}}

// rate reads +10%, -200ppm or +5ppb, with a decimal fraction down to a billionth.
func (p *parser) rate() clock.Rate {
	const wanted = "a signed rate such as +10%, -200ppm or +5ppb, from -90% to +900%"
	word := p.next()
	for _, u := range units {
		number, ok := strings.CutSuffix(word, u.name)
		if !ok || number == "" || number[0] != '+' && number[0] != '-' {
			continue
		}
		ppb, ok := scaled(number, u.ppb)
		if ok && clock.Rate(ppb) >= clock.MinRate && clock.Rate(ppb) <= clock.MaxRate {
			return clock.Rate(ppb)
		}
	}
	p.fail(wanted)
	return 0
}

// scaled is a signed decimal times scale, if that is whole.
func scaled(number string, scale int64) (int64, bool) {
	whole, fraction, _ := strings.Cut(number[1:], ".")
	n, err := strconv.ParseUint(whole, 10, 40)
	if err != nil {
		return 0, false
	}
	sum := int64(n) * scale
	for _, digit := range fraction {
		if digit < '0' || digit > '9' || scale%10 != 0 {
			return 0, false
		}
		scale /= 10
		sum += int64(digit-'0') * scale
	}
	if number[0] == '-' {
		sum = -sum
	}
	return sum, true
}

// rate is the canonical text of r, in the greatest unit in which it is whole.
func rate(r clock.Rate) string {
	for _, u := range units {
		if int64(r)%u.ppb == 0 {
			return fmt.Sprintf("%+d%s", int64(r)/u.ppb, u.name)
		}
	}
	return ""
}

func signed(d time.Duration) string {
	if d < 0 {
		return d.String()
	}
	return "+" + d.String()
}

func optional(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " " + d.String()
}

// String is the kind's name in a schedule: "kill" or "power-loss".
func (c Crash) String() string {
	if c == PowerLoss {
		return "power-loss"
	}
	return "kill"
}
