package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"locksim/models"
	"locksim/models/catalog"
	"locksim/models/lease"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.Systems() {
		made, err := catalog.New(catalog.Systems(), "system", e.Name)
		require.NoError(t, err)
		name, err := catalog.NameOf(catalog.Systems(), made)
		require.NoError(t, err)
		require.Equal(t, e.Name, name)
		require.NotContains(t, []string{e.About.Token, e.About.Clock, e.About.Restart, e.About.Assumes}, "", name)
	}
	var value models.System = lease.Ideal{}
	name, err := catalog.NameOf(catalog.Systems(), value)
	require.NoError(t, err)
	require.Equal(t, "lease", name, "a value as well as a pointer")
	_, err = catalog.New(catalog.Resources(), "resource", "disk")
	require.EqualError(t, err, `no resource "disk": want one of store, mailer, leaderless-store, etcd-keys, documents, inbox`)
}
