package trial_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"locksim/clock"
	"locksim/faults"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

func TestScriptText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, canonical string }{
		{"until 1s; acquire; work 1s; write doc; release", ""},
		{"acquire every 100ms", "acquire"},
		{"acquire a every 50ms jitter 20ms;release a", "acquire a every 50ms jitter 20ms; release a"},
		{"acquire jitter 1s", ""},
		{"try b; extend b; look b; release b", ""},
		{"try anyway; try b anyway", ""},
		{"acquire a; try  b", "acquire a; try b"},
		{" claim  doc ;read doc;mint doc", "claim doc; read doc; mint doc"},
		{"do mailer invoice-1", ""},
		{"release retry 1s; release b retry 1500ms", "release retry 1s; release b retry 1.5s"},
		{"once doc; write doc; write doc blind; write doc as draft; write doc blind as blind; write doc and b; write doc and b blind as x", ""},
		{"work 90s", "work 1m30s"},
		{"watch every 3s", ""},
		{"watch every 3s times 5", ""},
		{"watch every 3s times 1 main ignore", ""},
		{"watch b every 3300ms main ignore; check; check b", "watch b every 3.3s main ignore; check; check b"},
		{"watch every 3s quit", ""},
	} {
		s, err := trial.ParseScript(c.text)
		require.NoError(t, err)
		if c.canonical == "" {
			c.canonical = c.text
		}
		require.Equal(t, c.canonical, s.String())
	}
}

func TestScriptErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, says string }{
		{"", `step 1, "": there is nothing: want one of until, acquire, try, extend, watch, look, check, work, once, read, write, claim, mint, do, release`},
		{"acquire; fly", `step 2, "fly": no verb "fly": want one of until, acquire, try, extend, watch, look, check, work, once, read, write, claim, mint, do, release`},
		{"work", `step 1, "work": there is "" behind work: want a duration such as 1s, not negative`},
		{"work -1s", `step 1, "work -1s": there is "-1s" behind work: want a duration such as 1s, not negative`},
		{"write", `step 1, "write": want a resource, such as write doc`},
		{"write doc deaf", `step 1, "write doc deaf": there is "deaf" behind it: want the end of the step`},
		{"write doc and", `step 1, "write doc and": there is "" behind and: want another resource`},
		{"write doc and doc", `step 1, "write doc and doc": there is "doc" behind and: want another resource`},
		{"write doc as", `step 1, "write doc as": there is nothing behind as: want a value`},
		{"write doc as a b", `step 1, "write doc as a b": there is "b" behind it: want the end of the step`},
		{"read doc blind", `step 1, "read doc blind": there is "blind" behind it: want the end of the step`},
		{"do mailer", `step 1, "do mailer": want a resource and an effect, such as do mailer invoice-1`},
		{"release a b", `step 1, "release a b": there is "b" behind it: want the end of the step`},
		{"release retry", `step 1, "release retry": there is "" behind retry: want a duration such as 1s, not negative`},
		{"release retry 0s", `step 1, "release retry 0s": there is 0s behind retry: want more`},
		{"acquire retry 1s", `step 1, "acquire retry 1s": there is "retry" behind it: want the end of the step`},
		{"acquire every soon", `step 1, "acquire every soon": there is "soon" behind every: want a duration such as 1s, not negative`},
		{"watch", `step 1, "watch": want how often to extend, such as watch every 3s`},
		{"watch every 0s", `step 1, "watch every 0s": there is 0s behind every: want more`},
		{"watch every 3s times", `step 1, "watch every 3s times": there is "" behind times: want a number such as 3, at least 1`},
		{"watch every 3s times 0", `step 1, "watch every 3s times 0": there is "0" behind times: want a number such as 3, at least 1`},
		{"watch every 3s main times 2", `step 1, "watch every 3s main times 2": there is "times" behind it: want the end of the step`},
		{"watch every 3s ignore quit", `step 1, "watch every 3s ignore quit": there is "quit" behind it: want the end of the step`},
		{"watch every 3s loudly", `step 1, "watch every 3s loudly": there is "loudly" behind it: want the end of the step`},
		{"try anyway b", `step 1, "try anyway b": there is "b" behind it: want the end of the step`},
		{"acquire b anyway", `step 1, "acquire b anyway": there is "anyway" behind it: want the end of the step`},
		{"acquire anyway", `step 1, "acquire anyway": there is "anyway" behind it: want the end of the step`},
		{"try every 1s", `step 1, "try every 1s": there is "every" behind it: want the end of the step`},
	} {
		_, err := trial.ParseScript(c.text)
		require.EqualError(t, err, c.says)
	}
}

