package approval

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// remote decides about a call of a tool of an MCP server. That the server says that the tool only reads allows nothing by itself:
// in read-only mode a rule is needed, too.
func (p policy) remote(r Request) (level sandbox.Level, allowed bool, err error) {
	level = sandbox.Outside
	switch {
	case p.mode == ReadOnly && (r.AlwaysAsk || !r.MCP.ReadOnly || !p.remembers(*r.MCP)):
		return level, false, fault.New(fault.Denied,
			"The approval mode is read-only: a tool of an MCP server can be used if the server says that it only reads and the user has allowed it permanently.")
	case p.mode == Yolo:
		return level, true, nil
	default:
		return level, r.Allowed || p.remembers(*r.MCP), nil
	}
}

// remembers reports whether a rule allows a tool of a server.
func (p policy) remembers(m tool.Remote) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool {
		same := r.valid() && r.Server != "" && r.Server == m.Server && r.Digest == m.Digest
		return same && (r.Reads && m.ReadOnly || r.Tool != "" && r.Tool == m.Tool)
	})
}

// remoteRules returns the rules for later calls: those of this tool, and those of all tools that say they only read.
func remoteRules(m tool.Remote) (rules, wider []Rule) {
	if !printable(m.Tool) || !printable(m.Server) || len(m.Tool) > maxLine || len(m.Server) > maxLine || m.Digest == "" {
		return nil, nil
	}
	if m.ReadOnly {
		wider = []Rule{{Server: m.Server, Reads: true, Digest: m.Digest}}
	}
	return []Rule{{Server: m.Server, Tool: m.Tool, Digest: m.Digest}}, wider
}

func isWider(d Decision) bool { return d == SessionWider || d == WorkspaceWider }

// Remembers reports whether a rule of the session or the folder allows the tool of a server.
func (g *Gate) Remembers(m tool.Remote) bool { return g.policy().remembers(m) }
