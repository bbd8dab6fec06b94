package pi

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Open implements [engine.Engine]. It takes at most a minute.
func (e *Engine) Open(ctx context.Context, at engine.Place, h engine.Host) (engine.Opened, error) {
	if err := checkPlace(at); err != nil {
		return engine.Opened{}, e.notOpened(err)
	}
	e.mu.Lock()
	if e.opened {
		e.mu.Unlock()
		return engine.Opened{}, fault.New(fault.Internal, "The engine has been opened already.")
	}
	e.opened, e.file, e.written = true, at.File, at.File != ""
	e.mu.Unlock()
	e.at, e.host = at, h
	if err := e.foreignCode(); err != nil {
		return engine.Opened{}, e.notOpened(err)
	}
	if e.d.late && at.File != "" {
		e.written = e.holdsMore(at.File)
	}
	if err := e.spawn(ctx); err != nil {
		return engine.Opened{}, e.notOpened(err)
	}
	opened, err := e.greet(ctx)
	if err == nil {
		e.mu.Lock()
		e.ready = true
		e.mu.Unlock()
		return opened, nil
	}
	e.fail(err)
	<-e.done // within the time that ending a child takes
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing && e.err == nil {
		return engine.Opened{}, e.errClosed()
	}
	return engine.Opened{}, e.err
}

func checkPlace(at engine.Place) error {
	for _, path := range []string{at.Cwd, at.Dir} {
		if !filepath.IsAbs(path) {
			return fault.New(fault.InvalidArgument, "A directory of the session is not absolute: %s.", path)
		}
	}
	if at.File != "" && !filepath.IsAbs(at.File) {
		return fault.New(fault.InvalidArgument, "The session file is not absolute: %s.", at.File)
	}
	return nil
}

// notOpened ends an engine whose child was not started.
func (e *Engine) notOpened(err error) error {
	e.mu.Lock()
	e.opened, e.err = true, err
	e.mu.Unlock()
	e.cancel()
	if e.bridge != nil {
		e.bridge.remove()
	}
	close(e.gone)
	close(e.done)
	return err
}

// spawn starts the child.
func (e *Engine) spawn(ctx context.Context) (err error) {
	if e.bridge, err = writeBridge(); err != nil {
		return &fault.Error{Kind: fault.IO, Message: "The extension for " + e.program.Name + " could not be written: " + fault.OneLine(err.Error()), Err: err}
	}
	// The tools always go through the bridge if changes need permission, so that a change that differs from the
	// one that was shown is noticed. Permission is always asked for, because the user can change the mode.
	env, err := e.bridge.hand(e.d, e.env(os.Environ()), e.bridge.setting(e.d, e.at.Files || e.at.Permit, true))
	if err != nil {
		return &fault.Error{Kind: fault.IO, Message: "The settings for " + e.program.Name + " could not be written: " + fault.OneLine(err.Error()), Err: err}
	}
	proc, err := e.start(ctx, command{Path: e.program.Path, Args: e.args(), Env: env, Dir: e.at.Cwd})
	if err != nil {
		return e.notStarted(err)
	}
	e.mu.Lock()
	e.proc = proc
	closing := e.closing
	e.mu.Unlock()
	e.begun()
	if closing {
		e.task(e.endChild) // Close did not see it
	}
	return nil
}

// args returns the arguments of the child. --session-dir is always there, because settings of the workspace could
// otherwise choose the place of the session file.
func (e *Engine) args() []string {
	args := slices.Concat(e.program.Args, []string{"--mode", "rpc"})
	if e.at.Plain || e.d.isolates && !e.at.Trusted {
		args = append(args, "--no-extensions") // but for the next one
	}
	args = append(args, "-e", e.bridge.path, "--session-dir", e.at.Dir)
	switch {
	case e.d.asks && e.at.Trusted:
		args = append(args, "--approve")
	case e.d.asks:
		args = append(args, "--no-approve")
	}
	if home, err := os.UserHomeDir(); err == nil && !e.d.asks && samePath(home, e.at.Cwd) {
		args = append(args, "--allow-home") // otherwise it goes to a directory of its own
	}
	if e.at.File != "" {
		return append(args, e.d.session, e.at.File)
	}
	if e.at.ID != "" && e.d.newID {
		args = append(args, "--session-id", e.at.ID)
	}
	if e.at.Model != "" {
		args = append(args, "--model", e.at.Model)
	}
	if e.at.Thinking != "" && (e.d.asks || e.at.Thinking != provider.Off) {
		args = append(args, "--thinking", string(e.at.Thinking))
	}
	return args
}

