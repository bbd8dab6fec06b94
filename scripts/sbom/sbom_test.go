//go:build sbom

// Package sbom tests sbom.sh. It needs the network for the modules of cyclonedx-gomod.
package sbom

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const released = "2026-01-02T03:04:05Z"

func write(t *testing.T, program, date string) (document, out string, err error) {
	t.Helper()
	document = filepath.Join(t.TempDir(), "document.json")
	text, err := exec.CommandContext(t.Context(), "../sbom.sh", "1.2.3", date, program, document).CombinedOutput()
	t.Logf("%s", text)
	return document, string(text), err
}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "xcsh-ls")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "../../cmd/xcsh-ls")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func TestTheSameProgramGivesTheSameBytes(t *testing.T) {
	program := build(t)
	var texts []string
	for range 2 {
		document, _, err := write(t, program, released)
		require.NoError(t, err)
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	require.Equal(t, texts[0], texts[1])
	require.Contains(t, texts[0], `"bomFormat": "CycloneDX"`)
	require.Contains(t, texts[0], `"specVersion": "1.5"`)
	require.Contains(t, texts[0], `"timestamp": "`+released+`"`)
	require.Contains(t, texts[0], "pkg:golang/github.com/spf13/afero@")
	require.Contains(t, texts[0], "pkg:golang/std@")
	require.NotContains(t, texts[0], "chromedp", "a module for tests only")

	document, _, err := write(t, program, "2026-01-02T03:04:06Z")
	require.NoError(t, err)
	later, err := os.ReadFile(document)
	require.NoError(t, err)
	require.Regexp(t, `^urn:uuid:[-0-9a-f]{36}$`, serial(t, texts[0]))
	require.NotEqual(t, serial(t, texts[0]), serial(t, string(later)), "each document has its own number")

	licences := licences(t, texts[0])
	require.Equal(t, "MIT", licences["github.com/xcsh-ls/xcsh-ls"])
	require.Equal(t, "BSD-3-Clause", licences["std"])
	require.Equal(t, "Apache-2.0", licences["github.com/spf13/afero"])
	require.Equal(t, "Apache-2.0 AND MIT", licences["go.yaml.in/yaml/v3"], "a module with two licences")
	require.NotContains(t, licences, "", "every licence is known")
}

func serial(t *testing.T, text string) string {
	t.Helper()
	var bill struct{ SerialNumber string }
	require.NoError(t, json.Unmarshal([]byte(text), &bill))
	return bill.SerialNumber
}

// licences returns the licences of the parts of a program, by their names. A part without one has the name "".
func licences(t *testing.T, text string) map[string]string {
	t.Helper()
	type part struct {
		Name     string
		Licenses []struct {
			Expression string
			License    struct{ ID string }
		}
	}
	var bill struct {
		Metadata   struct{ Component part }
		Components []part
	}
	require.NoError(t, json.Unmarshal([]byte(text), &bill))
	all := map[string]string{}
	for _, p := range append(bill.Components, bill.Metadata.Component) {
		if len(p.Licenses) != 1 {
			all[""] = p.Name
			continue
		}
		all[p.Name] = p.Licenses[0].Expression + p.Licenses[0].License.ID
	}
	return all
}

func TestAModuleWithoutAKnownLicenceFails(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/program\n\ngo 1.26\n\nrequire github.com/spf13/pflag v1.0.10\n\nreplace github.com/spf13/pflag => ./other\n",
		"main.go": "package main\n\nimport _ \"github.com/spf13/pflag\"\n\nfunc main() {}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	other := filepath.Join(dir, "other")
	require.NoError(t, os.Mkdir(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module github.com/spf13/pflag\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(other, "pflag.go"), []byte("package pflag\n"), 0o600))
	program := filepath.Join(dir, "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-mod=mod", "-o", program, ".")
	build.Dir = dir
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	document, out, err := write(t, program, released)
	require.Error(t, err)
	require.Contains(t, out, "github.com/spf13/pflag is replaced by")
	require.NoFileExists(t, document)
}

func TestNoProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o700))
	document, _, err := write(t, file, released)
	require.Error(t, err)
	require.NoFileExists(t, document)
}

func TestNoDate(t *testing.T) {
	document, out, err := write(t, build(t), "yesterday")
	require.Error(t, err)
	require.Contains(t, out, "-date: ")
	require.NoFileExists(t, document)
}
