package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeIsTrue: the output that the README shows is what comes out.
func TestReadmeIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(text), "$ go run ./cmd/simrun --scenario redlock-restart\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")
	require.Equal(t, call(t, "--scenario", "redlock-restart").out, shown)
}
