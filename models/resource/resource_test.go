package resource_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/models"
	"locksim/models/resource"
	"locksim/sim"
)

// ask sends requests to a resource, one after another, and returns the answers.
func ask(t *testing.T, r models.Resource, requests ...any) ([]any, *sim.World) {
	t.Helper()
	w := sim.New()
	t.Cleanup(w.Close)
	w.Reset(sim.Config{})
	server, err := r.Open(w)
	require.NoError(t, err)
	var answers []any
	w.Go("c1", func(p *sim.Process) {
		for _, request := range requests {
			answer, err := p.Await(p.Send(server, request), time.Second)
			require.NoError(t, err)
			answers = append(answers, answer)
		}
	})
	require.NoError(t, w.Run())
	return answers, w
}

func write(token int64, mark string) models.WriteRequest {
	return models.WriteRequest{Object: "doc", Value: mark, Token: token, Mark: mark, Base: -1}
}

// TestChecks: S12, S13 and A4, write by write.
func TestChecks(t *testing.T) {
	t.Parallel()
	claim := models.ClaimRequest{Object: "doc", Mark: "b"}
	for _, c := range []struct {
		name     string
		store    resource.Store
		requests []any
		accepted []bool
	}{
		{"unchecked", resource.Plain("doc"), []any{write(34, ""), write(33, ""), write(0, "")}, []bool{true, true, true}},
		{"S12 33 after 34", resource.Fenced("doc"), []any{write(34, ""), write(33, ""), write(35, "")}, []bool{true, false, true}},
		{"S13 the same token twice", resource.Fenced("doc"), []any{write(34, ""), write(34, "")}, []bool{true, true}},
		{"strictly greater", resource.Store{Called: "doc", Check: resource.Greater}, []any{write(34, ""), write(34, ""), write(35, "")}, []bool{true, false, true}},
		{"equality", resource.Store{Called: "doc", Check: resource.Equal}, []any{write(33, ""), write(33, ""), write(34, ""), write(32, "")}, []bool{true, true, false, false}},
		{"no token", resource.Fenced("doc"), []any{write(0, "")}, []bool{false}},
		{"A4 no mark at all", resource.CompareAndSet("doc"), []any{write(0, "")}, []bool{false}},
		{"A4 the mark of another", resource.CompareAndSet("doc"), []any{claim, write(0, "a"), write(0, "b"), write(0, "")}, []bool{false, true, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, w := ask(t, c.store, c.requests...)
			var got []bool
			for _, a := range answers {
				if a, ok := a.(models.Written); ok {
					got = append(got, a.OK)
				}
			}
			require.Equal(t, c.accepted, got)
			var recorded []bool
			for _, e := range w.History().Events {
				if e.Kind == history.Write {
					recorded = append(recorded, e.Outcome == history.OK)
				}
			}
			require.Equal(t, c.accepted, recorded)
		})
	}
}

// TestConditionalWrites: S16, what the store of Amazon answers; and equal values have equal tags.
func TestConditionalWrites(t *testing.T) {
	t.Parallel()
	const draft = "f91b2829bf8603e358094e1dedb6f947" // md5sum of "draft"
	put := func(value, tag string, absent bool) models.WriteRequest {
		return models.WriteRequest{Object: "doc", Value: value, IfMatch: tag, IfNoneMatch: absent, Base: -1}
	}
	read := models.ReadRequest{Object: "doc"}
	blind, made, matched := models.Written{OK: true}, models.Written{OK: true, Why: "If-None-Match"}, models.Written{OK: true, Why: "If-Match"}
	failed, missing := models.Written{Why: "412 Precondition Failed"}, models.Written{Why: "404 Not Found"}
	store := resource.Store{Called: "doc", Check: resource.IfMatch}
	answers, w := ask(t, store,
		read, put("x", draft, false), put("draft", "", true), put("x", "", true), read,
		put("final", draft, false), put("x", draft, false), put("draft", "", false), read, put("again", draft, false))
	require.Equal(t, []any{
		models.Object{}, missing, made, failed, models.Object{Value: "draft", Version: 1, ETag: draft},
		matched, failed, blind, models.Object{Value: "draft", Version: 3, ETag: draft}, matched, // an ABA
	}, answers)
	var why []string
	for _, e := range w.History().Events {
		if e.Kind == history.Write {
			why = append(why, e.Why)
		}
	}
	require.Equal(t, []string{missing.Why, made.Why, failed.Why, matched.Why, failed.Why, "", matched.Why}, why)
}

