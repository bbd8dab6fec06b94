package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheGeneratedPartIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("before\n" + generated + "| old |\n" + end + "after\n")
	for range 2 {
		require.NoError(t, rewrite(path, "| new |\n"))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "before\n"+generated+"| new |\n"+end+"after\n", string(text))
	}
	for _, text := range []string{"", generated, end + generated} {
		write(text)
		require.ErrorContains(t, rewrite(path, "x"), "no generated part")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(after))
	}
}

func TestTheDocumentHasAGeneratedPart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(text), generated)
	require.Contains(t, string(text), end)
}

func TestEveryTableHasItsStores(t *testing.T) {
	t.Parallel()
	s, err := makeStores(options{parts: "peers", most: 1000}, t.TempDir())
	require.NoError(t, err)
	for _, g := range s.groups() {
		require.Empty(t, g.Stores, "no part asks for them, so none is generated")
	}
}
