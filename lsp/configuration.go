package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// section is the client's configuration section with the keys of initializationOptions.
const section = "xcshLs"

// configuration holds the sources of the settings and the Env made from them. The client's section
// overrides initializationOptions, which an editor sends only once.
type configuration struct {
	options json.RawMessage // initializationOptions; set by initialize
	ignored atomic.Bool     // the user knows that settings of the section are ignored

	mu       sync.Mutex
	settings Settings      // as last read; guarded by mu
	env      *commands.Env // of the commands; replaced, never changed in place; guarded by mu
	used     bool          // a command has got env, so its sessions must not be closed; guarded by mu

	lastMu sync.Mutex
	last   chan struct{} // closed when the last change is applied; nil before the first; guarded by lastMu
}

// envForCommand returns the Env. From then on its backend is not replaced.
func (c *configuration) envForCommand() *commands.Env {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = true
	return c.env
}

// restricted reports whether the user has not trusted the workspace.
func (c *configuration) restricted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.Restricted
}

// runsExtensions reports whether an engine may run code of the workspace: the client has said that the user trusts the
// workspace, and the user has turned it on.
func (c *configuration) runsExtensions() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.EngineExtensions && c.settings.Trusted && !c.settings.Restricted
}

// hooks reports whether the client has an interface of its own for sessions.
func (c *configuration) hooks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.UI.Hooks
}

// editor returns the requests about code that the client announces. A client that does not trust the workspace gets none.
func (c *configuration) editor() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settings.Restricted {
		return nil
	}
	return c.settings.UI.Editor
}

// reviews returns how changes of files are reviewed: with code actions in clients without their own review interface, and with lenses if
// the user has enabled them.
func (c *configuration) reviews() (actions, lenses bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.settings.UI.Hooks, !c.settings.UI.Hooks && c.settings.Changes.Lens
}

// diagnosesEdits reports whether results of edits get the new errors of the file.
func (c *configuration) diagnosesEdits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.DiagnosticsAfterEdit == nil || *c.settings.DiagnosticsAfterEdit
}

// saving reports whether the client saves documents on request, and what happens to the agent's edits before a command.
func (c *configuration) saving() (supported bool, policy string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.UI.Save, c.settings.SaveEdits
}

