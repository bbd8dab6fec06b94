package mcp

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	ownerLimit = 5 * time.Second // how long finding the server of a resource may take

	ownerPages  = 10   // that are read of the lists of a server
	maxTemplate = 1000 // bytes of a template that is compared
	maxAddress  = 8 << 10
)

// Resource returns the call that reads the resource of an address as models of oh-my-pi write it, "mcp://" followed by the resource's own
// address. With several servers it is the one that lists the resource, or whose template fits best. Nothing of the address is sent
// before the call is allowed. ok is false if no server has resources.
func (h *Servers) Resource(ctx context.Context, address string) (t Tool, args json.RawMessage, ok bool, err error) {
	_, servers := h.all()
	if len(servers) == 0 {
		return Tool{}, nil, false, nil
	}
	_, uri, _ := strings.Cut(strings.TrimSpace(address), "://")
	if uri == "" || len(uri) > maxAddress {
		return Tool{}, nil, true, fault.New(fault.InvalidArgument, "Write the address of the resource after mcp://, such as mcp://docs://page. list_mcp_resources lists them.")
	}
	owner := servers[0]
	if len(servers) > 1 {
		if owner = owning(ctx, servers, uri); owner == nil {
			return Tool{}, nil, true, fault.New(fault.NotFound, "No MCP server has a resource %s. Find it with list_mcp_resources, or name the server with read_mcp_resource. These servers have resources: %s.",
				fault.OneLine(uri), strings.Join(namesOf(servers), ", "))
		}
	}
	tools := h.resourceTools()
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == readName })
	return tools[i], encoded(map[string]string{"server": owner.def.Name, "uri": uri}), true, nil
}

// owning returns the server that has a resource, nil if none says so in time.
func owning(ctx context.Context, servers []*server, uri string) *server {
	ctx, cancel := context.WithTimeout(ctx, ownerLimit)
	defer cancel()
	for _, s := range servers {
		if s.lists(ctx, listResources, func(i item) bool { return i.URI == uri }) {
			return s
		}
	}
	var best *server
	most := -1
	for _, s := range servers {
		s.lists(ctx, listTemplates, func(i item) bool {
			if n := fit(i.URITemplate, uri); n > most {
				best, most = s, n
			}
			return false
		})
	}
	return best
}

// lists reports whether a list of a server has an item. A server that fails has none.
func (s *server) lists(ctx context.Context, list func(context.Context, *link, string) ([]item, string, error), is func(item) bool) bool {
	l, err := s.connected(ctx)
	if err != nil {
		return false
	}
	cursor := ""
	for range ownerPages {
		items, next, err := list(ctx, l, cursor)
		switch {
		case err != nil || ctx.Err() != nil:
			return false
		case slices.ContainsFunc(items, is):
			return true
		case next == "" || next == cursor:
			return false
		}
		cursor = next
	}
	return false
}

var expression = regexp.MustCompile(`\{[^}]+\}`)

// fit returns how many characters of a template are literally in an address, -1 if the address is none of the template.
func fit(template, uri string) int {
	if template == "" || len(template) > maxTemplate {
		return -1
	}
	literal := expression.Split(template, -1)
	n := 0
	for i, text := range literal {
		n += len(text)
		literal[i] = regexp.QuoteMeta(text)
	}
	pattern, err := regexp.Compile(`^(?s:` + strings.Join(literal, ".*?") + `)$`)
	if err != nil || !pattern.MatchString(uri) {
		return -1
	}
	return n
}
