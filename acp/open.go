package acp

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// newSession answers session/new. The session's file is created with the model's first answer.
func (s *server) newSession(ctx context.Context, call *call, p openParams) (any, []any, error) {
	c, err := s.open(ctx, p, func(context.Context, *agent.Session) error { return nil })
	if err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	result.SessionID = c.id
	call.after = c.startEngine
	return result, then, err
}

// loadSession answers session/load. It replays the whole branch before the response.
func (s *server) loadSession(ctx context.Context, _ *call, p openParams) (any, []any, error) {
	c, err := s.enter(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if err := c.replay(ctx); err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	return result, then, err
}

// resumeSession answers session/resume. The client still has the messages.
func (s *server) resumeSession(ctx context.Context, _ *call, p openParams) (any, []any, error) {
	c, err := s.enter(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	return result, then, err
}

// enter opens an existing session, or returns it if it is open here.
func (s *server) enter(ctx context.Context, p openParams) (*conversation, error) {
	cwd, err := s.folder(p.Cwd)
	if err != nil {
		return nil, err
	}
	if c, err := s.conversation(p.SessionID); err == nil {
		if err = s.sameFolder(p.SessionID, c.cwd, cwd); err == nil {
			c.live.UseServers(p.MCPServers)
		}
		return c, err
	}
	info, err := s.find(ctx, cwd, p.SessionID)
	if fault.Is(err, fault.NotFound) {
		info, err = s.pull(ctx, cwd, p.SessionID, err)
	}
	if err != nil {
		return nil, err
	}
	if err := s.sameFolder(info.ID, info.Cwd, cwd); err != nil {
		return nil, err
	}
	return s.open(ctx, p, func(ctx context.Context, live *agent.Session) error { return vetoed(live.Switch(ctx, info.Path)) })
}

// pull brings a session of the team's store into a file. missing is the error if there is none.
func (s *server) pull(ctx context.Context, cwd, id string, missing error) (library.Info, error) {
	path, found, err := s.desk.PullByID(ctx, cwd, id)
	if err != nil {
		return library.Info{}, err
	}
	if !found {
		return library.Info{}, missing
	}
	info, err := s.opts.Backend.Finder.Describe(path)
	if err == nil && info.ID != id {
		err = fault.New(fault.NotFound, "Session %q was pulled as a copy with the ID %s, because another session has its ID. Load that one.", fault.OneLine(id), info.ID).
			With("path", path)
	}
	return info, err
}

// sameFolder returns an error for a session of another folder, which the client would show in cwd. A
// session without a directory may be opened in any folder.
func (s *server) sameFolder(id, is, cwd string) error {
	if is == "" || s.canonical(is) == s.canonical(cwd) {
		return nil
	}
	return fault.New(fault.OtherProject, "Session %q is in another project (%s).", id, is).With("cwd", is)
}

// canonical returns path with symbolic links resolved, if possible.
func (s *server) canonical(path string) string {
	if f := s.opts.Backend.Finder; f.RealPath != nil {
		if real, err := f.RealPath(path); err == nil {
			return real
		}
	}
	return path
}

// find returns the session with exactly this id, preferring the folder's if there are several. If there
// is none, it returns a NotFound error.
func (s *server) find(ctx context.Context, cwd, id string) (library.Info, error) {
	missing := fault.New(fault.NotFound, "Session %q not found.", fault.OneLine(id))
	if strings.ContainsAny(id, `/\`) || strings.HasSuffix(id, ".jsonl") || id == "" {
		return library.Info{}, missing // a path is not an id
	}
	r, err := s.opts.Backend.Finder.Resolve(ctx, cwd, id, library.ResolveOptions{Scope: "all"})
	if err != nil {
		return library.Info{}, err
	}
	var found *library.Info
	for i, m := range r.Matches {
		if m.ID == id && (found == nil || s.sameFolder(found.ID, found.Cwd, cwd) != nil) {
			found = &r.Matches[i]
		}
	}
	if found == nil {
		return library.Info{}, missing
	}
	return *found, nil
}

// forkSession answers session/fork: it copies a session, as far as it is saved, into a conversation of its own.
func (s *server) forkSession(ctx context.Context, _ *call, p openParams) (any, []any, error) {
	c, err := s.fork(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	result.SessionID = c.id
	return result, then, err
}

func (s *server) fork(ctx context.Context, p openParams) (*conversation, error) {
	path, err := s.sourceOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, p, func(ctx context.Context, live *agent.Session) error { return vetoed(live.ForkFrom(ctx, path)) })
}

// sourceOf returns the file of a session to copy.
func (s *server) sourceOf(ctx context.Context, p openParams) (path string, err error) {
	c, err := s.conversation(p.SessionID)
	if err != nil {
		info, err := s.find(ctx, p.Cwd, p.SessionID)
		return info.Path, err
	}
	state, err := c.live.State()
	switch {
	case err != nil:
		return "", err
	case state.IsStreaming || state.IsCompacting:
		return "", fault.New(fault.Busy, "Wait for the current response to finish or cancel it before forking.")
	case state.Unsaved != "":
		return "", fault.New(fault.IO, "The session cannot be forked because it is not saved: %s", state.Unsaved)
	}
	if _, err := s.opts.Backend.Fs.Stat(c.live.File()); err != nil {
		return "", fault.New(fault.NotPersistent, "Fork failed: the session has no answer yet.")
	}
	return c.live.File(), nil
}

// opened returns the state of a session that a client opened, for the response and the updates directly
// after it: the client knows a new session only after the response.
func (c *conversation) opened(ctx context.Context) (openResult, []any, error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.models = nil // detected again if a session is reopened
	set, err := c.settingsLocked(ctx)
	if err != nil {
		return openResult{}, nil, err
	}
	c.recordSentLocked(set)
	then := []any{updateOf(c.id, commandsUpdate{updateCommands, c.commandsLocked(ctx)})}
	if name, news := c.named(); news {
		then = append(then, updateOf(c.id, name))
	}
	if usage, known := c.used(ctx); known {
		then = append(then, updateOf(c.id, usage))
	}
	if large, ok := c.live.Large(); ok && c.s.announce(c.id) {
		then = append(then, c.shown.offer(large.Text))
	}
	for _, e := range c.live.Offers() {
		then = append(then, c.shown.offer(fmt.Sprintf("The prompt from %s was not answered because the program ended:\n\n%s",
			e.Created.Local().Format("2006-01-02 15:04"), e.Prompt)))
	}
	return openResult{Modes: modeState{Current: set.mode, Available: modes()}, Options: set.options}, then, nil
}
