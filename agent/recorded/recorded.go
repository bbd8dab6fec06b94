// Package recorded reads the system prompt and the tools that a session records for itself: those of
// a subagent of xcsh and oh-my-pi in its session_init entry, and the active tools of a session of pi in
// its system messages.
//
// A session file may come from anyone. What it records can only take tools away; it adds none, and it
// has no influence on approvals. The prompt is bounded and made visible, and whether it is used at all
// is for the caller to decide.
package recorded

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	// maxPrompt bounds a recorded system prompt, in bytes.
	maxPrompt = 64 << 10

	// maxTools and maxName bound the recorded tools, and the bytes of a name. A tool beyond them is not
	// available.
	maxTools = 256
	maxName  = 64
)

// MainAgent is the name of the agent of a session that is not a subagent's.
const MainAgent = "main"

// Setup is what a session records for itself. The zero value records nothing.
type Setup struct {
	Prompt string // the system prompt, "" for none; valid, visible text
	Cut    bool   // the recorded prompt is longer than Prompt
	Agent  string // the name of the agent, [MainAgent] if it is not a subagent

	limited  bool // only the tools are available
	readers  bool // tools that only read are available in any case
	readOnly bool // only tools that only read are available
	tools    []string
}

// Of returns the setup of the conversation up to leaf: that of its newest session_init entry, or in a
// session of pi that of its system messages.
func Of(d *session.Document, leaf session.Leaf) (Setup, error) { return of(d, d.PathTo(leaf)) }

func of(d *session.Document, path []int) (Setup, error) {
	for _, i := range slices.Backward(path) {
		if d.Type(i) == session.TypeSessionInit {
			e, err := d.Entry(i)
			return fromInit(e.Raw), err
		}
	}
	if d.Dialect() == session.Pi {
		return fromSystemMessages(d, path)
	}
	return Setup{Agent: MainAgent}, nil
}

// fromInit reads a session_init entry. An entry whose list of tools is missing or not a list limits
// nothing.
func fromInit(raw []byte) Setup {
	s := Setup{Agent: MainAgent, readOnly: rawjson.Truthy(rawjson.Get(raw, "readOnly"))}
	if agent, _ := rawjson.GetString(raw, "agent"); agent != "" && len(agent) <= maxName {
		s.Agent = agent
	}
	prompt, _ := rawjson.GetString(raw, "systemPrompt")
	s.Prompt, s.Cut = clean(prompt)
	if tools := rawjson.Get(raw, "tools"); rawjson.Kind(tools) == '[' {
		s.limited = true
		rawjson.Elements(tools, func(el []byte) bool {
			if name, ok := rawjson.String(el); ok {
				s.add(name)
			}
			return len(s.tools) < maxTools
		})
	}
	return s
}

// fromSystemMessages replays the tools that pi's system messages add and remove. pi offers few tools
// for reading, and a user who turns a tool off means those that change something: the others stay.
func fromSystemMessages(d *session.Document, path []int) (Setup, error) {
	s := Setup{Agent: MainAgent, readers: true}
	for _, i := range path {
		if d.Role(i) != "system" {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return Setup{}, err
		}
		m := e.Message()
		names(rawjson.Get(m, "toolsRemoved"), func(name string) {
			s.tools = slices.DeleteFunc(s.tools, func(t string) bool { return t == name })
		})
		added := rawjson.Get(m, "toolsAdded")
		s.limited = s.limited || rawjson.Kind(added) == '['
		names(added, s.add)
	}
	return s, nil
}

// names calls f with the member "name" of each element of a list.
func names(list []byte, f func(name string)) {
	n := 0
	rawjson.Elements(list, func(el []byte) bool {
		if name, ok := rawjson.GetString(el, "name"); ok {
			f(name)
		}
		n++
		return n < maxTools
	})
}

func (s *Setup) add(name string) {
	if name != "" && len(name) <= maxName && len(s.tools) < maxTools && !slices.Contains(s.tools, name) {
		s.tools = append(s.tools, name)
	}
}

// clean returns the beginning of a prompt as text without characters that a reader can't see.
func clean(prompt string) (text string, cut bool) {
	if len(prompt) > maxPrompt {
		prompt, cut = strings.ToValidUTF8(prompt[:maxPrompt], ""), true
	}
	prompt = visible.Text(strings.ToValidUTF8(prompt, "\uFFFD"))
	if len(prompt) > maxPrompt { // the escapes made it longer
		prompt, cut = strings.ToValidUTF8(prompt[:maxPrompt], ""), true
	}
	if strings.TrimSpace(prompt) == "" {
		return "", cut
	}
	return prompt, cut
}

// Allows reports whether a tool of this program is available in the session. changes tells that it
// changes something.
func (s Setup) Allows(name string, changes bool) bool {
	switch {
	case s.readOnly && changes:
		return false
	case !s.limited || s.readers && !changes:
		return true
	}
	return slices.Contains(s.tools, name)
}

// Limits reports whether the session records which tools are available.
func (s Setup) Limits() bool { return s.limited || s.readOnly }

// Missing returns the recorded tools that are not among existing, the names of the tools of this
// program, in their recorded order.
func (s Setup) Missing(existing []string) []string {
	var missing []string
	for _, t := range s.tools {
		if !slices.Contains(existing, t) {
			missing = append(missing, t)
		}
	}
	return missing
}
