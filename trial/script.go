package trial

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Script is what a client does, step by step:
//
//	until 1s                          wait until its monotonic clock shows 1 s
//	acquire [KEY] [every 100ms] [jitter 50ms]
//	                                  try until granted, waiting that long, and up
//	                                  to jitter more, after each refusal
//	try [KEY] [anyway]                one attempt; refused, or an error: on behind the
//	                                  release of KEY, or (anyway) after an error on, as if
//	                                  it had the lock
//	extend [KEY]                      ask for a new term
//	watch [KEY] every 3s [times 5] [main] [ignore|quit]
//	                                  from now on, extend the lock that often, no
//	                                  more than 5 times: in a thread of its own, or
//	                                  (main) only while working; a failure ends the
//	                                  work, or (ignore) changes nothing, or (quit) ends
//	                                  the watch, which tells nobody
//	look [KEY]                        ask who holds the lock
//	check [KEY]                       ask, and give up the lock if it is another's
//	work 1s                           work; ends early when the client knows that it lost the lock
//	once RESOURCE                     read it; written, or no answer: on to the release of
//	                                  the lock acquired last, or to the end without one
//	read RESOURCE                     read it; a write that follows is computed from
//	                                  that; no answer: on as after once
//	write RESOURCE [and RESOURCE] [blind] [as VALUE]
//	                                  write to it, or (blind) whatever was read; the
//	                                  client's name, or VALUE. Of two, one is written
//	                                  after the other, a step each, and both are meant
//	                                  as one change
//	claim RESOURCE                    put the lock's random value on it, or without a
//	                                  lock the client's name
//	mint RESOURCE                     let it hand out the fencing token that the lock
//	                                  acquired last goes by from then on
//	do RESOURCE EFFECT                have an effect, such as a mail
//	release [KEY] [retry 1s]          give the lock back; with retry, unless it is told that
//	                                  it is released, take all of it for failed: wait that
//	                                  long, and begin again where KEY was asked for last
//
// KEY is the lock's name, "job" unless it is given. One with a {date} in it is named
// for the day that the client's wall clock shows, in UTC, when it begins to ask for
// the lock; one with {date+7h} for the day in a time zone seven hours ahead.
//
// A client that knows that it has lost a lock asks for no other, and goes on behind
// the release of it, after releasing; what else it holds it releases on the way.
//
// Each verb is also the label of a step that a fault can name: c1.write#1.
type Script []Line

// Line is one step of a script. Which fields count depends on the verb.
type Line struct {
	Verb   string
	Key    string        // of the lock
	Object string        // a resource
	With   string        // write: a second one that is to change with it
	Effect string        // do
	For    time.Duration // until, work
	Every  time.Duration // acquire: the wait after a refusal; watch: between extensions
	Jitter time.Duration // acquire: the most that is added to it
	Times  int           // watch: how often at most; 0 for without end
	Main   bool          // watch: by the first thread, while it works
	Ignore bool          // watch: a failed extension changes nothing
	Anyway bool          // try: an error is taken for a grant
	Quit   bool          // watch: a failed extension ends the watch, and nobody is told
	Retry  time.Duration // release: the wait before all is done again; 0 for not at all
	Blind  bool          // write: not computed from what was read
	Value  string        // write: what; the client's name where it is empty
}

// DefaultKey is the lock's name in a script that gives none, and DefaultEvery
// the wait between its attempts.
const (
	DefaultKey   = "job"
	DefaultEvery = 100 * time.Millisecond
)

var verbs = []string{"until", "acquire", "try", "extend", "watch", "look", "check", "work", "once", "read", "write", "claim", "mint", "do", "release"}

func (l *Line) usesLock() bool {
	switch l.Verb {
	case "acquire", "try", "extend", "watch", "look", "check", "release":
		return true
	}
	return false
}

// asks tells whether the step asks for that lock.
func (l *Line) asks(key string) bool {
	return (l.Verb == "acquire" || l.Verb == "try") && l.Key == key
}

func (l *Line) usesResource() bool {
	switch l.Verb {
	case "once", "read", "write", "claim", "mint", "do":
		return true
	}
	return false
}

// String is the step's canonical text.
func (l Line) String() string {
	words := []string{l.Verb}
	switch l.Verb {
	case "until", "work":
		words = append(words, l.For.String())
	case "do":
		words = append(words, l.Object, l.Effect)
	case "once", "read", "write", "claim", "mint":
		words = append(words, l.Object)
	}
	if l.usesLock() && l.Key != DefaultKey {
		words = append(words, l.Key)
	}
	if l.Verb == "acquire" && l.Every != DefaultEvery || l.Verb == "watch" {
		words = append(words, "every", l.Every.String())
	}
	if l.Jitter != 0 {
		words = append(words, "jitter", l.Jitter.String())
	}
	if l.Times != 0 {
		words = append(words, "times", strconv.Itoa(l.Times))
	}
	if l.Main {
		words = append(words, "main")
	}
	if l.Ignore {
		words = append(words, "ignore")
	}
	if l.Quit {
		words = append(words, "quit")
	}
	if l.Retry != 0 {
		words = append(words, "retry", l.Retry.String())
	}
	if l.With != "" {
		words = append(words, "and", l.With)
	}
	if l.Anyway {
		words = append(words, "anyway")
	}
	if l.Blind {
		words = append(words, "blind")
	}
	if l.Value != "" {
		words = append(words, "as", l.Value)
	}
	return strings.Join(words, " ")
}

// String is the script's canonical text. [ParseScript] reads it back.
func (s Script) String() string {
	lines := make([]string, len(s))
	for i, l := range s {
		lines[i] = l.String()
	}
	return strings.Join(lines, "; ")
}

