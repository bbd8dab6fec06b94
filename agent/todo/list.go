// Package todo holds the plan that a model keeps in a conversation: phases with tasks. It is read from the results of the tools
// todo of oh-my-pi and todo_write of xcsh, and from the entries for what the user of oh-my-pi changed in it. It is written in the
// form of either, so that the program that the user returns to finds it. The package neither reads sessions nor runs tools.
package todo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The tools that keep a plan.
const (
	Omp  = "todo"       // of oh-my-pi
	Xcsh = "todo_write" // of xcsh
)

// IsTool reports whether name is that of a tool that keeps a plan.
func IsTool(name string) bool { return name == Omp || name == Xcsh }

// Status is the state of a task.
type Status string

// The states of a task. Blocked is one of oh-my-pi only.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Abandoned  Status = "abandoned"
	Blocked    Status = "blocked"
)

// List is a plan.
type List []Phase

// Phase is a named part of a plan.
type Phase struct {
	ID    string // of xcsh
	Name  string
	Tasks []Task
}

// Task is one step of a plan.
type Task struct {
	ID      string // of xcsh
	Content string
	Status  Status
	Blocker string // what a blocked task waits for
	Dropped string // by whom an abandoned task was dropped: "user"
	Notes   string // of xcsh, like Details
	Details string
}

// open reports whether a task is still to be done.
func (t Task) open() bool { return t.Status == Pending || t.Status == InProgress }

// maxTasks bounds the tasks of a plan. A session file can have any number.
const maxTasks = 1000

// Of returns the plan in the result of a tool call, and whether it has one. A result of an error and one of a mere view
// have none.
func Of(message json.RawMessage) (phases json.RawMessage, ok bool) {
	if role, _ := rawjson.GetString(message, "role"); role != "toolResult" {
		return nil, false
	}
	if rawjson.Truthy(rawjson.Get(message, "isError")) {
		return nil, false
	}
	name, _ := rawjson.GetString(message, "toolName")
	return In(name, rawjson.Get(message, "details"))
}

// edited is the type of the entry by which oh-my-pi records that the user changed the plan.
const edited = "user_todo_edit"

// ByUser returns the plan in the data of a custom entry of a type, and whether it has one: those by which oh-my-pi records that the user
// changed the plan.
func ByUser(customType string, data json.RawMessage) (phases json.RawMessage, ok bool) {
	if customType != edited {
		return nil, false
	}
	phases = rawjson.Get(data, "phases")
	return phases, rawjson.Kind(phases) == '['
}

// In returns the plan in the details of a successful result of the named tool, and whether it has one.
func In(name string, details json.RawMessage) (phases json.RawMessage, ok bool) {
	if !IsTool(name) {
		return nil, false
	}
	phases = rawjson.Get(details, "phases")
	op, _ := rawjson.GetString(details, "op")
	return phases, rawjson.Kind(phases) == '[' && op != "view"
}

// Read returns the plan with these phases, as a result or another program recorded them. Other values are left
// out.
func Read(phases json.RawMessage) (l List) {
	count := 0
	rawjson.Elements(phases, func(raw []byte) bool {
		p := Phase{ID: text(raw, "id"), Name: text(raw, "name"), Tasks: []Task{}}
		rawjson.Elements(rawjson.Get(raw, "tasks"), func(raw []byte) bool {
			content, ok := rawjson.GetString(raw, "content")
			if !ok {
				return true
			}
			count++
			p.Tasks = append(p.Tasks, Task{
				ID: text(raw, "id"), Content: content, Status: statusOf(text(raw, "status")), Blocker: text(raw, "blocker"),
				Dropped: text(raw, "droppedBy"), Notes: text(raw, "notes"), Details: text(raw, "details"),
			})
			return count < maxTasks
		})
		l = append(l, p)
		return count < maxTasks && len(l) < maxTasks
	})
	return l
}

func text(raw []byte, name string) string {
	s, _ := rawjson.GetString(raw, name)
	return s
}

func statusOf(name string) Status {
	switch s := Status(name); s {
	case InProgress, Completed, Abandoned, Blocked:
		return s
	}
	return Pending
}

// clone returns a copy that shares no tasks.
func (l List) clone() List {
	c := slices.Clone(l)
	for i := range c {
		c[i].Tasks = slices.Clone(c[i].Tasks)
	}
	return c
}

// all returns the tasks of all phases.
func (l List) all() (tasks []*Task) {
	for i := range l {
		for j := range l[i].Tasks {
			tasks = append(tasks, &l[i].Tasks[j])
		}
	}
	return tasks
}

// activate ensures that at most one task is in progress, and that one is if a task is pending.
func (l List) activate() {
	active := false
	for _, t := range l.all() {
		if t.Status != InProgress {
			continue
		}
		if active {
			t.Status = Pending
		}
		active = true
	}
	if active {
		return
	}
	for _, t := range l.all() {
		if t.Status == Pending {
			t.Status = InProgress
			return
		}
	}
}

var numbered = regexp.MustCompile(`^(?:phase|task)-([0-9]{1,9})$`)

// identify gives every phase and task an id, as xcsh has them.
func (l List) identify() {
	phases, tasks := l.nextIDs()
	for i := range l {
		if l[i].ID == "" {
			l[i].ID = "phase-" + strconv.Itoa(phases)
			phases++
		}
	}
	for _, t := range l.all() {
		if t.ID == "" {
			t.ID = "task-" + strconv.Itoa(tasks)
			tasks++
		}
	}
}

// nextIDs returns the numbers of the next phase and the next task.
func (l List) nextIDs() (phase, task int) {
	number := func(id string, most int) int {
		if m := numbered.FindStringSubmatch(id); m != nil {
			n, _ := strconv.Atoi(m[1]) // of at most nine digits
			return max(most, n)
		}
		return most
	}
	for _, p := range l {
		phase = number(p.ID, phase)
		for _, t := range p.Tasks {
			task = number(t.ID, task)
		}
	}
	return phase + 1, task + 1
}
