package task

import (
	"context"
	_ "embed" // the tool's description
	"encoding/json"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var (
	//go:embed task.md
	description string
	//go:embed parameters.omp.json
	parametersOfOmp []byte
	//go:embed parameters.xcsh.json
	parametersOfXcsh []byte
)

// New returns the tool. dialect is that of the conversation, whose models know the tool by the parameters of its
// program. run carries out a call with known agents.
func New(dialect session.Dialect, agents []Agent, run func(context.Context, tool.Env, Call) (tool.Result, error)) tool.Tool {
	parameters := parametersOfOmp
	if dialect == session.Xcsh {
		parameters = parametersOfXcsh
	}
	parse := func(raw json.RawMessage) (Call, error) {
		c, err := Parse(raw)
		for _, t := range c.Tasks {
			if err == nil {
				_, err = agentOf(agents, t.Agent)
			}
		}
		return c, err
	}
	return tool.Tool{
		Tool:    provider.Tool{Name: Name, Description: describe(agents), Parameters: parameters},
		Changes: true, // unless all of its agents only read, see Call.Reads
		Check: func(raw json.RawMessage) (json.RawMessage, error) {
			c, err := parse(raw)
			if err != nil {
				return nil, err
			}
			return encode(c), nil
		},
		Preview: func(_ context.Context, _ tool.Env, raw json.RawMessage) (tool.Preview, error) {
			c, err := parse(raw)
			return tool.Preview{Title: c.title()}, err
		},
		Limit: func(json.RawMessage) time.Duration { return 0 }, // each task has its own
		Run: func(ctx context.Context, env tool.Env, raw json.RawMessage) (tool.Result, error) {
			c, err := parse(raw)
			if err != nil {
				return tool.Result{}, err
			}
			return run(ctx, env, c)
		},
	}
}

// describe returns the description of the tool for the model.
func describe(agents []Agent) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(description) + "\n\nAgents:\n")
	for _, a := range agents {
		b.WriteString("- " + a.Name + ": " + fault.OneLine(a.Description) + "\n")
	}
	return strings.TrimSpace(b.String())
}

// title describes a call in a permission prompt.
func (c Call) title() string {
	parts := make([]string, len(c.Tasks))
	for i, t := range c.Tasks {
		parts[i] = clean(t.Name, t.Agent) + " (" + t.Agent + ")"
	}
	noun := "subagents"
	if len(parts) == 1 {
		noun = "the subagent"
	}
	return fault.OneLine("Start " + noun + " " + strings.Join(parts, ", "))
}

// Refused returns the tool for a task: it refuses to start others.
func Refused() tool.Tool {
	return tool.Tool{
		Tool: provider.Tool{Name: Name},
		Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			return tool.Result{}, fault.New(fault.Denied, "A subagent can't start others. Do this work yourself.")
		},
	}
}

// Serial returns a tool that changes something so that no two of a folder's tasks run one at a time: turn has room
// for one value.
func Serial(t tool.Tool, turn chan struct{}) tool.Tool {
	inner := t
	t.Limit = func(json.RawMessage) time.Duration { return 0 } // it does not count the wait
	t.Around = nil                                             // it begins with the turn
	t.Run = func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
		defer func() { <-turn }()
		return inner.RunWithin(ctx, env, args)
	}
	return t
}
