package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// maxServers bounds the MCP servers of a client.
const maxServers = 100

// greeting is the answer to initialize, as far as it is used.
type greeting struct {
	Version int `json:"protocolVersion"`
	Agent   struct {
		Version string `json:"version"`
	} `json:"agentInfo"`
	Capabilities struct {
		Load    bool                       `json:"loadSession"`
		Prompt  wire.PromptCapabilities    `json:"promptCapabilities"`
		MCP     wire.MCPCapabilities       `json:"mcpCapabilities"`
		Session map[string]json.RawMessage `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Login []authMethod `json:"authMethods"`
	Meta  struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	} `json:"_meta"`
}

// authMethod is a way to log in.
type authMethod struct {
	Type string   `json:"type"`
	Args []string `json:"args"`
}

// Open implements [engine.Engine].
func (e *Engine) Open(ctx context.Context, at engine.Place, h engine.Host) (engine.Opened, error) {
	e.place, e.host = at, h
	opened, err := e.open(ctx)
	if err != nil {
		_ = e.Close(context.WithoutCancel(ctx)) // the error that matters is returned
		e.end(err)
		return engine.Opened{}, err
	}
	return opened, nil
}

func (e *Engine) open(ctx context.Context) (engine.Opened, error) {
	p, err := e.o.Start(ctx, child.Config{
		Name: e.program.Name, Path: e.program.Path, Args: e.kind.asksForAll(e.kind.with(e.program.Args)), Env: slices.Concat(e.o.Env, e.program.Env),
		Dir: e.place.Cwd, MaxLine: wire.MaxLine, Log: e.log,
	})
	if err != nil {
		return engine.Opened{}, e.notStarted(err)
	}
	l := newLink(e, p)
	e.mu.Lock()
	e.link = l
	e.mu.Unlock()
	l.run()
	g, err := e.greet(ctx)
	if err != nil {
		return engine.Opened{}, err
	}
	opened := engine.Opened{Version: name(g.Agent.Version), Loose: e.kind.native}
	if opened.Login = e.loginOf(g); len(opened.Login) > 0 {
		e.mu.Lock()
		e.can.Login, e.login = true, opened.Login
		e.mu.Unlock()
	}
	if err := e.openSession(ctx, g, &opened); err != nil {
		return engine.Opened{}, err
	}
	if err := e.settle(ctx, &opened); err != nil {
		return engine.Opened{}, err
	}
	choice := e.choice()
	opened.Model, opened.Thinking = choice.Model, choice.Thinking
	return opened, nil
}

// notStarted is the error of a program that the system did not start.
func (e *Engine) notStarted(err error) error {
	if missing(err) {
		return e.fault("%s is not installed any more (was at %s).", e.program.Name, e.program.Path).With("reason", engine.ReasonMissing)
	}
	if f, ok := err.(*fault.Error); ok { //nolint:errorlint // only its own message is for the user
		return f.With("class", "engine").With("engine", e.program.Name)
	}
	return e.fault("%s cannot be started: %w", e.program.Name, err)
}

// greet agrees on the protocol. The methods for files are always announced: where an agent uses them, the user is asked before
// a file is changed.
func (e *Engine) greet(ctx context.Context) (greeting, error) {
	var g greeting
	capabilities := map[string]any{
		"fs":       map[string]bool{"readTextFile": true, "writeTextFile": true},
		"terminal": false,
		"auth":     map[string]bool{"terminal": true},
	}
	if e.kind.forms {
		capabilities["elicitation"] = map[string]any{"form": map[string]any{}}
	}
	raw, err := e.link.call(ctx, wire.MethodInitialize, map[string]any{
		"protocolVersion":    wire.ProtocolVersion,
		"clientCapabilities": capabilities,
		"clientInfo":         wire.Implementation{Name: "xcsh-ls", Version: e.o.Version},
	})
	if err != nil {
		return g, err
	}
	lenient(raw, &g)
	if g.Version != wire.ProtocolVersion {
		return g, e.fault("%s speaks version %d of the Agent Client Protocol; only version %d is supported.", e.program.Name, g.Version, wire.ProtocolVersion)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.can = engine.Can{
		Images: g.Capabilities.Prompt.Image, Steer: g.Meta.Steering.Supported, Files: e.kind.files, Permission: e.kind.asks, Compact: e.kind.native,
	}
	return g, nil
}

// lenient decodes what has the right types.
func lenient(raw []byte, into any) {
	_ = json.Unmarshal(raw, into) // members of the wrong type stay zero
}

// loginOf returns the command that logs in, nil if the agent offers none.
func (e *Engine) loginOf(g greeting) []string {
	for _, m := range g.Login {
		if m.Type == "terminal" && len(m.Args) <= 20 {
			return slices.Concat([]string{e.program.Path}, e.kind.with(e.program.Args), m.Args)
		}
	}
	return e.program.Login
}

// started is the answer to a request that opens a session.
type started struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current   string      `json:"currentModeId"`
		Available []wire.Mode `json:"availableModes"`
	} `json:"modes"`
	Options json.RawMessage `json:"configOptions"`
}

// openSession continues the conversation of the place, or begins a new one.
func (e *Engine) openSession(ctx context.Context, g greeting, opened *engine.Opened) error {
	id := e.place.Session
	if e.kind.native && e.place.File != "" {
		id = e.place.ID
	}
	params := wire.OpenParams{SessionID: id, Cwd: e.place.Cwd, MCPServers: e.servers(g), Additional: nil}
	if id != "" {
		err := e.resume(ctx, g, params)
		if err == nil {
			return e.opened(id, opened)
		}
		if e.kind.native || ctx.Err() != nil || e.Err() != nil || fault.Is(err, fault.Cancelled) {
			return err
		}
		e.log.Info("acp: a session cannot be continued", zap.Error(err))
		opened.Notices = append(opened.Notices, e.program.Name+" starts a new conversation; it does not remember the messages above.")
	}
	raw, err := e.link.call(ctx, wire.MethodNew, newParams(params))
	if err != nil {
		return err
	}
	s := e.begun(raw)
	if !validID(s.ID) {
		return e.fault("%s opened a session without a valid id.", e.program.Name)
	}
	return e.opened(s.ID, opened)
}

// newParams are the parameters of session/new, which has no id.
func newParams(p wire.OpenParams) any {
	return struct {
		Cwd        string            `json:"cwd"`
		MCPServers []json.RawMessage `json:"mcpServers"`
	}{p.Cwd, p.MCPServers}
}

// resume continues a session of the agent. A replay is dropped: there is no turn that it belongs to.
func (e *Engine) resume(ctx context.Context, g greeting, p wire.OpenParams) error {
	method := wire.MethodLoad
	if _, ok := g.Capabilities.Session["resume"]; ok {
		method = wire.MethodResume
	} else if !g.Capabilities.Load {
		return e.fault("%s cannot continue conversations.", e.program.Name)
	}
	raw, err := e.link.call(ctx, method, struct {
		SessionID  string            `json:"sessionId"`
		Cwd        string            `json:"cwd"`
		MCPServers []json.RawMessage `json:"mcpServers"`
	}{p.SessionID, p.Cwd, p.MCPServers})
	if err == nil {
		e.begun(raw)
	}
	return err
}

// begun takes over what an opened session offers.
func (e *Engine) begun(raw json.RawMessage) started {
	var s started
	lenient(raw, &s)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = s.Modes.Current
	for _, m := range s.Modes.Available[:min(len(s.Modes.Available), maxChoices)] {
		e.modes[m.ID] = name(m.Name)
	}
	if options := optionsOf(s.Options); options != nil {
		e.setOptionsLocked(options)
	}
	return s
}

// opened records the id of the session, and finds the file of a native one.
func (e *Engine) opened(id string, o *engine.Opened) error {
	e.mu.Lock()
	e.session = id
	e.mu.Unlock()
	if !e.kind.native {
		o.Session = id
		return nil
	}
	if o.File = e.place.File; o.File != "" {
		return nil
	}
	file, err := e.fileOf(id)
	o.File = file
	return err
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_.:@/+=-]{1,256}$`)

// validID reports whether an id of a session can be kept.
func validID(id string) bool { return idPattern.MatchString(id) }

// fileOf finds the file that a native agent made for a session. omp resumes only what is in its own directory for the folder, so that it
// is not started with another one.
func (e *Engine) fileOf(id string) (string, error) {
	if strings.ContainsAny(id, `/\:`) {
		return "", e.fault("%s opened a session with the id %q, which no session file has.", e.program.Name, id)
	}
	names, err := afero.ReadDir(e.o.Fs, e.place.Dir)
	if err != nil && !missing(err) {
		return "", e.fault("The session of %s cannot be found: %w", e.program.Name, err)
	}
	for _, n := range names {
		if n.Mode().IsRegular() && strings.HasSuffix(n.Name(), id+".jsonl") {
			return filepath.Join(e.place.Dir, n.Name()), nil
		}
	}
	return "", e.fault("%s keeps its session elsewhere than in %s, where it would be found again.", e.program.Name, e.place.Dir)
}

// servers returns the MCP servers that the agent can use.
func (e *Engine) servers(g greeting) []json.RawMessage {
	servers := []json.RawMessage{}
	for _, s := range e.place.MCPServers {
		kind, _ := rawjson.GetString(s, "type")
		usable := kind == "" || kind == "stdio" || kind == "http" && g.Capabilities.MCP.HTTP || kind == "sse" && g.Capabilities.MCP.SSE
		if usable && len(servers) < maxServers {
			servers = append(servers, s)
			continue
		}
		e.log.Info("acp: an MCP server of the client is not used", zap.String("type", name(kind)))
	}
	return servers
}

// settle makes a session ready: it asks before it changes something, and uses the model of the place.
func (e *Engine) settle(ctx context.Context, opened *engine.Opened) error {
	if e.place.Permit && !e.Can().Permission {
		opened.Notices = append(opened.Notices, e.program.Name+" decides by its own settings for which changes it asks for permission.")
	}
	if e.place.Permit && e.kind.asking != "" {
		if err := e.setMode(ctx, e.kind.asking); err != nil {
			return err
		}
	}
	e.mu.Lock()
	_, e.can.Models = e.optionLocked(categoryModel)
	e.mu.Unlock()
	if e.place.File != "" || e.place.Session != "" {
		return nil // the session has a model
	}
	if e.place.Model != "" {
		provider, id, _ := strings.Cut(e.place.Model, "/")
		if _, err := e.choose(ctx, categoryModel, e.valueOf(provider, id)); err != nil {
			opened.Notices = append(opened.Notices, e.program.Name+" does not offer the model "+name(e.place.Model)+".")
		}
	}
	if e.place.Thinking != "" {
		if _, err := e.choose(ctx, categoryThinking, string(e.place.Thinking)); err != nil {
			e.log.Info("acp: the thinking level is not offered", zap.Error(err))
		}
	}
	return ctx.Err()
}
