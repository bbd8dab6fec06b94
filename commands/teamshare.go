package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var teamShare = New(Spec{
	Name: "xcsh.team.share", Title: "Share Conversations with Team…", Flags: Palette | NeedsTrust, Arg: "scope",
	Doc: "Plan which conversations of a project to send to the team store; a second call with the plan's planToken starts sending them. Nothing is sent before that.",
}, runTeamShare)

// The scopes of [TeamSharing].
const (
	shareNew     = "new"
	shareAll     = "all"
	shareSession = "session"
	shareOff     = "off"
)

// TeamShareArgs are the arguments of xcsh.team.share.
type TeamShareArgs struct {
	Folder
	Scope     string `json:"scope,omitempty" jsonschema:"new: conversations from now on. all: the older ones, too. session: only one. off: send nothing more. Default: new."`
	Source    string `json:"source,omitempty" jsonschema:"The session for the scope session, or the one to send no more of with off: an ID, an ID prefix, a file name, a title, a path or a file: URI. Default: with session, the folder's live session; with off, the project."`
	Visible   string `json:"visible,omitempty" jsonschema:"Who can read them: team or me. Default: team."`
	Team      string `json:"team,omitempty" jsonschema:"The team that can read them. Default: the user's only team."`
	Name      string `json:"name,omitempty" jsonschema:"The name of a project without a git remote. Default: its name before."`
	PlanToken string `json:"planToken,omitempty" jsonschema:"The planToken of the plan to carry out."`
}

// TeamShareResult is a plan, or the result of carrying it out.
type TeamShareResult struct {
	*TeamPlan
	Shared string `json:"shared,omitempty" jsonschema:"The scope that was set. Absent in a plan, which changes nothing."`
}

func (a TeamShareArgs) check() error {
	switch a.Scope {
	case "", shareNew, shareAll, shareSession, shareOff:
	default:
		return fault.New(fault.InvalidArgument, "scope must be new, all, session or off, not %q.", a.Scope).With("field", "scope")
	}
	switch a.Visible {
	case "", "team", "me":
	default:
		return fault.New(fault.InvalidArgument, "visible must be team or me, not %q.", a.Visible).With("field", "visible")
	}
	return nil
}

// interactive reports whether a user called the command by name, without arguments.
func (a TeamShareArgs) interactive() bool {
	return a.Scope == "" && a.Source == "" && a.Visible == "" && a.Team == "" && a.Name == "" && a.PlanToken == ""
}

func runTeamShare(ctx context.Context, env *Env, a TeamShareArgs) (TeamShareResult, error) {
	if err := env.needTeam(ctx); err != nil {
		return TeamShareResult{}, err
	}
	sharing, err := a.sharing(ctx, env)
	if err != nil {
		return TeamShareResult{}, err
	}
	job := shareInTeam{team: env.Team, ask: env.ask(), changed: func() { env.Sessions.ListChanged(sharing.Cwd) }}
	if a.PlanToken != "" || sharing.Scope == shareOff { // nothing leaves the machine by the end of a consent
		return job.carryOut(ctx, sharing, a.PlanToken)
	}
	plan, err := job.plan(ctx, sharing)
	if err != nil || !a.interactive() {
		return TeamShareResult{TeamPlan: &plan}, err
	}
	return job.askUser(ctx, sharing, plan)
}

// sharing returns what the arguments say.
func (a TeamShareArgs) sharing(ctx context.Context, env *Env) (TeamSharing, error) {
	s := TeamSharing{Scope: a.Scope, Visible: a.Visible, Team: a.Team, Name: a.Name}
	if s.Scope == "" {
		s.Scope = shareNew
	}
	if a.Source != "" && s.Scope != shareSession && s.Scope != shareOff {
		return s, fault.New(fault.InvalidArgument, "source needs the scope session or off.").With("field", "source")
	}
	if s.Scope == shareSession || a.Source != "" {
		l, err := env.resolver().locate(ctx, Subject{Folder: a.Folder, Source: a.Source})
		if err != nil {
			return s, err
		}
		if s.Cwd, s.Path = l.cwd, l.file(); s.Path == "" {
			return s, fault.New(fault.NotPersistent, "The session is in memory only, so it cannot be shared.")
		}
		return s, nil
	}
	var err error
	s.Cwd, err = env.cwd(ctx, a.Folder)
	return s, err
}

