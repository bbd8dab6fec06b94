package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Readiness reports whether a prompt could be answered, and the reason if not.
type Readiness struct {
	OK       bool          `json:"ok"`
	Reason   provider.Need `json:"reason,omitempty" jsonschema:"Why not: noModel, noKey or unknownModel."`
	Provider string        `json:"provider,omitempty" jsonschema:"With noKey: the id of the provider."`
	Message  string        `json:"message,omitempty" jsonschema:"A sentence about the reason."`
}

// WithReadiness adds to a state whether a prompt could be answered, and the model that would answer it if none
// is chosen. It starts no engine, and asks for no key.
func (s *Session) WithReadiness(ctx context.Context, state State) State {
	if slices.Contains(state.Pending, "model") {
		return state // known when the session is read
	}
	if state.Engine.Name != engine.Own && state.Engine.Name != "" {
		state.Ready = &Readiness{OK: true} // whether it is logged in is known when it is asked
		return state
	}
	model, err := s.answeringIn(ctx, state)
	if err == nil {
		err = s.m.cfg.Models.CheckKey(model)
		if ref := model.Ref(); state.Model == nil {
			state.Model = &ref
		}
	}
	state.Ready = readinessOf(err)
	return state
}

// answeringIn returns the model that would answer a prompt. That of a session that is still being read is the one
// of its state.
func (s *Session) answeringIn(ctx context.Context, state State) (provider.Model, error) {
	if len(state.Pending) > 0 && state.Model != nil {
		model, found := s.find(ctx, *state.Model)
		if !found {
			return model, errUnknownModel("There is no model "+state.Model.String()+".", *state.Model)
		}
		return model, nil
	}
	log := s.current()
	c, err := log.ContextState()
	if err != nil {
		return provider.Model{}, err
	}
	p, _, err := s.answering(ctx, log, c)
	return p.model, err
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
