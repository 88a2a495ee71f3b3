package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The first line of a history file says what it is.
const (
	format  = "locksim history"
	version = 1
)

// header is the first line.
type header struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	Stopped Stop          `json:"stopped,omitzero"`
	End     time.Duration `json:"end_ns"`
}

// Encode writes h as JSON Lines: a header, then an object for each event, in
// order. Kinds, verbs and outcomes are words, and what an event does not use is
// left out. Identical histories give identical bytes. An event with a kind, verb
// or outcome that has no word is an error.
func Encode(w io.Writer, h *History) error {
	head, err := json.Marshal(header{format, version, h.Stopped, h.End})
	if err != nil {
		return fmt.Errorf("history: header: %w", err)
	}
	const full = 4 << 10
	buf := append(make([]byte, 0, 2*full), head...)
	buf = append(buf, '\n')
	for i := range h.Events {
		if buf, err = appendEvent(buf, &h.Events[i]); err != nil {
			return fmt.Errorf("history: event %d: %w", i, err)
		}
		if buf = append(buf, '\n'); len(buf) < full {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err = w.Write(buf)
	return err
}

// Decode reads what Encode wrote. It accepts nothing else: not an unknown field or
// word, not an event that is earlier than the one before it. An error names the
// line, counted from 1, and what was wanted there.
func Decode(r io.Reader) (*History, error) {
	in := bufio.NewReader(r)
	var head header
	switch ok, err := next(in, &head); {
	case err != nil:
		return nil, fmt.Errorf("history: line 1: %w", err)
	case !ok:
		return nil, errors.New("history: line 1: no header: the file is empty")
	case head.Format != format || head.Version != version:
		return nil, fmt.Errorf("history: line 1: format %q version %d: want %q version %d",
			head.Format, head.Version, format, version)
	}
	h := &History{End: head.End, Stopped: head.Stopped}
	for line := 2; ; line++ {
		var e Event
		ok, err := next(in, &e)
		if err == nil && ok {
			err = h.accept(&e)
		}
		if err != nil {
			return nil, fmt.Errorf("history: line %d: %w", line, err)
		}
		if !ok {
			return h, nil
		}
		h.Add(e)
	}
}

// accept reports what is wrong with e as the next event of h.
func (h *History) accept(e *Event) error {
	switch {
	case e.Kind == 0:
		return fmt.Errorf("no kind: want one of %q", words[Kind]())
	case e.At < 0:
		return fmt.Errorf("at_ns %d: want 0 or more", e.At)
	case len(h.Events) > 0 && e.At < h.Events[len(h.Events)-1].At:
		return fmt.Errorf("at_ns %d: want %d or more, as in the line before", e.At, h.Events[len(h.Events)-1].At)
	case e.Op < 0 || e.Grant < 0 || e.Decided < 0:
		return fmt.Errorf("op %d, grant %d, decided %d: want 0 or more", e.Op, e.Grant, e.Decided)
	}
	return nil
}

// next decodes the next line into v. It reports false at the end of the input.
func next(in *bufio.Reader, v any) (bool, error) {
	line, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if len(line) == 0 {
		return false, nil
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return false, fmt.Errorf("want one JSON object: %w", err)
	}
	if rest, _ := io.ReadAll(dec.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return false, fmt.Errorf("want one JSON object, and nothing after it: %q", rest)
	}
	return true, nil
}
