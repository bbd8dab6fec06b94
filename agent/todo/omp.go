package todo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Op is a call of oh-my-pi's tool.
type Op struct {
	Op     string
	List   []Part
	Task   string
	Phase  string
	Items  []string
	Reason string
}

// Part is a phase in a call that begins a plan.
type Part struct {
	Phase string
	Items []string
}

// Ops are the operations of oh-my-pi's tool.
var Ops = []string{"init", "start", "done", "rm", "drop", "block", "unblock", "append", "view"}

// Result is the result of a call.
type Result struct {
	Text    string
	Details []byte
	Failed  bool
}

// Infer returns the operation of a call that names none, "" if that is not clear.
func (l List) Infer(op Op) string {
	switch {
	case len(op.List) > 0:
		return "init"
	case len(op.Items) > 0 && op.Phase != "":
		return "append"
	case len(op.Items) > 0 && len(l) == 0:
		return "init"
	}
	return ""
}

// Do applies a call of oh-my-pi's tool. A call with an error changes nothing. storage is "session", or "memory" for a session
// without a file.
func (l List) Do(op Op, storage string) Result {
	next, view := l, op.Op == "view"
	var errs []string
	if !view {
		next = l.clone()
		next, errs = next.apply(op)
		next.activate()
		if len(errs) == 0 && len(next.all()) > maxTasks {
			errs = append(errs, fmt.Sprintf("A todo list has at most %d tasks", maxTasks))
		}
	}
	if len(errs) > 0 {
		next = l
	}
	details := new(rawjson.Object).String("op", op.Op).Raw("phases", next.omp()).String("storage", storage)
	if done := completed(l, next); len(done) > 0 && !view && len(errs) == 0 {
		details.Raw("completedTasks", rawjson.Array(done))
	}
	return Result{Text: next.ompText(errs, view), Details: details.Bytes(), Failed: len(errs) > 0}
}

// apply changes the list and returns it, and the errors of the call.
func (l List) apply(op Op) (List, []string) {
	switch op.Op {
	case "init":
		return begin(op)
	case "append":
		return l.extended(op)
	case "start":
		t, err := l.named(op.Task)
		if err != "" {
			return l, []string{err}
		}
		for _, other := range l.all() {
			if other.Status == InProgress {
				other.Status = Pending
			}
		}
		t.Status, t.Dropped = InProgress, ""
		return l, nil
	case "block", "unblock":
		if op.Task == "" && op.Phase == "" {
			return l, []string{op.Op + " requires a task or phase target"}
		}
	}
	targets, err := l.targets(op)
	if err != "" {
		return l, []string{err}
	}
	for _, t := range targets {
		t.change(op)
	}
	return l, nil
}

var blanks = regexp.MustCompile(`\s+`)

// change applies a call to one of its tasks.
func (t *Task) change(op Op) {
	switch op.Op {
	case "done":
		t.Status, t.Dropped = Completed, ""
	case "drop":
		keeps := op.Task == "" && (t.Status == Completed || t.Status == Blocked)
		if !keeps && (t.Status != Abandoned || t.Dropped != "user") {
			t.Status, t.Blocker, t.Dropped = Abandoned, "", ""
		}
	case "rm": // oh-my-pi keeps the task, so that the user sees that it was not done
		if t.open() {
			t.Status, t.Dropped = Abandoned, ""
		}
	case "block":
		if t.open() || t.Status == Blocked {
			t.Status, t.Dropped = Blocked, ""
			t.Blocker = strings.TrimSpace(blanks.ReplaceAllString(op.Reason, " "))
		}
	case "unblock":
		if t.Status == Blocked {
			t.Status, t.Blocker, t.Dropped = Pending, "", ""
		}
	}
}

// targets returns the tasks that a call is about: one, those of a phase, or all.
func (l List) targets(op Op) (tasks []*Task, err string) {
	if op.Task != "" {
		t, err := l.named(op.Task)
		return []*Task{t}, err
	}
	if op.Phase == "" {
		return l.all(), ""
	}
	i := slices.IndexFunc(l, func(p Phase) bool { return p.Name == op.Phase })
	if i < 0 {
		return nil, fmt.Sprintf("Phase \"%s\" not found", op.Phase)
	}
	for j := range l[i].Tasks {
		tasks = append(tasks, &l[i].Tasks[j])
	}
	return tasks, ""
}

