package commands

import (
	"cmp"
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var resume = New(Spec{
	Name: "xcsh.resume", Title: "Resume Session…", Flags: Palette | NeedsPersistent | NeedsTrust, Input: InputSession, Arg: "target", Early: true,
	Doc:     "Make an existing session the folder's live session. A running turn is stopped if the user agrees. Without a target, ask the user.",
	refusal: refusal{inMemory: resumeInMemory, inMemoryNamed: resumeInMemory, always: true},
}, runResume)

const resumeInMemory = "--resume requires session persistence"

var continueSession = New(Spec{
	Name: "xcsh.continue", Title: "Continue Last Session", Flags: Palette | NeedsTrust, Early: true,
	Doc: "Resume the session that this terminal last used, or else the folder's newest session, or else start a new one.",
}, runContinue)

// ResumeArgs are the arguments of xcsh.resume.
type ResumeArgs struct {
	Folder
	Leaving
	Target         string `json:"target,omitempty" jsonschema:"The session: an ID, an ID prefix, a file name, a title, a slug, a path or a file: URI; or a session of the team store: its ID there, an ID, an ID prefix or a title. Default: ask the user."`
	Scope          string `json:"scope,omitempty" jsonschema:"Where to search: folder, all or team. Default: the folder first, then all folders, then the team store."`
	OnOtherProject string `json:"onOtherProject,omitempty" jsonschema:"What to do with a session of another project: ask, fork, open or fail. Default: ask."`
	OnBusy         string `json:"onBusy,omitempty" jsonschema:"What to do with a session of the team store that another user writes: ask, read, fork, wait, take or fail. Default: ask. A client that cannot ask gets the busy error."`
	Create         bool   `json:"create,omitempty" jsonschema:"If the target is a path to a missing file, create a new session there."`
}

// ResumeResult describes the folder's live session after the command.
type ResumeResult struct {
	Switched    bool              `json:"switched"`
	CancelledBy string            `json:"cancelledBy,omitempty" jsonschema:"The hook that prevented it, if switched is false."`
	ForkedFrom  string            `json:"forkedFrom,omitempty" jsonschema:"The session of another project that was copied into this one."`
	Session     agent.State       `json:"session"`
	Summary     Summary           `json:"summary" jsonschema:"A summary of the conversation for the user. Models do not see it."`
	Repairs     []session.Problem `json:"repairs" jsonschema:"Problems of the file, which were worked around."`
	Pulled      *Pulled           `json:"pulled,omitempty" jsonschema:"What was brought from the team store; absent if nothing was."`
	Following   string            `json:"following,omitempty" jsonschema:"With onBusy read: the address of the session's read-only document, as of xcsh.team.follow. The live session is the same as before."`
	Pending     []string          `json:"pending,omitempty" jsonschema:"The fields of the result and of session that are null, absent or empty because the session is still being read. Only clients with the initialization option lateValues get such a result; xcsh/sessionState has the rest."`
}

func runResume(ctx context.Context, env *Env, a ResumeArgs) (ResumeResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ResumeResult{}, err
	}
	r, job := env.resolver(), newResumeJob(env, live, a.Leaving)
	shared := sharedResume{env: env, job: &job, args: a}
	if a.Target == "" {
		info, err := r.pickToResume(ctx, live.Cwd(), a.Scope)
		if err != nil {
			return ResumeResult{}, err
		}
		return shared.listed(ctx, info)
	}
	t, err := r.resolve(ctx, lookup{cwd: live.Cwd(), name: a.Target, scope: scopeHere(a.Scope), create: a.Create, asks: true})
	if err != nil {
		return shared.elsewhere(ctx, err)
	}
	if t.info != nil {
		shared.args.Target = t.name
		return shared.listed(ctx, *t.info)
	}
	return shared.file(ctx, t.namedFile)
}

// scopeHere returns the scope of a search for files.
func scopeHere(scope string) string {
	if scope == scopeTeam {
		return ""
	}
	return scope
}

func (a ResumeArgs) check() error {
	if err := a.checkLeaving(); err != nil {
		return err
	}
	switch a.Scope {
	case "", "folder", "all", scopeTeam:
	default:
		return fault.New(fault.InvalidArgument, "scope must be folder, all or team, not %q.", a.Scope).With("field", "scope")
	}
	switch a.OnBusy {
	case "", busyAsk, busyRead, busyFork, busyWait, busyTake, busyFail:
	default:
		return fault.New(fault.InvalidArgument, "onBusy must be ask, read, fork, wait, take or fail, not %q.", a.OnBusy).With("field", "onBusy")
	}
	switch a.OnOtherProject {
	case "", "ask", "fork", "open", "fail":
		return nil
	}
	return fault.New(fault.InvalidArgument, "onOtherProject must be ask, fork, open or fail, not %q.", a.OnOtherProject).With("field", "onOtherProject")
}

// pickToResume asks for the session to resume. If the user cannot be asked, it fails as if they
// had closed the question, like the terminal programs.
func (r resolver) pickToResume(ctx context.Context, cwd, scope string) (library.Info, error) {
	info, err := r.pickSession(ctx, cwd, scope, "Select a session to resume", "target")
	if !r.ask.clientPicks && fault.Is(err, fault.ArgumentNeeded) {
		err = noSessionSelected()
	}
	return info, err
}