// envForCommand returns the Env for a command of the client. In a restricted workspace, it first
// waits until the changes of the configuration that arrived before the command are applied: with
// one of them, the client may report that the user trusts the workspace.
func (s *server) envForCommand(ctx context.Context) (*commands.Env, error) {
	if s.config.restricted() {
		s.config.lastMu.Lock()
		applied := s.config.last
		s.config.lastMu.Unlock()
		if applied != nil {
			select {
			case <-applied:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	return s.config.envForCommand(), nil
}

// envForStart returns the Env for the start-up work. Its backend is not replaced unless start-up is
// lazy.
func (c *configuration) envForStart() *commands.Env {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = c.used || c.settings.Startup.Mode != "" && c.settings.Startup.Mode != "lazy"
	return c.env
}

// didChangeConfiguration reads the section again: from the client if it supports
// workspace/configuration, because pushed settings may have any form, else from the notification.
// Changes are applied in order, on another goroutine, after the start-up work.
func (s *server) didChangeConfiguration(params json.RawMessage) error {
	pushed := valueAt[json.RawMessage](params, "settings", section)
	if pushed == nil && !s.client.configuration {
		return nil // about other servers
	}
	c, ok := s.calls.Begin(s.work, jsonrpc2.ID{}, false)
	if !ok {
		return busyError(s.opts.MaxInFlight)
	}
	s.config.lastMu.Lock()
	defer s.config.lastMu.Unlock()
	before, done := s.config.last, make(chan struct{})
	s.config.last = done
	go func() {
		defer s.calls.End(c)
		defer close(done)
		defer s.recoverPanic("a change of the configuration")
		if before != nil {
			<-before
		}
		select {
		case <-s.ready:
		case <-c.Context().Done():
			return
		}
		s.configure(c.Context(), pushed)
	}()
	return nil
}

// configure updates the settings from the client's section.
func (s *server) configure(ctx context.Context, pushed json.RawMessage) {
	if s.client.configuration {
		var ok bool
		if pushed, ok = s.askConfiguration(ctx); !ok {
			return
		}
	}
	settings, _ := readSettings(s.config.options, zap.NewNop()) // initialize has reported their problems
	problems, ignored := settings.readSection(s.config.options, pushed, s.log)
	if len(ignored) > 0 && s.config.ignored.CompareAndSwap(false, true) {
		problems = append(problems, fmt.Sprintf("The settings %s are ignored because they may come from the workspace. "+
			"Set them in the initialization options of your own configuration.", strings.Join(ignored, ", ")))
	}
	settings.Folders = s.folders.list()
	for _, p := range append(problems, s.apply(ctx, settings)...) {
		s.log.Warn(p)
		s.showMessage(commands.LevelWarning, p)
	}
}

// askConfiguration requests the section from the client. ok is false if the client does not answer.
func (s *server) askConfiguration(ctx context.Context) (raw json.RawMessage, ok bool) {
	params, err := conn.EncodeJSON(map[string]any{"items": []any{map[string]any{"section": section}}})
	if err != nil {
		return nil, false
	}
	var answer json.RawMessage
	err = s.ask(ctx, protocol.MethodWorkspaceConfiguration, params, &answer)
	if list := valueAt[[]json.RawMessage](answer); err == nil && len(list) == 1 {
		return list[0], true
	}
	return nil, false
}

// followConfiguration registers for changes of the configuration with clients that require it.
func (s *server) followConfiguration(ctx context.Context) {
	if !s.client.registerConfiguration {
		return
	}
	params, err := conn.EncodeJSON(map[string]any{"registrations": []any{map[string]any{
		"id": section, "method": protocol.MethodWorkspaceDidChangeConfiguration,
		"registerOptions": map[string]any{"section": section},
	}}})
	if err == nil {
		var none json.RawMessage
		_ = s.ask(ctx, protocol.MethodClientRegisterCapability, params, &none) // ask has logged it
	}
}

// apply applies changed settings and returns messages for the user. Before the first command it opens
// a new backend. Afterwards the backend holds sessions, so most settings take effect at the next
// start.
func (s *server) apply(ctx context.Context, next Settings) (problems []string) {
	c := &s.config
	c.mu.Lock()
	defer c.mu.Unlock() // commands wait, so that none starts in a backend that is being replaced
	changed := changedOptions(c.settings, next)
	c.settings = next
	if len(changed) == 0 {
		return nil
	}
	if !c.used {
		if err := s.openBackend(ctx, next); err != nil {
			return []string{fmt.Sprintf("The changed settings could not be applied: %v", err)}
		}
		return nil
	}
	env := *c.env
	env.Pick, env.Late, env.OpenPages, env.Tell, c.env = next.UI.Pick, next.LateValues, next.opensPages(), s.teller(next), &env
	if changed = slices.DeleteFunc(changed, takesEffectAtOnce); len(changed) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("A change of %s takes effect when the server is restarted.", strings.Join(changed, ", "))}
}

func takesEffectAtOnce(option string) bool {
	return slices.Contains([]string{"ui.pick", "export.open", "lateValues", "showResumeSummary", "restricted", "engineExtensions", "saveEdits", "ui.save", "ui.editor", "diagnosticsAfterEdit", "changes.lens"}, option)
}

// changedOptions returns the names of the options that differ.
func changedOptions(a, b Settings) (names []string) {
	for _, o := range []struct {
		name string
		a, b any
	}{
		{"agentDir", a.AgentDir, b.AgentDir},
		{"sessionDir", a.SessionDir, b.SessionDir},
		{"roots", a.Roots, b.Roots},
		{"persist", a.Persist, b.Persist},
		{"terminalId", a.TerminalID, b.TerminalID},
		{"startup", a.Startup, b.Startup},
		{"model", a.Model, b.Model},
		{"thinkingLevel", a.ThinkingLevel, b.ThinkingLevel},
		{"approval", a.Approval, b.Approval},
		{"retries", a.Retries, b.Retries},
		{"retryLimit", a.RetryLimit, b.RetryLimit},
		{"rememberModel", a.RememberModel, b.RememberModel},
		{"cacheRetention", a.CacheRetention, b.CacheRetention},
		{"engine", a.Engine, b.Engine},
		{"engineIdle", a.EngineIdle, b.EngineIdle},
		{"engineExtensions", a.EngineExtensions, b.EngineExtensions},
		{teamOption, a.Team, b.Team},
		{"lateValues", a.LateValues, b.LateValues},
		{"showResumeSummary", a.ShowSummary, b.ShowSummary},
		{"cache.maxBytes", a.Cache.MaxBytes, b.Cache.MaxBytes},
		{"history.enabled", a.History.Enabled, b.History.Enabled},
		{"keys.commands", a.Keys.Commands, b.Keys.Commands},
		{"export.open", a.Export.Open, b.Export.Open},
		{"changes.capture", a.Changes.Capture, b.Changes.Capture},
		{"changes.maxFile", a.Changes.MaxFile, b.Changes.MaxFile},
		{"changes.maxSession", a.Changes.MaxSession, b.Changes.MaxSession},
		{"changes.exclude", a.Changes.Exclude, b.Changes.Exclude},
		{"changes.required", a.Changes.Required, b.Changes.Required},
		{"changes.commandLook", a.Changes.CommandLook, b.Changes.CommandLook},
		{"changes.lens", a.Changes.Lens, b.Changes.Lens},
		{"ui.pick", a.UI.Pick, b.UI.Pick},
		{"ui.hooks", a.UI.Hooks, b.UI.Hooks},
		{"ui.save", a.UI.Save, b.UI.Save},
		{"ui.editor", a.UI.Editor, b.UI.Editor},
		{"saveEdits", a.SaveEdits, b.SaveEdits},
		{"diagnosticsAfterEdit", a.DiagnosticsAfterEdit, b.DiagnosticsAfterEdit},
		{"restricted", a.Restricted, b.Restricted},
	} {
		if !reflect.DeepEqual(o.a, o.b) {
			names = append(names, o.name)
		}
	}
	return names
}
