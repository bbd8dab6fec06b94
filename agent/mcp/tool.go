package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

const (
	maxDescription  = 8 << 10 // bytes of a tool's description
	maxInstructions = 2000    // bytes of a server's instructions
	maxShown        = 300     // bytes of the arguments in a permission prompt's title
	maxProgress     = 2000    // bytes of a progress message
	updateEvery     = 100 * time.Millisecond
)

// Tool is a tool of a server.
type Tool struct {
	tool.Tool

	Server     string // the name of the server; "" for search_tools and the tools of resources
	ServerTool string // the server's name of the tool
	Source     string // the file that defines the server
	ReadOnly   bool   // the server says that the tool only reads, which is no promise
}

// remoteTool is a tool as its server describes it.
type remoteTool struct {
	name        string // the server's
	description string
	parameters  json.RawMessage
	readOnly    bool
	exposure    Exposure
}

// tool reads the description of a tool. It returns false for one that is not offered.
func (s *server) tool(t *sdk.Tool) (remoteTool, bool) {
	parameters, ok := declared(t.InputSchema)
	exposure := s.def.exposure(t.Name)
	if !ok || exposure == Hidden {
		return remoteTool{}, false
	}
	return remoteTool{
		name: t.Name, description: s.text(cmp.Or(t.Description, t.Title, t.Name), maxDescription), parameters: parameters,
		readOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint, exposure: exposure,
	}, true
}

// text returns a text of a server, readable and cut.
func (s *server) text(text string, most int) string {
	return cut(strings.TrimSpace(s.secrets.result(text)), most)
}

// cut returns at most so many bytes of a text, and a mark if there are more.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// offer returns a tool for the model.
func (s *server) offer(r remoteTool, name string) Tool {
	check := newChecker(name, r.parameters)
	return Tool{
		Server: s.def.Name, ServerTool: r.name, Source: s.def.Source, ReadOnly: r.readOnly,
		Tool: tool.Tool{
			Tool:    provider.Tool{Name: name, Description: r.description, Parameters: r.parameters},
			Changes: true, // also if the server says otherwise
			Remote:  &tool.Remote{Server: s.def.Name, Tool: r.name, File: s.def.Source, ReadOnly: r.readOnly, Digest: s.def.Digest},
			Check:   check.check,
			Preview: func(_ context.Context, _ tool.Env, args json.RawMessage) (tool.Preview, error) {
				return tool.Preview{Title: s.title(r.name, args)}, nil
			},
			Limit: func(json.RawMessage) time.Duration { return 0 }, // the server has a time limit, which its progress extends
			Run: func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
				args, err := check.check(args)
				if err != nil {
					return tool.Result{}, err
				}
				return s.use(ctx, env, r.name, name, args)
			},
		},
	}
}

// title describes a call in a permission prompt.
func (s *server) title(name string, args json.RawMessage) string {
	from := ""
	if s.def.Source != "" {
		from = " (" + s.def.Source + ")"
	}
	return fmt.Sprintf("Call %s of the MCP server %s%s with %s", tool.Printable(name), s.def.Name, from, cut(tool.Printable(string(args)), maxShown))
}

// use calls a tool and returns its result.
func (s *server) use(ctx context.Context, env tool.Env, remote, name string, args json.RawMessage) (tool.Result, error) {
	l, err := s.connected(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, err
		}
		return tool.Result{}, notConnected(name, s.def.Name, err)
	}
	params := &sdk.CallToolParams{Name: remote, Arguments: args}
	r, err := request(ctx, l, env.Update, func(ctx context.Context, token string) (*sdk.CallToolResult, error) {
		params.SetProgressToken(token)
		return l.session.CallTool(ctx, params)
	})
	switch {
	case err == nil:
		return s.result(env, remote, name, r), nil
	case ctx.Err() != nil:
		return tool.Result{}, err
	case l.isGone():
		return tool.Result{}, notConnected(name, s.def.Name, err)
	default:
		return tool.Result{}, err
	}
}

var errSilent = errors.New("the server does not answer")

// request sends a request that may take long. Its progress goes to update and extends the time limit. A request that is given up
// is cancelled at the server.
func request[R any](ctx context.Context, l *link, update func(tool.Result), send func(ctx context.Context, token string) (R, error)) (r R, err error) {
	s := l.server
	ctx, done := l.begin(ctx)
	defer done()
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.limit > 0 {
		late := l.limit(s.limit, func() { stop(errSilent) })
		defer late.Stop()
		update = extending(late, s.limit, update)
	}
	shown := &progress{server: s, update: update}
	token, unfollow := l.follow(shown.take)
	defer unfollow()
	r, err = send(limited, token)
	if err == nil {
		return r, nil
	}
	if limited.Err() != nil {
		l.awaitCancellation()
	}
	if errors.Is(context.Cause(limited), errSilent) {
		return r, s.silent(s.limit, false)
	}
	return r, s.explain(limited, l, err)
}

// limit calls f when a time has passed in which the user was not asked.
func (l *link) limit(after time.Duration, f func()) *time.Timer {
	var late *time.Timer
	armed := make(chan struct{})
	late = time.AfterFunc(after, func() {
		<-armed
		if l.asking.Load() > 0 {
			late.Reset(after)
			return
		}
		f()
	})
	close(armed)
	return late
}

// extending returns an update that extends a time limit.
func extending(late *time.Timer, limit time.Duration, update func(tool.Result)) func(tool.Result) {
	return func(r tool.Result) {
		late.Reset(limit)
		if update != nil && len(r.Content) > 0 {
			update(r)
		}
	}
}
