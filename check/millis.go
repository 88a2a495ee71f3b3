package check

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Millis is a duration that marshals as a number of milliseconds, with a
// fraction only where there is one, exact to the nanosecond.
type Millis time.Duration

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) {
	const ms = uint64(time.Millisecond)
	var b []byte
	n := uint64(m)
	if m < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendUint(b, n/ms, 10)
	if frac := n % ms; frac != 0 {
		digits := strconv.FormatUint(ms+frac, 10)[1:]
		b = append(append(b, '.'), strings.TrimRight(digits, "0")...)
	}
	return b, nil
}

// MarshalJSON implements json.Marshaler.
func (b Breach) MarshalJSON() ([]byte, error) {
	type plain Breach
	return json.Marshal(struct {
		plain
		At    Millis `json:"at_ms"`
		Early Millis `json:"early_ms,omitzero"`
	}{plain(b), Millis(b.At), Millis(b.Early)})
}

// MarshalJSON implements json.Marshaler.
func (b Belief) MarshalJSON() ([]byte, error) {
	type plain Belief
	return json.Marshal(struct {
		plain
		Total Millis `json:"total_ms"`
	}{plain(b), Millis(b.Total)})
}

// MarshalJSON implements json.Marshaler.
func (w Window) MarshalJSON() ([]byte, error) {
	type plain Window
	return json.Marshal(struct {
		plain
		From Millis `json:"from_ms"`
		To   Millis `json:"to_ms"`
		Span Millis `json:"ms"`
	}{plain(w), Millis(w.From), Millis(w.To), Millis(w.To - w.From)})
}

// MarshalJSON implements json.Marshaler.
func (w Wound) MarshalJSON() ([]byte, error) {
	type plain Wound
	return json.Marshal(struct {
		plain
		At Millis `json:"at_ms"`
	}{plain(w), Millis(w.At)})
}

// MarshalJSON implements json.Marshaler.
func (p Progress) MarshalJSON() ([]byte, error) {
	type plain Progress
	return json.Marshal(struct {
		plain
		Longest Millis `json:"longest_wait_ms"`
	}{plain(p), Millis(p.Longest)})
}
