package history

import (
	"encoding/json"
	"strconv"
	"time"
)

// appendEvent appends e as encoding/json would write it, and a good deal faster:
// every run's history is written once to be hashed.
func appendEvent(b []byte, e *Event) ([]byte, error) {
	switch {
	case e.Kind.word() == "":
		return b, noWord("kind", e.Kind)
	case e.Verb != 0 && e.Verb.word() == "":
		return b, noWord("verb", e.Verb)
	case e.Outcome != 0 && e.Outcome.word() == "":
		return b, noWord("outcome", e.Outcome)
	}
	b = strconv.AppendInt(append(b, `{"at_ns":`...), int64(e.At), 10)
	b = appendString(b, `,"kind":`, e.Kind.word())
	b = appendString(b, `,"verb":`, e.Verb.word())
	b = appendString(b, `,"outcome":`, e.Outcome.word())
	b = appendInt(b, `,"op":`, e.Op)
	b = appendInt(b, `,"grant":`, e.Grant)
	b = appendInt(b, `,"decided":`, e.Decided)
	b = appendString(b, `,"who":`, e.Who)
	b = appendString(b, `,"peer":`, e.Peer)
	b = appendString(b, `,"lock":`, e.Lock)
	b = appendString(b, `,"value":`, e.Value)
	b = appendString(b, `,"why":`, e.Why)
	b = appendString(b, `,"votes":`, e.Votes)
	b = appendInt(b, `,"anchor_ns":`, e.Anchor)
	b = appendInt(b, `,"term_ns":`, e.Term)
	b = appendInt(b, `,"until_ns":`, e.Until)
	b = appendInt(b, `,"delay_ns":`, e.Delay)
	b = appendInt(b, `,"token":`, e.Token)
	b = appendInt(b, `,"version":`, e.Version)
	b = appendInt(b, `,"base":`, e.Base)
	return append(b, '}'), nil
}

// appendInt appends a field unless it is 0.
func appendInt[N int32 | int64 | time.Duration](b []byte, key string, n N) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

// appendString appends a field unless it is empty.
func appendString(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, key...)
	if !plain(s) {
		quoted, _ := json.Marshal(s) // a string always marshals
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// plain reports whether s needs no escape in JSON as encoding/json writes it.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