// env returns the environment of the child: that of the user, without the variables of this program.
func (e *Engine) env(base []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(v string) bool {
		return strings.HasPrefix(strings.ToUpper(v), e.d.ours)
	})
	return append(env, e.program.Env...)
}

// state is pi's answer to get_state, as far as it is used.
type state struct {
	Model         provider.Ref
	ThinkingLevel provider.Level
	SessionFile   string
	SessionID     string
	IsStreaming   bool
	IsCompacting  bool
	Queued        int // messages
}

// greet waits until pi answers and the bridge has reported.
func (e *Engine) greet(ctx context.Context) (engine.Opened, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, e.fault("%s did not answer within %d seconds.", e.program.Name, int(startLimit.Seconds())))
	defer cancel()
	notice := time.AfterFunc(startNotice, func() { e.host.Emit(event.Notice{Text: "Starting " + e.program.Name + " …"}) })
	defer notice.Stop()
	s, err := e.state(ctx, 0)
	if err != nil {
		return engine.Opened{}, startError(ctx, err)
	}
	if err := e.sameSession(s); err != nil {
		return engine.Opened{}, err
	}
	notices, err := e.awaitBridge(ctx)
	if err != nil {
		return engine.Opened{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file = s.SessionFile
	opened := engine.Opened{
		File: s.SessionFile, LeafID: e.leaf, Version: e.program.Version, Model: s.Model, Thinking: s.ThinkingLevel, Notices: notices, Loose: e.d.loose,
	}
	e.can = engine.Can{Steer: true, Compact: true, Images: true, Models: true, Login: true}
	if e.hello != nil {
		e.can.Branch, e.can.Permission = true, e.hello.Permit
		e.can.Files = e.d.files && e.at.Files && e.hello.Files["read"] && e.hello.Files["edit"] && e.hello.Files["write"]
		if e.hello.Pi != "" {
			opened.Version = e.hello.Pi
		}
	}
	if s.Model.Provider == "unknown" || s.Model.ID == "" {
		opened.Model = provider.Ref{}
		opened.Notices = append(opened.Notices, e.program.Name+" has no model yet. Log in, or choose a model.")
	}
	return opened, nil
}

// startError returns the cause of a start that took too long.
func startError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// sameSession checks that pi has opened the session that was asked for.
func (e *Engine) sameSession(s state) error {
	switch {
	case e.at.File != "" && !samePath(s.SessionFile, e.at.File),
		e.at.File == "" && e.at.ID != "" && e.d.newID && s.SessionID != e.at.ID,
		e.at.File == "" && !samePath(filepath.Dir(s.SessionFile), e.at.Dir):
		return e.fault("%s opened another session: %s.", e.program.Name, s.SessionFile)
	}
	return nil
}

// samePath compares paths of which one was resolved by pi.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	return resolved(a) == resolved(b)
}

// resolved follows the links of a path's directory. The file itself need not exist.
func resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}

// awaitBridge waits for the report of the bridge. Without one, the engine can only be used without permission.
func (e *Engine) awaitBridge(ctx context.Context) (notices []string, err error) {
	e.mu.Lock()
	greeted := e.greeted
	if e.hello != nil { // pi runs its extensions before it answers
		done := make(chan struct{})
		close(done)
		greeted = done
	}
	e.mu.Unlock()
	grace := time.NewTimer(helloGrace)
	defer grace.Stop()
	select {
	case <-greeted:
	case <-grace.C:
	case <-e.gone:
		return nil, e.failure()
	case <-ctx.Done():
		return nil, startError(ctx, ctx.Err())
	}
	e.mu.Lock()
	h := e.hello
	e.mu.Unlock()
	if h.gated() {
		return h.foreignTools(e.program.Name, e.d.files && e.at.Files), nil
	}
	if e.at.Permit {
		return nil, e.fault("%s cannot ask for permission: the extension of xcsh-ls did not report.", e.program.Name).With("reason", "bridge")
	}
	return []string{e.program.Name + " runs without the extension of xcsh-ls: it neither asks for permission nor sees unsaved changes."}, nil
}

// state asks pi for its state.
func (e *Engine) state(ctx context.Context, limit time.Duration) (state, error) {
	raw, err := e.call(ctx, "get_state", nil, limit)
	if err != nil {
		return state{}, err
	}
	return decodeState(raw), nil
}
