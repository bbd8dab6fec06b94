package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/look"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/environ"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/task"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// hostedTool is the tool name in the record of an engine's turn.
const hostedTool = "hosted"

// lastLook is the timeout of the look after a command that was stopped, because the user waits for the end of the turn.
const lastLook = 2500 * time.Millisecond

// lookOptions returns the options of a look at a folder.
func (m *Manager) lookOptions(folder string) look.Options {
	temp := m.cfg.Changes.Temp
	if temp == "" {
		temp = filepath.Join(m.cfg.Finder.Roots[0].AgentDir, "xcsh-ls", "looks")
	}
	return look.Options{
		Folder: folder, Home: m.cfg.Finder.Home, Fs: m.disk(), Temp: temp, Env: environ.Keep(os.Environ()), Log: m.log,
	}
}

// looks reports whether changes of commands are recorded. This needs a real file system.
func (m *Manager) looks() bool {
	_, commands := m.cfg.Changes.captures()
	return commands && m.disk().Name() == "OsFs"
}

// around is a pair of looks around a command.
type around struct {
	l       *ledger
	origin  capture.Origin
	outside bool // the command can change files outside of the folder
	look    *look.Look
	err     error            // why there is no look
	journal *capture.Command // nil without one
	since   int              // see [writes.begin]
	done    func()
	saved   func() []string // see [change.Watcher]; nil without an editor
}

// begin looks at the folder before a command. It never fails: one event reports the first folder or command without a look.
func (l *ledger) begin(ctx context.Context, o capture.Origin, outside bool) *around {
	if !l.s.m.looks() {
		return nil
	}
	a := l.look(ctx)
	a.start(ctx, o, outside)
	return a
}

// look looks at the folder as it is now.
func (l *ledger) look(ctx context.Context) *around {
	a := &around{l: l}
	a.since, a.done = l.s.m.writes.begin()
	a.watch()
	options := l.s.m.lookOptions(l.s.cwd)
	options.Contents, options.Memory = l.contents(), &l.memory
	limited, cancel := context.WithTimeout(ctx, l.lookTime())
	defer cancel()
	if a.look, a.err = look.Before(limited, options); a.err != nil {
		a.look = nil
	}
	return a
}

// watch begins to note the files that the user saves.
func (a *around) watch() {
	if w, ok := a.l.s.m.cfg.Documents.(change.Watcher); ok {
		a.saved = w.Watch()
	}
}

// untouched reports whether the user saved no file since the look began.
func (a *around) untouched() bool {
	if a.saved == nil {
		return true
	}
	saved := a.saved()
	a.watch()
	return len(saved) == 0
}

// start makes the look that of a command, which begins now.
func (a *around) start(ctx context.Context, o capture.Origin, outside bool) {
	l := a.l
	a.origin, a.outside = o, outside
	switch {
	case a.err != nil:
		if ctx.Err() == nil {
			l.givenUp(o, a.err)
		}
		return
	case a.look.Blind():
		a.look.Close()
		a.look = nil
		if l.once("nogit", "This folder is too large to detect the changes of commands without git, so these changes can't be undone.") {
			l.missed(o, change.LimitNoGit)
		}
		return
	}
	if dir := dirOf(l.log); dir != "" {
		var err error
		if a.journal, err = l.journal(dir).Begin(o.Record(nil), l.s.m.now(), a.look.Save); err != nil {
			l.s.m.log.Warn("a command has no journal", zap.String("path", dir), zap.Error(err))
		} else {
			l.s.m.running.Store(a.journal.Look(), true)
		}
	}
}

// drop ends a look whose command did not begin.
func (a *around) drop() {
	a.done()
	if a.saved != nil {
		a.saved()
	}
	if a.look != nil {
		a.look.Close()
	}
}

func (l *ledger) lookTime() time.Duration {
	return cmp.Or(l.s.m.cfg.Changes.CommandLook, look.DefaultTime)
}

func (l *ledger) journal(dir string) capture.Journal {
	return capture.Journal{Fs: l.s.m.cfg.Store.Fs, Dir: dir}
}

// givenUp handles a look that took too long: it publishes a notice once per session, and records that changes are missing.
func (l *ledger) givenUp(o capture.Origin, err error) {
	l.s.m.log.Warn("a look around a command timed out", zap.String("folder", l.s.cwd), zap.Error(err))
	if l.once("look", "Detecting the changes of a command took too long in this folder, so these changes can't be undone. Increase changes.commandLook to allow more time.") {
		l.missed(o, change.LimitBudget)
	}
}

// missed records that changes of a command were not detected.
func (l *ledger) missed(o capture.Origin, limits ...string) {
	r := o.Record(nil)
	r.Limits = capture.AddLimits(nil, limits...)
	if _, err := l.append(r); err != nil {
		l.s.m.log.Warn("the limits of a look are not recorded", zap.Error(err))
	}
}

// of updates the origin when the entry of the prompt is known.
func (a *around) of(o capture.Origin) {
	if a != nil {
		a.origin = o
	}
}

