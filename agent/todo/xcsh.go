package todo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Change is one of the operations of a call of xcsh's tool.
type Change struct {
	Op      string
	Phases  []NewPhase // of replace
	Name    string     // of add_phase
	Tasks   []NewTask  // of add_phase
	Phase   string     // of add_task: an id
	ID      string     // of update and remove_task
	Content *string
	Status  *string
	Notes   *string
	Details *string
}

// NewPhase is a phase in a call.
type NewPhase struct {
	Name  string
	Tasks []NewTask
}

// NewTask is a task in a call.
type NewTask struct {
	Content, Status, Notes, Details string
}

// Changes are the operations of xcsh's tool.
var Changes = []string{"replace", "add_phase", "add_task", "update", "remove_task"}

// Write applies a call of xcsh's tool. Unlike oh-my-pi, xcsh keeps the effect of the operations without an error.
func (l List) Write(changes []Change, storage string) Result {
	next := l.clone()
	next.identify()
	var errs []string
	for _, c := range changes {
		var err string
		if next, err = next.changed(c); err != "" {
			errs = append(errs, err)
		}
	}
	if len(next.all()) > maxTasks {
		next = l.clone()
		next.identify()
		errs = append(errs, fmt.Sprintf("A todo list has at most %d tasks, so nothing was changed", maxTasks))
	}
	next.unblock()
	next.activate()
	details := new(rawjson.Object).Raw("phases", next.xcsh()).String("storage", storage).Bytes()
	return Result{Text: next.xcshText(errs), Details: details}
}

// unblock makes the blocked tasks of another program pending: xcsh knows no such state.
func (l List) unblock() {
	for _, t := range l.all() {
		if t.Status != Blocked {
			continue
		}
		note := "Blocked."
		if t.Blocker != "" {
			note = "Blocked: " + t.Blocker
		}
		t.Status, t.Blocker = Pending, ""
		t.Notes = strings.TrimSpace(t.Notes + "\n" + note)
	}
}

func (l List) changed(c Change) (_ List, err string) {
	switch c.Op {
	case "replace":
		l = List{}
		for _, p := range c.Phases {
			l = l.added(p)
		}
	case "add_phase":
		l = l.added(NewPhase{c.Name, c.Tasks})
	case "add_task":
		i := slices.IndexFunc(l, func(p Phase) bool { return p.ID == c.Phase })
		if i < 0 {
			return l, fmt.Sprintf("Phase \"%s\" not found", c.Phase)
		}
		t := Task{Status: Pending}
		t.update(Change{Content: c.Content, Notes: c.Notes, Details: c.Details})
		_, n := l.nextIDs()
		t.ID = taskID(n)
		l[i].Tasks = append(l[i].Tasks, t)
	case "update":
		t := l.byID(c.ID)
		if t == nil {
			return l, l.unknown(c.ID)
		}
		t.update(c)
	case "remove_task":
		t := l.byID(c.ID)
		if t == nil {
			return l, l.unknown(c.ID)
		}
		for i := range l {
			l[i].Tasks = slices.DeleteFunc(l[i].Tasks, func(other Task) bool { return other.ID == c.ID })
		}
	}
	return l, ""
}

// added returns the list with a new phase.
func (l List) added(p NewPhase) List {
	phase, task := l.nextIDs()
	next := Phase{ID: "phase-" + strconv.Itoa(phase), Name: p.Name, Tasks: []Task{}}
	for _, t := range p.Tasks {
		next.Tasks = append(next.Tasks, Task{ID: taskID(task), Content: t.Content, Status: statusOf(t.Status), Notes: t.Notes, Details: t.Details})
		task++
	}
	return append(l, next)
}

func taskID(n int) string { return "task-" + strconv.Itoa(n) }

// update sets the members that a change has.
func (t *Task) update(c Change) {
	if c.Status != nil {
		t.Status = statusOf(*c.Status)
	}
	for _, m := range []struct {
		of  *string
		new *string
	}{{&t.Content, c.Content}, {&t.Notes, c.Notes}, {&t.Details, c.Details}} {
		if m.new != nil {
			*m.of = *m.new
		}
	}
}

// byID returns the task with this id. Models that know oh-my-pi name a task by its text.
func (l List) byID(id string) *Task {
	all := l.all()
	for _, t := range all {
		if t.ID == id {
			return t
		}
	}
	for _, t := range all {
		if t.Content == id {
			return t
		}
	}
	return nil
}

func (l List) unknown(id string) string {
	if len(l.all()) == 0 {
		return fmt.Sprintf("Task \"%s\" not found (the todo list is empty)", id)
	}
	return fmt.Sprintf("Task \"%s\" not found", id)
}

// xcsh returns the phases as xcsh records them.
func (l List) xcsh() []byte {
	phases := make([][]byte, len(l))
	for i, p := range l {
		tasks := make([][]byte, len(p.Tasks))
		for j, t := range p.Tasks {
			task := new(rawjson.Object).String("id", t.ID).String("content", t.Content).String("status", string(t.Status))
			if t.Notes != "" {
				task.String("notes", t.Notes)
			}
			if t.Details != "" {
				task.String("details", t.Details)
			}
			tasks[j] = task.Bytes()
		}
		phases[i] = new(rawjson.Object).String("id", p.ID).String("name", p.Name).Raw("tasks", rawjson.Array(tasks)).Bytes()
	}
	return rawjson.Array(phases)
}

var symbols = map[Status]string{Completed: "✓", InProgress: "→", Abandoned: "✗", Pending: "○"}

// xcshText returns the text of a result, as xcsh writes it.
func (l List) xcshText(errs []string) string {
	var lines []string
	if len(errs) > 0 {
		lines = append(lines, "Errors: "+strings.Join(errs, "; "))
	}
	if len(l.all()) == 0 {
		if len(errs) > 0 {
			return lines[0]
		}
		return "Todo list cleared."
	}
	lines = append(lines, l.stillOpen()...)
	at := slices.IndexFunc(l, func(p Phase) bool { return slices.ContainsFunc(p.Tasks, Task.open) })
	if at < 0 {
		at = len(l) - 1
	}
	done := 0
	for _, t := range l[at].Tasks {
		if !t.open() {
			done++
		}
	}
	lines = append(lines, fmt.Sprintf("Phase %d/%d \"%s\" — %d/%d tasks complete", at+1, len(l), l[at].Name, done, len(l[at].Tasks)))
	for _, p := range l {
		lines = append(lines, "  "+p.Name+":")
		for _, t := range p.Tasks {
			lines = append(lines, "    "+symbols[t.Status]+" "+t.ID+" "+t.Content)
		}
	}
	return strings.Join(lines, "\n")
}

// stillOpen lists the open tasks, and the details of the active one.
func (l List) stillOpen() (lines []string) {
	open := 0
	for _, p := range l {
		for _, t := range p.Tasks {
			if !t.open() {
				continue
			}
			open++
			lines = append(lines, fmt.Sprintf("  - %s %s [%s] (%s)", t.ID, t.Content, t.Status, p.Name))
			if t.Status == InProgress && t.Details != "" {
				for line := range strings.SplitSeq(t.Details, "\n") {
					lines = append(lines, "      "+line)
				}
			}
		}
	}
	if open == 0 {
		return []string{"Remaining items: none."}
	}
	return append([]string{fmt.Sprintf("Remaining items (%d):", open)}, lines...)
}
