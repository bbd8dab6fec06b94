package agent

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// captured is a workspace that records each write in advance, in the session that the user sees: changes of a subagent belong to the
// turn of the call that started it.
type captured struct {
	tool.Workspace
	s   *Session
	log *session.Log
}

var (
	_ tool.Workspace = captured{}
	_ tool.Saver     = captured{}
	_ engine.Desk    = captured{}
)

// captured returns the workspace of a session.
func (s *Session) captured(log *session.Log) tool.Workspace {
	files := s.m.cfg.Workspace
	if edits, _ := s.m.cfg.Changes.captures(); !edits || files == nil {
		return files
	}
	return captured{files, s, log} // without the ledger: a caller may hold the lock of s
}

// WriteFile implements [tool.Workspace]. The caller holds the lock of the file, and has read was.
func (c captured) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (saved tool.Saved, err error) {
	l, required := c.s.ledgerOf(c.log), c.s.m.cfg.Changes.Required
	place := l.place(path)
	ch, mode, err := l.edit(place, was, content)
	if err != nil {
		if required {
			return tool.Saved{}, capture.Unrecorded(err)
		}
		l.unkept(err)
	}
	call := tool.CallOf(ctx)
	r := l.origin(call.ID, call.Tool).Record([]change.Change{ch})
	if err != nil {
		r.Limits = capture.AddLimits(r.Limits, change.LimitBudget)
	}
	if ch.Before.Kind == change.Large || ch.After.Kind == change.Large {
		r.Limits = capture.AddLimits(r.Limits, change.LimitLarge)
	}
	if len(r.Changes) == 0 && len(r.Limits) == 0 {
		return c.Workspace.WriteFile(ctx, label, path, was, content) // nothing changes
	}
	err = capture.Ahead(r, l.append, required, func() error {
		saved, err = c.Workspace.WriteFile(ctx, label, path, was, content)
		return err
	})
	if err == nil {
		l.s.m.writes.note(l, place.real, *ch.After)
		l.correct(r, place, mode)
	}
	return saved, err
}

// SaveEdits implements [tool.Saver].
func (c captured) SaveEdits(ctx context.Context, dir string, ask bool) ([]string, error) {
	return tool.SaveEdits(ctx, c.Workspace, dir, ask)
}

// Unsaved implements [engine.Desk].
func (c captured) Unsaved(ctx context.Context) []string {
	if desk, ok := c.Workspace.(engine.Desk); ok {
		return desk.Unsaved(ctx)
	}
	return nil
}

// place is the file that a write changes: for a path that is a link, it is the target.
type place struct {
	real     string // absolute, with links resolved
	recorded string // the same path for a record, with the name of the folder that the session uses
}

// place resolves a path.
func (l *ledger) place(path string) place {
	real := sensitive.Resolve(l.s.m.disk(), path)
	p := place{real, real}
	// The path of the folder may contain links; records use it for files within the folder.
	if rel, err := filepath.Rel(sensitive.Resolve(l.s.m.disk(), l.s.cwd), real); err == nil && filepath.IsLocal(rel) {
		p.recorded = filepath.Join(l.s.cwd, rel)
	}
	return p
}

// newFileMode returns the expected mode of new files: that of the last created one, because the umask can't be read without changing it.
func (m *Manager) newFileMode() fs.FileMode {
	return fs.FileMode(cmp.Or(m.newFile.Load(), 0o644))
}

// edit describes a write in advance, and stores the contents. guessed is the expected mode of a new file. If a content can't be stored,
// edit returns the complete change and an error.
func (l *ledger) edit(at place, was tool.File, content []byte) (ch change.Change, guessed fs.FileMode, err error) {
	ch.Path, ch.Before = at.recorded, change.State{Kind: change.Absent}
	if was.Open {
		ch.Via = change.ViaBuffer
	}
	mode := l.s.m.newFileMode()
	guessed = mode
	store := l.contents()
	keepBefore := func() {}
	var beforeErr error
	if was.Exists {
		mode, guessed = l.modeOf(at.real, was), 0
		keepBefore = func() { ch.Before, beforeErr = store.StateWith(at.real, mode, was.Content) }
	}
	var after change.State
	keepAfter := func() { after, err = store.StateWith(at.real, mode, content) }
	if len(was.Content)+len(content) < keptTogether {
		keepBefore()
		keepAfter()
	} else {
		var both sync.WaitGroup
		both.Go(keepBefore)
		keepAfter()
		both.Wait()
	}
	ch.After = &after
	if beforeErr != nil {
		err = beforeErr
	}
	return ch, guessed, err
}

// keptTogether is the number of bytes from which both sides of an edit are kept at the same time: compressing them takes longer than the
// write.
const keptTogether = 256 << 10

// modeOf returns the permission bits of a file that was read.
func (l *ledger) modeOf(path string, was tool.File) fs.FileMode {
	if was.Info != nil {
		return was.Info.Mode().Perm()
	}
	info, err := disk.Lstat(l.s.m.disk(), path) // the text is that of a document
	if err != nil {
		return l.s.m.newFileMode()
	}
	return info.Mode().Perm()
}

// correct records a new file again if its mode differs from guessed, and adjusts the next guess.
func (l *ledger) correct(r change.Record, at place, guessed fs.FileMode) {
	if guessed == 0 {
		return
	}
	info, err := disk.Lstat(l.s.m.disk(), at.real)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() == guessed {
		return // a new document of the editor may not be on disk yet
	}
	l.s.m.newFile.Store(uint32(info.Mode().Perm()))
	after := *r.Changes[0].After
	before := after
	after.Mode = uint32(info.Mode().Perm())
	again := r
	again.Changes = []change.Change{{Path: r.Changes[0].Path, Before: before, After: &after, Via: r.Changes[0].Via}}
	if _, err := l.append(again); err != nil {
		l.s.m.log.Warn("the mode of a new file is not recorded", zap.String("path", at.real), zap.Error(err))
	}
	l.s.m.writes.note(l, at.real, after)
}

// tracked handles a recorded message: later changes belong to the last prompt, and contents move to disk if the session got a file.
func (h *host) tracked(message []byte, id string, wasOnDisk bool) {
	if edits, _ := h.s.m.cfg.Changes.captures(); !edits || id == "" {
		return
	}
	role, _ := rawjson.GetString(message, "role")
	if role == provider.RoleUser || isInvocation(message) {
		h.s.ledgerOf(h.log).prompted(id)
	}
	if !wasOnDisk && h.log.OnDisk() {
		h.s.ledgerOf(h.log).settle()
	}
}
