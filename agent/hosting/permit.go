package hosting

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// changes remembers each change as the user was shown it, until it is made.
type changes struct {
	mu    sync.Mutex
	shown map[string]change // guarded by mu; by the id of the tool call
}

// change is the effect of a tool call on a file.
type change struct {
	tool string
	path string
	sum  [sha256.Size]byte // of the content that was shown
	any  bool              // the content was not known, so that any is permitted
}

// maxChanges bounds the changes that are permitted and not made: a call that fails makes none.
const maxChanges = 1000

func (c *changes) add(callID string, ch change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown == nil || len(c.shown) >= maxChanges {
		c.shown = map[string]change{}
	}
	c.shown[callID] = ch
}

// check fails if a call writes other content than the user approved. It returns the tool of the call.
func (c *changes) check(callID, path, text string) (tool string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.shown[callID]
	switch {
	case !ok:
		return "", fault.New(fault.Denied, "Nothing was written: this call was not permitted to write %s.", path)
	case filepath.Clean(path) != ch.path:
		return "", fault.New(fault.Denied, "Nothing was written: the user permitted a change of %s, not of %s.", ch.path, path)
	case !ch.any && sha256.Sum256([]byte(text)) != ch.sum:
		return "", errChanged(path)
	}
	return ch.tool, nil
}

func errChanged(path string) error {
	return fault.New(fault.Stale, "%s changed while the user was asked, so nothing was written. Read the file again and repeat the call.", path)
}

// Permit implements [engine.Host]. The change is computed before the question, so that the user sees it, and again after
// the question, which may have waited for hours.
func (h *host) Permit(ctx context.Context, c engine.Call) error {
	r := approval.Request{ID: c.ID, Tool: c.Tool, Args: c.Args, Hosted: h.seat.cfg.Program.Name, Effect: approval.Effect(c.Effect)}
	if c.Effect != engine.Changes || c.Path == "" {
		if c.Path != "" {
			r.Preview.Paths = []string{filepath.Clean(c.Path)} // of a file that is read
		}
		if _, err := h.seat.cfg.Gate.Ask(ctx, r); err != nil || c.Path != "" {
			return err
		}
		// The call may read the disk, and what the engine has changed may be in the editor only.
		_, err := tool.SaveEdits(ctx, h.seat.cfg.Files, h.seat.cfg.Cwd, c.Effect != engine.Reads)
		return err
	}
	path := filepath.Clean(c.Path)
	before, known := h.preview(ctx, c, path)
	r.Preview = before.Preview
	if _, err := h.seat.cfg.Gate.Ask(ctx, r); err != nil {
		return err
	}
	if !known { // the user saw the arguments
		h.changes.add(c.ID, change{tool: c.Tool, path: path, any: true})
		return nil
	}
	now, known := h.preview(ctx, c, path)
	if !known || now.Diff != before.Diff {
		return errChanged(path)
	}
	h.changes.add(c.ID, change{tool: c.Tool, path: path, sum: sha256.Sum256(now.content)})
	return nil
}

// previewed is a change before it is made.
type previewed struct {
	tool.Preview
	content []byte // of the file afterwards
}

// preview computes the change of a call. known is false if that cannot be done: then the preview has the path only.
func (h *host) preview(ctx context.Context, c engine.Call, path string) (p previewed, known bool) {
	p.Title, p.Paths = verb(c.Tool)+" "+h.name(path), []string{path}
	if c.Apply == nil {
		return p, false
	}
	was, err := h.seat.cfg.Files.ReadFile(ctx, path)
	if err != nil && !missing(err) {
		return p, false
	}
	if p.content, err = c.Apply(was); err != nil {
		return p, false
	}
	p.Diff = tool.Diff(h.name(path), was.Content, p.content)
	return p, true
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func verb(name string) string {
	if name == "write" {
		return "Write"
	}
	return "Edit"
}

// name is how a path is shown: relative to the folder if it is inside.
func (h *host) name(path string) string {
	if rel, err := filepath.Rel(h.seat.cfg.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// Read implements [engine.Host].
func (h *host) Read(ctx context.Context, path string) (text string, here bool, err error) {
	f, err := h.seat.cfg.Files.ReadFile(ctx, path)
	if err != nil || !f.Open {
		return "", false, nil //nolint:nilerr // the engine reads the disk and reports its errors, as it does without us
	}
	return string(f.Content), true, nil
}

// Write implements [engine.Host].
func (h *host) Write(ctx context.Context, callID, path, text string) (here bool, err error) {
	name, err := h.changes.check(callID, path, text)
	if err != nil {
		return false, err
	}
	ctx = tool.WithCall(ctx, tool.Call{ID: callID, Tool: name})
	was, err := h.seat.cfg.Files.ReadFile(ctx, path)
	if err != nil || !was.Open {
		return false, nil //nolint:nilerr // as in Read
	}
	if bytes.Equal(was.Content, []byte(text)) {
		return true, nil
	}
	_, err = h.seat.cfg.Files.WriteFile(ctx, verb("edit")+" "+h.name(path), path, was, []byte(text))
	return true, err
}
