package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

var purge = New(Spec{
	Name: "xcsh.purge", Title: "Clean Up Sessions…", Flags: Palette | NeedsTrust,
	Doc: "Plan which old sessions to move to the trash; a second call with the plan's planToken moves exactly those. Nothing is purged automatically.",
}, runPurge)

// defaultKeep is the default number of sessions to keep per folder.
const defaultKeep = 50

// PurgeArgs are the arguments of xcsh.purge.
type PurgeArgs struct {
	Folder
	Keep      *int   `json:"keep,omitempty" jsonschema:"How many of the most recently used sessions of each folder to keep; protected sessions do not count. Default: 50."`
	Scope     string `json:"scope,omitempty" jsonschema:"folder or all. Default: folder."`
	DryRun    *bool  `json:"dryRun,omitempty" jsonschema:"true: only return the plan. Default: true without planToken."`
	PlanToken string `json:"planToken,omitempty" jsonschema:"The planToken of the plan to carry out."`
}

// PurgeResult is a plan, or the result of carrying it out.
type PurgeResult struct {
	Plan      []upkeep.PurgeItem `json:"plan,omitzero" jsonschema:"The sessions to move to the trash, the most recently used first."`
	Protected []upkeep.PurgeItem `json:"protected,omitzero" jsonschema:"The sessions that are never purged, whatever the value of keep."`
	PlanToken string             `json:"planToken,omitempty" jsonschema:"Pass it to xcsh.purge to carry out this plan."`
	Trashed   []PurgedSession    `json:"trashed,omitzero" jsonschema:"The sessions that were moved to the trash, in the order of the plan."`
	Failed    []PurgeFailure     `json:"failed,omitzero" jsonschema:"The sessions that could not be moved, with the reason."`
}

// PurgedSession is a session that was moved to the trash.
type PurgedSession struct {
	ID      string `json:"id"`
	Path    string `json:"path" jsonschema:"Its previous path."`
	Trashed string `json:"trashed" jsonschema:"The argument for xcsh.undelete."`
}

// PurgeFailure is a session that could not be moved.
type PurgeFailure struct {
	ID      string     `json:"id"`
	Path    string     `json:"path"`
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
}

// purgeOf is the scope of a purge.
type purgeOf struct {
	cwd  string // "" for scope all
	all  bool
	keep int
}

func runPurge(ctx context.Context, env *Env, a PurgeArgs) (PurgeResult, error) {
	of, err := a.of(ctx, env.resolver())
	if err != nil {
		return PurgeResult{}, err
	}
	job := newPurgeJob(env, of)
	plan, err := job.plan(ctx)
	if err != nil {
		return PurgeResult{}, err
	}
	token := of.token(plan)
	switch {
	case a.PlanToken != "" && a.PlanToken != token:
		return PurgeResult{}, stalePlan()
	case a.PlanToken != "" && (a.DryRun == nil || !*a.DryRun):
		return job.carryOut(ctx, plan), nil
	case a.interactive():
		yes, err := job.confirm(ctx, plan)
		if err != nil {
			return PurgeResult{}, err
		}
		if yes {
			return job.carryOutUnlessStale(ctx, token)
		}
	}
	return PurgeResult{Plan: plan.Plan, Protected: plan.Protected, PlanToken: token}, nil
}

// interactive reports whether a user called the command by name, without arguments. Calls
// with arguments come from programs, which need the plan.
func (a PurgeArgs) interactive() bool {
	return a.Keep == nil && a.Scope == "" && a.DryRun == nil && a.PlanToken == ""
}

// of checks the arguments. A plan's token includes its scope and its value of keep.
func (a PurgeArgs) of(ctx context.Context, r resolver) (of purgeOf, err error) {
	if a.DryRun != nil && !*a.DryRun && a.PlanToken == "" {
		return of, fault.New(fault.InvalidArgument, `A purge needs a "planToken". Call xcsh.purge without dryRun to get one.`).With("field", "planToken")
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
		of.cwd, err = r.cwd(ctx, a.Folder)
	}
	return of, err
}

