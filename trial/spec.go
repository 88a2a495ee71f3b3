package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/models"
	"locksim/models/resource"
	"locksim/sim"
)

// Spec is everything that a run depends on. The same Spec gives the same
// history, byte for byte.
type Spec struct {
	// System is the lock; nil for a run without one.
	System models.System
	// Cast is who uses it, and for what.
	Cast Cast
	// Schedule is what goes wrong.
	Schedule faults.Schedule
	// Latency is how long messages take; none by default.
	Latency sim.Latency
	// Seed splits into one stream of choices for each client and link.
	Seed uint64
	// Horizon ends the run at that true instant; 0 means [DefaultHorizon].
	Horizon time.Duration
	// Bound is the greatest number of events; 0 means sim.DefaultBound. What is
	// not decided by then is unknown.
	Bound int
}

// DefaultHorizon is when a run ends at the latest, unless its Spec says
// otherwise.
const DefaultHorizon = time.Hour

// Cast is the clients of a run and the resources that they share.
type Cast struct {
	Clients   []Client
	Resources []models.Resource
}

// Client is a process with a script.
type Client struct {
	Name   string
	Script Script
}

// Writers is the cast of the widget that the documents draw: each client takes
// the lock, works for 1 s, and writes to store. The first starts at 1 s and gives
// the lock back as soon as it has written; each other starts 2 s after the one
// before it and holds the lock for half a second longer. All write only to store.
func Writers(n int, store resource.Store) Cast {
	cast := Cast{Resources: []models.Resource{store}}
	for i := range n {
		script := fmt.Sprintf("until %ds; acquire; work 1s; write %s", 1+2*i, store.Name())
		if i > 0 {
			script += "; work 500ms"
		}
		cast.Clients = append(cast.Clients, Client{fmt.Sprintf("c%d", i+1), MustScript(script + "; release")})
	}
	return cast
}

// validate says what of a Spec makes no sense, where, and what does.
func (s *Spec) validate() error {
	if len(s.Cast.Clients) == 0 {
		return fmt.Errorf("cast: there is no client")
	}
	if s.Horizon < 0 || s.Bound < 0 {
		return fmt.Errorf("horizon %v, bound %d: want 0 or more", s.Horizon, s.Bound)
	}
	for i, r := range s.Cast.Resources {
		if r == nil {
			return fmt.Errorf("cast: resource %d is nil", i+1)
		}
		if err := checkName("resource", r.Name()); err != nil {
			return err
		}
	}
	for i, f := range s.Schedule {
		if f.Action == nil {
			return fmt.Errorf("schedule line %d has no action", i+1)
		}
	}
	for i := range s.Cast.Clients {
		c := &s.Cast.Clients[i]
		if err := checkName("client", c.Name); err != nil {
			return err
		}
		if err := s.validateScript(c); err != nil {
			return err
		}
	}
	return s.validateLatency()
}

// reserved are the characters that mean something in a schedule or a script.
const reserved = " .,;#|>/:"

func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, reserved) {
		return fmt.Errorf("cast: %s %q: want a name without any of %q", what, name, reserved)
	}
	return nil
}

func (s *Spec) validateScript(c *Client) error {
	for i := range c.Script {
		line := &c.Script[i]
		var err error
		switch {
		case !slices.Contains(verbs, line.Verb):
			err = fmt.Errorf("no verb %q: want one of %s", line.Verb, strings.Join(verbs, ", "))
		case line.For < 0 || line.Every < 0 || line.Jitter < 0 || line.Times < 0 || line.Retry < 0 || line.Verb == "watch" && line.Every == 0:
			err = fmt.Errorf("a duration is negative, or a number, or a watch has no duration")
		case (line.usesLock() || line.Verb == "mint") && s.System == nil:
			err = fmt.Errorf("the spec has no system to lock with")
		case line.Retry > 0 && !slices.ContainsFunc(c.Script[:i], func(before Line) bool { return before.asks(line.Key) }):
			err = fmt.Errorf("there is nothing to do again: want an acquire or a try of %s before it", line.Key)
		case line.usesLock():
			_, err = cutDate(line.Key)
		case line.usesResource() && s.resource(line.Object) == nil:
			err = fmt.Errorf("no resource %q: want %s", line.Object, s.resources())
		case line.With != "" && s.resource(line.With) == nil:
			err = fmt.Errorf("no resource %q: want %s", line.With, s.resources())
		}
		if err != nil {
			return fmt.Errorf("client %s, step %d, %q: %w", c.Name, i+1, line, err)
		}
	}
	return nil
}

func (s *Spec) resource(name string) models.Resource {
	for _, r := range s.Cast.Resources {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

func (s *Spec) resources() string {
	if len(s.Cast.Resources) == 0 {
		return "one in the cast, which has none"
	}
	var names []string
	for _, r := range s.Cast.Resources {
		names = append(names, r.Name())
	}
	return "one of " + strings.Join(names, ", ")
}

func (s *Spec) validateLatency() error {
	for _, d := range s.Latency.Default {
		if d < 0 {
			return fmt.Errorf("latency %v: want 0 or more", d)
		}
	}
	for link, table := range s.Latency.Links {
		if a, b, ok := strings.Cut(link, ">"); !ok || a == "" || b == "" {
			return fmt.Errorf("latency of link %q: want a name such as c1>r3", link)
		}
		for _, d := range table {
			if d < 0 {
				return fmt.Errorf("latency of link %q: %v: want 0 or more", link, d)
			}
		}
	}
	return nil
}