// resumeJob makes another session the live session of a folder.
type resumeJob struct {
	live   *agent.Session
	finder library.Finder
	ask    prompter
	tell   func(string) // nil shows nothing
	early  bool         // a large session is shown before it is read whole
	pulled *Pulled      // what was brought from the store, or nil

	// leave returns nil if the live session may be left.
	leave func(context.Context) error
}

func newResumeJob(env *Env, live *agent.Session, l Leaving) resumeJob {
	return resumeJob{
		live: live, finder: env.Finder, ask: env.ask(), tell: env.Tell, early: env.Late,
		leave: func(ctx context.Context) error { return l.mayLeave(ctx, env, live, "switching to another session") },
	}
}

// file opens a session named by its path, in whatever folder it is. An empty or missing file
// becomes a new session at exactly that path.
func (job resumeJob) file(ctx context.Context, n namedFile) (ResumeResult, error) {
	if err := job.leave(ctx); err != nil {
		return ResumeResult{}, err
	}
	open := job.open
	if n.isNew() {
		open = job.live.SwitchToNewAt
	}
	out, err := open(ctx, n.path)
	return job.result(ctx, out, "", err)
}

// open makes the session at path the live one.
func (job resumeJob) open(ctx context.Context, path string) (agent.Outcome, error) {
	if job.early {
		return job.live.SwitchEarly(ctx, path, job.late())
	}
	return job.live.Switch(ctx, path)
}

// late describes how the rest of a session is reported that was shown early.
func (job resumeJob) late() agent.Late {
	return agent.Late{Summarize: func(d *session.Document, leaf session.Leaf) (any, error) {
		summary, err := summarise(d, leaf)
		if err == nil {
			job.show(summary)
		}
		return summary, err
	}}
}

// show shows the user a summary of the conversation.
func (job resumeJob) show(s Summary) {
	if job.tell != nil && s.Structured.total() > 0 {
		job.tell(s.Text)
	}
}

// listed opens a session of a list. A session of another project is opened or copied only if
// the arguments or the user say so.
func (job resumeJob) listed(ctx context.Context, a ResumeArgs, info library.Info) (ResumeResult, error) {
	if info.Cwd == "" || info.Cwd == job.live.Cwd() || job.finder.SameCwd(info.Cwd, job.live.Cwd()) || a.OnOtherProject == "open" {
		if err := job.leave(ctx); err != nil {
			return ResumeResult{}, err
		}
		out, err := job.open(ctx, info.Path)
		return job.result(ctx, out, "", err)
	}
	if a.OnOtherProject == "" || a.OnOtherProject == "ask" {
		answer, err := job.ask.question(ctx, "Session found in different project: "+info.Cwd+". Fork into current directory?", "Fork", "Cancel")
		if err != nil {
			return ResumeResult{}, err
		}
		if answer == 0 {
			a.OnOtherProject = "fork"
		}
	}
	if a.OnOtherProject != "fork" {
		return ResumeResult{}, fault.New(fault.OtherProject, "Session %q is in another project (%s).", cmp.Or(a.Target, info.ID), info.Cwd).
			With("path", info.Path).With("cwd", info.Cwd)
	}
	out, err := job.live.ForkFrom(ctx, info.Path)
	return job.result(ctx, out, info.Path, err)
}

// ContinueArgs are the arguments of xcsh.continue.
type ContinueArgs struct {
	Folder
	Leaving
}

func (a ContinueArgs) check() error { return a.checkLeaving() }

func runContinue(ctx context.Context, env *Env, a ContinueArgs) (ResumeResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ResumeResult{}, err
	}
	job := newResumeJob(env, live, a.Leaving)
	if err := job.leave(ctx); err != nil {
		return ResumeResult{}, err
	}
	shared := sharedResume{env: env, job: &job}
	if r, done, err := shared.continued(ctx); done || err != nil {
		return r, err
	}
	var out agent.Outcome
	if job.early {
		out, err = live.ContinueEarly(ctx, job.late())
	} else {
		out, err = live.Continue(ctx)
	}
	return job.result(ctx, out, "", err)
}

// result returns the result of a change of session, and shows the user a summary of the
// conversation.
func (job resumeJob) result(ctx context.Context, out agent.Outcome, forkedFrom string, err error) (ResumeResult, error) {
	if err != nil {
		return ResumeResult{}, err
	}
	r := ResumeResult{Switched: out.Changed, CancelledBy: out.CancelledBy, Repairs: []session.Problem{}, Pulled: job.pulled}
	if out.Changed {
		r.ForkedFrom = forkedFrom
	}
	if out.Reading != nil {
		r.Session, err = earlyStateOf(ctx, job.live, out.Reading)
		r.Summary.pending, r.Pending = true, append(slices.Clone(r.Session.Pending), "summary", "repairs")
		return r, err
	}
	if r.Session, err = stateOf(ctx, job.live); err != nil {
		return ResumeResult{}, err
	}
	problems, err := job.live.ContextProblems()
	if err != nil {
		return ResumeResult{}, err
	}
	err = job.live.View(func(d *session.Document, leaf session.Leaf) error {
		r.Repairs = append(append([]session.Problem{}, d.Problems()...), problems...)
		r.Summary, err = summarise(d, leaf)
		return err
	})
	if err == nil && r.Switched {
		job.show(r.Summary)
	}
	return r, err
}
