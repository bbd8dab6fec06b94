package serving

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The states of a server.
const (
	NotStarted   = "notStarted" // no prompt has needed it yet
	Starting     = "starting"
	Connected    = "connected"
	Disconnected = "disconnected"
)

// State is a server as the user sees it. It has no values of variables and headers.
type State struct {
	Name      string   `json:"name"`
	State     string   `json:"state" jsonschema:"notStarted, starting, connected or disconnected."`
	Transport string   `json:"transport" jsonschema:"stdio, http or sse."`
	Starts    string   `json:"starts" jsonschema:"The command line or address, without secrets."`
	File      string   `json:"file" jsonschema:"The file that defines it, or \"the client\"."`
	Reason    string   `json:"reason,omitempty" jsonschema:"Why it is not connected."`
	Version   string   `json:"version,omitempty" jsonschema:"The version that the server reports."`
	Tools     []string `json:"tools" jsonschema:"The server's names of its tools."`
}

// List returns the states of the wanted servers, sorted by name. It starts none.
func (k *Keeper) List(w Wanted) []State {
	var known []mcp.State
	k.mu.Lock()
	s := k.set
	k.mu.Unlock()
	if s != nil && s.is(w.key()) {
		known = s.States()
	}
	list := []State{}
	for _, d := range w.Servers {
		state := State{
			Name: d.Name(), State: NotStarted, Transport: string(cmp.Or(d.server.Transport, mcp.Stdio)), Starts: d.starts, File: d.server.Source, Tools: []string{},
		}
		if i := slices.IndexFunc(known, func(m mcp.State) bool { return m.Name == d.Name() }); i >= 0 {
			state.add(known[i])
		}
		if !slices.ContainsFunc(list, func(o State) bool { return o.Name == state.Name }) {
			list = append(list, state)
		}
	}
	slices.SortStableFunc(list, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// add adds the state of a server that was started.
func (s *State) add(m mcp.State) {
	s.Reason, s.Version, s.Tools = m.Reason, m.Version, append(s.Tools, m.Tools...)
	switch {
	case m.Connected:
		s.State = Connected
	case m.Starting:
		s.State = Starting
	default:
		s.State = Disconnected
	}
}

// MayHave reports whether a name is one of a tool of the wanted servers. A server whose tools are not known yet may have any whose
// name begins as those of its tools do. It starts none.
func (k *Keeper) MayHave(w Wanted, name string) bool {
	k.mu.Lock()
	s := k.set
	k.mu.Unlock()
	if s == nil || !s.is(w.key()) {
		return mcp.MayHave(namesOf(w.Servers), name)
	}
	return s.MayHave(name)
}

func namesOf(list []Definition) (names []string) {
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}

// Document returns a tool whose result is the description of another one and its schema.
func Document(t tool.Tool) tool.Tool {
	text := mcp.Describe(t)
	return tool.Tool{Tool: provider.Tool{Name: "read"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		shown, note := tool.Head(text)
		return tool.TextResult(strings.TrimSpace(shown + "\n\n" + note)), nil
	}}
}

// PromptText returns the text of a prompt of a server. Images are left out.
func PromptText(ctx context.Context, servers *mcp.Servers, env tool.Env, p mcp.Prompt, args map[string]string) (string, error) {
	blocks, err := servers.Prompt(ctx, env, p.Server, p.Name, args)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == provider.TypeText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// Commands returns the prompts of the servers that run as names that a prompt of the user can begin with.
func (k *Keeper) Commands() (list []setup.Command) {
	for _, p := range k.Prompts() {
		var hint []string
		for _, a := range p.Arguments {
			word := a.Name + "=…"
			if !a.Required {
				word = "[" + word + "]"
			}
			hint = append(hint, fault.OneLine(word))
		}
		list = append(list, setup.Command{
			Name: CommandName(p), Description: fault.OneLine(p.Description), Hint: strings.Join(hint, " "), Source: setup.FromServer, Scope: setup.User,
		})
	}
	return list
}

// CommandName returns the name of a prompt of a server as the user types it behind a slash.
func CommandName(p mcp.Prompt) string { return p.Server + ":" + p.Name }

// Prompts returns the prompts of the servers, as far as they are known.
func (k *Keeper) Prompts() []mcp.Prompt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.prompts)
}

// readPrompts reads the prompts of servers that have changed.
func (k *Keeper) readPrompts(s *set) {
	ctx, cancel := context.WithTimeout(context.Background(), promptsLimit)
	defer cancel()
	list := s.Prompts(ctx)
	k.mu.Lock()
	changed := k.set == s && !reflect.DeepEqual(k.prompts, list)
	if changed {
		k.prompts = list
	}
	k.mu.Unlock()
	if changed && k.cfg.PromptsChanged != nil {
		k.cfg.PromptsChanged()
	}
}

// promptsLimit is how long reading the prompts of servers may take.
const promptsLimit = 10 * time.Second
