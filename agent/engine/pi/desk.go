package pi

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// notices are the sentences that the user is shown once.
type notices struct {
	mu    sync.Mutex
	stale bool // guarded by mu
}

// unsavedFiles returns the files whose changes are in the editor only. It is empty for an engine whose tools go through the
// editor.
func (e *Engine) unsavedFiles(ctx context.Context) []string {
	desk, ok := e.host.(engine.Desk)
	if e.d.files || !ok {
		return nil
	}
	return desk.Unsaved(ctx)
}

// unsavedError refuses a tool call that would change a file with unsaved changes. Its text is for the model, too.
func (e *Engine) unsavedError(ctx context.Context, q question) error {
	if e.d.files || q.Tool != "edit" && q.Tool != "write" && q.Tool != "ast_edit" {
		return nil
	}
	unsaved := e.unsavedFiles(ctx)
	if len(unsaved) == 0 {
		return nil
	}
	touched := e.touched(q)
	if at := slices.IndexFunc(unsaved, func(path string) bool { return e.touches(touched, path, q.Args) }); at >= 0 {
		return fault.New(fault.Denied, "%s has unsaved changes; save it first.", e.shown(unsaved[at])).With("path", unsaved[at])
	}
	return nil
}

// touches reports whether a call may change a file. Arguments that name no file in a known form count if they have its
// name anywhere.
func (e *Engine) touches(touched []string, path string, args []byte) bool {
	if len(touched) == 0 {
		return strings.Contains(string(args), filepath.Base(path))
	}
	return slices.ContainsFunc(touched, func(t string) bool { return samePath(t, path) || sameFile(t, path) })
}

// sameFile compares paths with their links followed.
func sameFile(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}

// shown returns how a path is shown: relative to the folder if it is inside.
func (e *Engine) shown(path string) string {
	if rel, err := filepath.Rel(e.at.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// noteStale shows the user, once, that a tool reads the saved text of a file with unsaved changes. It is called by
// the reader and must not wait for the host.
func (e *Engine) noteStale(r *record) {
	if e.d.files || r.string(fToolName) != "read" {
		return
	}
	path, ok := rawjson.GetString(r.object(fArgs), "path")
	if !ok {
		return
	}
	e.task(func() {
		resolved, err := resolvePath(withoutPlace(path), e.at.Cwd)
		unsaved := e.unsavedFiles(e.ctx)
		if err != nil || !slices.ContainsFunc(unsaved, func(u string) bool { return samePath(u, resolved) || sameFile(u, resolved) }) {
			return
		}
		e.notices.mu.Lock()
		known := e.notices.stale
		e.notices.stale = true
		e.notices.mu.Unlock()
		if !known {
			e.host.Emit(event.Notice{Text: e.program.Name + " reads files from disk, and doesn't see the unsaved changes in " + e.shown(resolved) + "."})
		}
	})
}