// TestGap: a write that has passed the check is applied, and its token seen, only
// after the gap.
func TestGap(t *testing.T) {
	t.Parallel()
	for gap, accepted := range map[time.Duration][]bool{0: {true, false, false}, time.Second: {true, true, false}} {
		w := sim.New()
		t.Cleanup(w.Close)
		w.Reset(sim.Config{})
		server, err := resource.Store{Called: "doc", Check: resource.AtLeast, Gap: gap}.Open(w)
		require.NoError(t, err)
		w.Go("c1", func(p *sim.Process) {
			first := p.Send(server, write(34, ""))
			p.Sleep(gap / 2)
			second := p.Send(server, write(33, "")) // checked before the first is applied
			for _, ticket := range []sim.Ticket{first, second, p.Send(server, write(0, ""))} {
				_, err := p.Await(ticket, 5*time.Second)
				require.NoError(t, err)
			}
		})
		require.NoError(t, w.Run())
		got := map[int64]bool{}
		for _, e := range w.History().Events {
			if e.Kind == history.Write {
				got[e.Token] = e.Outcome == history.OK
			}
		}
		require.Equal(t, accepted, []bool{got[34], got[33], got[0]}, "%v", gap)
	}
	_, err := resource.Store{Called: "doc", Gap: -1}.Open(sim.New())
	require.EqualError(t, err, "gap -1ns: want 0 or more")
}

func TestVersionsRiseWithEachWrite(t *testing.T) {
	t.Parallel()
	read := models.ReadRequest{Object: "doc"}
	answers, _ := ask(t, resource.Plain("doc"), read, write(0, "a"), write(0, "b"), read)
	require.Equal(t, models.Object{}, answers[0])
	require.Equal(t, models.Object{Value: "b", Version: 2}, answers[3])
}

// TestMint: A2, numbers that rise with each request, apart for each object.
func TestMint(t *testing.T) {
	t.Parallel()
	mint, other := models.MintRequest{Object: "doc"}, models.MintRequest{Object: "other"}
	answers, w := ask(t, resource.Fenced("doc"), mint, mint, other, write(2, ""), write(1, ""), mint)
	require.Equal(t, []any{
		models.Minted{Token: 1}, models.Minted{Token: 2}, models.Minted{Token: 1},
		models.Written{OK: true}, models.Written{}, models.Minted{Token: 3},
	}, answers)
	var minted []int64
	for _, e := range w.History().Events {
		if e.Kind == history.Mint {
			require.Equal(t, []any{"doc", "c1"}, []any{e.Who, e.Peer})
			minted = append(minted, e.Token)
		}
	}
	require.Equal(t, []int64{1, 2, 1, 3}, minted)
}

func TestMailer(t *testing.T) {
	t.Parallel()
	mail := models.EffectRequest{Key: "invoice-1"}
	answers, w := ask(t, resource.Mailer{Called: "mailer"}, mail, mail)
	require.Equal(t, []any{models.Written{OK: true}, models.Written{OK: true}}, answers)
	require.Equal(t, 2, effects(w))
	answers, w = ask(t, resource.Mailer{Called: "mailer", Idempotent: true}, mail, mail)
	require.Equal(t, []any{models.Written{OK: true}, models.Written{}}, answers)
	require.Equal(t, 1, effects(w))
}

func effects(w *sim.World) int {
	n := 0
	for _, e := range w.History().Events {
		if e.Kind == history.Effect {
			n++
		}
	}
	return n
}

func TestOtherRequestsAreNotAccepted(t *testing.T) {
	t.Parallel()
	answers, _ := ask(t, resource.Plain("doc"), models.EffectRequest{Key: "x"})
	require.Equal(t, []any{models.Written{}}, answers)
	answers, _ = ask(t, resource.Mailer{Called: "mailer"}, write(0, ""))
	require.Equal(t, []any{models.Written{}}, answers)
}

func TestCheckNames(t *testing.T) {
	t.Parallel()
	for _, c := range []resource.Check{resource.Unchecked, resource.AtLeast, resource.Greater, resource.Compare, resource.IfMatch, resource.Equal} {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back resource.Check
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, c, back)
	}
	var c resource.Check
	require.EqualError(t, c.UnmarshalText([]byte("<")), `no check "<": want one of none, >=, >, cas, if-match, ==`)
}
