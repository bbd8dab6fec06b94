package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Readiness reports whether a prompt could be answered, and the reason if not.
type Readiness struct {
	OK       bool          `json:"ok"`
	Reason   provider.Need `json:"reason,omitempty" jsonschema:"Why not: noModel, noKey or unknownModel."`
	Provider string        `json:"provider,omitempty" jsonschema:"With noKey: the id of the provider."`
	Message  string        `json:"message,omitempty" jsonschema:"A sentence about the reason."`
}

// WithReadiness adds to a state whether a prompt could be answered, and the model that would answer it if none
// is chosen. The thinking level becomes the one that is sent, which the model supports. It starts no engine, and asks
// for no key.
func (s *Session) WithReadiness(ctx context.Context, state State) State {
	return s.withReadiness(ctx, s.current(), state)
}

// withReadiness is WithReadiness for the state of the conversation log. The state of one that is still being read
// is all that is known of it.
func (s *Session) withReadiness(ctx context.Context, log *session.Log, state State) State {
	if len(state.Pending) > 0 && (state.Model == nil || slices.Contains(state.Pending, "model")) {
		return state
	}
	if state.Engine.Name != engine.Own && state.Engine.Name != "" {
		state.Ready = &Readiness{OK: true} // whether it is logged in is known when it is asked
		return state
	}
	p, err := s.answeringState(ctx, log, state)
	if err == nil {
		err = s.m.cfg.Models.CheckKey(p.model)
		if ref := p.model.Ref(); state.Model == nil {
			state.Model = &ref
		}
		if !slices.Contains(state.Pending, "thinkingLevel") {
			state.ThinkingLevel = string(p.level)
		}
	}
	state.Ready = readinessOf(err)
	return state
}

// answeringState returns the model that would answer a prompt in a state, and the thinking level that would be sent.
func (s *Session) answeringState(ctx context.Context, log *session.Log, state State) (picked, error) {
	if len(state.Pending) == 0 {
		return s.answeringIn(ctx, log)
	}
	model, err := s.named(ctx, *state.Model)
	return picked{model, model.Clamp(provider.Level(state.ThinkingLevel))}, err
}

// named returns the model called ref.
func (s *Session) named(ctx context.Context, ref provider.Ref) (provider.Model, error) {
	if s.m.cfg.Models == nil {
		return provider.Model{}, errNoModel()
	}
	model, found := s.find(ctx, ref)
	if !found {
		return model, errUnknownModel("There is no model "+ref.String()+".", ref)
	}
	return model, nil
}

// answeringIn returns the model that would answer a prompt, and its thinking level.
func (s *Session) answeringIn(ctx context.Context, log *session.Log) (picked, error) {
	c, err := log.ContextState()
	if err != nil {
		return picked{}, err
	}
	p, _, err := s.answering(ctx, log, c)
	return p, err
}

// Ready returns an error if the first prompt of a new session could not be answered. Unlike [Session.Ready] it needs no
// session, and so it ignores the settings of terminal programs. With several ready providers and no default model, the
// error is that a model has to be chosen.
func (m *Manager) Ready(ctx context.Context) error {
	models := m.cfg.Models
	if models == nil {
		return errNoModel()
	}
	ref, ok := provider.ParseRef(m.cfg.Defaults.Model)
	if !ok {
		if ref, _, ok = m.soleModel(ctx); !ok {
			return errNoModel()
		}
	}
	model, found := models.Find(ctx, ref)
	if !found {
		return errUnknownModel("There is no model "+ref.String()+".", ref)
	}
	return models.CheckKey(model)
}

func readinessOf(err error) *Readiness {
	if err == nil {
		return &Readiness{OK: true}
	}
	r := &Readiness{Reason: provider.NeedOf(err), Message: err.Error()}
	if f, ok := errors.AsType[*fault.Error](err); ok && r.Reason == provider.NeedsKey {
		r.Provider, _ = f.Data["provider"].(string)
	}
	return r
}
