//go:build sbom

// Package sbom tests sbom.sh. It needs the network for the modules of cyclonedx-gomod.
package sbom

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, program string) (document string, err error) {
	t.Helper()
	document = filepath.Join(t.TempDir(), "document.json")
	out, err := exec.CommandContext(t.Context(), "../sbom.sh", "1.2.3", program, document).CombinedOutput()
	t.Logf("%s", out)
	return document, err
}

func TestTheSameProgramGivesTheSameBytes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "xcsh-ls")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "../../cmd/xcsh-ls")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var texts []string
	for range 2 {
		document, err := write(t, program)
		require.NoError(t, err)
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	require.Equal(t, texts[0], texts[1])
	require.Contains(t, texts[0], `"bomFormat": "CycloneDX"`)
	require.Contains(t, texts[0], `"specVersion": "1.5"`)
	require.Contains(t, texts[0], "pkg:golang/github.com/spf13/afero@")
	require.Contains(t, texts[0], "pkg:golang/std@")
	require.NotContains(t, texts[0], "chromedp", "a module for tests only")
}

func TestNoProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o700))
	document, err := write(t, file)
	require.Error(t, err)
	require.NoFileExists(t, document)
}