func stalePlan() error {
	return fault.New(fault.Stale, "The sessions have changed since the plan was made. Nothing was moved; request a new plan.").With("field", "planToken")
}

// token identifies a plan: its scope, how many sessions are kept, and which sessions go.
func (of purgeOf) token(plan upkeep.PurgePlan) string {
	return of.scope() + "-" + strconv.Itoa(of.keep) + "-" + plan.Token()
}

func (of purgeOf) scope() string {
	if of.all {
		return "all"
	}
	return "folder"
}

// parsePlanToken returns the scope in a token.
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

// purgeJob plans a purge and carries it out.
type purgeJob struct {
	of       purgeOf
	finder   library.Finder
	store    *session.Store
	sessions *agent.Manager
	ask      prompter
}

func newPurgeJob(env *Env, of purgeOf) purgeJob {
	return purgeJob{of: of, finder: env.Finder, store: env.Store, sessions: env.Sessions, ask: env.ask()}
}

// plan plans a purge of the sessions as they are now.
func (job purgeJob) plan(ctx context.Context) (upkeep.PurgePlan, error) {
	return upkeep.Purge{
		Store: job.store, Finder: job.finder, Cwd: job.of.cwd, All: job.of.all, Keep: job.of.keep,
		Live: func(path string) bool {
			_, live := job.sessions.LiveIn(path)
			return live
		},
	}.Plan(ctx)
}

// carryOut moves the sessions of a plan to the trash.
func (job purgeJob) carryOut(ctx context.Context, plan upkeep.PurgePlan) PurgeResult {
	r := PurgeResult{Trashed: []PurgedSession{}, Failed: []PurgeFailure{}}
	for _, p := range job.sessions.Purge(ctx, plan.Plan) {
		if p.Err != nil {
			r.Failed = append(r.Failed, PurgeFailure{ID: p.ID, Path: p.Path, Kind: fault.KindOf(p.Err), Message: fault.OneLine(p.Err.Error())})
			continue
		}
		r.Trashed = append(r.Trashed, PurgedSession{ID: p.ID, Path: p.Path, Trashed: p.Trashed})
	}
	return r
}

// confirm asks the user whether to carry out a plan. Without an answer, it returns false.
func (job purgeJob) confirm(ctx context.Context, plan upkeep.PurgePlan) (yes bool, err error) {
	if len(plan.Plan) == 0 {
		job.ask.ui.Notify(ctx, LevelInfo, fmt.Sprintf("Nothing to clean up: apart from the %d most recently used sessions, all are protected.", job.of.keep))
		return false, nil
	}
	text := fmt.Sprintf("Move %s of this folder to the trash? The %d most recently used are kept, and %d %s protected.",
		counted(len(plan.Plan), "session"), job.of.keep, len(plan.Protected), isOrAre(len(plan.Protected)))
	answer, err := job.ask.question(ctx, text, "Move to Trash", "Cancel")
	return answer == 0, err
}

// carryOutUnlessStale carries out the plan that the user confirmed, unless it has changed.
func (job purgeJob) carryOutUnlessStale(ctx context.Context, agreed string) (PurgeResult, error) {
	plan, err := job.plan(ctx)
	if err == nil && job.of.token(plan) != agreed {
		err = stalePlan()
	}
	if err != nil {
		return PurgeResult{}, err
	}
	r := job.carryOut(ctx, plan)
	job.ask.ui.Notify(ctx, purgeLevel(r), purgeSummary(r))
	return r, nil
}

func purgeLevel(r PurgeResult) Level {
	if len(r.Failed) > 0 {
		return LevelWarning
	}
	return LevelInfo
}

// purgeSummary describes the result of a purge in one sentence.
func purgeSummary(r PurgeResult) string {
	text := counted(len(r.Trashed), "session") + " moved to the trash"
	if n := len(r.Failed); n > 0 {
		text += fmt.Sprintf(", %d could not be moved: %s", n, strings.TrimSuffix(r.Failed[0].Message, "."))
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
