package acp

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// newSession answers session/new. The session gets its file with the first answer of a model.
func (s *server) newSession(ctx context.Context, _ *call, p openParams) (any, []any, error) {
	c, err := s.open(ctx, p, func(context.Context, *agent.Session) error { return nil })
	if err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	result.SessionID = c.id
	return result, then, err
}

// loadSession answers session/load: the whole branch is shown again before the answer.
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

// resumeSession answers session/resume: the client still has what was said.
func (s *server) resumeSession(ctx context.Context, _ *call, p openParams) (any, []any, error) {
	c, err := s.enter(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	result, then, err := c.opened(ctx)
	return result, then, err
}

// enter opens an existing session, or returns it when it is open here.
func (s *server) enter(ctx context.Context, p openParams) (*conversation, error) {
	cwd, err := s.folder(p.Cwd)
	if err != nil {
		return nil, err
	}
	if c, err := s.conversation(p.SessionID); err == nil {
		return c, s.sameFolder(p.SessionID, c.cwd, cwd)
	}
	info, err := s.find(ctx, cwd, p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := s.sameFolder(info.ID, info.Cwd, cwd); err != nil {
		return nil, err
	}
	return s.open(ctx, p, func(ctx context.Context, live *agent.Session) error { return vetoed(live.Switch(ctx, info.Path)) })
}

// sameFolder refuses a session of another folder, which the client would show as one of cwd. A
// session that does not say where it was held may be held anywhere.
func (s *server) sameFolder(id, is, cwd string) error {
	if is == "" || s.canonical(is) == s.canonical(cwd) {
		return nil
	}
	return fault.New(fault.OtherProject, "Session %q is in another project (%s).", id, is).With("cwd", is)
}

// canonical is one spelling of a path that may have several.
func (s *server) canonical(path string) string {
	if f := s.opts.Backend.Finder; f.RealPath != nil {
		if real, err := f.RealPath(path); err == nil {
			return real
		}
	}
	return path
}

// find returns the session with exactly this id, in the folder if there are several. None is
// kind notFound.
func (s *server) find(ctx context.Context, cwd, id string) (session.Info, error) {
	missing := fault.New(fault.NotFound, "Session %q not found.", fault.OneLine(id))
	if strings.ContainsAny(id, `/\`) || strings.HasSuffix(id, ".jsonl") || id == "" {
		return session.Info{}, missing // a path is no id
	}
	r, err := s.opts.Backend.Finder.Resolve(ctx, cwd, id, session.ResolveOptions{Scope: "all"})
	if err != nil {
		return session.Info{}, err
	}
	var found *session.Info
	for i, m := range r.Matches {
		if m.ID == id && (found == nil || s.sameFolder(found.ID, found.Cwd, cwd) != nil) {
			found = &r.Matches[i]
		}
	}
	if found == nil {
		return session.Info{}, missing
	}
	return *found, nil
}

// forkSession answers session/fork: a copy of a session, as far as it is saved, in a
// conversation of its own.
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

// sourceOf returns the file of a session that is to be copied.
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
		return "", fault.New(fault.IO, "The session cannot be copied, because it is not saved: %s", state.Unsaved)
	}
	if _, err := s.opts.Backend.Fs.Stat(c.live.File()); err != nil {
		return "", fault.New(fault.NotPersistent, "Fork failed: nothing was answered in the session yet.")
	}
	return c.live.File(), nil
}

// opened is what a client is told of a session that it opened, in the answer and right behind
// it: before the answer the client knows nothing of a new session.
func (c *conversation) opened(ctx context.Context) (openResult, []any, error) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.models = nil // a session that is opened again is looked at anew
	set, err := c.settings(ctx)
	if err != nil {
		return openResult{}, nil, err
	}
	c.told(set)
	then := []any{updateOf(c.id, commandsUpdate{updateCommands, slashList()})}
	if name, news := c.named(); news {
		then = append(then, updateOf(c.id, name))
	}
	if usage, known := c.used(ctx); known {
		then = append(then, updateOf(c.id, usage))
	}
	return openResult{Modes: modeState{Current: set.mode, Available: modes()}, Options: set.options}, then, nil
}
