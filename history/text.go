package history

import "fmt"

// enum is an enumeration with a word for each of its values, which count from 1.
// The zero value has none: it is left out of a file.
type enum interface {
	~uint8
	// word returns the word in the file, or "" for a value that has none.
	word() string
}

func (k Kind) word() string {
	switch k {
	case Call:
		return "call"
	case Return:
		return "return"
	case Believe:
		return "believe"
	case Doubt:
		return "doubt"
	case Send:
		return "send"
	case Drop:
		return "drop"
	case Freed:
		return "freed"
	case Strayed:
		return "strayed"
	case Prolonged:
		return "prolonged"
	case Write:
		return "write"
	case Effect:
		return "effect"
	case Step:
		return "step"
	case Fault:
		return "fault"
	case Heal:
		return "heal"
	case Elected:
		return "elected"
	case SteppedDown:
		return "stepped-down"
	case End:
		return "end"
	case Mint:
		return "mint"
	case Fsync:
		return "fsync"
	}
	return ""
}

func (v Verb) word() string {
	switch v {
	case Acquire:
		return "acquire"
	case Release:
		return "release"
	case Extend:
		return "extend"
	case Read:
		return "read"
	case Request:
		return "request"
	case Reply:
		return "reply"
	}
	return ""
}

func (o Outcome) word() string {
	switch o {
	case OK:
		return "ok"
	case Refused:
		return "refused"
	case NotHeld:
		return "not-held"
	case Unknown:
		return "unknown"
	}
	return ""
}

func (s Stop) word() string {
	switch s {
	case Quiet:
		return "quiet"
	case Horizon:
		return "horizon"
	case Bound:
		return "bound"
	}
	return ""
}

// String returns the word for k.
func (k Kind) String() string { return spell("kind", k) }

// String returns the word for v.
func (v Verb) String() string { return spell("verb", v) }

// String returns the word for o.
func (o Outcome) String() string { return spell("outcome", o) }

// String returns the word for s.
func (s Stop) String() string { return spell("stop", s) }

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return marshal("kind", k) }

// MarshalText implements encoding.TextMarshaler.
func (v Verb) MarshalText() ([]byte, error) { return marshal("verb", v) }

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return marshal("outcome", o) }

// MarshalText implements encoding.TextMarshaler.
func (s Stop) MarshalText() ([]byte, error) { return marshal("stop", s) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(text []byte) error { return unmarshal("kind", text, k) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verb) UnmarshalText(text []byte) error { return unmarshal("verb", text, v) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(text []byte) error { return unmarshal("outcome", text, o) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stop) UnmarshalText(text []byte) error { return unmarshal("stop", text, s) }

// words returns the words of E, in the order of its values.
func words[E enum]() []string {
	var ws []string
	for e := E(1); e.word() != ""; e++ {
		ws = append(ws, e.word())
	}
	return ws
}

func spell[E enum](name string, e E) string {
	if w := e.word(); w != "" {
		return w
	}
	return fmt.Sprintf("%s(%d)", name, uint8(e))
}

func marshal[E enum](name string, e E) ([]byte, error) {
	if w := e.word(); w != "" {
		return []byte(w), nil
	}
	return nil, noWord(name, e)
}

func unmarshal[E enum](name string, text []byte, e *E) error {
	for v := E(1); v.word() != ""; v++ {
		if v.word() == string(text) {
			*e = v
			return nil
		}
	}
	return fmt.Errorf("%s %q: want one of %q", name, text, words[E]())
}

func noWord[E enum](name string, e E) error {
	return fmt.Errorf("%s %d has no word", name, uint8(e))
}