// byNumber matches the ids of xcsh, which models that know it use.
var byNumber = regexp.MustCompile(`^task-\d+$`)

// named returns the task with this text.
func (l List) named(content string) (t *Task, err string) {
	if content == "" {
		return nil, "Missing task content"
	}
	for _, t := range l.all() {
		if t.Content == content {
			return t, ""
		}
	}
	// A list that xcsh wrote has ids, which its models know.
	for _, t := range l.all() {
		if t.ID == content {
			return t, ""
		}
	}
	switch {
	case byNumber.MatchString(content):
		return nil, fmt.Sprintf("Task \"%s\" not found. Name a task by its full text, as the last result has it, not by an id.", content)
	case len(l.all()) == 0:
		return nil, fmt.Sprintf("Task \"%s\" not found (the todo list is empty)", content)
	}
	return nil, fmt.Sprintf("Task \"%s\" not found", content)
}

// begin returns a new list.
func begin(op Op) (l List, errs []string) {
	parts := op.List
	if len(parts) == 0 && len(op.Items) > 0 {
		name := op.Phase
		if name == "" {
			name = "Tasks"
		}
		parts = []Part{{name, op.Items}}
	}
	if parts == nil {
		return nil, []string{"Missing list for init operation"}
	}
	phases, tasks := map[string]bool{}, map[string]bool{}
	for _, part := range parts {
		if phases[part.Phase] {
			errs = append(errs, fmt.Sprintf("Duplicate phase \"%s\" in init list", part.Phase))
		}
		phases[part.Phase] = true
		p := Phase{Name: part.Phase, Tasks: []Task{}}
		for _, content := range part.Items {
			if tasks[content] {
				errs = append(errs, fmt.Sprintf("Duplicate task \"%s\" in init list", content))
			}
			tasks[content] = true
			p.Tasks = append(p.Tasks, Task{Content: content, Status: Pending})
		}
		l = append(l, p)
	}
	return l, errs
}

// extended returns the list with further tasks at the end of a phase.
func (l List) extended(op Op) (_ List, errs []string) {
	switch {
	case op.Phase == "":
		return l, []string{"Missing phase name for append operation"}
	case len(op.Items) == 0:
		return l, []string{"Missing items for append operation"}
	}
	known := map[string]bool{}
	for _, t := range l.all() {
		known[t.Content] = true
	}
	for _, content := range op.Items {
		if known[content] {
			errs = append(errs, fmt.Sprintf("Task \"%s\" already exists", content))
		}
		known[content] = true
	}
	if len(errs) > 0 {
		return l, errs
	}
	i := slices.IndexFunc(l, func(p Phase) bool { return p.Name == op.Phase })
	if i < 0 {
		i, l = len(l), append(l, Phase{Name: op.Phase, Tasks: []Task{}})
	}
	for _, content := range op.Items {
		l[i].Tasks = append(l[i].Tasks, Task{Content: content, Status: Pending})
	}
	return l, nil
}

// completed returns the tasks that a call completed, as details have them.
func completed(before, after List) (done [][]byte) {
	was := map[[2]string]Status{}
	for _, p := range before {
		for _, t := range p.Tasks {
			was[[2]string{p.Name, t.Content}] = t.Status
		}
	}
	for _, p := range after {
		for _, t := range p.Tasks {
			if s := was[[2]string{p.Name, t.Content}]; t.Status == Completed && s != "" && s != Completed {
				done = append(done, new(rawjson.Object).String("phase", p.Name).String("content", t.Content).Bytes())
			}
		}
	}
	return done
}

