package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// TestGenerated fails when a generated file is not what "make gen" would write.
func TestGenerated(t *testing.T) {
	t.Parallel()
	stale, err := generate("../..", false)
	require.NoError(t, err)
	require.Empty(t, stale, "run make gen")
}

func TestPackageJSONKeepsTheRest(t *testing.T) {
	t.Parallel()
	old := []byte("{\n  \"name\": \"x\",\n  \"contributes\": {\n    \"commands\": [],\n    \"keep\": 1.0,\n    \"menus\": {\n      \"commandPalette\": []\n    }\n  },\n  \"z\": [1,  2]\n}\n")
	got, err := packageJSON(commands.Default, old)
	require.NoError(t, err)
	require.Contains(t, string(got), "\"keep\": 1.0,\n")
	require.Contains(t, string(got), "\"z\": [1,  2]\n}\n")
	again, err := packageJSON(commands.Default, got)
	require.NoError(t, err)
	require.Equal(t, string(got), string(again))
}

func TestProtocolNeedsItsMarks(t *testing.T) {
	t.Parallel()
	_, err := protocolMarkdown(commands.Default, []byte("# nothing here\n"))
	require.ErrorContains(t, err, "generated: commands")
}
