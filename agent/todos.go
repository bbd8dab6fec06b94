package agent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/todo"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxPlanResults bounds the entries in which the newest plan of a branch is looked for.
const maxPlanResults = 4096

// planningTools are the tools by which the model keeps a plan and asks the user, under the names of the program that wrote the
// session.
func planningTools(_ context.Context, h *host) (tools []tool.Tool) {
	xcsh := h.dialect() == session.Xcsh
	switch {
	case !h.s.m.cfg.Todos:
	case xcsh:
		tools = append(tools, tool.NewTodoWrite(h))
	default:
		tools = append(tools, tool.NewTodo(h))
	}
	if h.s.CanAsk() {
		tools = append(tools, tool.NewAsk(h.s.AskUser, xcsh))
	}
	return tools
}

// Todos implements [tool.Todos].
func (h *host) Todos(context.Context) (plan todo.List, storage string, err error) {
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		phases, err := todosOn(d, leaf)
		plan = todo.Read(phases)
		return err
	})
	if h.log.Persistent() {
		return plan, "session", err
	}
	return plan, "memory", err
}

// todosOn returns the phases of the plan on the branch up to leaf, as they are recorded, so that another branch has its own plan. In a
// session without any call of the tools it reads no results.
func todosOn(d *session.Document, leaf session.Leaf) (json.RawMessage, error) {
	tally, err := d.Tally()
	if err != nil {
		return nil, err
	}
	return newestTodos(d, leaf, tally.Calls[todo.Omp]+tally.Calls[todo.Xcsh] > 0)
}

// newestTodos is [todosOn] for a document that may be the end of a session. Results are only looked at if there are any calls.
func newestTodos(d *session.Document, leaf session.Leaf, called bool) (json.RawMessage, error) {
	edited := d.Dialect() == session.Omp // whose user can change the plan
	if !called && !edited {
		return nil, nil
	}
	read := 0
	for _, i := range slices.Backward(d.PathTo(leaf)) {
		edit := edited && d.Type(i) == session.TypeCustom
		if !edit && (!called || d.Role(i) != "toolResult") {
			continue
		}
		if read++; read > maxPlanResults {
			return nil, nil
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, err
		}
		if phases, ok := todosOf(e); ok {
			return phases, nil
		}
	}
	return nil, nil
}

// todosOf returns the phases of the plan that an entry records, and whether it records one.
func todosOf(e session.Entry) (json.RawMessage, bool) {
	if e.Type != session.TypeCustom {
		return todo.Of(e.Message())
	}
	c := e.AsCustom()
	return todo.ByUser(c.CustomType, c.Data)
}

// todosAfter is [todosOn] for a caller that has the messages of the context.
func todosAfter(d *session.Document, leaf session.Leaf, messages []json.RawMessage) (json.RawMessage, error) {
	if d.Dialect() != session.Omp { // whose user can change the plan between messages
		for _, m := range slices.Backward(messages) {
			if phases, ok := todo.Of(m); ok {
				return phases, nil
			}
		}
	}
	return todosOn(d, leaf)
}

// otherNames are names that the models of other programs use for tools of this one.
var otherNames = map[string]string{"glob": "find", "search": "grep"}

// accept adds the tools that models may call by names that they are not offered, because their conversation has them.
func (h *host) accept(byName map[string]tool.Tool) {
	for name, of := range otherNames {
		if t, ok := byName[of]; ok && byName[name].Run == nil {
			byName[name] = t
		}
	}
	for name, other := range map[string]tool.Tool{todo.Omp: tool.NewTodoWrite(h), todo.Xcsh: tool.NewTodo(h)} {
		if _, ok := byName[name]; ok && byName[other.Name].Run == nil {
			byName[other.Name] = other
		}
	}
}
