package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/preference"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Preferences are the user's own defaults, which the terminal programs keep. It is safe for concurrent use.
type Preferences interface {
	// Of returns the defaults for the sessions of a program.
	Of(program session.Dialect) preference.Preferences
	// RememberModel makes a model that of a role in the future sessions of a program.
	RememberModel(ctx context.Context, program session.Dialect, role string, ref provider.Ref) error
	// RememberThinking makes a level that of the future sessions of a program.
	RememberThinking(ctx context.Context, program session.Dialect, level provider.Level) error
}

// The roles of models that requests use. The programs know more; those are kept and shown.
const (
	defaultRole = "default"
	planRole    = "plan"
)

// compactionRoles are the roles of the models that may write a summary if the session's own model can't.
var compactionRoles = []string{defaultRole, "smol", "slow", planRole}

// preferences returns the user's defaults for a session.
func (s *Session) preferences(log *session.Log) preference.Preferences {
	if s.m.cfg.Preferences == nil {
		return preference.Preferences{}
	}
	return s.m.cfg.Preferences.Of(dialectOf(log))
}

// defaults returns the settings of a new session: the configured ones, else the user's own.
func (s *Session) defaults(log *session.Log) Defaults {
	d := s.m.cfg.Defaults
	if s.m.cfg.Preferences == nil || d.Model != "" && d.Thinking != "" {
		return d
	}
	user := s.preferences(log)
	if ref, level, ok := selected(user.Roles, defaultRole); ok && d.Model == "" {
		d.Model, user.Thinking = ref.String(), cmp.Or(level, user.Thinking)
	}
	d.Thinking = cmp.Or(d.Thinking, user.Thinking)
	return d
}

// peerDefault returns the default model of another terminal program, if its model can be used here, and a notice about that
// for the user. level is the thinking level that was chosen with it, "" for none.
func (s *Session) peerDefault(ctx context.Context, log *session.Log) (m provider.Model, level provider.Level, notice string, ok bool) {
	if s.m.cfg.Preferences == nil {
		return provider.Model{}, "", "", false
	}
	for _, program := range []session.Dialect{session.Pi, session.Omp, session.Xcsh} {
		if program == dialectOf(log) {
			continue
		}
		user := s.m.cfg.Preferences.Of(program)
		ref, level, named := selected(user.Roles, defaultRole)
		if !named {
			continue
		}
		if m, found := s.find(ctx, ref); found && s.m.cfg.Models.CheckKey(m) == nil {
			return m, cmp.Or(level, user.Thinking), "Using " + ref.String() + ", the default model of " + program.String() + ".", true
		}
	}
	return provider.Model{}, "", "", false
}

// selected returns the model of a role and the thinking level that was chosen with it, "" for none. ok is
// false if there is none.
func selected(roles map[string]string, role string) (ref provider.Ref, level provider.Level, ok bool) {
	const most = 4 // roles that refer to each other
	for range most {
		value, named := roles[role]
		if !named {
			return provider.Ref{}, "", false
		}
		value, _, _ = strings.Cut(value, ",") // the others are for when the first one fails
		value = strings.TrimSpace(value)
		if other, alias := strings.CutPrefix(strings.Replace(value, "pi/", "@", 1), "@"); alias {
			role = other
			continue
		}
		if at := strings.LastIndexByte(value, ':'); at >= 0 && slices.Contains(provider.Levels, provider.Level(value[at+1:])) {
			value, level = value[:at], provider.Level(value[at+1:])
		}
		ref, ok = provider.ParseRef(value)
		return ref, level, ok
	}
	return provider.Ref{}, "", false
}

// picked is a model for a request, and its thinking level.
type picked struct {
	model provider.Model
	level provider.Level
}

// forRole returns the model of a role, as the session records it or else as the user configured it. ok is
// false if there is none, or if it can't be used: problem is then a sentence about that.
func (s *Session) forRole(ctx context.Context, log *session.Log, c session.ContextState, role string) (p picked, problem string, ok bool) {
	ref, level, named := selected(c.Models, role)
	if !named || role == defaultRole {
		ref, level, named = selected(s.preferences(log).Roles, role)
	}
	if !named {
		return picked{}, "", false
	}
	model, found := s.find(ctx, ref)
	if !found {
		return picked{}, "There is no model " + ref.String() + ", which is that of the role " + role + ".", false
	}
	if err := s.m.cfg.Models.CheckKey(model); err != nil {
		return picked{}, "There is no key for " + ref.String() + ", the model of the role " + role + ".", false
	}
	return picked{model, model.Clamp(cmp.Or(level, s.wanted(log, c)))}, "", true
}

