package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/scenarios"
	"locksim/trial"
)

// A figure that comes out otherwise is noticed, and one that nobody knows.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := scenarios.Find("demo-c1")
	r, err := trial.Run(s.SpecFor(0))
	require.NoError(t, err)
	e := s.Expect()
	require.Empty(t, e.Differences(&r))
	e.Figures = []scenarios.Figure{{"tokens", "2, 1"}, {"releases", "A not held"}, {"owners", "B"}, {"effects", "A mail"}, {"last write", "B"}, {"beliefs", "A 0s"}, {"fsyncs", "1"}, {"messages", "1"}, {"wake-ups", "1"}, {"colour", "red"}}
	require.Equal(t, []string{
		"tokens: expected 2, 1, got 1, 2",
		"releases: expected A not held, got A ok",
		"owners: expected B, got nobody",
		"effects: expected A mail, got none",
		"last write: expected B, got A",
		"beliefs: expected A 0s, got A 602ms, B 1.002s",
		"fsyncs: expected 1, got 0",
		"messages: expected 1, got 16", // A asks for SET, INCR, write, DEL and GET, B for the first three
		"wake-ups: expected 1, got 0",
		"colour: expected red, got none",
	}, e.Differences(&r))
}
