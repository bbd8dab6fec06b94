package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// rewinding is the part of a live session that the dialog of a rewind uses.
type rewinding interface {
	Rewind(ctx context.Context, a wire.RewindArgs) (wire.RewindResult, error)
}

// rewindTalk makes a plan, shows it to the user and carries it out.
type rewindTalk struct {
	cwd      string
	rewinder rewinding
	ask      prompter
	show     func(ctx context.Context, a wire.RewindArgs, plan wire.RewindResult) error
}

func newRewindTalk(env *Env, live *agent.Session) rewindTalk {
	show := func(ctx context.Context, a wire.RewindArgs, plan wire.RewindResult) error {
		return env.showPlan(ctx, located{cwd: live.Cwd(), live: live}, a, plan)
	}
	return rewindTalk{cwd: live.Cwd(), rewinder: live, ask: env.ask(), show: show}
}

const (
	answerRewind = "Rewind"
	answerOthers = "Rewind the Others"
	answerShow   = "Show"
	answerCancel = "Cancel"
)

// run asks until the user has decided. A client that can't ask gets the plan.
func (t rewindTalk) run(ctx context.Context, a wire.RewindArgs) (wire.RewindResult, error) {
	plan, err := t.rewinder.Rewind(ctx, a)
	if err != nil {
		return plan, err
	}
	shown := false
	for {
		if nothingToRewind(plan) {
			t.ask.ui.Notify(ctx, LevelInfo, "There is nothing to undo: the files already have this state.")
			return plan, nil
		}
		answers := t.answers(plan, shown)
		i, err := t.ask.question(ctx, rewindQuestion(t.cwd, plan), answers...)
		switch {
		case err != nil:
			return plan, err
		case i == Unasked:
			return plan, nil
		case i < 0 || answers[i] == answerCancel:
			return plan, fault.New(fault.Cancelled, "No file was changed.")
		case answers[i] == answerShow:
			shown = true
			if err := t.show(ctx, a, plan); err != nil {
				return plan, err
			}
		case answers[i] == answerOthers:
			a.Except = append(a.Except, conflictPaths(plan)...)
			if plan, err = t.rewinder.Rewind(ctx, a); err != nil {
				return plan, err
			}
		default:
			a.PlanToken = *plan.PlanToken
			return t.carryOut(ctx, a)
		}
	}
}

// answers returns the buttons for a plan.
func (t rewindTalk) answers(plan wire.RewindResult, shown bool) []string {
	var answers []string
	switch {
	case plan.Conflicts == 0:
		answers = append(answers, answerRewind)
	case plan.Conflicts < len(plan.Plan):
		answers = append(answers, answerOthers)
	}
	if !shown {
		answers = append(answers, answerShow)
	}
	return append(answers, answerCancel)
}

func (t rewindTalk) carryOut(ctx context.Context, a wire.RewindArgs) (wire.RewindResult, error) {
	r, err := t.rewinder.Rewind(ctx, a)
	if err == nil {
		t.ask.ui.Notify(ctx, LevelInfo, RewoundText(r))
	}
	return r, err
}

// showPlan shows the plan, and the changes that it undoes.
func (env *Env) showPlan(ctx context.Context, of located, a wire.RewindArgs, plan wire.RewindResult) error {
	text := "# Rewind\n\n" + RewindPlanMarkdown(of.folder(), plan)
	if a.Before != nil {
		if more, err := env.changesText(ctx, of, wire.ChangesQuery{Since: *a.Before}); err == nil {
			text += "\n" + more
		}
	}
	return env.showText(ctx, of, "rewind", text)
}

