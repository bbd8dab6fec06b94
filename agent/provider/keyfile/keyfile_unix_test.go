//go:build unix

package keyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
)

// A file of another user stays: its owner could read the key.
func TestAFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "auth.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	if os.Chown(file, 4242, 4242) != nil {
		t.Skip("only the administrator can give a file away")
	}
	err := keyfile.Store{Fs: afero.NewOsFs(), File: file}.Set(t.Context(), "anthropic", secret)
	require.ErrorContains(t, err, "it belongs to another user")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "{}", string(content))
}
