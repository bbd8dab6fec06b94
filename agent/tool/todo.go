package tool

import (
	"context"
	_ "embed" // the tools' descriptions
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/todo"
)

var (
	//go:embed todo.md
	todoDoc string
	//go:embed todowrite.md
	todoWriteDoc string
)

// Todos is a session whose model keeps a plan.
type Todos interface {
	// Todos returns the current plan, and "session" or "memory" for where it is kept.
	Todos(ctx context.Context) (plan todo.List, storage string, err error)
}

type todoArgs struct {
	Op     string     `json:"op" jsonschema:"init, start, done, rm, drop, block, unblock, append or view."`
	List   []todoPart `json:"list,omitzero" jsonschema:"The phases of init."`
	Task   string     `json:"task,omitzero" jsonschema:"The exact text of a task."`
	Phase  string     `json:"phase,omitzero" jsonschema:"The name of a phase."`
	Items  []string   `json:"items,omitzero" jsonschema:"The tasks of append, or of init with one phase."`
	Reason string     `json:"reason,omitzero" jsonschema:"What a blocked task waits for."`
}

type todoPart struct {
	Phase string   `json:"phase"`
	Items []string `json:"items"`
}

// NewTodo returns oh-my-pi's tool todo for a session.
func NewTodo(s Todos) Tool {
	return define(definition[todoArgs]{
		name: todo.Omp, doc: todoDoc, alone: true,
		accept: func(args arguments) error {
			if _, has := args["op"]; !has {
				args["op"] = []byte(`""`) // the other arguments may make it clear
			}
			return nil
		},
		check: func(a todoArgs) error {
			if a.Op != "" && !slices.Contains(todo.Ops, a.Op) {
				return badArgument("op", "todo: op must be one of %s, not %q.", strings.Join(todo.Ops, ", "), a.Op)
			}
			return nil
		},
		run: func(ctx context.Context, _ Env, a todoArgs) (Result, error) {
			plan, storage, err := s.Todos(ctx)
			if err != nil {
				return Result{}, err
			}
			op := todo.Op{Op: a.Op, Task: a.Task, Phase: a.Phase, Items: a.Items, Reason: a.Reason}
			for _, part := range a.List {
				op.List = append(op.List, todo.Part(part))
			}
			if op.Op == "" {
				if op.Op = plan.Infer(op); op.Op == "" {
					return Result{}, badArgument("op", "todo needs the parameter \"op\": one of %s.", strings.Join(todo.Ops, ", "))
				}
			}
			return todoResult(plan.Do(op, storage)), nil
		},
	})
}

type todoWriteArgs struct {
	Ops []todoChange `json:"ops"`
}

type todoChange struct {
	Op      string        `json:"op" jsonschema:"replace, add_phase, add_task, update or remove_task."`
	Phases  []todoPhase   `json:"phases,omitzero" jsonschema:"Of replace."`
	Name    string        `json:"name,omitzero" jsonschema:"Of add_phase."`
	Tasks   []todoNewTask `json:"tasks,omitzero" jsonschema:"Of add_phase."`
	Phase   string        `json:"phase,omitzero" jsonschema:"Of add_task: the id of a phase, such as phase-1."`
	ID      string        `json:"id,omitzero" jsonschema:"Of update and remove_task: the id of a task, such as task-3."`
	Content *string       `json:"content,omitzero"`
	Status  *string       `json:"status,omitzero" jsonschema:"pending, in_progress, completed or abandoned."`
	Notes   *string       `json:"notes,omitzero"`
	Details *string       `json:"details,omitzero" jsonschema:"Shown while the task is in progress."`
}

type todoPhase struct {
	Name  string        `json:"name"`
	Tasks []todoNewTask `json:"tasks,omitzero"`
}

type todoNewTask struct {
	Content string `json:"content"`
	Status  string `json:"status,omitzero"`
	Notes   string `json:"notes,omitzero"`
	Details string `json:"details,omitzero"`
}

// NewTodoWrite returns xcsh's tool todo_write for a session.
func NewTodoWrite(s Todos) Tool {
	return define(definition[todoWriteArgs]{
		name: todo.Xcsh, doc: todoWriteDoc, alone: true,
		check: func(a todoWriteArgs) error {
			for _, c := range a.Ops {
				if err := c.check(); err != nil {
					return err
				}
			}
			return nil
		},
		run: func(ctx context.Context, _ Env, a todoWriteArgs) (Result, error) {
			plan, storage, err := s.Todos(ctx)
			if err != nil {
				return Result{}, err
			}
			changes := make([]todo.Change, len(a.Ops))
			for i, c := range a.Ops {
				changes[i] = c.change()
			}
			return todoResult(plan.Write(changes, storage)), nil
		},
	})
}

// check validates the members that an operation needs.
func (c todoChange) check() error {
	missing := ""
	switch {
	case !slices.Contains(todo.Changes, c.Op):
		return badArgument("ops", "todo_write: op must be one of %s, not %q.", strings.Join(todo.Changes, ", "), c.Op)
	case c.Op == "replace" && c.Phases == nil:
		missing = "phases"
	case c.Op == "add_phase" && c.Name == "":
		missing = "name"
	case c.Op == "add_task" && c.Phase == "":
		missing = "phase"
	case c.Op == "add_task" && c.Content == nil:
		missing = "content"
	case (c.Op == "update" || c.Op == "remove_task") && c.ID == "":
		missing = "id"
	}
	if missing != "" {
		return badArgument("ops", "todo_write: %s needs %q.", c.Op, missing)
	}
	tasks := slices.Clone(c.Tasks)
	for _, p := range c.Phases {
		tasks = append(tasks, p.Tasks...)
	}
	if c.Status != nil {
		tasks = append(tasks, todoNewTask{Status: *c.Status})
	}
	for _, t := range tasks {
		switch todo.Status(t.Status) {
		case "", todo.Pending, todo.InProgress, todo.Completed, todo.Abandoned:
		default:
			return badArgument("ops", "todo_write: status must be pending, in_progress, completed or abandoned, not %q.", t.Status)
		}
	}
	return nil
}

func (c todoChange) change() todo.Change {
	change := todo.Change{
		Op: c.Op, Name: c.Name, Tasks: newTasks(c.Tasks), Phase: c.Phase, ID: c.ID, Content: c.Content, Status: c.Status, Notes: c.Notes, Details: c.Details,
	}
	for _, p := range c.Phases {
		change.Phases = append(change.Phases, todo.NewPhase{Name: p.Name, Tasks: newTasks(p.Tasks)})
	}
	return change
}

func newTasks(tasks []todoNewTask) (list []todo.NewTask) {
	for _, t := range tasks {
		list = append(list, todo.NewTask(t))
	}
	return list
}

func todoResult(r todo.Result) Result {
	return Result{Content: []provider.Block{provider.Text(r.Text)}, Details: r.Details, IsError: r.Failed}
}
