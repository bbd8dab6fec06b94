package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

const (
	maxChangeActions = 5   // hunks with actions in one answer
	maxChangeLenses  = 200 // hunks with lenses in one answer
)

// keepArgs are the arguments of xcsh.keep, and undoArgs those of xcsh.rewind, for one hunk. The user has seen the hunk, so it is undone
// without showing a plan.
type (
	keepArgs struct {
		Cwd   string         `json:"cwd"`
		Hunks []wire.HunkRef `json:"hunks"`
	}
	undoArgs struct {
		keepArgs
		DryRun bool `json:"dryRun"`
	}
)

// hunkCommands returns the commands to undo and to keep a hunk, with the titles undo and keep.
func hunkCommands(cwd, path string, h wire.Hunk, undo, keep string) (undoing, keeping sessiondoc.Command) {
	args := keepArgs{cwd, []wire.HunkRef{{Path: path, Hunk: h.Hunk}}}
	return sessiondoc.Command{Title: undo, Command: "xcsh.rewind", Arguments: []any{undoArgs{keepArgs: args}}},
		sessiondoc.Command{Title: keep, Command: "xcsh.keep", Arguments: []any{args}}
}

// pendingIn returns the pending hunks of an open document in a folder. It only logs a failure, because the request has other results.
func (s *server) pendingIn(ctx context.Context, cwd, path string) []wire.Hunk {
	doc, open := s.documents.Lookup(path)
	if !open {
		return nil
	}
	hunks, err := s.pending.of(ctx, cwd, doc)
	if err != nil && ctx.Err() == nil {
		s.log.Info("could not get the changes of a document", zap.String("path", path), zap.Error(err))
	}
	return hunks
}

// changeActions returns the actions to undo and to keep the changes that touch the lines of a range.
func (s *server) changeActions(ctx context.Context, cwd, path string, at textdoc.Range) (actions []codeAction) {
	if wanted, _ := s.config.reviews(); !wanted {
		return nil
	}
	var touched []wire.Hunk
	for _, h := range s.pendingIn(ctx, cwd, path) {
		if first, last := shownLines(h); int64(first) <= at.End.Line && int64(last) >= at.Start.Line && len(touched) < maxChangeActions {
			touched = append(touched, h)
		}
	}
	for _, h := range touched {
		which := ""
		if len(touched) > 1 {
			which = " (" + linesOf(h) + ")"
		}
		if h.Mixed {
			which += ", including your edits"
		}
		undo, keep := hunkCommands(cwd, path, h, "xcsh: undo this change"+which, "xcsh: keep this change"+which)
		for _, c := range []sessiondoc.Command{undo, keep} {
			actions = append(actions, codeAction{Title: c.Title, Kind: kindFix, Command: c})
		}
	}
	return actions
}

// shownLines returns the first and the last line of a hunk, from 0. Removed lines are shown at the adjacent lines.
func shownLines(h wire.Hunk) (first, last int) {
	first = max(0, h.NewStart-1)
	if h.NewLines == 0 {
		return max(0, first-1), first
	}
	return first, first + h.NewLines - 1
}

// linesOf describes the lines of a hunk.
func linesOf(h wire.Hunk) string {
	switch h.NewLines {
	case 0:
		return fmt.Sprintf("removed before line %d", h.NewStart)
	case 1:
		return fmt.Sprintf("line %d", h.NewStart)
	}
	return fmt.Sprintf("lines %d to %d", h.NewStart, h.NewStart+h.NewLines-1)
}

// codeLenses returns the lenses of a session document, or of the changes in another document.
func (s *server) codeLenses(sessions sessiondoc.Handler) sessiondoc.Handler {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		result, err := sessions(ctx, raw)
		if result != nil || err != nil {
			return result, err
		}
		if _, wanted := s.config.reviews(); !wanted {
			return nil, nil
		}
		var p codeActionParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, conn.ParamsError(protocol.MethodTextDocumentCodeLens, "params", err)
		}
		path, ok := textdoc.Path(p.TextDocument.URI)
		cwd, inside := s.folderOf(path)
		if !ok || !inside {
			return nil, nil
		}
		return conn.EncodeJSON(changeLenses(cwd, path, s.pendingIn(ctx, cwd, path)))
	}
}

// changeLens is a code lens of a change.
type changeLens struct {
	Range   textdoc.Range      `json:"range"`
	Command sessiondoc.Command `json:"command"`
}

func changeLenses(cwd, path string, hunks []wire.Hunk) []changeLens {
	lenses := []changeLens{}
	for _, h := range hunks[:min(len(hunks), maxChangeLenses)] {
		line, _ := shownLines(h)
		at := textdoc.Position{Line: int64(line)}
		undo, keep := hunkCommands(cwd, path, h, "Undo", "Keep")
		for _, c := range []sessiondoc.Command{keep, undo} {
			lenses = append(lenses, changeLens{textdoc.Range{Start: at, End: at}, c})
		}
	}
	return lenses
}

// refreshLenses sends workspace/codeLens/refresh to the client. It does not block.
func (s *server) refreshLenses() {
	if _, wanted := s.config.reviews(); !wanted || !s.client.refreshLenses {
		return
	}
	s.background("refreshing lenses", func(ctx context.Context) {
		_ = s.ask(ctx, protocol.MethodWorkspaceCodeLensRefresh, nil, nil) // ask has logged it
	})
}
