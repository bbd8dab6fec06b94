package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var mcpServers = New(Spec{
	Name: "xcsh.mcp", Title: "Show MCP Servers", Flags: NeedsTrust,
	Doc: "List the MCP servers of the folder's session with their state, file and tools, or reconnect one. Listing starts no server. " +
		"Values of variables and headers are never returned.",
}, runMCP)

// The actions of xcsh.mcp.
const (
	listServers     = "list"
	reconnectServer = "reconnect"
)

// MCPArgs are the arguments of xcsh.mcp.
type MCPArgs struct {
	Folder
	Action string `json:"action,omitempty" jsonschema:"list or reconnect. Default: list."`
	Server string `json:"server,omitempty" jsonschema:"With reconnect: the name of the server."`
}

// MCPResult are the servers of the session, after the action.
type MCPResult struct {
	Servers []serving.State `json:"servers"`
}

func runMCP(ctx context.Context, env *Env, a MCPArgs) (MCPResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return MCPResult{}, err
	}
	switch a.Action {
	case "", listServers:
		if a.Server != "" {
			return MCPResult{}, fault.New(fault.InvalidArgument, "A server is only allowed with the action reconnect.").With("field", "server")
		}
	case reconnectServer:
		err = reconnect(ctx, live, a.Server)
	default:
		err = fault.New(fault.InvalidArgument, "%q is not an action; use list or reconnect.", a.Action).With("field", "action")
	}
	if err != nil {
		return MCPResult{}, err
	}
	return MCPResult{live.ServerStates(ctx)}, ctx.Err()
}

func reconnect(ctx context.Context, live *agent.Session, server string) error {
	if server == "" {
		return fault.New(fault.InvalidArgument, "Reconnecting needs the name of a server.").With("field", "server")
	}
	return live.ReconnectServer(ctx, server)
}
