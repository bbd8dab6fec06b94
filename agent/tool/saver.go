package tool

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Saver is a [Workspace] with buffers that can be newer than the files on disk, which commands and searches read.
type Saver interface {
	// SaveEdits saves the buffers whose unsaved changes are all by the agent. With ask, the user decides about those with changes
	// of both. It returns the files below dir whose buffers differ from the disk afterwards, absolute and sorted. The error
	// is that of ctx.
	SaveEdits(ctx context.Context, dir string, ask bool) (unsaved []string, err error)
}

// SaveEdits saves the agent's edits in files before something reads the disk, see [Saver]. A workspace without buffers has none.
func SaveEdits(ctx context.Context, files Workspace, dir string, ask bool) (unsaved []string, err error) {
	if s, ok := files.(Saver); ok {
		return s.SaveEdits(ctx, dir, ask)
	}
	return nil, nil
}

// maxNamed bounds the files that a note names.
const maxNamed = 10

// unsavedNote returns the note about files that a command or a search did not see as the other tools do, "" if there are none.
func unsavedNote(cwd string, unsaved []string) string {
	if len(unsaved) == 0 {
		return ""
	}
	more := ""
	if len(unsaved) > maxNamed {
		unsaved, more = unsaved[:maxNamed], " and others"
	}
	names := make([]string, len(unsaved))
	for i, path := range unsaved {
		names[i] = path
		if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
			names[i] = filepath.ToSlash(rel)
		}
	}
	return "[Unsaved changes in the editor were not seen: " + strings.Join(names, ", ") + more + ". read shows the unsaved text.]"
}

// withNote returns the result with a note at its end.
func (r Result) withNote(note string) Result {
	if note == "" {
		return r
	}
	last := len(r.Content) - 1
	if last < 0 || r.Content[last].Type != provider.TypeText {
		return r
	}
	content := slices.Clone(r.Content)
	content[last].Text = strings.TrimSuffix(content[last].Text, "\n") + "\n\n" + note
	r.Content = content
	return r
}
