package task

import (
	_ "embed" // the agents' instructions
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var (
	//go:embed general.md
	general string
	//go:embed scout.md
	scout string
)

// Agent is an agent that a task can have.
type Agent struct {
	Name        string
	Description string
	Prompt      string   // its instructions
	Tools       []string // the tools that it has; nil: all
	ReadOnly    bool     // it only has tools that only read
	Model       string   // the models that it asks for, in the order of preference, "" for that of the session
	Thinking    string   // the thinking level that it asks for, "" for that of the session
	Source      string   // "bundled", "user" or "project"
}

const bundled = "bundled"

// Agents returns the agents that can be used: those of a set-up, and those of this program whose names are free.
func Agents(found *setup.Resolved) []Agent {
	var all []Agent
	for _, a := range found.Agents {
		all = append(all, Agent{
			Name: a.Name, Description: a.Description, Prompt: a.Body, Tools: a.Tools, Model: a.Model, Thinking: a.Thinking, Source: string(a.Scope),
		})
	}
	for _, a := range []Agent{
		{Name: DefaultAgent, Description: "General agent for tasks of several steps. It can read, edit and run commands.", Prompt: general},
		{Name: "scout", Description: "Looks around and reports. It only reads.", Prompt: scout, ReadOnly: true},
		{Name: "explore", Description: "Another name of scout.", Prompt: scout, ReadOnly: true},
	} {
		if _, taken := find(all, a.Name); !taken {
			a.Source = bundled
			all = append(all, a)
		}
	}
	return all
}

func find(agents []Agent, name string) (Agent, bool) {
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return agents[i], true
}

// agentOf returns the agent of a task.
func agentOf(agents []Agent, name string) (Agent, error) {
	if a, ok := find(agents, name); ok {
		return a, nil
	}
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.Name
	}
	return Agent{}, fault.New(fault.InvalidArgument, "There is no agent %q. Existing agents: %s.", fault.OneLine(name), strings.Join(names, ", ")).With("field", "agent")
}

// others are names of our tools in other programs.
var others = map[string]string{"glob": "find", "search": "grep", "notebook": "edit"}

// Allowed returns the tools that an agent has among those of its session. Tools that only the main agent has, such
// as those that ask the user, are left out. Of a tool that reads and changes, one that only reads has the former calls.
func (a Agent) Allowed(all []tool.Tool) (tools []tool.Tool) {
	for _, t := range all {
		switch {
		case slices.Contains(mainOnly, t.Name), a.ReadOnly && t.Changes && t.Reads == nil:
		case a.Tools == nil, slices.ContainsFunc(a.Tools, func(name string) bool { return name == t.Name || others[name] == t.Name }):
			tools = append(tools, t)
		}
	}
	return tools
}

// mainOnly are the tools of the main agent: they start tasks, ask the user, keep the plan of the conversation, or
// control commands that outlive a task.
var mainOnly = []string{Name, "ask", "todo", "todo_write", "process", tool.ExitPlanMode}

// Reads reports whether an agent can change nothing with the tools of its session.
func (a Agent) Reads(all []tool.Tool) bool {
	return a.ReadOnly || !slices.ContainsFunc(a.Allowed(all), func(t tool.Tool) bool { return t.Changes })
}

// Reads reports whether the tasks of a call can change nothing.
func (c Call) Reads(agents []Agent, all []tool.Tool) bool {
	return !slices.ContainsFunc(c.Tasks, func(t Task) bool {
		a, ok := find(agents, t.Agent)
		return ok && !a.Reads(all)
	})
}
