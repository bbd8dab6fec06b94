package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
)

// Every service of the catalogue has a name and a model to begin with.
func TestServicesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	models := map[string]bool{}
	ids := map[string]bool{}
	for _, m := range catalog.Embedded().Models {
		models[m.Ref().String()] = true
		ids[m.Provider] = true
	}
	c := open(t, nil, nil)
	c.Services = nil
	for _, s := range c.Sources(t.Context()) {
		delete(ids, s.ID)
	}
	require.Empty(t, ids)
	for _, s := range catalog.ServiceIDs() {
		require.True(t, models[s], s)
	}
}
