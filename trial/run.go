package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/check"
	"locksim/history"
	"locksim/models"
	"locksim/sim"
)

// ErrSpec is in the chain of every error that is about the Spec and not about
// the simulator.
var ErrSpec = errors.New("bad spec")

// Result is what a run showed.
type Result struct {
	check.Verdicts
	// History is what happened. A Runner's next run overwrites it.
	History *history.History
	// Events is how many events the simulation took.
	Events int
	// Virtual is the true instant at which the run ended.
	Virtual time.Duration
	// Missed lists the anchors of the schedule that were never reached: their
	// faults did not strike.
	Missed []string
}

// TraceSHA256 is the hash of the history's file form, in hex.
func (r *Result) TraceSHA256() string {
	sum := sha256.New()
	if err := history.Encode(sum, r.History); err != nil {
		panic(err) // a hash takes every write
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Runner runs one Spec after another and keeps its memory between them. Several
// goroutines need a Runner each.
type Runner struct {
	world *sim.World
	judge check.Judge
}

// NewRunner makes a Runner. Close it after use.
func NewRunner() *Runner { return &Runner{world: sim.New()} }

// Close gives up what the Runner has kept.
func (r *Runner) Close() { r.world.Close() }

// Run runs spec in a world of its own.
func Run(spec Spec) (Result, error) {
	r := NewRunner()
	defer r.Close()
	return r.Run(&spec)
}

// Run runs spec. An error with ErrSpec in its chain says what is wrong with it;
// any other is a failure of the simulator, or of the code of the lock.
func (r *Runner) Run(spec *Spec) (Result, error) {
	if err := r.prepare(spec); err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	if err := r.world.Run(); err != nil {
		return Result{}, err
	}
	h := r.world.History()
	return Result{
		Verdicts: r.judge.Verdicts(h),
		History:  h,
		Events:   r.world.Events(),
		Virtual:  h.End,
		Missed:   append(r.world.Pending(), spec.Schedule.Unreached(h.End)...),
	}, nil
}

// prepare puts the cast and the schedule into the world.
func (r *Runner) prepare(spec *Spec) error {
	if err := spec.validate(); err != nil {
		return err
	}
	horizon := spec.Horizon
	if horizon == 0 {
		horizon = DefaultHorizon
	}
	w := r.world
	w.Reset(sim.Config{Seed: spec.Seed, Horizon: horizon, Bound: spec.Bound, Latency: spec.Latency})
	rec := &recorder{w: w}
	if spec.System != nil {
		lock, err := spec.System.Open(w)
		if err != nil {
			return fmt.Errorf("system: %w", err)
		}
		if lock == nil {
			return fmt.Errorf("system: Open returned neither a lock nor an error")
		}
		rec.lock = lock
	}
	servers, err := open(w, spec.Cast.Resources)
	if err != nil {
		return err
	}
	for i := range spec.Cast.Clients {
		c := &spec.Cast.Clients[i]
		if err := able(rec.lock, c); err != nil {
			return err
		}
		if w.Machine(c.Name) != nil {
			return fmt.Errorf("cast: client %q: there is another machine of that name", c.Name)
		}
		w.Go(c.Name, (&client{recorder: rec, script: c.Script, resources: servers}).run)
	}
	if err := links(w, spec.Latency.Links); err != nil {
		return err
	}
	return spec.Schedule.Apply(w)
}

// links says which link of a latency table is between machines that are not there.
func links(w *sim.World, tables map[string][]time.Duration) error {
	for _, link := range slices.Sorted(maps.Keys(tables)) {
		from, to, _ := strings.Cut(link, ">")
		for _, name := range []string{from, to} {
			if w.Machine(name) == nil {
				return fmt.Errorf("latency of link %q: no machine %q", link, name)
			}
		}
	}
	return nil
}

// protected is a resource and the server that keeps it.
type protected struct {
	name   string
	server *sim.Server
}

func open(w *sim.World, resources []models.Resource) ([]protected, error) {
	var opened []protected
	for _, r := range resources {
		name := r.Name()
		if w.Machine(name) != nil || slices.ContainsFunc(opened, func(p protected) bool { return p.name == name }) {
			return nil, fmt.Errorf("cast: resource %q: there is another machine of that name", name)
		}
		s, err := r.Open(w)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", name, err)
		}
		if s == nil || s.World() != w {
			return nil, fmt.Errorf("resource %s: Open returned no server of this world", name)
		}
		opened = append(opened, protected{name, s})
	}
	return opened, nil
}

// able says which step of a script the lock cannot do.
func able(lock models.Lock, c *Client) error {
	for i := range c.Script {
		l, ok := &c.Script[i], true
		switch l.Verb {
		case "extend", "watch":
			_, ok = lock.(models.Extender)
		case "look", "check":
			_, ok = lock.(models.Inspector)
		}
		if !ok {
			return fmt.Errorf("client %s, step %d, %q: this lock cannot do that", c.Name, i+1, l)
		}
	}
	return nil
}
