package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// inTree runs the test in the root of the tree.
func inTree(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

func TestTheFileIsCurrentAndComplete(t *testing.T) {
	inTree(t)
	require.NoError(t, run(true))
	text, err := read(file)
	require.NoError(t, err)
	for _, part := range []string{
		"\nthe standard library of Go\n", "\ngithub.com/spf13/afero v", // linked on all platforms
		"\ngithub.com/inconshreveable/mousetrap v", // on Windows only
		"\ngithub.com/landlock-lsm/go-landlock v",  // on Linux only
		"Apache License", "Mozilla Public License", "Permission is hereby granted",
		"gitleaks", "@earendil-works/pi-ai", "markdown-it",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "testify", "only tests have it")
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.NotContains(t, text, home)
}

func TestAModuleWithoutALicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("free"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "license.go"), []byte("package license"), 0o600))
	_, err := licences([]string{dir})
	require.ErrorContains(t, err, "no licence file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE-MIT"), []byte("one\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "NOTICE"), []byte("two"), 0o600))
	text, err := licences([]string{dir, dir})
	require.NoError(t, err)
	require.Equal(t, "one\n\ntwo", text)
}

func TestABundleWithoutAComment(t *testing.T) {
	for _, script := range []string{"", "code", "/*! unfinished"} {
		_, err := comment(script)
		require.Error(t, err)
	}
	text, err := comment("// code\n/*! markdown-it: MIT\n*/ code")
	require.NoError(t, err)
	require.Equal(t, "markdown-it: MIT", text)
}
