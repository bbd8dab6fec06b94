package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// Commands run in the folder of the session, so a relative path of the flag is made absolute where it was typed.
func TestTheShellOfTheFlagIsAbsolute(t *testing.T) {
	t.Parallel()
	var s lsp.Settings
	flags{}.override(&s)
	require.Empty(t, s.ShellPath)
	f := flags{}
	require.NoError(t, runCommand(&f).ParseFlags([]string{"--shell-path", filepath.Join("bin", "bash")}))
	f.override(&s)
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "bin", "bash"), s.ShellPath)
}
