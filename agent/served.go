package agent

import (
	"context"
	"encoding/json"
	"os"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Servers configures the servers of the Model Context Protocol of our own loop.
type Servers struct {
	OnlyClient bool           // use only the servers that the client asks for, [Engines.MCPServers], and none of files
	RunValue   serving.Runner // runs the commands whose output is a variable or header; nil leaves such values out
	Version    string         // of this program

	Logins *agentdb.Reader // reads the sign-ins of oh-my-pi and xcsh at servers
}

// addServers adds the keeper of servers to s. It starts nothing.
func (m *Manager) addServers(s *Session) {
	c := serving.Config{
		Env: os.Environ(), Version: m.cfg.Servers.Version, Log: m.log.Named("mcp"), Run: m.cfg.Servers.RunValue,
		Notify:    func(text string) { s.Report(notice(text)) },
		Reconnect: m.cfg.Advice.reconnect,
		Activated: s.recordActivated, PromptsChanged: func() { s.Report(event.CommandsChanged{}) },
		AskUser: s.AskUser, CanAsk: s.CanAsk,
	}
	s.servers = serving.New(c)
}

// served returns the servers of the conversation. In a turn they are started, at the first request; otherwise only those count
// that run already.
func (h *host) served(ctx context.Context) *serving.Turn {
	if !h.inTurn {
		return h.s.servers.Running()
	}
	if h.serving == nil {
		found := h.found(ctx)
		h.s.announceLeftOut(h.log, found)
		h.serving = h.s.servers.Begin(ctx, h.s.wantedServers(h.log, found))
	}
	return h.serving
}

// serverTools is the [source] of the tools of servers.
func serverTools(ctx context.Context, h *host) []tool.Tool { return h.served(ctx).Tools(ctx) }

// wantedServers returns the servers of the client, and those of a set-up.
func (s *Session) wantedServers(log *session.Log, found *setup.Resolved) serving.Wanted {
	program, known := session.ParseDialect(found.Program)
	if !known {
		program = dialectOf(log)
	}
	w := serving.Wanted{Program: program, Cwd: s.cwd, Session: log.Header().ID, Activated: func() []string { return activatedIn(log) }}
	client, problems := serving.FromClient(s.clientServers())
	var files []serving.Definition
	if !s.m.cfg.Servers.OnlyClient {
		files = serving.Defined(found, func(def setup.Server) setup.Expanded { return s.m.setups().Expand(def, program, s.cwd) }, s.m.serverTokens(found))
	}
	w.Servers, w.Problems = serving.Joined(client, files), problems
	return w
}

// serverTokens returns the tokens of the sign-ins in the program of a set-up.
func (m *Manager) serverTokens(found *setup.Resolved) *serving.Tokens {
	if found.AgentDir == "" {
		return nil
	}
	tokens := &serving.Tokens{Fs: m.cfg.Store.Fs, Dir: found.AgentDir, Now: m.now}
	if found.Program != session.Pi.String() {
		tokens.Logins = m.cfg.Servers.Logins
	}
	return tokens
}

// clientServers returns the servers that a client asked for.
func (s *Session) clientServers() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servedFor != nil {
		return *s.servedFor
	}
	return s.m.cfg.MCPServers
}

// UseServers sets the servers that a client of the Agent Client Protocol asks for. They are used from the next prompt on.
func (s *Session) UseServers(servers []json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servedFor = &servers
}

// announceLeftOut notifies the user, once for each session, of servers that the folder's set-up defines and that are not started.
func (s *Session) announceLeftOut(log *session.Log, found *setup.Resolved) {
	if s.leftOutShown.Swap(log) == log {
		return
	}
	for _, text := range serving.LeftOut(found, s.m.cfg.Advice.trustSetup()) {
		s.emit(log, notice(text))
	}
}

