package main_test

import (
	"context"
	"iter"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
)

// rightKey is the key that keyed accepts.
const rightKey = "sk-the-right-key"

// keyed is a service that answers like the offline demo, but only with the right key.
type keyed struct{ demo offline.Provider }

func (k keyed) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	if req.Key == rightKey {
		return k.demo.Stream(ctx, req)
	}
	return func(yield func(provider.Event) bool) {
		m := &provider.Message{
			Role: provider.RoleAssistant, API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID,
			Usage: &provider.Usage{}, StopReason: provider.StopError, ErrorMessage: "invalid x-api-key", Timestamp: k.demo.Now().UnixMilli(),
		}
		_ = yield(provider.Event{Kind: provider.Start, Message: m}) &&
			yield(provider.Event{Kind: provider.Failed, Message: m, Err: &provider.Error{Class: provider.Auth, Status: 401, Message: m.ErrorMessage}})
	}
}
