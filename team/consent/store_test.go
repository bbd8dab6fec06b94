package consent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
)

// TestTheStoreIsKept with the consent, also by versions that do not know it.
func TestTheStoreIsKept(t *testing.T) {
	t.Parallel()
	fsys := with(t, `{"version":1,"more":[1]}`)
	f := file(fsys)
	require.NoError(t, f.Change(consent.SetStoreID("3f2504e0-4f89-41d3-9a0c-0305e82c3301", 3)))
	d, err := f.Read()
	require.NoError(t, err)
	require.Equal(t, "3f2504e0-4f89-41d3-9a0c-0305e82c3301", d.StoreID)
	require.Equal(t, 3, d.Epoch)
	require.JSONEq(t, `{"version":1,"more":[1],"storeId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","epoch":3}`, content(t, fsys))
	for _, bad := range []string{`{"storeId":1}`, `{"epoch":"1"}`, `{"epoch":1.5}`, `{"epoch":1e99}`} {
		_, err := file(with(t, bad)).Read()
		require.Equal(t, fault.Damaged, fault.KindOf(err), bad)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for content, shares := range map[string]bool{
		`{}`: false,
		`{"projects":{"` + web + `":{"team":"core","share":"off"}}}`:                             false,
		`{"projects":{"` + web + `":{"team":"core","share":"off"}},"sessions":{"abc":"all"}}`:    true,
		`{"projects":{"` + web + `":{"team":"core","share":"off"}},"sessions":{"abc":"off"}}`:    false,
		`{"projects":{"` + web + `":{"team":"core","share":"another","since":"2026-01-01"}}}`:    false,
		`{"projects":{"` + web + `":` + agreedJSON + `}}`:                                        true,
		`{"projects":{"name:x":{"team":"core","share":"off"},"` + web + `":` + agreedJSON + `}}`: true,
		`{"sessions":{"abc":"all"}}`: false,
	} {
		d, err := file(with(t, content)).Read()
		require.NoError(t, err)
		require.Equal(t, shares, d.Shares(), content)
	}
}
