package serving

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	maxClient = 100 // servers of a client
	clientOwn = "the client"
)

// FromClient returns the definitions of a client of the Agent Client Protocol, and sentences about those that cannot be used. Clients
// send every server that the user has configured for any agent, so that one of them must not fail the session.
func FromClient(raw []json.RawMessage) (list []Definition, problems []string) {
	if len(raw) > maxClient {
		problems = append(problems, fmt.Sprintf("The client asks for more than %d MCP servers; the others are not used.", maxClient))
		raw = raw[:maxClient]
	}
	for _, r := range raw {
		d, why := fromClient(r)
		if why != "" {
			problems = append(problems, why+" It is not used.")
			continue
		}
		list = append(list, d)
	}
	return list, problems
}

// clientPair is a variable or header.
type clientPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func fromClient(raw json.RawMessage) (d Definition, why string) {
	var c struct {
		Type    string       `json:"type"`
		Name    string       `json:"name"`
		Command string       `json:"command"`
		Args    []string     `json:"args"`
		Env     []clientPair `json:"env"`
		URL     string       `json:"url"`
		Headers []clientPair `json:"headers"`
	}
	invalid := func(format string, args ...any) (Definition, string) {
		return Definition{}, fmt.Sprintf(format, args...)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return invalid("An MCP server of the client is not an object with a name, a command or URL, and lists.") // the reason could quote a secret
	}
	name := fault.OneLine(c.Name)
	if name == "" || strings.ContainsRune(c.Name, 0) || len(c.Name) > maxClientName {
		return invalid("An MCP server of the client has no name of at most %d bytes.", maxClientName)
	}
	s := mcp.Server{Name: c.Name, Source: clientOwn, Provider: "acp", ProviderName: "ACP Client"}
	d.own = true
	switch c.Type {
	case "", "stdio":
		if c.Command == "" {
			return invalid("The MCP server %q has no command.", name)
		}
		s.Transport, s.Command, s.Args = mcp.Stdio, c.Command, c.Args
		d.starts = fault.OneLine(strings.Join(append([]string{c.Command}, c.Args...), " "))
	case "http", "sse":
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" {
			return invalid("The MCP server %q has no address.", name)
		}
		s.Transport, s.URL = mcp.Transport(c.Type), c.URL
		d.starts = u.Scheme + "://" + u.Host + u.Path
	default:
		return invalid("The type %q of the MCP server %q is unknown; the types are stdio, http and sse.", fault.OneLine(c.Type), name)
	}
	for _, v := range slices.Concat(c.Env, c.Headers) {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00\r\n") || strings.ContainsRune(v.Value, 0) {
			return invalid("A variable or header of the MCP server %q is not valid.", name)
		}
	}
	for _, v := range c.Env {
		s.Env = append(s.Env, v.Name+"="+v.Value)
	}
	for _, v := range c.Headers {
		s.Headers = withHeader(s.Headers, v.Name, v.Value)
	}
	s.Digest = digest(s)
	d.server = s
	return d, ""
}

const maxClientName = 100

// Joined returns the servers of a client, and those of files whose names the client does not use.
func Joined(client, files []Definition) []Definition {
	all := slices.Clone(client)
	for _, d := range files {
		if !slices.ContainsFunc(client, func(c Definition) bool { return c.Name() == d.Name() }) {
			all = append(all, d)
		}
	}
	return all
}
