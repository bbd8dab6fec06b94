package commands

import (
	"context"
	"errors"
	"io/fs"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var resume = New(Spec{
	Name: "xcsh.resume", Title: "Resume Session…", Flags: Palette, Input: InputSession, Arg: "target",
	Doc: "Make an existing session the folder's live one; a turn that runs is stopped. Without a target the person is asked.",
}, runResume)

var continueSession = New(Spec{
	Name: "xcsh.continue", Title: "Continue Last Session", Flags: Palette,
	Doc: "Resume the session this terminal last used, else the folder's newest, else start a new one.",
}, runContinue)

// ResumeArgs are the arguments of xcsh.resume.
type ResumeArgs struct {
	Folder
	Target         string `json:"target,omitempty" jsonschema:"The session: an id, an id prefix, a file name, a title, a slug, a path or a file: URI. Absent: ask."`
	Scope          string `json:"scope,omitempty" jsonschema:"Where to look: folder or all. Absent: the folder first, then everywhere."`
	OnOtherProject string `json:"onOtherProject,omitempty" jsonschema:"What to do with a session of another project: ask, fork, open or fail. Absent: ask."`
	Create         bool   `json:"create,omitempty" jsonschema:"Make a new session at the target, when that is a path where nothing is."`
}

// ResumeResult says which session the folder is in now.
type ResumeResult struct {
	Switched    bool              `json:"switched"`
	CancelledBy string            `json:"cancelledBy,omitempty" jsonschema:"Who said no, when switched is false."`
	ForkedFrom  string            `json:"forkedFrom,omitempty" jsonschema:"The session of another project that was copied into this one."`
	Session     agent.State       `json:"session"`
	Summary     Summary           `json:"summary" jsonschema:"What the conversation was about, for the person; a model never sees it."`
	Repairs     []session.Problem `json:"repairs" jsonschema:"What is wrong with the file and was worked around."`
}

func runResume(ctx context.Context, env *Env, a ResumeArgs) (ResumeResult, error) {
	if err := a.check(); err != nil {
		return ResumeResult{}, err
	}
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ResumeResult{}, err
	}
	if !live.Persistent() {
		return ResumeResult{}, fault.New(fault.NotPersistent, "--resume requires session persistence")
	}
	if a.Target == "" {
		info, err := env.pickSession(ctx, live.Cwd(), a.Scope)
		if err != nil {
			return ResumeResult{}, err
		}
		return env.resumeInfo(ctx, live, a, info)
	}
	a.Target = env.spelling(live.Cwd(), a.Target)
	path, isPath, err := env.Finder.TargetPath(live.Cwd(), a.Target)
	if err != nil {
		return ResumeResult{}, err
	}
	if isPath && (a.Create || env.exists(path)) {
		return env.resumePath(ctx, live, a, path)
	}
	resolution, err := env.Finder.Resolve(ctx, live.Cwd(), a.Target, session.ResolveOptions{Scope: a.Scope})
	if err != nil {
		return ResumeResult{}, err
	}
	info, err := resolution.One()
	if fault.Is(err, fault.Ambiguous) {
		info, err = env.askWhich(ctx, resolution.Matches, err)
	}
	if err != nil {
		return ResumeResult{}, err
	}
	return env.resumeInfo(ctx, live, a, info)
}

func (a ResumeArgs) check() error {
	switch a.Scope {
	case "", "folder", "all":
	default:
		return fault.New(fault.InvalidArgument, "scope must be folder or all, not %q.", a.Scope).With("field", "scope")
	}
	switch a.OnOtherProject {
	case "", "ask", "fork", "open", "fail":
		return nil
	}
	return fault.New(fault.InvalidArgument, "onOtherProject must be ask, fork, open or fail, not %q.", a.OnOtherProject).With("field", "onOtherProject")
}

// resumePath opens a session named by its path, wherever it belongs. An empty file, or
// with create a missing one, becomes a new session at exactly that path.
func (env *Env) resumePath(ctx context.Context, live *agent.Session, a ResumeArgs, path string) (ResumeResult, error) {
	info, err := env.Fs.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 || errors.Is(err, fs.ErrNotExist) && a.Create {
		out, err := live.SwitchToNewAt(ctx, path)
		return env.resumed(live, out, "", err)
	}
	out, err := live.Switch(ctx, path)
	return env.resumed(live, out, "", err)
}

// resumeInfo opens a session that was found. One of another project is only opened or
// copied when that was asked for.
func (env *Env) resumeInfo(ctx context.Context, live *agent.Session, a ResumeArgs, info session.Info) (ResumeResult, error) {
	if info.Cwd == "" || env.Finder.SameCwd(info.Cwd, live.Cwd()) || a.OnOtherProject == "open" {
		out, err := live.Switch(ctx, info.Path)
		return env.resumed(live, out, "", err)
	}
	name := a.Target
	if name == "" {
		name = info.ID
	}
	refused := fault.New(fault.OtherProject, "Session %q is in another project (%s).", name, info.Cwd).
		With("path", info.Path).With("cwd", info.Cwd)
	if a.OnOtherProject == "" || a.OnOtherProject == "ask" {
		answer, err := env.UI.Ask(ctx, Question{
			Text:    "Session found in different project: " + info.Cwd + ". Fork into current directory?",
			Choices: []string{"Fork", "Cancel"},
		})
		if err != nil {
			return ResumeResult{}, err
		}
		if answer == 0 {
			a.OnOtherProject = "fork"
		}
	}
	if a.OnOtherProject != "fork" {
		return ResumeResult{}, refused
	}
	out, err := live.ForkFrom(ctx, info.Path)
	return env.resumed(live, out, info.Path, err)
}

func runContinue(ctx context.Context, env *Env, a Folder) (ResumeResult, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return ResumeResult{}, err
	}
	out, err := live.Continue(ctx)
	return env.resumed(live, out, "", err)
}

// resumed describes where the folder is after a change, and tells what the conversation was
// about.
func (env *Env) resumed(live *agent.Session, out agent.Outcome, forkedFrom string, err error) (ResumeResult, error) {
	if err != nil {
		return ResumeResult{}, err
	}
	r := ResumeResult{Switched: out.Changed, CancelledBy: out.CancelledBy, Repairs: []session.Problem{}}
	if out.Changed {
		r.ForkedFrom = forkedFrom
	}
	if r.Session, err = live.State(); err != nil {
		return ResumeResult{}, err
	}
	problems, err := live.ContextProblems()
	if err != nil {
		return ResumeResult{}, err
	}
	err = live.View(func(d *session.Document, leaf session.Leaf) error {
		r.Repairs = append(append(r.Repairs, d.Problems()...), problems...)
		r.Summary, err = summarise(d, leaf)
		return err
	})
	if err == nil && r.Switched && env.Tell != nil && r.Summary.Structured.total() > 0 {
		env.Tell(r.Summary.Text)
	}
	return r, err
}
