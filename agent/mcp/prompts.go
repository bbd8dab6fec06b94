package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	maxPrompts   = 200     // of one server
	maxPromptDoc = 1 << 10 // bytes of a description
)

// Prompt is a prompt of a server. Its slash command is "/SERVER:NAME key=value …".
type Prompt struct {
	Server      string
	Name        string
	Description string
	Arguments   []PromptArgument
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name, Description string
	Required          bool
}

// Prompts returns the prompts of the connected servers. It starts no server.
func (h *Servers) Prompts(ctx context.Context) []Prompt {
	var all []Prompt
	for _, s := range h.servers() {
		s.mu.Lock()
		l := s.link
		s.mu.Unlock()
		known, connected, _ := s.now()
		if !connected || !known.prompts || l == nil {
			continue
		}
		list, err := request(ctx, l, nil, l.listPrompts)
		if err != nil {
			s.host.note(s, "MCP prompts not listed", err)
			continue
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Prompt) int { return strings.Compare(a.Server+":"+a.Name, b.Server+":"+b.Name) })
	return all
}

// listPrompts reads the prompts of a server.
func (l *link) listPrompts(ctx context.Context, _ string) (list []Prompt, err error) {
	s, params := l.server, &sdk.ListPromptsParams{}
	for range maxPages {
		page, err := l.session.ListPrompts(ctx, params)
		if err != nil {
			return list, err
		}
		for _, p := range page.Prompts {
			if p == nil || p.Name == "" || len(list) >= maxPrompts {
				continue
			}
			made := Prompt{Server: s.def.Name, Name: p.Name, Description: s.text(p.Description, maxPromptDoc)}
			for _, a := range p.Arguments {
				if a != nil {
					made.Arguments = append(made.Arguments, PromptArgument{a.Name, s.text(a.Description, maxPromptDoc), a.Required})
				}
			}
			list = append(list, made)
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return list, nil
		}
		params = &sdk.ListPromptsParams{Cursor: page.NextCursor}
	}
	return list, nil
}

// Prompt returns the content of a prompt of a server, which it starts if necessary, as one message of the user. The messages of the
// assistant in it are named as such.
func (h *Servers) Prompt(ctx context.Context, env tool.Env, serverName, name string, args map[string]string) ([]provider.Block, error) {
	s := h.server(serverName)
	if s == nil {
		return nil, fault.New(fault.NotFound, "There is no MCP server %q in this session.", serverName)
	}
	l, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	r, err := request(ctx, l, nil, func(ctx context.Context, _ string) (*sdk.GetPromptResult, error) {
		return l.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	})
	if err != nil {
		return nil, err
	}
	w := &writer{server: s, env: env, tool: "prompt", room: tool.MaxBytes}
	for _, m := range r.Messages {
		if m == nil {
			continue
		}
		if m.Role != "user" {
			w.text("[" + string(m.Role) + "]")
		}
		w.content(m.Content)
	}
	if len(w.blocks) == 0 {
		return nil, fault.New(fault.Provider, "The prompt %s of the MCP server %q is empty.", name, serverName)
	}
	return w.blocks, nil
}

// ParsePrompt reads the arguments of a slash command, "key=value" with quotes around values with blanks. A text without a key is the
// value of the first argument that has none.
func (p Prompt) ParsePrompt(text string) (map[string]string, error) {
	args := map[string]string{}
	var plain []string
	for _, word := range split(text) {
		key, value, ok := strings.Cut(word, "=")
		if ok && slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == key }) {
			args[key] = value
			continue
		}
		plain = append(plain, word)
	}
	if len(plain) > 0 {
		i := slices.IndexFunc(p.Arguments, func(a PromptArgument) bool { _, has := args[a.Name]; return !has })
		if i < 0 {
			return nil, fault.New(fault.InvalidArgument, "The prompt %s:%s has no argument for %q.", p.Server, p.Name, strings.Join(plain, " "))
		}
		args[p.Arguments[i].Name] = strings.Join(plain, " ")
	}
	for _, a := range p.Arguments {
		if _, has := args[a.Name]; a.Required && !has {
			return nil, fault.New(fault.InvalidArgument, "The prompt %s:%s needs the argument %s: %s", p.Server, p.Name, a.Name, p.usage())
		}
	}
	return args, nil
}

// usage returns the form of the slash command.
func (p Prompt) usage() string {
	words := []string{"/" + p.Server + ":" + p.Name}
	for _, a := range p.Arguments {
		if word := fmt.Sprintf("%s=…", a.Name); a.Required {
			words = append(words, word)
		} else {
			words = append(words, "["+word+"]")
		}
	}
	return strings.Join(words, " ")
}

// split divides a text at blanks outside quotes, and removes the quotes.
func split(text string) (words []string) {
	var word strings.Builder
	quote, has := rune(0), false
	flush := func() {
		if has {
			words = append(words, word.String())
		}
		word.Reset()
		has = false
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, has = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			flush()
		default:
			word.WriteRune(r)
			has = true
		}
	}
	flush()
	return words
}
