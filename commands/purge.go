package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var purge = New(Spec{
	Name: "xcsh.purge", Title: "Clean Up Sessions…", Flags: Palette,
	Doc: "Say which old sessions could go to the trash, and with the answer's planToken move exactly those. Nothing is ever purged by itself.",
}, runPurge)

// defaultKeep is how many sessions of a folder stay when nobody says.
const defaultKeep = 50

// PurgeArgs are the arguments of xcsh.purge.
type PurgeArgs struct {
	Folder
	Keep      *int   `json:"keep,omitempty" jsonschema:"How many sessions of each folder stay, those used last; protected ones stay beyond it. Absent: 50."`
	Scope     string `json:"scope,omitempty" jsonschema:"folder or all. Absent: folder."`
	DryRun    *bool  `json:"dryRun,omitempty" jsonschema:"true: only say what would go. Absent: true, unless planToken is there."`
	PlanToken string `json:"planToken,omitempty" jsonschema:"planToken of the answer whose plan is to be carried out."`
}

// PurgeResult is a plan, or what came of one.
type PurgeResult struct {
	Plan      []session.PurgeItem `json:"plan,omitzero" jsonschema:"The sessions that would go, the one used last first."`
	Protected []session.PurgeItem `json:"protected,omitzero" jsonschema:"The sessions that never go, whatever keep is."`
	PlanToken string              `json:"planToken,omitempty" jsonschema:"What carries this plan out."`
	Trashed   []PurgedSession     `json:"trashed,omitzero" jsonschema:"The sessions that went, in the order of the plan."`
	Failed    []PurgeFailure      `json:"failed,omitzero" jsonschema:"The sessions of the plan that stay, and why."`
}

// PurgedSession is a session that went to the trash.
type PurgedSession struct {
	ID      string `json:"id"`
	Path    string `json:"path" jsonschema:"Where it was."`
	Trashed string `json:"trashed" jsonschema:"What xcsh.undelete takes."`
}

// PurgeFailure is a session that could not be moved.
type PurgeFailure struct {
	ID      string     `json:"id"`
	Path    string     `json:"path"`
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
}

// purgeOf is what a purge is about.
type purgeOf struct {
	cwd  string // "" with scope all
	all  bool
	keep int
}

func runPurge(ctx context.Context, env *Env, a PurgeArgs) (PurgeResult, error) {
	of, err := env.purgeOf(ctx, a)
	if err != nil {
		return PurgeResult{}, err
	}
	plan, err := env.planPurge(ctx, of)
	if err != nil {
		return PurgeResult{}, err
	}
	token := of.token(plan)
	switch {
	case a.PlanToken != "" && a.PlanToken != token:
		return PurgeResult{}, stalePlan()
	case a.PlanToken != "" && (a.DryRun == nil || !*a.DryRun):
		return env.carryOut(ctx, plan), nil
	case a.asksPerson():
		if yes, err := env.confirmPurge(ctx, of, plan); err != nil || yes {
			return env.purgeUnlessStale(ctx, of, token, err)
		}
	}
	return PurgeResult{Plan: plan.Plan, Protected: plan.Protected, PlanToken: token}, nil
}

// asksPerson reports whether the call is a person's, who named the command and nothing
// else. Who says what to keep is a program, which wants the plan.
func (a PurgeArgs) asksPerson() bool {
	return a.Keep == nil && a.Scope == "" && a.DryRun == nil && a.PlanToken == ""
}

// purgeOf checks the arguments. What the plan of a token was about need not be said again.
func (env *Env) purgeOf(ctx context.Context, a PurgeArgs) (of purgeOf, err error) {
	if a.DryRun != nil && !*a.DryRun && a.PlanToken == "" {
		return of, fault.New(fault.InvalidArgument, `A purge needs the "planToken" of its plan; call xcsh.purge without dryRun first.`).With("field", "planToken")
	}
	if a.Scope != "" && a.Scope != "folder" && a.Scope != "all" {
		return of, fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", a.Scope).With("field", "scope")
	}
	of.keep, of.all = defaultKeep, a.Scope == "all"
	if a.PlanToken != "" {
		if of, err = parsePlanToken(a.PlanToken); err != nil {
			return of, err
		}
		if a.Scope != "" && of.all != (a.Scope == "all") {
			return of, stalePlan()
		}
	}
	if a.Keep != nil {
		if *a.Keep < 0 {
			return of, fault.New(fault.InvalidArgument, "keep cannot be negative.").With("field", "keep")
		}
		if a.PlanToken != "" && *a.Keep != of.keep {
			return of, stalePlan()
		}
		of.keep = *a.Keep
	}
	if !of.all {
		of.cwd, err = env.cwd(ctx, a.Folder)
	}
	return of, err
}

