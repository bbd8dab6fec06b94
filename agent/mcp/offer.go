package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The limits of the tools that are declared without a search.
const (
	maxDeclared   = 40
	maxSchemas    = 20_000 // characters of descriptions and schemas
	maxActivated  = 40
	defaultSearch = 8 // results of a search
)

// Tools returns the tools for the next request, sorted by name. It starts the servers at its first call, and waits for them at
// most as long as the options say. Tools beyond the limits are found by search_tools.
func (h *Servers) Tools(ctx context.Context) []Tool {
	h.awaitStarts(ctx)
	return h.Known()
}

// Known is Tools of the servers whose tools are known. It starts none.
func (h *Servers) Known() []Tool {
	all, resources := h.all()
	shown, rest := h.divide(all)
	if len(resources) > 0 {
		shown = append(shown, h.resourceTools()...)
	}
	if len(rest) > 0 {
		shown = append(shown, h.searchTool())
	}
	slices.SortFunc(shown, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return shown
}

// all returns the known tools of all servers by name, and the servers with resources.
func (h *Servers) all() (tools []offered, resources []*server) {
	var keys []key
	found := map[key]offered{}
	for _, s := range h.servers() {
		known, _, _ := s.now()
		for _, r := range known.tools {
			k := key{s.def.Name, r.name}
			keys = append(keys, k)
			found[k] = offered{Tool: Tool{}, remote: r, server: s}
		}
		if known.resources {
			resources = append(resources, s)
		}
	}
	names := assign(h.options.Dialect, keys)
	for _, k := range keys {
		o := found[k]
		o.Tool = o.server.offer(o.remote, names[k])
		tools = append(tools, o)
	}
	slices.SortFunc(tools, func(a, b offered) int { return cmp.Compare(a.Name, b.Name) })
	return tools, resources
}

// offered is a tool with its origin.
type offered struct {
	Tool
	remote remoteTool
	server *server
}

// divide returns the tools that are declared, and those that have to be found.
func (h *Servers) divide(all []offered) (shown []Tool, rest []offered) {
	h.mu.Lock()
	active := slices.Clone(h.active)
	h.mu.Unlock()
	count, size := 0, 0
	for _, o := range all {
		weight := len(o.Description) + len(o.Parameters)
		fits := o.remote.exposure != Deferred && count < maxDeclared && size+weight <= maxSchemas
		if fits {
			count, size = count+1, size+weight
		}
		if fits || slices.Contains(active, o.Name) {
			shown = append(shown, o.Tool)
		} else {
			rest = append(rest, o)
		}
	}
	return shown, rest
}

// Activate makes Tools return tools that a search has found, as a session has recorded it.
func (h *Servers) Activate(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active = nil
	h.activateLocked(names)
}

func (h *Servers) activateLocked(names []string) {
	for _, n := range names {
		h.active = append(slices.DeleteFunc(h.active, func(a string) bool { return a == n }), n)
	}
	h.active = h.active[max(0, len(h.active)-maxActivated):]
}

// Tool returns the tool of a name, as a model calls it: its declared name, that of another program, or omp's address of it
// ("xd://NAME"). The error is a sentence for the model. Tool starts no server.
func (h *Servers) Tool(name string) (Tool, error) {
	for _, t := range append(h.resourceTools(), h.searchTool()) {
		if t.Name == name {
			return t, nil
		}
	}
	all, _ := h.all()
	names := make(map[key]string, len(all))
	for _, o := range all {
		names[key{o.Server, o.ServerTool}] = o.Name
	}
	if k, ok := newBook(names).find(name); ok {
		i := slices.IndexFunc(all, func(o offered) bool { return o.Server == k.server && o.ServerTool == k.tool })
		return all[i].Tool, nil
	}
	owner := h.server(serverOf(name, namesOf(h.servers())))
	if owner == nil {
		return Tool{}, missingTool(name, nil)
	}
	known, connected, err := owner.now()
	if !known.known && !connected && err != nil {
		return Tool{}, notConnected(fault.OneLine(name), owner.def.Name, err)
	}
	var same []string
	for _, o := range all {
		if o.server == owner {
			same = append(same, o.Name)
		}
	}
	return Tool{}, missingTool(name, same)
}

// Has reports whether a name is one of a tool of these servers, existing or not.
func (h *Servers) Has(name string) bool {
	if _, err := h.Tool(name); err == nil {
		return true
	}
	return h.server(serverOf(name, namesOf(h.servers()))) != nil
}

// MayHave reports whether a name is one of an existing tool, or could be one of a server whose tools are not known yet.
func (h *Servers) MayHave(name string) bool {
	if _, err := h.Tool(name); err == nil {
		return true
	}
	var unknown []string
	for _, s := range h.servers() {
		if known, _, _ := s.now(); !known.known {
			unknown = append(unknown, s.def.Name)
		}
	}
	return MayHave(unknown, name)
}

// MayHave reports whether a name could be one of a tool of servers of which only the names are known.
func MayHave(servers []string, name string) bool {
	if slices.Contains([]string{listName, templatesName, readName, searchName}, name) {
		return len(servers) > 0
	}
	return serverOf(name, servers) != ""
}

// Document returns the description and the schema of a tool, as an answer to "read xd://NAME".
func (h *Servers) Document(name string) (string, error) {
	t, err := h.Tool(name)
	if err != nil {
		return "", err
	}
	return t.document(), nil
}

func (t Tool) document() string { return Describe(t.Tool) }

// Describe returns the description and the schema of a tool.
func Describe(t tool.Tool) string {
	return "# " + t.Name + "\n\n" + t.Description + "\n\nParameters:\n" + string(t.Parameters)
}

// Instructions returns the instructions of the connected servers for the system prompt, sorted by the name of the server.
func (h *Servers) Instructions() []Instruction {
	var list []Instruction
	for _, s := range h.servers() {
		if known, connected, _ := s.now(); connected && known.instructions != "" && !s.def.NoInstructions {
			list = append(list, Instruction{s.def.Name, known.instructions})
		}
	}
	slices.SortFunc(list, func(a, b Instruction) int { return strings.Compare(a.Server, b.Server) })
	return list
}

// Instruction is how a server wants to be used.
type Instruction struct{ Server, Text string }