// conflictPaths returns the files of a plan that can't be undone.
func conflictPaths(plan wire.RewindResult) (paths []string) {
	for _, p := range plan.Plan {
		if p.Action == wire.Conflict {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// nothingToRewind reports whether a plan changes nothing.
func nothingToRewind(plan wire.RewindResult) bool {
	for _, p := range plan.Plan {
		if p.Action != wire.None {
			return false
		}
	}
	return !plan.Conversation
}

// rewindQuestion asks whether to carry out a plan.
func rewindQuestion(folder string, plan wire.RewindResult) string {
	var b strings.Builder
	b.WriteString(RewindPlanText(plan))
	if plan.Conflicts == 0 {
		b.WriteString(" Rewind?")
		return b.String()
	}
	const named = 3
	n := 0
	for _, p := range plan.Plan {
		if p.Action != wire.Conflict {
			continue
		}
		if n++; n > named {
			fmt.Fprintf(&b, "\n… and %d more", plan.Conflicts-named)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s", visible.Line(ShownPath(folder, p.Path)), visible.Line(p.Text))
	}
	return b.String()
}

// planVerbs are the actions of a plan in display order.
var planVerbs = []struct{ action, verb string }{
	{wire.Restore, "restore"},
	{wire.Merge, "merge"},
	{wire.Create, "create"},
	{wire.Remove, "remove"},
}

// RewindPlanText describes a plan in one or two sentences.
func RewindPlanText(plan wire.RewindResult) string {
	counts := map[string]int{}
	for _, p := range plan.Plan {
		counts[p.Action]++
	}
	var parts []string
	for _, v := range planVerbs {
		if n := counts[v.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", v.verb, counted(n, "file")))
		}
	}
	text := "No file changes."
	if len(parts) > 0 {
		text = "This will " + joined(parts) + "."
	}
	if plan.Conversation {
		text += fmt.Sprintf(" The conversation goes back %s.", counted(plan.Prompts, "prompt"))
	}
	if n := plan.Conflicts; n > 0 {
		text += fmt.Sprintf(" %s can't be undone.", counted(n, "file"))
	}
	if plan.Head != nil && plan.Head.Moved {
		text += " HEAD has moved since. Commits stay."
	}
	return text
}

// joined joins parts of a sentence.
func joined(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// RewindPlanMarkdown describes a plan with a row for each file.
func RewindPlanMarkdown(folder string, plan wire.RewindResult) string {
	var b strings.Builder
	b.WriteString(RewindPlanText(plan) + "\n")
	if len(plan.Plan) == 0 {
		return b.String()
	}
	b.WriteString("\n| File | Action | |\n|---|---|---|\n")
	for _, p := range plan.Plan {
		name := strings.ReplaceAll(markdownText(visible.Line(ShownPath(folder, p.Path))), "|", `\|`)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, p.Action, strings.ReplaceAll(markdownText(visible.Line(PlanNote(p))), "|", `\|`))
	}
	for _, l := range plan.Limits {
		fmt.Fprintf(&b, "\n> %s\n", visible.Line(l.Text))
	}
	return b.String()
}

// PlanNote describes the planned change of one file.
func PlanNote(p wire.PlanPath) string {
	switch {
	case p.Action == wire.Conflict:
		text := p.Text
		if p.Hint != "" {
			text += " It may have been renamed to " + p.Hint + "."
		}
		return text
	case p.Action == wire.Merge && len(p.Yours) > 0:
		return fmt.Sprintf("+%d −%d; your changes stay", p.Added, p.Removed)
	case p.Added > 0 || p.Removed > 0:
		return fmt.Sprintf("+%d −%d", p.Added, p.Removed)
	}
	return ""
}

// RewoundText describes the result of a rewind in a sentence.
func RewoundText(r wire.RewindResult) string {
	if r.Rewound != nil && !*r.Rewound {
		return "No file was changed: cancelled by " + r.CancelledBy + "."
	}
	text := fmt.Sprintf("Rewound %s.", counted(r.Files, "file"))
	if n := len(r.Unsaved); n > 0 {
		text += fmt.Sprintf(" %s not saved yet.", counted(n, "file")+" "+isOrAre(n))
	}
	if n := len(r.Commits); n > 0 {
		text += fmt.Sprintf(" %s made by commands %s.", counted(n, "commit"), staysOrStay(n))
	}
	return text
}

func staysOrStay(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}
