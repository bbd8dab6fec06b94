package history

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// The linked version must not be one that can damage a file which several programs write.
// Proves: F-32
func TestTheVersionOfSQLite(t *testing.T) {
	t.Parallel()
	d, err := openDatabase(t.Context(), afero.NewOsFs(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.close()) }()
	var version string
	require.NoError(t, d.conn.QueryRowContext(t.Context(), "SELECT sqlite_version()").Scan(&version))
	require.GreaterOrEqual(t, compareVersions(version, oldestSQLite), 0, version)
	for older, newer := range map[string]string{"3.51.2": oldestSQLite, "3.9.9": "3.51.3", "2.99.99": "3.0.0", "3.51.3": "3.51.10", "nonsense": "0.0.1"} {
		require.Negative(t, compareVersions(older, newer), older)
		require.Positive(t, compareVersions(newer, older), newer)
	}
	require.Zero(t, compareVersions("3.53.0", "3.53.0"))
}

func TestNoNetworkHere(t *testing.T) {
	t.Parallel()
	require.False(t, network(filepath.Join(t.TempDir(), "not", "made", "yet")))
}

// White space is defined as in JavaScript's trim, which differs from Go in two places.
// Proves: X-220
func TestWhiteSpaceIsThatOfJavaScript(t *testing.T) {
	t.Parallel()
	for _, r := range "\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff" {
		require.True(t, isSpace(r), "%U", r)
	}
	for _, r := range "a\x00\u0085\u180e\u200b\u2060\U0001F44D" {
		require.False(t, isSpace(r), "%U", r)
	}
}