// MarshalText is the script's canonical text.
func (s Script) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a script.
func (s *Script) UnmarshalText(text []byte) error {
	parsed, err := ParseScript(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// MustScript is [ParseScript] for a text that is known to be right; it panics.
func MustScript(text string) Script {
	s, err := ParseScript(text)
	if err != nil {
		panic(err)
	}
	return s
}

// ParseScript reads a script: steps with semicolons between them. The error says
// which step is wrong and what was wanted.
func ParseScript(text string) (Script, error) {
	var s Script
	for i, step := range strings.Split(text, ";") {
		l, err := parseLine(strings.Fields(step))
		if err != nil {
			return nil, fmt.Errorf("step %d, %q: %w", i+1, strings.TrimSpace(step), err)
		}
		s = append(s, l)
	}
	return s, nil
}

func parseLine(words []string) (Line, error) {
	if len(words) == 0 {
		return Line{}, fmt.Errorf("there is nothing: want one of %s", strings.Join(verbs, ", "))
	}
	l := Line{Verb: words[0]}
	rest := words[1:]
	var err error
	switch {
	case l.Verb == "until" || l.Verb == "work":
		l.For, rest, err = takeDuration(rest, l.Verb)
	case l.Verb == "do":
		l.Object, rest = takeWord(rest)
		l.Effect, rest = takeWord(rest)
		if l.Effect == "" {
			err = fmt.Errorf("want a resource and an effect, such as do mailer invoice-1")
		}
	case l.usesResource():
		if l.Object, rest = takeWord(rest); l.Object == "" {
			err = fmt.Errorf("want a resource, such as %s doc", l.Verb)
		} else if l.Verb == "write" {
			rest, err = l.takeWrite(rest)
		}
	case l.usesLock():
		rest, err = l.takeLock(rest)
	default:
		return Line{}, fmt.Errorf("no verb %q: want one of %s", l.Verb, strings.Join(verbs, ", "))
	}
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("there is %q behind it: want the end of the step", rest[0])
	}
	return l, err
}

// takeWrite reads where else a write goes, how it is made, and what is written.
func (l *Line) takeWrite(words []string) ([]string, error) {
	if len(words) > 0 && words[0] == "and" {
		if l.With, words = takeWord(words[1:]); l.With == "" || l.With == l.Object {
			return words, fmt.Errorf("there is %q behind and: want another resource", l.With)
		}
	}
	if len(words) > 0 && words[0] == "blind" {
		l.Blind, words = true, words[1:]
	}
	if len(words) == 0 || words[0] != "as" {
		return words, nil
	}
	if l.Value, words = takeWord(words[1:]); l.Value == "" {
		return words, fmt.Errorf("there is nothing behind as: want a value")
	}
	return words, nil
}

// takeLock reads a lock's name and how often to try, or to extend, or what to make of an
// error.
func (l *Line) takeLock(words []string) ([]string, error) {
	l.Key = DefaultKey
	if len(words) > 0 && !isOption(words[0]) {
		l.Key, words = takeWord(words)
	}
	switch l.Verb {
	case "try":
		if len(words) > 0 && words[0] == "anyway" {
			l.Anyway, words = true, words[1:]
		}
	case "acquire":
		return l.takeAcquire(words)
	case "watch":
		return l.takeWatch(words)
	case "release":
		return l.takeRelease(words)
	}
	return words, nil
}

func (l *Line) takeRelease(words []string) ([]string, error) {
	if len(words) == 0 || words[0] != "retry" {
		return words, nil
	}
	var err error
	if l.Retry, words, err = takeDuration(words[1:], "retry"); err == nil && l.Retry == 0 {
		err = fmt.Errorf("there is 0s behind retry: want more")
	}
	return words, err
}

// isOption tells whether word is what may stand behind a lock's name, and so cannot be
// one.
func isOption(word string) bool {
	return word == "every" || word == "jitter" || word == "retry" || word == "anyway"
}

func (l *Line) takeAcquire(words []string) ([]string, error) {
	l.Every = DefaultEvery
	var err error
	if len(words) > 0 && words[0] == "every" {
		if l.Every, words, err = takeDuration(words[1:], "every"); err != nil {
			return words, err
		}
	}
	if len(words) > 0 && words[0] == "jitter" {
		l.Jitter, words, err = takeDuration(words[1:], "jitter")
	}
	return words, err
}

func (l *Line) takeWatch(words []string) ([]string, error) {
	if len(words) == 0 || words[0] != "every" {
		return words, fmt.Errorf("want how often to extend, such as watch every 3s")
	}
	var err error
	if l.Every, words, err = takeDuration(words[1:], "every"); err != nil {
		return words, err
	}
	if l.Every == 0 {
		return words, fmt.Errorf("there is 0s behind every: want more")
	}
	if len(words) > 0 && words[0] == "times" {
		if l.Times, words, err = takeCount(words[1:], "times"); err != nil {
			return words, err
		}
	}
	if len(words) > 0 && words[0] == "main" {
		l.Main, words = true, words[1:]
	}
	if len(words) > 0 && (words[0] == "ignore" || words[0] == "quit") {
		l.Ignore, l.Quit = words[0] == "ignore", words[0] == "quit"
		words = words[1:]
	}
	return words, nil
}

func takeWord(words []string) (string, []string) {
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

func takeCount(words []string, after string) (int, []string, error) {
	word, rest := takeWord(words)
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return 0, nil, fmt.Errorf("there is %q behind %s: want a number such as 3, at least 1", word, after)
	}
	return n, rest, nil
}

func takeDuration(words []string, after string) (time.Duration, []string, error) {
	word, rest := takeWord(words)
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0, nil, fmt.Errorf("there is %q behind %s: want a duration such as 1s, not negative", word, after)
	}
	return d, rest, nil
}
