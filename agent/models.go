package agent

import (
	"cmp"
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Models finds models, their services and their API keys. It is safe for concurrent use.
type Models interface {
	// All returns every model that could be chosen, those that can be used now first.
	All(ctx context.Context) []provider.Info
	// Find returns a model by its exact name. An unknown model of a
	// known provider is found too, with default capabilities.
	Find(ctx context.Context, ref provider.Ref) (provider.Model, bool)
	// Service returns the client of the model's API.
	Service(m provider.Model) (provider.Provider, error)
	// Key returns the API key for a model, "" for one that needs none. A missing key
	// is a Provider error that names the places for one.
	Key(ctx context.Context, m provider.Model) (string, error)
	// CheckKey returns the error of Key for a missing key, without asking the client for one.
	CheckKey(m provider.Model) error
	// Sources returns the places that models come from, those that are ready first.
	Sources(ctx context.Context) []provider.Source
}

// Choice is the model of a session, and its thinking level.
type Choice struct {
	Model    provider.Ref
	Thinking provider.Level
}

// choice returns the session's own model and thinking level, or else the defaults of new sessions. An
// unavailable model is replaced by the default one; lost is then the notice for the user.
func (s *Session) choice(ctx context.Context, log *session.Log, c session.ContextState) (model provider.Model, level provider.Level, lost string, err error) {
	models := s.m.cfg.Models
	if models == nil {
		return provider.Model{}, "", "", errNoModel()
	}
	level = s.wanted(log, c)
	own, err := ownModel(log, c)
	if err != nil {
		return provider.Model{}, "", "", err
	}
	stored, named := provider.ParseRef(own)
	if named {
		if model, found := models.Find(ctx, stored); found {
			return model, model.Clamp(level), "", nil
		}
		lost = "Could not restore model " + stored.String() + "."
	}
	fallback, ok := provider.ParseRef(s.defaults(log).Model)
	if ok {
		if model, found := models.Find(ctx, fallback); found {
			if lost != "" {
				lost = "Could not restore model " + stored.String() + ". Using " + fallback.String() + "."
			}
			return model, model.Clamp(level), lost, nil
		}
		return provider.Model{}, "", lost, errUnknownModel("There is no model "+fallback.String()+".", fallback)
	}
	if model, at, why, ok := s.peerDefault(ctx, log); ok {
		if at != "" && !c.HasThinkingLevel && s.defaults(log).Thinking == "" {
			level = at
		}
		return model, model.Clamp(level), strings.TrimSpace(lost + " " + why), nil
	}
	if sole, why, ok := s.m.soleModel(ctx); ok {
		if model, found := models.Find(ctx, sole); found {
			return model, model.Clamp(level), strings.TrimSpace(lost + " " + why), nil
		}
	}
	if lost != "" {
		return provider.Model{}, "", lost, errUnknownModel(lost, stored)
	}
	return provider.Model{}, "", "", errNoModel()
}

// errNoModel is the error of a session without a model.
func errNoModel() error {
	return fault.New(fault.Provider, "Choose a model to start.").With("reason", provider.NeedsModel)
}

// errUnknownModel is the error of a session whose model does not exist, with a sentence about that.
func errUnknownModel(sentence string, ref provider.Ref) error {
	return fault.New(fault.Provider, "%s Choose another model.", sentence).With("reason", provider.NeedsOtherModel).With("model", ref.String())
}

// Ready reports why a prompt would be refused: no model is chosen, or there is no key for it.
// It changes nothing.
func (s *Session) Ready(ctx context.Context) error {
	if seat, err := s.hosted(ctx); seat != nil || err != nil {
		return err // whether it is logged in is known when it is asked
	}
	log := s.current()
	c, err := log.ContextState()
	if err != nil {
		return err
	}
	p, _, err := s.answering(ctx, log, c)
	if err != nil {
		return err
	}
	return s.m.cfg.Models.CheckKey(p.model)
}

// SetModel makes the live session ask another model from the next request on, or the next one for a role,
// and records that. The thinking level is clamped to the model's levels. The model becomes that of future
// sessions, too, if choices are remembered. The offline demo never does: the terminal programs, which have the same setting,
// don't know it.
func (s *Session) SetModel(ctx context.Context, ref provider.Ref, role string) (Choice, error) {
	if choice, hosted, err := s.hostedModel(ctx, ref, role); hosted {
		return choice, err
	}
	choice, log, err := s.setModel(ctx, ref, role)
	if err == nil && s.m.cfg.Defaults.Model == "" && ref != offline.Model.Ref() {
		s.remember(log, func(p Preferences, program session.Dialect) error { return p.RememberModel(ctx, program, role, ref) })
	}
	if err == nil {
		s.m.ModelsChanged()
	}
	return choice, err
}

func (s *Session) setModel(ctx context.Context, ref provider.Ref, role string) (choice Choice, log *session.Log, err error) {
	err = s.writing(ctx, func() error {
		model, found := s.find(ctx, ref)
		if !found {
			return fault.New(fault.NotFound, "There is no model %s.", ref).With("field", "model")
		}
		log = s.current()
		if role == defaultRole {
			role = ""
		}
		if role != "" && dialectOf(log) == session.Pi {
			return fault.New(fault.InvalidArgument, "Sessions of pi have no model roles.").With("field", "role")
		}
		c, err := log.ContextState()
		if err != nil {
			return err
		}
		if _, err := log.AppendModel(ref.Provider, ref.ID, role); err != nil {
			return err
		}
		s.emit(log, modelChanged(ref, role))
		choice = Choice{Model: ref, Thinking: provider.Level(c.ThinkingLevel)}
		if role != "" {
			return nil
		}
		choice.Thinking, err = s.level(log, c, model, s.wanted(log, c))
		return err
	})
	return choice, log, err
}

// wanted is the thinking level requested so far.
func (s *Session) wanted(log *session.Log, c session.ContextState) provider.Level {
	if c.HasThinkingLevel {
		return provider.Level(c.ThinkingLevel)
	}
	return cmp.Or(s.defaults(log).Thinking, provider.Medium)
}

// level records the supported thinking level closest to the wanted one, if that is
// another one than before.
func (s *Session) level(log *session.Log, c session.ContextState, model provider.Model, want provider.Level) (provider.Level, error) {
	level := model.Clamp(want)
	if c.HasThinkingLevel && provider.Level(c.ThinkingLevel) == level {
		return level, nil
	}
	if _, err := log.Append(session.DraftSetting(session.TypeThinkingLevel, rawjson.Quote(string(level)))); err != nil {
		return level, err
	}
	s.emit(log, thinkingChanged(level))
	return level, nil
}

// SetThinking sets how much the model thinks from the next request on. Only a level that is
// another one is recorded. It becomes that of future sessions, too, if choices are remembered.
func (s *Session) SetThinking(ctx context.Context, want provider.Level) (choice Choice, err error) {
	if choice, hosted, err := s.hostedThinking(ctx, want); hosted {
		return choice, err
	}
	var log *session.Log
	err = s.writing(ctx, func() error {
		log = s.current()
		c, err := log.ContextState()
		if err != nil {
			return err
		}
		p, _, err := s.answering(ctx, log, c)
		if err != nil {
			return err
		}
		choice = Choice{Model: p.model.Ref()}
		choice.Thinking, err = s.level(log, c, p.model, want)
		return err
	})
	if err == nil && s.m.cfg.Defaults.Thinking == "" {
		s.remember(log, func(p Preferences, program session.Dialect) error { return p.RememberThinking(ctx, program, want) })
	}
	return choice, err
}

func (s *Session) find(ctx context.Context, ref provider.Ref) (provider.Model, bool) {
	if s.m.cfg.Models == nil {
		return provider.Model{}, false
	}
	return s.m.cfg.Models.Find(ctx, ref)
}

// Sensitive reports whether the file with this absolute path holds secrets, which are never sent unless the user names
// the file as an attachment.
func (m *Manager) Sensitive(path string) bool { return m.cfg.Sensitive != nil && m.cfg.Sensitive(path) }

// sensitiveNow is Sensitive for many paths at one moment.
func (m *Manager) sensitiveNow() func(path string) bool {
	if m.cfg.SensitiveNow == nil {
		return m.Sensitive
	}
	return m.cfg.SensitiveNow()
}

// Models lists the models that can be chosen.
func (m *Manager) Models(ctx context.Context) []provider.Info {
	if m.cfg.Models == nil {
		return []provider.Info{}
	}
	return m.cfg.Models.All(ctx)
}
