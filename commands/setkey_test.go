package commands_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The key is asked for by the client, or named as an argument. It is never entered in a document, which would be a file.
func TestTheKeyIsNotAskedForInADocument(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs, withModels(fs), func(c *agent.Config) { c.Keys = keyfile.Store{Fs: fs, File: "/a/auth.json"} })
	who := &respondent{}
	env.UI = who
	_, err := run(t.Context(), env, "xcsh.setKey", args{"provider": "anthropic"})
	f := requireKind(t, fault.ArgumentNeeded, err)
	require.EqualError(t, err, `Enter the API key of Anthropic: pass it as "key", or run 'xcsh-ls login anthropic' in a terminal.`)
	require.Equal(t, "key", f.Data["field"])
	env.Pick = true
	_, err = run(t.Context(), env, "xcsh.setKey", args{"provider": "anthropic"})
	require.EqualError(t, err, "Enter the API key of Anthropic")
	require.Empty(t, who.wanted)
	_, err = run(t.Context(), env, "xcsh.setKey", args{"provider": "anthropic", "key": "k", "remove": true})
	requireKind(t, fault.InvalidArgument, err)

	require.Equal(t, "/a/auth.json", do(t, env, "xcsh.setKey", args{"provider": "anthropic", "key": "k"})["stored"])
	content, err := afero.ReadFile(fs, "/a/auth.json")
	require.NoError(t, err)
	require.JSONEq(t, `{"anthropic":{"type":"api_key","key":"k"}}`, string(content))
	require.Equal(t, "/a/auth.json", do(t, env, "xcsh.providers", nil)["authFile"])

	_, err = run(t.Context(), newEnv(fs, withModels(fs)), "xcsh.setKey", args{"provider": "anthropic", "key": "k"})
	require.EqualError(t, err, "API keys cannot be stored here.")
}
