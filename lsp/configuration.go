package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// section is the client's configuration section with the keys of initializationOptions.
const section = "xcshLs"

// configurationTime is how long the client's configuration is waited for.
const configurationTime = 2 * time.Second

// configuration is what the settings come from and what has become of them. The client's
// section wins over initializationOptions, which an editor sends once.
type configuration struct {
	options json.RawMessage // initializationOptions; set by initialize

	mu       sync.Mutex
	settings Settings      // as last read; guarded by mu
	env      *commands.Env // of the commands; replaced, never changed in place; guarded by mu
	used     bool          // a command has had env: its sessions are not to be taken away; guarded by mu

	turnMu sync.Mutex
	turn   chan struct{} // closed when the last change is dealt with; nil before one; guarded by turnMu
}

// envForCommand returns the Env and keeps its backend from being replaced.
func (c *configuration) envForCommand() *commands.Env {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = true
	return c.env
}

// envForStart returns the Env for the start-up work, which uses it unless it is lazy.
func (c *configuration) envForStart() *commands.Env {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = c.used || c.settings.Startup.Mode != "" && c.settings.Startup.Mode != "lazy"
	return c.env
}

// didChangeConfiguration reads the section again: from the client if it can be asked, for
// what it pushes may be anything, else from the notification. Changes are dealt with in
// their order, off the goroutine that reads, and after the start-up work.
func (s *server) didChangeConfiguration(params json.RawMessage) error {
	pushed := valueAt[json.RawMessage](params, "settings", section)
	if pushed == nil && !s.client.configuration {
		return nil // about other servers
	}
	c, ok := s.calls.begin(s.work, jsonrpc2.ID{})
	if !ok {
		return busyError(s.opts.MaxInFlight)
	}
	s.config.turnMu.Lock()
	defer s.config.turnMu.Unlock()
	before, done := s.config.turn, make(chan struct{})
	s.config.turn = done
	go func() {
		defer s.calls.end(c)
		defer close(done)
		defer s.recoverPanic("a change of the configuration")
		if before != nil {
			<-before
		}
		select {
		case <-s.ready:
		case <-c.ctx.Done():
			return
		}
		s.configure(c.ctx, pushed)
	}()
	return nil
}

// configure brings the settings up to date with the client's section.
func (s *server) configure(ctx context.Context, pushed json.RawMessage) {
	if s.client.configuration {
		var ok bool
		if pushed, ok = s.askConfiguration(ctx); !ok {
			return
		}
	}
	settings, _ := readSettings(s.config.options, zap.NewNop()) // they were read aloud by initialize
	problems := settings.read(section, pushed, s.log)
	settings.Folders = s.folders.list()
	for _, p := range append(problems, s.apply(ctx, settings)...) {
		s.log.Warn(p)
		s.showMessage(commands.LevelWarning, p)
	}
}

// askConfiguration asks the client for the section. A client that does not answer has
// none to tell.
func (s *server) askConfiguration(ctx context.Context) (raw json.RawMessage, ok bool) {
	params, err := encodeJSON(map[string]any{"items": []any{map[string]any{"section": section}}})
	if err != nil {
		return nil, false
	}
	var answer json.RawMessage
	err = s.askInTime(ctx, protocol.MethodWorkspaceConfiguration, params, &answer)
	if list := valueAt[[]json.RawMessage](answer); err == nil && len(list) == 1 {
		return list[0], true
	}
	return nil, false
}

// askInTime is [server.ask] for what must not be waited for without end.
func (s *server) askInTime(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.opts.Clock.AfterFunc(configurationTime, cancel)()
	return s.ask(ctx, method, params, result)
}

// followConfiguration has the client say when its configuration changes, where it says so
// to servers that register only.
func (s *server) followConfiguration(ctx context.Context) {
	if !s.client.registerConfiguration {
		return
	}
	params, err := encodeJSON(map[string]any{"registrations": []any{map[string]any{
		"id": section, "method": protocol.MethodWorkspaceDidChangeConfiguration,
		"registerOptions": map[string]any{"section": section},
	}}})
	if err == nil {
		var none json.RawMessage
		_ = s.askInTime(ctx, protocol.MethodClientRegisterCapability, params, &none) // ask has logged it
	}
}

// apply puts settings in force and returns what the person has to know of it. While no
// command has run the backend is opened anew; afterwards it holds sessions, and what it
// is made of stays as it is until the next start.
func (s *server) apply(ctx context.Context, next Settings) (problems []string) {
	c := &s.config
	c.mu.Lock()
	defer c.mu.Unlock() // commands wait, so that none begins in a backend that is replaced
	changed := changedOptions(c.settings, next)
	c.settings = next
	if len(changed) == 0 {
		return nil
	}
	if !c.used {
		if err := s.openBackend(ctx, next); err != nil {
			return []string{fmt.Sprintf("The changed settings are not in force: %v", err)}
		}
		return nil
	}
	env := *c.env
	env.Pick, env.Tell, c.env = next.UI.Pick, s.teller(next), &env
	if changed = slices.DeleteFunc(changed, inForceAtOnce); len(changed) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("A change of %s takes effect when the server is started again.", strings.Join(changed, ", "))}
}

func inForceAtOnce(option string) bool { return option == "ui.pick" || option == "showResumeSummary" }

// changedOptions names the options that differ.
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
		{"showResumeSummary", a.ShowSummary, b.ShowSummary},
		{"history.enabled", a.History.Enabled, b.History.Enabled},
		{"ui.pick", a.UI.Pick, b.UI.Pick},
		{"ui.hooks", a.UI.Hooks, b.UI.Hooks},
	} {
		if !reflect.DeepEqual(o.a, o.b) {
			names = append(names, o.name)
		}
	}
	return names
}
