package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The tools of resources have pi's names and schemas.
const (
	listName      = "list_mcp_resources"
	templatesName = "list_mcp_resource_templates"
	readName      = "read_mcp_resource"

	listDoc = "Lists resources provided by MCP servers. Resources allow servers to share data that provides context to language " +
		"models, such as files, database schemas, or application-specific information. Prefer resources over web search when possible."
	templatesDoc = "Lists resource templates provided by MCP servers. Parameterized resource templates allow servers to share data that " +
		"takes parameters and provides context to language models, such as files, database schemas, or application-specific " +
		"information. Prefer resource templates over web search when possible."
	readDoc = "Read a specific resource from an MCP server given the server name and resource URI."

	listSchema = `{"type":"object","properties":{"server":{"type":"string","description":"MCP server name. Omit to list every server ` +
		`with resources."},"cursor":{"type":"string","description":"Opaque cursor from a previous call with the same server; omit for ` +
		`the first page."}},"additionalProperties":false}`
	readSchema = `{"type":"object","properties":{"server":{"type":"string","description":"MCP server name exactly as configured. Must ` +
		`match the 'server' field returned by list_mcp_resources."},"uri":{"type":"string","description":"Resource URI to read. Must ` +
		`be one of the URIs returned by list_mcp_resources."}},"required":["server","uri"],"additionalProperties":false}`
)

// resourceArgs are the arguments of the tools of resources.
type resourceArgs struct {
	Server string `json:"server"`
	Cursor string `json:"cursor"`
	URI    string `json:"uri"`
}

// resourceTools returns the tools of resources. They send a cursor or an address of the model to a server, so that they change
// something as far as approval is concerned.
func (h *Servers) resourceTools() []Tool {
	made := func(name, doc, schema string, run func(context.Context, tool.Env, resourceArgs) (tool.Result, error)) Tool {
		t := ownTool(name, doc, schema, true, func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
			var a resourceArgs
			if err := json.Unmarshal(args, &a); err != nil {
				return tool.Result{}, err
			}
			r, err := run(ctx, env, a)
			if err == nil && h.options.Dialect == session.Pi {
				r.Details = encoded(piDetails{Server: a.Server, Tool: name})
			}
			return r, err
		})
		t.Limit = func(json.RawMessage) time.Duration { return 0 } // the server has a time limit
		t.Preview = func(_ context.Context, _ tool.Env, args json.RawMessage) (tool.Preview, error) {
			return tool.Preview{Title: "Call " + name + " with " + cut(tool.Printable(string(args)), maxShown)}, nil
		}
		return t
	}
	return []Tool{
		made(listName, listDoc, listSchema, func(ctx context.Context, env tool.Env, a resourceArgs) (tool.Result, error) {
			return h.listResources(ctx, env, a, "resources", listName, listResources)
		}),
		made(templatesName, templatesDoc, listSchema, func(ctx context.Context, env tool.Env, a resourceArgs) (tool.Result, error) {
			return h.listResources(ctx, env, a, "resourceTemplates", templatesName, listTemplates)
		}),
		made(readName, readDoc, readSchema, h.readResource),
	}
}

// item is a resource or a template in a list.
type item struct {
	Server      string `json:"server"`
	URI         string `json:"uri,omitzero"`
	URITemplate string `json:"uriTemplate,omitzero"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	MIMEType    string `json:"mimeType,omitzero"`
	Size        int64  `json:"size,omitzero"`
}

func listResources(ctx context.Context, l *link, cursor string) (items []item, next string, err error) {
	r, err := request(ctx, l, nil, func(ctx context.Context, _ string) (*sdk.ListResourcesResult, error) {
		return l.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
	})
	if err != nil {
		return nil, "", err
	}
	for _, x := range r.Resources {
		if x != nil {
			items = append(items, item{URI: x.URI, Name: x.Name, Description: x.Description, MIMEType: x.MIMEType, Size: x.Size})
		}
	}
	return items, r.NextCursor, nil
}

func listTemplates(ctx context.Context, l *link, cursor string) (items []item, next string, err error) {
	r, err := request(ctx, l, nil, func(ctx context.Context, _ string) (*sdk.ListResourceTemplatesResult, error) {
		return l.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
	})
	if err != nil {
		return nil, "", err
	}
	for _, x := range r.ResourceTemplates {
		if x != nil {
			items = append(items, item{URITemplate: x.URITemplate, Name: x.Name, Description: x.Description, MIMEType: x.MIMEType})
		}
	}
	return items, r.NextCursor, nil
}

// listResources lists the resources of one server or of all that have some, in pi's form.
func (h *Servers) listResources(ctx context.Context, env tool.Env, a resourceArgs, member, name string, list func(context.Context, *link, string) ([]item, string, error)) (tool.Result, error) {
	_, servers := h.all()
	if a.Server != "" {
		s, err := h.withResources(a.Server)
		if err != nil {
			return tool.Result{}, err
		}
		servers = []*server{s}
	}
	all, out, failed := []item{}, map[string]any{}, map[string]string{}
	for _, s := range servers {
		l, err := s.connected(ctx)
		var items []item
		var next string
		if err == nil {
			items, next, err = list(ctx, l, a.Cursor)
		}
		if err != nil {
			if a.Server != "" || ctx.Err() != nil {
				return tool.Result{}, err
			}
			failed[s.def.Name] = s.secrets.line(err.Error())
			continue
		}
		for _, i := range items {
			i.Server = s.def.Name
			all = append(all, i)
		}
		if a.Server != "" && next != "" {
			out["nextCursor"] = next
		}
	}
	out[member] = all
	if a.Server != "" {
		out["server"] = a.Server
	}
	if len(failed) > 0 {
		out["errors"] = failed
	}
	text := structured(out)
	for _, s := range servers {
		text = s.secrets.result(text)
	}
	kept := tool.KeepText(env, name, text)
	return tool.TextResult(kept.Shown), nil
}

// withResources returns a server that has resources.
func (h *Servers) withResources(name string) (*server, error) {
	_, servers := h.all()
	i := slices.IndexFunc(servers, func(s *server) bool { return s.def.Name == name })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no MCP server %q with resources.", name)
	}
	return servers[i], nil
}

func (h *Servers) readResource(ctx context.Context, env tool.Env, a resourceArgs) (tool.Result, error) {
	s, err := h.withResources(a.Server)
	if err != nil {
		return tool.Result{}, err
	}
	l, err := s.connected(ctx)
	if err != nil {
		return tool.Result{}, notConnected(readName, s.def.Name, err)
	}
	r, err := request(ctx, l, env.Update, func(ctx context.Context, token string) (*sdk.ReadResourceResult, error) {
		p := &sdk.ReadResourceParams{URI: a.URI}
		p.SetProgressToken(token)
		return l.session.ReadResource(ctx, p)
	})
	if err != nil {
		return tool.Result{}, err
	}
	w := &writer{server: s, env: env, tool: readName, room: tool.MaxBytes}
	for _, c := range r.Contents {
		w.resource(c)
	}
	if len(w.blocks) == 0 {
		w.blocks = []provider.Block{provider.Text("(no output)")}
	}
	return tool.Result{Content: w.blocks}, nil
}
