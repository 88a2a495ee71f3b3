package redis

import (
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/clock"
	"locksim/faults"
	"locksim/sim"
)

// reference is Redis in twenty lines: a table with absolute dates in whole
// milliseconds, a key over when now > date, deleted when it is touched, and,
// for its append-only file, a copy of the table after each change.
type reference struct {
	table  map[string]entry
	copies []snapshot
	policy Persistence
}

type entry struct {
	value string
	date  int64 // never, for a key without an expiry
}

type snapshot struct {
	at    time.Duration // monotonic
	table map[string]entry
}

func (r *reference) changed(mono time.Duration) {
	r.copies = append(r.copies, snapshot{mono, maps.Clone(r.table)})
}

// do is the answer to op's command at a wall clock of now milliseconds.
func (r *reference) do(op step, now int64, mono time.Duration) any {
	if op.kind == "incr" { // it touches no other key, and so expires none
		op.key = "n"
	}
	if e, ok := r.table[op.key]; ok && now > e.date {
		delete(r.table, op.key)
		r.changed(mono)
	}
	e, held := r.table[op.key]
	same := held && e.value == op.value
	if op.kind == "put" || op.kind == "setnx" && !held {
		r.table[op.key] = entry{op.value, never}
		r.changed(mono)
	}
	switch op.kind {
	case "set":
		if !held {
			r.table[op.key] = entry{op.value, now + op.ttl.Milliseconds()}
			r.changed(mono)
		}
		return Status(!held)
	case "setnx":
		return Status(!held)
	case "put":
		return Status(true)
	case "incr":
		n, _ := strconv.Atoi(e.value)
		r.table[op.key] = entry{strconv.Itoa(n + 1), never}
		r.changed(mono)
		return Integer(n + 1)
	case "get":
		return Bulk{e.value, held}
	case "pexpire":
		if same {
			r.table[op.key] = entry{op.value, now + op.ttl.Milliseconds()}
			r.changed(mono)
		}
		return number(same)
	case "expire-or-set":
		if same || !held {
			r.table[op.key] = entry{op.value, now + op.ttl.Milliseconds()}
			r.changed(mono)
		}
		return number(same || !held)
	case "pttl":
		switch {
		case !held:
			return Integer(-2)
		case e.date == never:
			return Integer(-1)
		}
		return Integer(e.date - now)
	}
	if gone := same || held && op.kind == "del"; gone {
		delete(r.table, op.key)
		r.changed(mono)
		return Integer(1)
	}
	return Integer(0)
}

func (r *reference) crash(how string, mono time.Duration) {
	switch {
	case r.policy == None:
		r.copies = nil
	case r.policy == EverySec && how == "power":
		for len(r.copies) > 0 && r.copies[len(r.copies)-1].at >= mono/time.Second*time.Second {
			r.copies = r.copies[:len(r.copies)-1]
		}
	}
	r.table = map[string]entry{}
	if n := len(r.copies); n > 0 {
		r.table = maps.Clone(r.copies[n-1].table)
	}
}

func number(yes bool) Integer {
	if yes {
		return 1
	}
	return 0
}

// step is a command, a crash, or a change of the node's clock, after a wait.
type step struct {
	wait       time.Duration
	kind       string
	key, value string
	ttl        time.Duration
	jump       time.Duration
	rate       clock.Rate
}

// steps draws the script. Durations are few and small, so that boundaries are met.
func steps() *rapid.Generator[[]step] {
	spans := []time.Duration{0, 1, 999_999, hop, 2 * hop, 3*hop + 1, 499 * hop, time.Second}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			wait: rapid.SampledFrom(spans).Draw(t, "wait"),
			kind: rapid.SampledFrom([]string{
				"set", "set", "set", "get", "del", "delex", "eval", "pexpire", "pttl", "pttl", "jump", "rate", "kill", "power",
				"setnx", "put", "incr", "expire-or-set",
			}).Draw(t, "kind"),
			key:   rapid.SampledFrom([]string{"k", "k", "l"}).Draw(t, "key"),
			value: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "value"),
			ttl:   rapid.SampledFrom([]time.Duration{hop, 2 * hop, 500 * hop, 2 * time.Second}).Draw(t, "ttl"),
			jump:  rapid.SampledFrom([]time.Duration{hop, -hop, 500 * time.Microsecond, time.Second, -time.Second, -time.Hour}).Draw(t, "jump"),
			rate:  rapid.SampledFrom([]clock.Rate{0, 100_000_000, -100_000_000, 200_000}).Draw(t, "rate"),
		}
	}), 1, 60)
}

func (o step) command() any {
	switch o.kind {
	case "set":
		return &Set{o.key, o.value, o.ttl}
	case "setnx":
		return &Set{o.key, o.value, 0}
	case "put":
		return &Put{o.key, o.value, 0}
	case "incr":
		return &Incr{"n"}
	case "get":
		return &Get{o.key}
	case "del":
		return &Del{o.key}
	case "delex":
		return &DelIfEqual{o.key, o.value}
	case "eval": // S27: the reference has one rule for both
		return &EvalDelIfEqual{o.key, o.value}
	case "pexpire":
		return &ExpireIfEqual{o.key, o.value, o.ttl}
	case "expire-or-set":
		return &ExpireOrSet{o.key, o.value, o.ttl}
	}
	return &PTTL{o.key}
}

// The node answers as the reference does, whatever its clock does and whenever it
// crashes.
func TestNodeAgainstReference(t *testing.T) {
	w := sim.New()
	defer w.Close()
	rapid.Check(t, func(t *rapid.T) {
		script := steps().Draw(t, "script")
		policy := rapid.SampledFrom([]Persistence{None, EverySec, Always}).Draw(t, "persistence")
		w.Reset(sim.Config{})
		s, err := Open(w, "r1", Config{Persistence: policy})
		require.NoError(t, err)
		var got, want []string
		w.Go("c1", func(p *sim.Process) { got, want = play(p, s, script, policy) })
		require.NoError(t, w.Run())
		require.Equal(t, want, got)
	})
}

// play plays the script on the node and on the reference, and returns the
// answers of both.
func play(p *sim.Process, s *sim.Server, script []step, policy Persistence) (got, want []string) {
	ref := &reference{table: map[string]entry{}, policy: policy}
	for _, o := range script {
		p.Sleep(o.wait)
		mono := s.Now(clock.Monotonic)
		switch o.kind {
		case "jump":
			s.Machine().StepClock(o.jump)
		case "rate":
			s.Machine().SetClockRate(o.rate)
		case "kill":
			s.Handler().(*Node).Crash(s, faults.Kill)
			s.Handler().(*Node).Restarted(s)
			ref.crash(o.kind, mono)
		case "power":
			s.Handler().(*Node).Crash(s, faults.PowerLoss)
			s.Handler().(*Node).Restarted(s)
			ref.crash(o.kind, mono)
		default:
			wall := (epoch + s.Now(clock.Wall)).Milliseconds()
			got = append(got, fmt.Sprintf("%+v: %v", o, ask[any](p, s, o.command())))
			want = append(want, fmt.Sprintf("%+v: %v", o, ref.do(o, wall, mono)))
		}
	}
	return got, want
}
