package agent

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

// The modes of a session that this package knows. A session is in plan mode until an entry of its file
// records another mode; plan_paused, which the programs record when the user leaves plan mode for a
// while, is not plan mode.
const (
	PlanMode = "plan"
	NoMode   = "none"
)

// planFile is the plan file of a session whose user turns on plan mode here.
const planFile = "local://PLAN.md"

// SetMode turns plan mode on or off, which only a user may do. It reports whether that changed
// anything. It may be called while a turn is running, whose next tool call uses the new mode.
func (s *Session) SetMode(ctx context.Context, to string) (changed bool, err error) {
	if to != PlanMode && to != NoMode {
		return false, fault.New(fault.InvalidArgument, "%q is not a session mode. Use plan or none.", to).With("field", "mode")
	}
	err = s.exclusive(ctx, func() error {
		log := s.current()
		now, err := currentMode(log)
		if err != nil || now.name == to {
			return err
		}
		changed = true
		return s.recordMode(log, to)
	})
	return changed && err == nil, err
}

// planning is a [host] that refuses the calls that plan mode forbids.
type planning struct{ *host }

// Permit refuses, while the session is in plan mode, every tool that changes something but the
// plan file. The mode is checked again after a question, which may have waited for hours.
//
// Differs: the programs run commands in plan mode.
func (p planning) Permit(ctx context.Context, call provider.Block, t tool.Tool, args json.RawMessage) (tool.Permission, error) {
	granted, err := p.inPlan(t, args)
	if granted || err != nil {
		return tool.Permission{}, err
	}
	permission, err := p.host.Permit(ctx, call, t, args)
	if err != nil {
		return permission, err
	}
	_, err = p.inPlan(t, args)
	return permission, err
}

// Request adds the instructions of plan mode to every request, so that no compaction loses it.
func (p planning) Request(ctx context.Context) (provider.Provider, provider.Request, error) {
	service, req, err := p.host.Request(ctx)
	if err != nil {
		return nil, provider.Request{}, err
	}
	plan, on, err := p.plan()
	if on {
		req.System += plan.instructions()
	}
	return service, req, err
}

// inPlan fails for a call that plan mode forbids. granted is for one that needs no question
// beside the mode: the plan file that lies beside the session.
func (h *host) inPlan(t tool.Tool, args json.RawMessage) (granted bool, err error) {
	plan, on, err := h.plan()
	if err != nil || !on {
		return false, err
	}
	path, _ := rawjson.GetString(args, "path")
	if t.Name != "write" && t.Name != "edit" || !plan.allows(h.s.cwd, path) ||
		tool.Scheme(path) == "" && h.s.m.throughLink(within(h.s.cwd, path)) {
		return false, plan.refusal(t.Name)
	}
	return tool.Scheme(path) != "" && h.s.gate.Mode() != approval.ReadOnly, nil
}

// plan is the plan mode of a session, as it is recorded.
type plan struct {
	file string // as the session names it, "" when it does not
	omp  bool   // its models choose the name of the plan file
}

// plan returns the plan of the session, and whether it is in plan mode.
func (h *host) plan() (p plan, on bool, err error) {
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		m, err := modeOf(d, leaf)
		on = m.name == PlanMode
		p.file, _ = rawjson.GetString(m.data, "planFilePath")
		p.omp = d.Dialect() == session.Omp
		return err
	})
	return p, on, err
}

// ompPlan matches the plan file names that oh-my-pi asks models for.
var ompPlan = regexp.MustCompile(`^local://[A-Za-z0-9_-]+-plan\.md$`)

// allows reports whether path is that of the plan file.
func (p plan) allows(cwd, path string) bool {
	switch {
	case p.omp && ompPlan.MatchString(path):
		return true
	case p.file == "" || path == "", strings.ContainsAny(path[:1], "~@"):
		return false
	case tool.Scheme(p.file) != "" || tool.Scheme(path) != "":
		return tool.Scheme(path) == tool.LocalScheme && path == p.file
	}
	return within(cwd, p.file) == within(cwd, path)
}

// throughLink reports whether the file at path is a link: a plan file that leads elsewhere is
// not the plan file.
func (m *Manager) throughLink(path string) bool {
	l, ok := m.cfg.Store.Fs.(afero.Lstater)
	if !ok {
		return false
	}
	info, _, err := l.LstatIfPossible(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// within is the absolute form of a path.
func within(cwd, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

func (p plan) refusal(name string) error {
	what := "Only the plan file may be changed (" + fault.OneLine(p.file) + ")."
	if p.file == "" {
		what = "Nothing may be changed."
	}
	return fault.New(fault.Denied, "Plan mode is on, so this %s call was refused. %s Only the user can end plan mode, with xcsh.setMode.", name, what)
}

// instructions returns the part of the system prompt about plan mode.
func (p plan) instructions() string {
	where := "Nothing may be changed, so put the plan into your answer."
	if p.file != "" {
		where = "Write the plan to the plan file " + fault.OneLine(p.file) + " with write or edit; nothing else may be changed."
	}
	return `
<plan_mode>
Plan mode is on. Explore with read, grep, find and ls, and work out a plan; do not carry it out.
` + where + ` Every other tool call that changes something, and every command, is refused.
You cannot end plan mode, and exit_plan_mode and xd://propose do not exist here. When the plan is complete, say so:
the user ends plan mode with the command xcsh.setMode.
</plan_mode>
`
}

// resource returns the path of a file that is kept beside the session that log is, for the
// address by which the programs' models know it. Only the plan file can be written.
func (h *host) resource(name, address string, write bool) (path string, err error) {
	fsys, rest := h.s.m.cfg.Store.Fs, address[strings.Index(address, "://")+len("://"):]
	artifacts := artifact.Dir{Fs: fsys, Session: h.log.Path()}
	switch scheme := tool.Scheme(address); {
	case scheme == tool.ArtifactScheme && !write:
		path, err = artifacts.Path(rest)
	case scheme == tool.LocalScheme:
		if write {
			if plan, on, err := h.plan(); err != nil || !on || !plan.allows(h.s.cwd, address) {
				return "", tool.Unavailable(name, address)
			}
		}
		path, err = artifacts.Local(rest)
	default:
		return "", tool.Unavailable(name, address)
	}
	if err == nil && !write {
		_, err = fsys.Stat(path)
	}
	if err != nil {
		return "", tool.Unavailable(name, address)
	}
	return path, nil
}