// omp returns the phases as oh-my-pi records them.
func (l List) omp() []byte {
	phases := make([][]byte, len(l))
	for i, p := range l {
		tasks := make([][]byte, len(p.Tasks))
		for j, t := range p.Tasks {
			task := new(rawjson.Object).String("content", t.Content).String("status", string(t.Status))
			if t.Blocker != "" {
				task.String("blocker", t.Blocker)
			}
			if t.Dropped == "user" {
				task.String("droppedBy", t.Dropped)
			}
			tasks[j] = task.Bytes()
		}
		phases[i] = new(rawjson.Object).String("name", p.Name).Raw("tasks", rawjson.Array(tasks)).Bytes()
	}
	return rawjson.Array(phases)
}

// ompText returns the text of a result, as oh-my-pi writes it.
func (l List) ompText(errs []string, view bool) string {
	all := l.all()
	if len(all) == 0 {
		switch {
		case len(errs) > 0:
			return "Errors: " + strings.Join(errs, "; ")
		case view:
			return "Todo list is empty."
		}
		return "Todo list cleared."
	}
	var lines []string
	if len(errs) > 0 {
		lines = append(lines, "Errors: "+strings.Join(errs, "; "))
	}
	lines = append(lines, l.remaining()...)
	lines = append(lines, l.overall(), l.activePhase())
	for _, p := range l {
		lines = append(lines, "  "+p.Name+":")
		for _, t := range p.Tasks {
			lines = append(lines, "    - "+t.checked())
		}
	}
	return strings.Join(lines, "\n")
}

// remaining lists the tasks that are not done.
func (l List) remaining() (lines []string) {
	open, dropped := 0, 0
	for _, p := range l {
		for _, t := range p.Tasks {
			switch {
			case t.open():
				open++
			case t.Status == Abandoned:
				dropped++
			default:
				continue
			}
			lines = append(lines, fmt.Sprintf("  - %s [%s] (%s)", t.Content, t.Status, p.Name))
		}
	}
	head := fmt.Sprintf("Remaining items (%d):", open)
	switch {
	case len(lines) == 0:
		head = "Remaining items: none."
	case dropped > 0:
		head = fmt.Sprintf("Remaining items (%d open + %d dropped):", open, dropped)
	}
	return append([]string{head}, lines...)
}

// overall counts the tasks.
func (l List) overall() string {
	count := map[Status]int{}
	for _, t := range l.all() {
		count[t.Status]++
	}
	text := fmt.Sprintf("Overall: %d/%d done", count[Completed], len(l.all()))
	if n := count[Abandoned]; n > 0 {
		text += fmt.Sprintf(", %d dropped", n)
	}
	text += fmt.Sprintf(", %d open", count[Pending]+count[InProgress])
	if n := count[Blocked]; n > 0 {
		text += fmt.Sprintf(", %d blocked", n)
	}
	return text + "."
}

// activePhase names the first phase with open tasks, or the last one.
func (l List) activePhase() string {
	at := slices.IndexFunc(l, func(p Phase) bool { return slices.ContainsFunc(p.Tasks, Task.open) })
	if at < 0 {
		at = len(l) - 1
	}
	done, ahead := 0, false
	for _, t := range l[at].Tasks {
		if t.Status == Completed {
			done++
		}
	}
	for _, p := range l[at+1:] {
		ahead = ahead || slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Status == Completed || t.Status == Abandoned })
	}
	text := fmt.Sprintf("Active phase %d/%d \"%s\" (%d/%d)", at+1, len(l), l[at].Name, done, len(l[at].Tasks))
	if ahead {
		return text + ": the earliest phase with open tasks. Later phases have finished tasks, which stay finished."
	}
	return text + "."
}

// checked returns a task with its box.
func (t Task) checked() string {
	switch {
	case t.Status == Completed:
		return "[X] " + t.Content
	case t.Status == InProgress:
		return "[ ] " + t.Content + " (in progress)"
	case t.Status == Abandoned:
		return "[ ] " + t.Content + " (dropped)"
	case t.Status == Blocked && t.Blocker != "":
		return "[ ] " + t.Content + " (blocked: " + t.Blocker + ")"
	case t.Status == Blocked:
		return "[ ] " + t.Content + " (blocked)"
	}
	return "[ ] " + t.Content
}
