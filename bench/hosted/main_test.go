package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDocumentHasAGeneratedPart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(text), generated)
	require.Contains(t, string(text), end)
}
