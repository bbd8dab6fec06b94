package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Name is the name of the tool.
const Name = "task"

const (
	maxTasks = 8
	maxText  = 100_000 // bytes of an assignment, and of the context
	maxLabel = 200     // bytes of a name, of the name of an agent, and of a description
)

// Call is the checked arguments of a call, whichever program's form the model used.
type Call struct {
	Context string   `json:"context,omitempty"`
	Tasks   []Task   `json:"tasks"`
	Ignored []string `json:"ignored,omitempty"` // parameters that have no effect here
}

// Task is one task of a call.
type Task struct {
	Name        string `json:"name,omitempty"` // as the model wants it
	Agent       string `json:"agent"`
	Description string `json:"description,omitempty"`
	Assignment  string `json:"task"`
}

// DefaultAgent is the agent of tasks that name none.
const DefaultAgent = "task"

// Parse reads the arguments of a call: those of oh-my-pi, {context, tasks: [{task, name, agent}]}, those of xcsh,
// {agent, context, tasks: [{id, description, assignment}]}, and those of one task without a list.
func Parse(raw json.RawMessage) (c Call, err error) {
	top, err := readObject(Name, raw)
	if err != nil {
		return c, err
	}
	drop(top, "i", "_i")
	ignored := ignore(top, nil, "isolated", "outputSchema", "schema", "schemaMode", "async", "blocking")
	if c.Context, err = text(top, "context", maxText); err != nil {
		return c, err
	}
	var names []string
	if names, err = texts(top["ignored"]); err != nil { // of a call that was read before
		return c, badArgument("ignored", "task has no parameter %q.", "ignored")
	}
	delete(top, "ignored")
	agent, err := text(top, "agent", maxLabel)
	if err != nil {
		return c, err
	}
	list, err := listed(top)
	if err != nil {
		return c, err
	}
	for i, item := range list {
		t, more, err := readTask(item, fmt.Sprintf("tasks[%d]", i), agent)
		if err != nil {
			return c, err
		}
		c.Tasks, ignored = append(c.Tasks, t), append(ignored, more...)
	}
	slices.Sort(ignored)
	c.Ignored = slices.Compact(append(names, ignored...))
	return c, nil
}

// listed returns the tasks of a call. Its other parameters must be those of a single task.
func listed(top map[string]json.RawMessage) (list []json.RawMessage, err error) {
	raw, has := top["tasks"]
	delete(top, "tasks")
	if !has {
		if top["task"] == nil && top["assignment"] == nil {
			return nil, badArgument("tasks", "task needs the parameter %q.", "tasks")
		}
		one, err := json.Marshal(top)
		return []json.RawMessage{one}, err
	}
	if name, ok := first(top); ok {
		return nil, badArgument(name, "task has no parameter %q; it takes context and tasks.", name)
	}
	if s, ok := rawjson.String(raw); ok { // some models write the list as a text
		raw = json.RawMessage(s)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, badArgument("tasks", "task: %q must be a list of objects.", "tasks")
	}
	switch {
	case len(list) == 0:
		return nil, badArgument("tasks", "task: %q is empty.", "tasks")
	case len(list) > maxTasks:
		return nil, badArgument("tasks", "task starts at most %d tasks in one call, not %d. Use several calls.", maxTasks, len(list))
	}
	return list, nil
}

// readTask reads a task. where names it in errors; agent is the agent of a task that names none.
func readTask(raw json.RawMessage, where, agent string) (t Task, ignored []string, err error) {
	o, err := readObject(where, raw)
	if err != nil {
		return t, nil, err
	}
	drop(o, "i", "_i", "solutionSpace", "index") // what oh-my-pi chooses a model by
	ignored = ignore(o, nil, "isolated", "outputSchema", "schema", "schemaMode", "tools", "skills")
	for _, field := range []struct {
		to    *string
		names []string
		most  int
	}{
		{&t.Assignment, []string{"task", "assignment", "prompt"}, maxText},
		{&t.Name, []string{"name", "id"}, maxLabel},
		{&t.Agent, []string{"agent"}, maxLabel},
		{&t.Description, []string{"description"}, maxLabel * 10},
	} {
		for _, name := range field.names {
			s, err := text(o, name, field.most)
			if err != nil {
				return t, nil, err
			}
			if *field.to == "" {
				*field.to = s
			}
		}
	}
	if t.Agent == "" {
		t.Agent = agent
	}
	if t.Agent == "" {
		t.Agent = DefaultAgent
	}
	if name, ok := first(o); ok {
		return t, nil, badArgument(name, "%s has no parameter %q; it takes task, name, agent and description.", where, name)
	}
	if t.Assignment == "" {
		return t, nil, badArgument("task", "%s needs the parameter %q: what is to be done, with everything that the agent has to know.", where, "task")
	}
	return t, ignored, nil
}

func readObject(where string, raw json.RawMessage) (o map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, badArgument("tasks", "The arguments of %s must be one JSON object.", where)
	}
	return o, nil
}

// text takes a text out of an object. A missing one is "".
func text(o map[string]json.RawMessage, name string, most int) (string, error) {
	raw, ok := o[name]
	delete(o, name)
	if !ok || string(raw) == "null" {
		return "", nil
	}
	s, ok := rawjson.String(raw)
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	switch {
	case !ok:
		return "", badArgument(name, "task: %q must be a string.", name)
	case len(s) > most:
		return "", badArgument(name, "task: %q is longer than %d bytes. Put long texts into a file and name the file.", name, most)
	}
	return s, nil
}

func texts(raw json.RawMessage) (list []string, err error) {
	if raw != nil {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

func drop(o map[string]json.RawMessage, names ...string) {
	for _, name := range names {
		delete(o, name)
	}
}

// ignore takes parameters without an effect out of an object and returns the names of those that are set.
func ignore(o map[string]json.RawMessage, set []string, names ...string) []string {
	for _, name := range names {
		switch string(o[name]) {
		case "", "null", "false", `""`, "[]", "{}":
		default:
			set = append(set, name)
		}
		delete(o, name)
	}
	return set
}

// first returns the first name of an object that is left.
func first(o map[string]json.RawMessage) (name string, ok bool) {
	if len(o) == 0 {
		return "", false
	}
	return slices.Min(slices.Collect(maps.Keys(o))), true
}

func badArgument(name, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", name)
}
