package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// TestGenerated fails if a generated file is not up to date with "make gen".
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

func TestPackageJSONKeepsTheCommandsOfTheExtension(t *testing.T) {
	t.Parallel()
	old := []byte(`{"contributes":{"commands":[{"command":"xcsh.gone"},{"command":"xcshLs.own","icon":"$(x)"}],"menus":{"commandPalette":[{"command":"xcshLs.own","when":"a && b"}]}}}`)
	got, err := packageJSON(commands.Default, old)
	require.NoError(t, err)
	require.NotContains(t, string(got), "xcsh.gone")
	require.Contains(t, string(got), `"icon": "$(x)"`)
	require.Contains(t, string(got), `"when": "a && b"`)
	require.Contains(t, string(got), `"title": "%command.xcsh.resume%"`)
}

func TestPackageTitlesKeepTheRest(t *testing.T) {
	t.Parallel()
	got, err := packageTitles(commands.Default, []byte("{\n  \"command.xcsh.gone\": \"x\",\n  \"view.name\": \"Sessions\"\n}\n"))
	require.NoError(t, err)
	require.NotContains(t, string(got), "gone")
	require.Contains(t, string(got), "\"view.name\": \"Sessions\"")
	require.Contains(t, string(got), "\"command.xcsh.new\": \"New Session\"")
}

// TestEventsAreThoseOfTheDocument compares the types of events in TypeScript with the table of docs/protocol.md.
func TestEventsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/protocol.md")
	require.NoError(t, err)
	// The events of sessions, and those of the team's store.
	tables := strings.Split(string(document), "| Type | Fields | |\n|---|---|---|\n")[1:]
	require.Len(t, tables, 2)
	var documented, written []string
	for _, table := range tables {
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			types, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
			for name := range strings.SplitSeq(types, ", ") {
				documented = append(documented, strings.Trim(name, "`"))
			}
		}
	}
	for _, shape := range eventShapes {
		written = append(written, shape.of.Type())
	}
	require.ElementsMatch(t, documented, written)
}

func TestProtocolNeedsItsMarks(t *testing.T) {
	t.Parallel()
	_, err := protocolMarkdown(commands.Default, []byte("# nothing here\n"))
	require.ErrorContains(t, err, "generated: commands")
}
