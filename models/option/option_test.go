package option_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/models/option"
)

func TestWords(t *testing.T) {
	t.Parallel()
	words := []string{"none", "always"}
	var e uint8
	require.NoError(t, option.Parse("persistence", words, []byte("always"), &e))
	require.Equal(t, uint8(1), e)
	require.Equal(t, "always", option.Name(words, e))
	require.NoError(t, option.Check("persistence", words, e))

	require.EqualError(t, option.Parse("persistence", words, []byte("often"), &e), `no persistence "often": want one of none, always`)
	require.Equal(t, uint8(1), e, "as it was")
	require.EqualError(t, option.Check("persistence", words, uint8(2)), "persistence 2: want one of none, always")
	require.Equal(t, "(no such option: 2)", option.Name(words, uint8(2)))
}
