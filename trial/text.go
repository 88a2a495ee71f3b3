package trial

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"locksim/faults"
	"locksim/models"
	"locksim/models/catalog"
	"locksim/sim"
)

// document is a Spec as YAML:
//
//	system:
//	  redlock:
//	    ttl: 10s
//	clients:
//	  c1: until 1s; acquire; work 1s; write doc; release
//	resources:
//	- store:
//	    name: doc
//	schedule: |
//	  at 500ms  restart r3 power-loss
//	latency:
//	  default: [1ms]
//	  links:
//	    c1>r3: [1ms, 2ms]
//	seed: 1
//	horizon: 1m0s
type document struct {
	System    map[string]any   `yaml:"system,omitempty"`
	Clients   yaml.MapSlice    `yaml:"clients"`
	Resources []map[string]any `yaml:"resources,omitempty"`
	Schedule  string           `yaml:"schedule,omitempty"`
	Latency   *latency         `yaml:"latency,omitempty"`
	Seed      uint64           `yaml:"seed,omitempty"`
	Horizon   time.Duration    `yaml:"horizon,omitempty"`
	Bound     int              `yaml:"bound,omitempty"`
}

// draft is a document whose options are not decoded yet, since their types hang
// on their names.
type draft struct {
	System    map[string]ast.Node   `yaml:"system"`
	Clients   yaml.MapSlice         `yaml:"clients"`
	Resources []map[string]ast.Node `yaml:"resources"`
	Schedule  string                `yaml:"schedule"`
	Latency   *latency              `yaml:"latency"`
	Seed      uint64                `yaml:"seed"`
	Horizon   time.Duration         `yaml:"horizon"`
	Bound     int                   `yaml:"bound"`
}

type latency struct {
	Default []time.Duration            `yaml:"default,flow,omitempty"`
	Links   map[string][]time.Duration `yaml:"links,omitempty"`
}

// Text is the spec's canonical YAML. [Parse] reads it back. The error names a
// system or a resource that is not in the catalog.
func (s *Spec) Text() (string, error) {
	d := document{Schedule: s.Schedule.String(), Seed: s.Seed, Horizon: s.Horizon, Bound: s.Bound}
	if s.System != nil {
		name, err := catalog.NameOf(catalog.Systems(), s.System)
		if err != nil {
			return "", err
		}
		d.System = map[string]any{name: s.System}
	}
	for _, c := range s.Cast.Clients {
		d.Clients = append(d.Clients, yaml.MapItem{Key: c.Name, Value: c.Script.String()})
	}
	for _, r := range s.Cast.Resources {
		name, err := catalog.NameOf(catalog.Resources(), r)
		if err != nil {
			return "", err
		}
		d.Resources = append(d.Resources, map[string]any{name: r})
	}
	if l := s.Latency; len(l.Default) > 0 || len(l.Links) > 0 {
		d.Latency = &latency{l.Default, l.Links}
	}
	text, err := yaml.MarshalWithOptions(d, yaml.UseLiteralStyleIfMultiline(true))
	return string(text), err
}

// Parse reads a spec from YAML. Fields that do not exist are errors. The error
// says where and what is wrong.
func Parse(text string) (Spec, error) {
	var d draft
	if err := yaml.UnmarshalWithOptions([]byte(text), &d, yaml.Strict()); err != nil {
		return Spec{}, err
	}
	s := Spec{Seed: d.Seed, Horizon: d.Horizon, Bound: d.Bound}
	var err error
	if s.Schedule, err = faults.Parse(d.Schedule); err != nil {
		return Spec{}, fmt.Errorf("schedule: %w", err)
	}
	if d.Latency != nil {
		s.Latency = sim.Latency{Default: d.Latency.Default, Links: d.Latency.Links}
	}
	if d.System != nil {
		if s.System, err = decode[models.System](d.System, catalog.Systems(), "system"); err != nil {
			return Spec{}, err
		}
	}
	for _, r := range d.Resources {
		resource, err := decode[models.Resource](r, catalog.Resources(), "resource")
		if err != nil {
			return Spec{}, err
		}
		s.Cast.Resources = append(s.Cast.Resources, resource)
	}
	for _, item := range d.Clients {
		name, script := fmt.Sprint(item.Key), fmt.Sprint(item.Value)
		parsed, err := ParseScript(script)
		if err != nil {
			return Spec{}, fmt.Errorf("client %s: %w", name, err)
		}
		s.Cast.Clients = append(s.Cast.Clients, Client{name, parsed})
	}
	return s, nil
}

// decode makes the one thing that m names, with its options.
func decode[T any](m map[string]ast.Node, entries []catalog.Entry[T], what string) (T, error) {
	var none T
	if len(m) != 1 {
		return none, fmt.Errorf("%s: there are %d names: want one", what, len(m))
	}
	for name, node := range m {
		v, err := catalog.New(entries, what, name)
		if err != nil || node == nil {
			return v, err
		}
		if err := yaml.NodeToValue(node, v, yaml.Strict()); err != nil {
			return none, fmt.Errorf("%s %s: %w", what, name, err)
		}
		return v, nil
	}
	return none, nil
}
