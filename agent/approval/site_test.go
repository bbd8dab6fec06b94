package approval_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// A site needs approval in every mode but yolo, a private one also if the public one of the same name is allowed.
func TestSites(t *testing.T) {
	t.Parallel()
	rules := &approval.FileMemory{Fs: afero.NewMemMapFs(), Path: "/allowed.json"}
	gate := func(mode approval.Mode, answer approval.Decision) (*approval.Gate, *[]approval.Prompt) {
		g, asked := approval.NewGate(approval.Config{Root: "/w", Mode: mode, Memory: rules}), new([]approval.Prompt)
		g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
			*asked = append(*asked, p)
			return answer, nil
		})
		return g, asked
	}
	site := func(origin string, private bool) approval.Request {
		return approval.Request{ID: "1", Tool: "read", Args: []byte(`{"path":"` + origin + `/x"}`), Site: origin, Private: private}
	}
	const public = "https://example.com"
	g, asked := gate(approval.ReadOnly, approval.Once)
	_, err := g.Ask(t.Context(), site(public, false))
	require.True(t, fault.Is(err, fault.Denied))
	require.Empty(t, *asked)
	g, asked = gate(approval.Yolo, approval.Deny)
	_, err = g.Ask(t.Context(), site("http://127.0.0.1", true))
	require.NoError(t, err)
	require.Empty(t, *asked)

	for _, mode := range []approval.Mode{approval.Ask, approval.AutoEdit} {
		g, asked = gate(mode, approval.Deny)
		_, err = g.Ask(t.Context(), site(public, false))
		require.EqualError(t, err, "The user denied this read call. Ask what to do instead, or continue without it.")
		require.Len(t, *asked, 1)
		require.Equal(t, []approval.Rule{{Site: public, Text: "reading from https://example.com"}}, (*asked)[0].Rules)
	}
	g, asked = gate(approval.Ask, approval.Workspace)
	for range 2 {
		_, err = g.Ask(t.Context(), site(public, false))
		require.NoError(t, err)
	}
	require.Len(t, *asked, 1, "once for each site")
	for i, other := range []approval.Request{site(public, true), site(public+":8443", false), site("http://example.com", false), site("https://example.com.evil.example", false)} {
		_, err = g.Ask(t.Context(), other)
		require.NoError(t, err)
		require.Len(t, *asked, i+2, other.Site)
	}
	require.Equal(t, "reading from https://example.com, also in a private network", (*asked)[1].Rules[0].Text)

	g, asked = gate(approval.Ask, approval.Deny) // a later session in the folder
	for _, r := range []approval.Request{site(public, false), site(public, true), site(public+":8443", false)} {
		_, err = g.Ask(t.Context(), r)
		require.NoError(t, err)
	}
	_, err = g.Ask(t.Context(), site(public+":8443", true))
	require.Error(t, err)
	_, err = g.Ask(t.Context(), approval.Request{ID: "2", Tool: "read", Args: []byte(`{}`)})
	require.Error(t, err, "a rule for a site allows nothing else")
	require.Len(t, *asked, 2)
}
