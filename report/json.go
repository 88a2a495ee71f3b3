package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"locksim/check"
	"locksim/scenarios"
)

// object is a run as JSON. Its fields stand in the order in which they are
// written.
type object struct {
	Scenario   string         `json:"scenario"`
	Seed       uint64         `json:"seed"`
	Claims     []string       `json:"claims"`
	Parameters parameters     `json:"parameters"`
	Verdicts   check.Verdicts `json:"verdicts"`
	Expected   *expectation   `json:"expected"`
	AsExpected *bool          `json:"as_expected"`
	Missed     []string       `json:"missed"`
	// Case is left out where the scenario is no failure from the field.
	Case    *fieldCase   `json:"case,omitempty"`
	Events  int          `json:"events"`
	Virtual check.Millis `json:"virtual_ms"`
	Trace   string       `json:"trace_sha256"`
}

type expectation struct {
	Promise  check.Status `json:"promise"`
	Breaches []string     `json:"breaches"`
	Belief   check.Status `json:"belief"`
	Overlap  check.Millis `json:"overlap_ms"`
	Damage   []string     `json:"damage"`
	Rejected []string     `json:"rejected"`
	Progress check.Status `json:"progress"`
	// Granted is left out where it is not what the scenario is about.
	Granted []string `json:"granted,omitempty"`
	// Longest is 0 where it is not what the scenario is about.
	Longest check.Millis `json:"longest_wait_ms,omitzero"`
	// Figures are what the run must show besides; left out where there are none.
	Figures []figure `json:"figures,omitempty"`
	Because string   `json:"because"`
}

type fieldCase struct {
	Report string `json:"report"`
	Seen   string `json:"seen"`
	By     string `json:"cured_by"`
	Cure   string `json:"cure"`
	Means  string `json:"means"`
}

type figure struct {
	Of   string `json:"of"`
	Want string `json:"want"`
}

// JSON writes a run as one object on a line of its own, in one Write. Lists are
// never null; expected is null where nothing can be expected, as_expected also
// where a verdict is unknown.
func JSON(w io.Writer, r *Run) error {
	o := object{
		Scenario:   r.Scenario.Name,
		Seed:       r.Seed,
		Claims:     list(r.Scenario.Claims),
		Parameters: r.Scenario.Params,
		Verdicts:   r.Result.Verdicts,
		Missed:     list(r.Result.Missed),
		Events:     r.Result.Events,
		Virtual:    check.Millis(r.Result.Virtual),
		Trace:      r.Result.TraceSHA256(),
	}
	if e := r.Expected; e != nil {
		o.Expected = &expectation{
			e.Promise, list(e.Breaches), e.Belief, check.Millis(e.Overlap), list(e.Damage), list(e.Rejected), e.Progress, e.Granted, check.Millis(e.Longest), nil, e.Because,
		}
		for _, f := range e.Figures {
			o.Expected.Figures = append(o.Expected.Figures, figure(f))
		}
	}
	if c := r.told(); c != nil {
		o.Case = &fieldCase{c.Report, c.Seen, string(c.By), c.Cure, c.Means}
	}
	if j := r.Judgement(); j == AsExpected || j == NotAsExpected {
		yes := j == AsExpected
		o.AsExpected = &yes
	}
	return writeLine(w, o)
}

// parameters marshal as an object of their canonical texts, in their own order.
type parameters []scenarios.Param

// MarshalJSON implements json.Marshaler.
func (ps parameters) MarshalJSON() ([]byte, error) {
	fields := make([]string, len(ps))
	for i := range ps {
		name, _ := json.Marshal(ps[i].Name) // a string always marshals
		value, _ := json.Marshal(ps[i].Value())
		fields[i] = string(name) + ":" + string(value)
	}
	return []byte("{" + strings.Join(fields, ",") + "}"), nil
}

// list is never null in JSON.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// writeLine writes v as JSON on a line, and leaves <, > and & as they are.
func writeLine(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
