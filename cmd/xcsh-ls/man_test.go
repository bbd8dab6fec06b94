//go:build man

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Each command that the help lists has a page with its description and its flags, and no date of the build.
func TestManualPages(t *testing.T) {
	t.Setenv("XCSH_MAN_DATE", "2001-02-03")
	dir := filepath.Join(t.TempDir(), "man")
	root := rootCommand()
	root.SetArgs([]string{"man", dir})
	require.NoError(t, root.Execute())
	pages := 0
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		if !ours(c) || c.Hidden || c.Name() == "completion" {
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		require.NoError(t, err)
		require.Contains(t, string(page), `"Feb 2001"`)
		require.Contains(t, string(page), c.Short)
		pages++
	})
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, pages)
	page, err := os.ReadFile(filepath.Join(dir, "xcsh-ls-run.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), "--model")
}
