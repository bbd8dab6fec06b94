package serving

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
)

var now = time.UnixMilli(1_800_000_000_000)

// A token of pi is that of the name and address, or else that of the address. One that has expired is not sent, and nothing is written.
func TestTokensOfPi(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	tokens := &Tokens{Fs: afero.NewReadOnlyFs(fs), Dir: "/agent", Now: func() time.Time { return now }}
	require.Empty(t, tokens.Of(t.Context(), "docs", "https://example.com/mcp"))
	entry := func(token string, until int64) string {
		return fmt.Sprintf(`{"tokens":{"access_token":%q,"refresh_token":"never"},"tokensExpireAt":%d}`, token, until)
	}
	later := now.Add(time.Hour).UnixMilli()
	content := `{"mcp__my_docs|https://example.com/mcp":` + entry("of the name", later) + `,"https://example.com/mcp":` + entry("of the address", later) +
		`,"mcp__old|https://old.example/":` + entry("expired", now.UnixMilli()) + `,"mcp__ever|https://old.example/":{"tokens":{"access_token":"without end"}}` +
		`,"mcp__bad|https://old.example/":{"tokens":{"access_token":"a\r\nb"}},"mcp__odd|https://old.example/":5}`
	require.NoError(t, afero.WriteFile(fs, "/agent/mcp-auth.json", []byte(content), 0o600))
	for _, c := range []struct{ name, address, want string }{
		{"my-docs", "https://example.com/mcp", "of the name"},
		{"my-docs", "HTTPS://Example.com:443/mcp", "of the name"},
		{"other", "https://example.com/mcp", "of the address"},
		{"my-docs", "https://example.org/mcp", ""},
		{"old", "https://old.example", ""},
		{"ever", "https://old.example", "without end"},
		{"bad", "https://old.example", ""},
		{"odd", "https://old.example", ""},
	} {
		require.Equal(t, c.want, tokens.Of(t.Context(), c.name, c.address), "%v", c)
	}
	for _, broken := range []string{"", "[]", `{"a":`, "null"} {
		require.NoError(t, afero.WriteFile(fs, "/agent/mcp-auth.json", []byte(broken), 0o600))
		require.Empty(t, tokens.Of(t.Context(), "my-docs", "https://example.com/mcp"))
	}
}

// A token of oh-my-pi is that of a login for exactly the address.
func TestTokensOfOmp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, agentdb.Name))
	require.NoError(t, err)
	for _, line := range []string{
		`CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY, provider TEXT, credential_type TEXT, data TEXT, disabled_cause TEXT)`,
		fmt.Sprintf(`INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('mcp_oauth:profile:default:https://a.example/mcp', 'oauth', '{"access":"token","refresh":"r","expires":%d}')`, now.Add(time.Hour).UnixMilli()),
		fmt.Sprintf(`INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('mcp_oauth:profile:default:https://b.example/mcp', 'oauth', '{"access":"expired","expires":%d}')`, now.UnixMilli()),
		`INSERT INTO auth_credentials (provider, credential_type, data) VALUES ('anthropic', 'oauth', '{"access":"of a subscription"}')`,
	} {
		_, err := db.ExecContext(t.Context(), line)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	tokens := &Tokens{Dir: dir, Now: func() time.Time { return now }, Logins: &agentdb.Reader{Fs: afero.NewOsFs()}}
	require.Equal(t, "token", tokens.Of(t.Context(), "a", "https://a.example/mcp"))
	require.Empty(t, tokens.Of(t.Context(), "a", "https://a.example/mcp/"))
	require.Empty(t, tokens.Of(t.Context(), "b", "https://b.example/mcp"))
	require.Empty(t, tokens.Of(t.Context(), "c", "anthropic"))
}