// specs draws any spec that has a text.
func specs() *rapid.Generator[trial.Spec] {
	durations := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 100_000).Draw(t, "µs")) * time.Microsecond
	})
	return rapid.Custom(func(t *rapid.T) trial.Spec {
		s := trial.Spec{
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Horizon: durations.Draw(t, "horizon"),
			Bound:   rapid.IntRange(0, 1000).Draw(t, "bound"),
			System: rapid.SampledFrom([]models.System{
				nil,
				&lease.Ideal{TTL: durations.Draw(t, "ttl"), Tokens: rapid.Bool().Draw(t, "tokens"), Clock: clock.Wall},
				&redis.SetNX{Release: redis.PlainDel, Persistence: redis.EverySec},
				&redis.Redlock{Drift: durations.Draw(t, "drift"), Sends: redis.Parallel, Order: map[string][]string{"c2": {"r5", "r4"}}},
			}).Draw(t, "system"),
			Schedule: schedules().Draw(t, "schedule"),
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "clients") {
			line := rapid.SampledFrom(trial.MustScript(
				"until 1s; acquire; acquire b every 2s jitter 3ms; try; try anyway; try b anyway; work 0s; once doc; read doc; write doc; write doc blind as x; write doc and other; claim doc; mint doc; do doc x; look; check b; watch b every 3s times 4 main ignore; extend b; try {date+7h}; release; release b retry 1s"))
			s.Cast.Clients = append(s.Cast.Clients, trial.Client{
				Name: fmt.Sprint("c", i), Script: rapid.SliceOfN(line, 1, 5).Draw(t, "script"),
			})
		}
		s.Cast.Resources = rapid.SampledFrom([][]models.Resource{
			nil,
			{&resource.Store{Called: "doc", Check: resource.Compare}},
			{&resource.Mailer{Called: "doc", Idempotent: true}, &resource.Store{Called: "other"}},
		}).Draw(t, "resources")
		if rapid.Bool().Draw(t, "latency") {
			s.Latency = sim.Latency{
				Default: rapid.SliceOfN(durations, 1, 3).Draw(t, "default"),
				Links:   map[string][]time.Duration{"c1>r1": {1}, "r1>c1": {2, 3}},
			}
		}
		return s
	})
}

func schedules() *rapid.Generator[[]faults.Fault] {
	lines := faults.MustParse(`
		at 0s               clock-step r3 +11s
		at 1m0.5s           clock-rate r3 -200ppm
		before c1.write#1   pause c1 gc 14s
		after c1/renew.send#12  partition c1|r4,r5 12s
		at 500ms            restart r3 power-loss 1s`)
	return rapid.SliceOfN(rapid.SampledFrom(lines), 0, 4)
}

// TestSpecPrintParsePrint: what is printed reads back as the same spec, and
// prints the same.
func TestSpecPrintParsePrint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := specs().Draw(t, "spec")
		text, err := spec.Text()
		require.NoError(t, err)
		back, err := trial.Parse(text)
		require.NoError(t, err, text)
		again, err := back.Text()
		require.NoError(t, err)
		require.Equal(t, text, again)
		require.Equal(t, spec.System, back.System)
		require.Equal(t, spec.Schedule.String(), back.Schedule.String())
		require.Equal(t, spec.Cast.Clients, back.Cast.Clients)
		require.Equal(t, spec.Latency, back.Latency)
	})
}

func TestSpecText(t *testing.T) {
	t.Parallel()
	spec := trial.Spec{
		System:   redis.SetNX{TTL: 10 * time.Second},
		Cast:     trial.Writers(2, resource.Plain("doc")),
		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
		Latency:  sim.Every(time.Millisecond),
		Seed:     1,
	}
	text, err := spec.Text()
	require.NoError(t, err)
	require.Equal(t, `system:
  set-nx:
    ttl: 10s
clients:
  c1: until 1s; acquire; work 1s; write doc; release
  c2: until 3s; acquire; work 1s; write doc; work 500ms; release
resources:
- store:
    name: doc
schedule: |
  before c1.write#1  pause c1 gc 14s
latency:
  default: [1ms]
seed: 1
`, text)
}

func TestSpecTextErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, says string }{
		{"unknown field", "clients: {c1: acquire}\nsede: 1\n", `unknown field "sede"`},
		{"unknown system", "system: {raft: {}}\nclients: {c1: acquire}\n", `no system "raft": want one of lease, set-nx, redlock`},
		{"unknown option", "system: {lease: {tll: 1s}}\nclients: {c1: acquire}\n", `unknown field "tll"`},
		{"unknown resource", "resources: [{disk: {name: doc}}]\nclients: {c1: acquire}\n", `no resource "disk": want one of store, mailer`},
		{"two systems", "system: {lease: {}, redlock: {}}\nclients: {c1: acquire}\n", "system: there are 2 names: want one"},
		{"script", "clients: {c1: fly}\n", `client c1: step 1, "fly"`},
		{"schedule", "clients: {c1: acquire}\nschedule: at noon kill c1\n", "schedule: line 1, column 4"},
		{"word", "system: {redlock: {sends: by-post}}\nclients: {c1: acquire}\n", "by-post"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trial.Parse(c.text)
			require.ErrorContains(t, err, c.says)
		})
	}
	own := trial.Spec{System: Mine{}, Cast: cast(client("c1", "acquire"))}
	_, err := own.Text()
	require.EqualError(t, err, "trial_test.Mine is not in the catalog, so it has no text form")
}
