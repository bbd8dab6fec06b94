package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

const recorded = "go\tgo1.26.8\npath\texample.org/tool/cmd/tool\nmod\texample.org/tool\t(devel)\t\n" +
	"dep\texample.org/a\tv1.2.0\th1:aaa=\n" +
	"dep\texample.org/b\tv0.1.0\n=>\texample.org/fork\tv0.2.0\th1:bbb=\n" +
	"build\t-trimpath=true\nbuild\tGOOS=windows\nbuild\tvcs.time=2026-01-01T00:00:00Z\n"

func TestBill(t *testing.T) {
	t.Parallel()
	info, err := debug.ParseBuildInfo(recorded)
	require.NoError(t, err)
	info.GoVersion = "go1.26.8" // parsing leaves it out
	b := billOf(info, "tool.exe", "1.2.3", "00ff")
	require.Equal(t, component{
		Ref: "pkg:golang/example.org/tool@1.2.3", Type: "application", Name: "tool", Version: "1.2.3",
		Hashes: []hash{{"SHA-256", "00ff"}}, URL: "pkg:golang/example.org/tool@1.2.3",
		Properties: []property{{"go:build:-trimpath", "true"}, {"go:build:GOOS", "windows"}},
	}, b.Metadata.Component)
	require.Equal(t, []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/a@v1.2.0", "pkg:golang/example.org/fork@v0.2.0"}, b.Dependencies[0].DependsOn,
		"what is really in the program, not what it was replaced for")
	require.Equal(t, []property{{"go:sum", "h1:bbb="}}, b.Components[2].Properties)
	require.Equal(t, "(devel)", billOf(info, "tool", "", "").Metadata.Component.Version)
}

func TestWriteTwice(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	var texts []string
	for _, name := range []string{"one.json", "two.json"} {
		document := filepath.Join(t.TempDir(), name)
		require.NoError(t, write(program, document, "1.2.3"))
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	require.Contains(t, texts[0], `"bomFormat": "CycloneDX"`)
	require.Regexp(t, `"alg": "SHA-256",\s+"content": "[0-9a-f]{64}"`, texts[0])
	require.Equal(t, texts[0], texts[1])
}

func TestNoProgram(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o600))
	require.ErrorContains(t, write(file, file+".json", ""), file+" is no Go program")
	require.NoFileExists(t, file+".json")
}
