package setup

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
)

// Agent is a subagent that the tool task can start.
type Agent struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools,omitempty" jsonschema:"The tools that it has; absent: all."`
	Model       string   `json:"model,omitempty" jsonschema:"The model that it asks for."`
	Thinking    string   `json:"thinking,omitempty" jsonschema:"The thinking level that it asks for."`
	Path        string   `json:"path"`
	Scope       Scope    `json:"scope" jsonschema:"user or project"`
	Source      string   `json:"source" jsonschema:"The program whose directory it is in."`
	Body        string   `json:"-"` // its instructions, trimmed
}

const (
	maxAgents     = 100 // of a result
	maxAgentTools = 100
)

// agentNames matches the names of agents, which models and results repeat.
var agentNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ProjectAgents returns the directory with the agents of a folder, in which the program looks for them.
func (r *Resolved) ProjectAgents() string {
	return filepath.Join(r.Folder, "."+r.Program, "agents")
}

// findAgents finds the agents of the project, and then the user's own.
func (l *looking) findAgents() {
	seen := map[string]string{}
	places := []place{ofProject(l.cwd, l.dot()+"/agents")}
	if l.agent != "" {
		places = append(places, ofUser(filepath.Join(l.agent, "agents")))
	}
	for _, at := range places {
		for _, e := range l.list(at) {
			if !e.dir && !strings.HasPrefix(e.name, ".") && strings.HasSuffix(e.name, ".md") {
				l.addAgent(at.join(e.name), seen)
			}
		}
	}
}

func (l *looking) addAgent(p place, seen map[string]string) {
	text, ok := l.whole(p, maxText)
	if !ok {
		return
	}
	meta, body := frontmatter.Split(text)
	a := Agent{
		Name: frontmatter.Text(meta, "name"), Description: clip(frontmatter.Text(meta, "description")), Tools: texts(meta["tools"]),
		Model: strings.Join(texts(meta["model"]), ","), Thinking: line(frontmatter.Text(meta, "thinkingLevel"), maxName),
		Path: p.full(), Scope: p.scope(), Source: l.program.String(), Body: body,
	}
	if a.Name == "" {
		a.Name = p.base(".md")
	}
	by, taken := seen[a.Name]
	switch {
	case !agentNames.MatchString(a.Name):
		l.unused(a.Path, "the name "+quote(a.Name)+" of the agent is not valid")
	case a.Description == "":
		l.unused(a.Path, "it has no description")
	case body == "":
		l.unused(a.Path, "it has no instructions")
	case frontmatterOff(meta):
		l.leaveOut(KindAgent, a.Name, a.Path, "It is turned off in its front matter.")
	case !l.admit(KindAgent, a.Scope, a.Name, a.Path):
	case taken:
		l.shadowed(KindAgent, a.Name, a.Path, by)
	case len(l.r.Agents) >= maxAgents:
		l.budget.spent = true
	default:
		seen[a.Name] = a.Path
		l.r.Agents = append(l.r.Agents, a)
	}
}

// texts returns a list of front matter, which may be a text with commas.
func texts(v any) (list []string) {
	values := anys(v)
	if s, ok := v.(string); ok {
		for item := range strings.SplitSeq(s, ",") {
			values = append(values, item)
		}
	}
	for _, v := range values {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && len(list) < maxAgentTools {
			list = append(list, line(s, maxName))
		}
	}
	return list
}
