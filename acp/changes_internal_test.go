package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

func TestChangesAreShownAsDiffs(t *testing.T) {
	t.Parallel()
	files := []wire.File{
		{Path: "/w/a", Status: wire.Modified, Hunks: []wire.Hunk{
			{NewStart: 2, Text: "@@ -2 +2 @@\n-old\n+new\n"}, {NewStart: 9, Text: "@@ -8,0 +9 @@\n+more"},
		}},
		{Path: "/w/new", Status: wire.Added, Hunks: []wire.Hunk{{NewStart: 1, Text: "@@ -0,0 +1,2 @@\n+one\n+two\n"}}},
		{Path: "/w/gone", Status: wire.Deleted, Hunks: []wire.Hunk{{Text: "@@ -1 +0,0 @@\n-one\n\\ No newline at end of file\n"}}},
		{Path: "/w/bin", Status: wire.Modified, Binary: true, Text: "It is large."},
		{Path: "/w/odd", Status: wire.Modified, Hunks: []wire.Hunk{{Text: "\n\n"}, {Text: "not a hunk"}}},
	}
	diffs, places, rest := changeDiffs(files)
	old := func(s string) *string { return &s }
	require.Equal(t, []toolContent{
		diff("/w/a", old("old\n"), "new\n"), diff("/w/a", old(""), "more\n"), diff("/w/new", nil, "one\ntwo\n"), diff("/w/gone", old("one\n"), ""),
	}, diffs)
	require.Equal(t, []location{{Path: "/w/a", Line: 2}, {Path: "/w/new", Line: 1}, {Path: "/w/gone", Line: 1}}, places)
	require.Equal(t, files[3:], rest)
}

// Diffs beyond the limit are listed by name, and names beyond the limit are omitted.
func TestManyChangesAreNotAllShown(t *testing.T) {
	t.Parallel()
	huge := wire.File{Path: "/w/huge", Hunks: []wire.Hunk{{Text: "@@ -0,0 +1 @@\n+" + strings.Repeat("x", maxShownChanges)}}}
	diffs, _, rest := changeDiffs([]wire.File{huge})
	require.Empty(t, diffs)
	require.Len(t, rest, 1)
	_, _, rest = changeDiffs(make([]wire.File, 10*maxShownPaths))
	require.Len(t, rest, maxShownPaths)
}