// answering returns the model for the next request of the conversation: in plan mode that of the role plan,
// else the session's own. lost is a notice for the user about a model that is not available.
func (s *Session) answering(ctx context.Context, log *session.Log, c session.ContextState) (p picked, lost string, err error) {
	planning, err := isPlanning(log)
	if err != nil {
		return picked{}, "", err
	}
	if planning && s.m.cfg.Models != nil {
		p, problem, ok := s.forRole(ctx, log, c, planRole)
		if ok {
			return p, "", nil
		}
		lost = problem
	}
	p.model, p.level, err = s.choiceOr(ctx, log, c, &lost)
	return p, lost, err
}

// picker returns the model for a kind of request.
type picker func(context.Context, *session.Log, session.ContextState) (p picked, lost string, err error)

// summarising returns the model for a summary: the answering one if there is a key for it, else the first
// one with a key among the roles.
func (s *Session) summarising(ctx context.Context, log *session.Log, c session.ContextState) (p picked, lost string, err error) {
	p, lost, err = s.answering(ctx, log, c)
	if err != nil {
		return p, lost, err
	}
	if s.m.cfg.Models.CheckKey(p.model) == nil {
		return p, lost, nil
	}
	for _, role := range compactionRoles {
		if other, _, ok := s.forRole(ctx, log, c, role); ok {
			return other, "There is no key for " + p.model.Ref().String() + ", so " + other.model.Ref().String() + " writes the summary.", nil
		}
	}
	return p, lost, nil // the request reports the missing key
}

// choiceOr is choice, whose notice is added to that of the caller.
func (s *Session) choiceOr(ctx context.Context, log *session.Log, c session.ContextState, lost *string) (provider.Model, provider.Level, error) {
	model, level, gone, err := s.choice(ctx, log, c)
	if *lost != "" && err == nil {
		*lost += " " + model.Ref().String() + " is used instead."
	}
	*lost = strings.TrimSpace(*lost + " " + gone)
	return model, level, err
}

func isPlanning(log *session.Log) (on bool, err error) {
	m, err := currentMode(log)
	return m.name == PlanMode, err
}

// ownModel returns the session's own model as it is recorded. Answers name the model in use, but not those
// of plan mode, after which the former model comes back.
func ownModel(log *session.Log, c session.ContextState) (ref string, err error) {
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		before, chosen, err := beforePlan(d, leaf)
		if err != nil || before == nil && chosen == "" {
			ref = c.Models[defaultRole]
			return err
		}
		if ref = chosen; ref == "" {
			state, err := d.ContextState(*before)
			ref = state.Models[defaultRole]
			return err
		}
		return nil
	})
	return ref, err
}

// beforePlan returns the place before the plan mode in which the newest answer was given, nil if it wasn't
// given in plan mode, or else the model that the user chose since.
func beforePlan(d *session.Document, leaf session.Leaf) (before *session.Leaf, chosen string, err error) {
	answered := false
	for i, typ := range d.Recent(leaf) {
		switch typ {
		case session.TypeMessage:
			answered = answered || d.Role(i) == provider.RoleAssistant
		case session.TypeModelChange:
			if chosen != "" {
				continue // a later one counts
			}
			e, err := d.Entry(i)
			change := e.AsModelChange()
			switch {
			case err != nil || change.Role != defaultRole || change.Model == "":
				continue
			case !answered:
				return nil, "", nil // no later answer can hide it
			}
			chosen = change.Model
		case session.TypeModeChange:
			if !answered {
				continue
			}
			e, err := d.Entry(i)
			if err != nil || e.AsModeChange().Mode != PlanMode {
				return nil, "", err
			}
			at := session.AtRoot()
			if parent := d.Parent(i); parent >= 0 {
				at = session.At(d.ID(parent))
			}
			return &at, chosen, nil
		}
	}
	return nil, "", nil
}

// remember makes a choice of the user the default of future sessions. That it can't be kept doesn't undo the
// choice, but is reported.
func (s *Session) remember(log *session.Log, keep func(p Preferences, program session.Dialect) error) {
	if s.m.cfg.Preferences == nil || !s.m.cfg.Remember {
		return
	}
	if err := keep(s.m.cfg.Preferences, dialectOf(log)); err != nil {
		s.emit(log, notice(err.Error()))
	}
}

// withRoles fills in the model that answers, with the default model and thinking level of a session that does
// not record them itself.
func (s *Session) withRoles(log *session.Log, state State) (State, error) {
	ctx := context.Background()
	own, err := ownModel(log, session.ContextState{Models: state.Models})
	if err != nil {
		return State{}, err
	}
	state.Model = splitModel(own)
	if state.Model == nil || state.MessageCount == 0 {
		defaults := s.defaults(log)
		if state.Model == nil {
			state.Model = splitModel(defaults.Model)
		}
		if level := defaults.Thinking; level != "" && state.MessageCount == 0 && state.ThinkingLevel == "off" {
			state.ThinkingLevel = string(level)
		}
	}
	if state.Mode == PlanMode && s.m.cfg.Models != nil {
		if p, _, ok := s.forRole(ctx, log, session.ContextState{Models: state.Models}, planRole); ok {
			ref := p.model.Ref()
			state.Model = &ref
		}
	}
	return state, nil
}