// shareInTeam asks the user for consent and records it.
type shareInTeam struct {
	team    Team
	ask     prompter
	changed func() // the list of sessions is stale
}

// maxExamples is the largest number of examples of replaced texts.
const maxExamples = 40

// plan returns a plan whose texts are safe to show.
func (job shareInTeam) plan(ctx context.Context, s TeamSharing) (TeamPlan, error) {
	p, err := job.team.Plan(ctx, s)
	p.Server, p.User, p.Team = teamLine(p.Server, maxTeamTitle), teamLine(p.User, maxTeamName), teamLine(p.Team, maxTeamName)
	p.Project, p.Text = teamLine(p.Project, maxTeamTitle), teamLines(p.Text)
	p.Examples = append([]string{}, p.Examples[:min(len(p.Examples), maxExamples)]...)
	for i := range p.Examples {
		p.Examples[i] = teamLine(p.Examples[i], maxTeamTitle)
	}
	if p.Redacted == nil {
		p.Redacted = map[string]int{}
	}
	return p, err
}

func (job shareInTeam) carryOut(ctx context.Context, s TeamSharing, token string) (TeamShareResult, error) {
	if err := job.team.Share(ctx, s, token); err != nil {
		return TeamShareResult{}, err
	}
	job.changed()
	return TeamShareResult{Shared: s.Scope}, nil
}

// The answers to the question of the first push.
const (
	answerNew      = "From now on"
	answerAll      = "Also the older ones"
	answerReplaced = "Show what is replaced"
	answerNotNow   = "Not now"
)

// askUser asks for consent to a plan of the scope new. If the user cannot be asked or does not agree, it returns the plan.
func (job shareInTeam) askUser(ctx context.Context, s TeamSharing, plan TeamPlan) (TeamShareResult, error) {
	text, answers := plan.Text, []string{answerNew, answerAll, answerReplaced, answerNotNow}
	for {
		i, err := job.ask.question(ctx, text, answers...)
		if err != nil {
			return TeamShareResult{}, err
		}
		if i < 0 || answers[i] == answerNotNow {
			return TeamShareResult{TeamPlan: &plan}, nil
		}
		switch answers[i] {
		case answerReplaced:
			text, answers = plan.Text+"\n\n"+replacedText(plan), []string{answerNew, answerAll, answerNotNow}
			continue
		case answerAll:
			return job.alsoOlder(ctx, s, plan)
		}
		return job.carryOut(ctx, s, plan.Token)
	}
}

// alsoOlder carries out the plan for all conversations, unless it differs from the plan that the user saw in more than their number.
func (job shareInTeam) alsoOlder(ctx context.Context, s TeamSharing, seen TeamPlan) (TeamShareResult, error) {
	s.Scope = shareAll
	all, err := job.plan(ctx, s)
	if err != nil {
		return TeamShareResult{}, err
	}
	same := all.Server == seen.Server && all.User == seen.User && all.TLS == seen.TLS && all.Team == seen.Team && all.Project == seen.Project &&
		all.Readers == seen.Readers
	if !same {
		return TeamShareResult{}, fault.New(fault.Stale, "The store or its readers have changed since the question. Nothing was sent; call xcsh.team.share again.").
			With("field", "planToken")
	}
	return job.carryOut(ctx, s, all.Token)
}

// replacedText lists examples of the texts that would be replaced.
func replacedText(p TeamPlan) string {
	total := 0
	for _, n := range p.Redacted {
		total += n
	}
	if len(p.Examples) == 0 {
		return "Nothing that looks like a secret was found."
	}
	text := fmt.Sprintf("Replaced would be, for example (%d of %d):\n", len(p.Examples), max(total, len(p.Examples)))
	return text + "• " + strings.Join(p.Examples, "\n• ")
}