// activatedIn returns the tools that a session has activated.
func activatedIn(log *session.Log) []string {
	c, _, err := log.Context()
	if err != nil {
		return nil
	}
	return c.SelectedMCPToolNames
}

// recordActivated records the tools that a search has activated. Only xcsh has such a record.
func (s *Session) recordActivated(names []string) {
	log := s.current()
	if dialectOf(log) != session.Xcsh {
		return
	}
	s.record(func(held bool) {
		if _, err := log.Append(session.DraftToolSelection(names)); err != nil {
			s.m.log.Warn("the activated tools could not be recorded", zap.Error(err))
		} else if !held {
			_ = log.Flush() // its failure is that of the next entry, too
		}
	})
}

// The schemes of omp's addresses of tools and resources of servers.
const (
	deviceScheme   = "xd"
	resourceScheme = "mcp"
)

// find returns the tool of a server that a call means by another name, or by omp's address of it or of a resource.
func (h *host) find(ctx context.Context, name string, args json.RawMessage) (t tool.Tool, meant json.RawMessage, ok bool, err error) {
	served := h.served(ctx)
	if name != "write" && name != "read" {
		t, ok, err = served.Find(name)
		return t, args, ok, err
	}
	path, _ := rawjson.GetString(args, "path")
	switch scheme := tool.Scheme(path); {
	case scheme == resourceScheme && name == "read":
		return served.Resource(ctx, path)
	case scheme != deviceScheme:
		return t, nil, false, nil
	}
	t, ok, err = served.Find(path)
	switch {
	case !ok || err != nil:
		return t, nil, ok, err
	case name == "read":
		return serving.Document(t), json.RawMessage("{}"), true, nil
	}
	content, _ := rawjson.GetString(args, "content")
	if content == "" {
		content = "{}"
	}
	if !json.Valid([]byte(content)) {
		return t, nil, true, fault.New(fault.InvalidArgument, "The content for %s must be the arguments of the tool as one JSON object. Nothing was called.", fault.OneLine(path))
	}
	return t, json.RawMessage(content), true, nil
}

// ServerStates returns the servers that the session has or would have, without starting any.
func (s *Session) ServerStates(ctx context.Context) []serving.State {
	return s.servers.List(s.wantedServers(s.current(), s.Found(ctx)))
}

// ReconnectServer ends the connection to a server, if there is one, and starts it again.
func (s *Session) ReconnectServer(ctx context.Context, name string) error {
	return s.servers.Reconnect(ctx, s.wantedServers(s.current(), s.Found(ctx)), name)
}

// ServerPrompts returns the prompts of the servers that run, as far as they are known. It starts none.
func (s *Session) ServerPrompts() []mcp.Prompt { return s.servers.Prompts() }

// ServerPrompt returns the text of a prompt of a server that runs. args are the words after its name, "key=value" with quotes around
// values with blanks.
func (s *Session) ServerPrompt(ctx context.Context, server, name, args string) (string, error) {
	for _, p := range s.ServerPrompts() {
		if p.Server != server || p.Name != name {
			continue
		}
		values, err := p.ParsePrompt(args)
		if err != nil {
			return "", err
		}
		if running := s.servers.Servers(); running != nil {
			return serving.PromptText(ctx, running, tool.Env{Cwd: s.cwd, Keep: s.keeper(s.current())}, p, values)
		}
	}
	return "", fault.New(fault.NotFound, "There is no prompt %s of the MCP server %s now.", fault.OneLine(name), fault.OneLine(server))
}

// ServerCommand returns the text of the prompt of a server with a name as the user types it, "SERVER:NAME". It is not ok for any other
// name.
func (s *Session) ServerCommand(ctx context.Context, typed, args string) (text string, ok bool, err error) {
	for _, p := range s.ServerPrompts() {
		if serving.CommandName(p) == typed {
			text, err = s.ServerPrompt(ctx, p.Server, p.Name, args)
			return text, true, err
		}
	}
	return "", false, nil
}