// end looks at the folder after the command and records the changes, even if ctx is done. A nil around does nothing.
func (a *around) end(ctx context.Context) {
	if a == nil {
		return
	}
	defer a.done()
	var saved []string
	if a.saved != nil {
		saved = a.saved()
	}
	if a.look == nil {
		return
	}
	defer a.look.Close()
	limit := a.l.lookTime()
	if ctx.Err() != nil {
		limit = min(limit, lastLook)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	seen, err := a.look.After(limited)
	if err != nil {
		a.l.givenUp(a.origin, err)
	} else {
		a.record(seen, saved)
	}
	if a.journal != nil {
		defer a.l.s.m.running.Delete(a.journal.Look())
		if err := a.journal.End(); err != nil {
			a.l.s.m.log.Warn("could not remove the journal of a command", zap.Error(err))
		}
	}
}

// record records the detected changes, without those of other calls in the meantime.
func (a *around) record(seen look.Seen, saved []string) {
	r := a.l.recordOf(a.origin, seen, saved, a.since)
	if len(r.Changes) == 0 && !slices.Contains(seen.Limits, change.LimitLarge) {
		return
	}
	if a.outside {
		r.Limits = capture.AddLimits(r.Limits, change.LimitOutside)
	}
	if _, err := a.l.append(r); err != nil {
		a.l.s.m.log.Warn("could not record the changes of a command", zap.Error(err))
		a.l.once("command", "The changes of a command could not be recorded, so they can't be undone: "+err.Error())
		return
	}
	for i, path := range r.Paths() {
		if path != "" && r.Changes[i].After != nil {
			a.l.s.m.writes.note(a.l, a.l.place(path).real, *r.Changes[i].After)
		}
	}
}

// recordOf returns the record of detected changes. saved are the files that the editor saved.
func (l *ledger) recordOf(o capture.Origin, seen look.Seen, saved []string, since int) change.Record {
	root := change.RootURI(o.Folder)
	var changes []change.Change
	var also []string
	for _, c := range seen.Changes {
		abs := change.AbsolutePath(root, c.Path)
		if made, ok := l.s.m.writes.last(l.place(abs).real, since); ok && c.After != nil {
			if made.Same(*c.After) {
				continue // an edit, or the command of another session
			}
			c.Before = made // the command changed the file after the edit
		}
		if slices.Contains(saved, abs) || slices.Contains(saved, l.place(abs).real) {
			also = append(also, c.Path)
		}
		changes = append(changes, c)
	}
	r := o.Record(changes)
	r.Git, r.AlsoEditor = seen.Git, also
	r.Limits = capture.AddLimits(r.Limits, seen.Limits...)
	return r
}

// recoverCommandsLocked records the changes of commands whose process died. The caller may write the session. The editor may have saved
// any of the files since, so all are marked as alsoEditor.
func (l *ledger) recoverCommandsLocked(dir string) {
	commands, err := l.journal(dir).Interrupted()
	if err != nil {
		l.s.m.log.Warn("interrupted commands can't be found", zap.String("path", dir), zap.Error(err))
		return
	}
	for _, c := range commands {
		if _, running := l.s.m.running.Load(c.Look()); running {
			continue
		}
		r := l.interruptedLocked(c)
		if data, err := capture.Encode(r, l.contentsLocked().Put); err == nil {
			if id, err := l.appendLocked(capture.Entry{Data: data}); id == "" {
				l.s.m.log.Warn("an interrupted command is not recorded", zap.Error(err))
				return // its journal stays
			}
			l.version++
		}
		if err := c.End(); err != nil {
			l.s.m.log.Warn("could not remove the journal of a command", zap.Error(err))
		}
	}
}

// interruptedLocked returns the record of a command whose process died.
func (l *ledger) interruptedLocked(c *capture.Command) change.Record {
	o := capture.Origin{PromptID: c.Record.PromptID, ToolCallID: c.Record.ToolCallID, Tool: c.Record.Tool, Folder: l.s.cwd}
	options := l.s.m.lookOptions(l.s.cwd)
	options.Contents, options.Memory = l.contentsLocked(), &l.memory
	ctx, cancel := context.WithTimeout(context.Background(), l.lookTime())
	defer cancel()
	before, err := look.Load(l.s.m.cfg.Store.Fs, c.Look(), options)
	var seen look.Seen
	if err == nil {
		defer before.Close()
		seen, err = before.After(ctx)
	}
	if err != nil {
		l.s.m.log.Warn("could not detect the changes of an interrupted command", zap.Error(err))
		r := o.Record(nil)
		r.Limits = []string{change.LimitBudget, change.LimitOutside}
		return r
	}
	r := o.Record(seen.Changes)
	r.Git, r.Limits = seen.Git, capture.AddLimits(seen.Limits, change.LimitOutside)
	for _, ch := range r.Changes {
		r.AlsoEditor = append(r.AlsoEditor, ch.Path)
	}
	return r
}

// needsLook reports whether the changes of a tool's calls are only known afterwards.
func (h *host) needsLook(t tool.Tool) bool {
	return t.Changes && !t.Edits && !isWrite(t.Name) && t.Name != task.Name && h.s.m.looks()
}

// looking returns t with looks around its calls, if they need them.
func (h *host) looking(t tool.Tool) tool.Tool {
	if !h.needsLook(t) {
		return t
	}
	l := h.s.ledgerOf(h.main().log)
	t.Around = func(ctx context.Context, env tool.Env, args json.RawMessage) func() {
		if t.Reads != nil && t.Reads(args) {
			return func() {}
		}
		if t.Remote == nil { // save the user's edits first: they are not changes of the command
			if desk, ok := env.Files.(engine.Desk); ok && len(desk.Unsaved(ctx)) > 0 {
				h.ahead.drop() // it may have seen the files as they were before they are saved
			}
			_, _ = tool.SaveEdits(ctx, env.Files, env.Cwd, true) // it only fails with ctx, and then the command does not run
		}
		a := h.ahead.take(ctx, l)
		if a == nil {
			a = l.look(ctx)
		}
		outside := t.Remote != nil || t.Name != "bash" || !h.s.m.cfg.Sandbox || env.Permission.Level == sandbox.Outside
		a.start(ctx, l.origin(tool.CallOf(ctx).ID, t.Name), outside)
		return func() { a.end(ctx) }
	}
	return t
}
