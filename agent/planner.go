package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

// planner is a session as the tool that ends plan mode sees it.
type planner struct{ *host }

// errNoPlanMode is for a call of that tool in a session that is not in plan mode.
var errNoPlanMode = fault.New(fault.Denied, "Plan mode is not on, so there is no plan to approve. Continue without this call.")

// Plan implements [tool.Planner].
func (p planner) Plan(ctx context.Context, env tool.Env, title string) (tool.Plan, error) {
	plan, err := p.plan()
	switch {
	case err != nil:
		return tool.Plan{}, err
	case !plan.on():
		return tool.Plan{}, errNoPlanMode
	}
	for _, name := range plan.files(title) {
		found, err := p.read(ctx, env, name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !fault.Is(err, fault.NotFound) {
			return found, err
		}
	}
	return tool.Plan{}, plan.missing(title)
}

// files returns the plan files of a plan with this title, in the order in which they are looked for.
func (p plan) files(title string) (names []string) {
	if p.omp {
		for _, name := range []string{"local://" + title + "-plan.md", "local://" + title + ".md"} {
			if ompPlan.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	if p.file != "" {
		names = append(names, p.file)
	}
	return names
}

// missing is the error for a plan without a file.
func (p plan) missing(title string) error {
	if !p.writable() {
		return fault.New(fault.Denied, "This session has no plan file. Put the plan into your answer; only the user can end plan mode, with xcsh.setMode.")
	}
	names := p.files(title)
	file := fault.OneLine(names[len(names)-1])
	return fault.New(fault.NotFound, "Plan file not found at %s. Write the plan to %s, then call %s again.", file, file, tool.ExitPlanMode)
}

// read reads a plan file. A link, a special file and a file with secrets are no plan.
func (p planner) read(ctx context.Context, env tool.Env, name string) (tool.Plan, error) {
	path := within(p.s.cwd, name)
	switch scheme := tool.Scheme(name); {
	case scheme == tool.LocalScheme:
		var err error
		if path, err = (artifact.Dir{Fs: p.s.m.cfg.Store.Fs, Session: p.log.Path()}).Local(name[len("local://"):]); err != nil {
			return tool.Plan{}, err
		}
	case scheme != "" || !(plan{file: name}).allows(p.s.cwd, name) || p.s.m.throughLink(path):
		return tool.Plan{}, fault.New(fault.Denied, "%s is a link or not a file, so it cannot be the plan.", fault.OneLine(name))
	}
	if sensitive := p.s.m.cfg.Sensitive; sensitive != nil && sensitive(path) {
		return tool.Plan{}, fault.New(fault.Denied, "%s contains credentials, so it cannot be the plan.", fault.OneLine(name))
	}
	f, err := env.Files.ReadFile(ctx, path)
	if err == nil && !f.Exists {
		err = fs.ErrNotExist
	}
	return tool.Plan{Name: fault.OneLine(name), Path: path, Text: string(f.Content)}, err
}

// EndPlan implements [tool.Planner].
func (p planner) EndPlan(ctx context.Context) error {
	return p.s.exclusive(ctx, func() error {
		m, err := currentMode(p.log)
		switch {
		case err != nil:
			return err
		case m.name != PlanMode:
			return errNoPlanMode
		}
		err = p.s.recordMode(p.log, NoMode, "")
		if m, modeErr := currentMode(p.log); modeErr == nil && m.name == NoMode {
			return nil // the entry is written with the next one, if it could not be written now
		}
		return err
	})
}

// proposesByWriting reports whether the session is one of oh-my-pi in plan mode, whose models propose a
// plan by writing its name to an address.
func (h *host) proposesByWriting() bool {
	plan, err := h.plan()
	return err == nil && plan.on() && plan.omp
}