func stalePlan() error {
	return fault.New(fault.Stale, "The sessions are no longer what the plan was made of; nothing was moved, so ask for a new plan.").With("field", "planToken")
}

// token stands for a plan and what it is about: scope, how many are kept, the sessions.
func (of purgeOf) token(plan session.PurgePlan) string {
	return of.scope() + "-" + strconv.Itoa(of.keep) + "-" + plan.Token()
}

func (of purgeOf) scope() string {
	if of.all {
		return "all"
	}
	return "folder"
}

// parsePlanToken reads off a token what its plan was about.
func parsePlanToken(token string) (of purgeOf, err error) {
	parts := strings.Split(token, "-")
	wrong := fault.New(fault.InvalidArgument, "%q is not a planToken of xcsh.purge.", token).With("field", "planToken")
	if len(parts) != 3 || parts[0] != "folder" && parts[0] != "all" {
		return of, wrong
	}
	of.all = parts[0] == "all"
	if of.keep, err = strconv.Atoi(parts[1]); err != nil || of.keep < 0 {
		return of, wrong
	}
	return of, nil
}

// planPurge decides what would go now.
func (env *Env) planPurge(ctx context.Context, of purgeOf) (session.PurgePlan, error) {
	scope, err := env.Finder.PurgeScope(ctx, of.cwd, of.all)
	if err != nil {
		return session.PurgePlan{}, err
	}
	env.Store.MarkLocked(scope.Sessions)
	for i := range scope.Sessions {
		if _, live := env.Sessions.LiveIn(scope.Sessions[i].Path); live {
			scope.Sessions[i].Keep = session.KeepLive
		}
	}
	return session.PlanPurge(scope.Sessions, scope.Forks, of.keep, env.Finder.Now()), nil
}

// carryOut moves the sessions of a plan to the trash.
func (env *Env) carryOut(ctx context.Context, plan session.PurgePlan) PurgeResult {
	r := PurgeResult{Trashed: []PurgedSession{}, Failed: []PurgeFailure{}}
	for _, p := range env.Sessions.Purge(ctx, plan.Plan) {
		if p.Err != nil {
			r.Failed = append(r.Failed, PurgeFailure{ID: p.ID, Path: p.Path, Kind: fault.KindOf(p.Err), Message: fault.OneLine(p.Err.Error())})
			continue
		}
		r.Trashed = append(r.Trashed, PurgedSession{ID: p.ID, Path: p.Path, Trashed: p.Trashed})
	}
	return r
}

// confirmPurge asks the person whether a plan is to be carried out. Where nobody answers
// the plan is all there is.
func (env *Env) confirmPurge(ctx context.Context, of purgeOf, plan session.PurgePlan) (yes bool, err error) {
	if len(plan.Plan) == 0 {
		env.UI.Notify(ctx, LevelInfo, fmt.Sprintf("No session has to go: beyond the %d used last there are only protected ones, or none.", of.keep))
		return false, nil
	}
	answer, err := env.UI.Ask(ctx, Question{
		Text: fmt.Sprintf("%s of this folder would go to the trash; the %d used last stay, and %d %s protected.",
			counted(len(plan.Plan), "session"), of.keep, len(plan.Protected), isOrAre(len(plan.Protected))),
		Choices: []string{"Move to Trash", "Cancel"},
	})
	return answer == 0, err
}

// purgeUnlessStale carries out what the person agreed to, unless it is something else by
// now.
func (env *Env) purgeUnlessStale(ctx context.Context, of purgeOf, agreed string, err error) (PurgeResult, error) {
	if err != nil {
		return PurgeResult{}, err
	}
	plan, err := env.planPurge(ctx, of)
	if err == nil && of.token(plan) != agreed {
		err = stalePlan()
	}
	if err != nil {
		return PurgeResult{}, err
	}
	r := env.carryOut(ctx, plan)
	env.UI.Notify(ctx, purgeLevel(r), purgeSummary(r))
	return r, nil
}

func purgeLevel(r PurgeResult) Level {
	if len(r.Failed) > 0 {
		return LevelWarning
	}
	return LevelInfo
}

// purgeSummary says what came of a purge, in one sentence.
func purgeSummary(r PurgeResult) string {
	text := counted(len(r.Trashed), "session") + " went to the trash"
	if n := len(r.Failed); n > 0 {
		text += fmt.Sprintf(", %d stayed: %s", n, strings.TrimSuffix(r.Failed[0].Message, "."))
	}
	return text + "."
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
