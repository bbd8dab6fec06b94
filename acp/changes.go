package acp

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	maxShownChanges = 1 << 20 // bytes of the hunks that are shown as diffs
	maxShownPaths   = 500     // files of an answer
)

// slashChanges shows changes of files as a tool call, so that the client displays them like edits. It returns the rest as text.
func (c *conversation) slashChanges(ctx context.Context, args string) (answer string, err error) {
	r, err := commands.SlashChanges(ctx, c.env, c.cwd, args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(commands.ChangesSummary(r))
	for _, l := range r.Limits {
		b.WriteString("\n\n> " + visible.Line(l.Text))
	}
	diffs, places, rest := changeDiffs(r.Files)
	for _, f := range rest {
		b.WriteString("\n* " + visible.Line(c.nameOf(f.Path)) + ": " + f.Status)
		if f.Text != "" {
			b.WriteString(". " + visible.Line(f.Text))
		}
	}
	if len(places)+len(rest) < len(r.Files) {
		b.WriteString("\n* …")
	}
	c.shown.changes(commands.ChangesSummary(r), diffs, places)
	return b.String(), nil
}

// nameOf returns the path that is shown to the user.
func (c *conversation) nameOf(path string) string {
	if below(c.cwd, path) {
		if rel, err := filepath.Rel(c.cwd, path); err == nil {
			return rel
		}
	}
	return path
}

// changeDiffs returns the hunks of files as content of a tool call. rest are the files that are not shown: those without hunks, and those
// beyond the limits.
func changeDiffs(files []wire.File) (diffs []toolContent, places []location, rest []wire.File) {
	left := maxShownChanges
	for _, f := range files {
		if len(places)+len(rest) == maxShownPaths {
			break
		}
		var patch strings.Builder
		for _, h := range f.Hunks {
			patch.WriteString(strings.TrimSuffix(h.Text, "\n") + "\n")
		}
		shown := patchDiffs(f.Path, patch.String())
		if left -= patch.Len(); len(shown) == 0 || left < 0 {
			rest = append(rest, f)
			continue
		}
		diffs = append(diffs, shown...)
		places = append(places, location{Path: f.Path, Line: max(1, f.Hunks[0].NewStart)})
	}
	return diffs, places, rest
}

// changes shows changes of files as a completed tool call. It does nothing without diffs.
func (v *view) changes(title string, diffs []toolContent, places []location) {
	if len(diffs) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.update(toolUpdate{
		Kind: updateToolCall, ID: v.newMessageLocked() + "-changes", Title: short(title), ToolKind: "read", Status: statusCompleted,
		Content: diffs, Locations: places,
	})
}
