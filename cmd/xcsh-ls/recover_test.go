package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// closing is a hook that notes that it was closed.
type closing struct{ closed int }

func (*closing) Before(context.Context, hook.Event) (hook.Decision, error) {
	return hook.Decision{}, nil
}
func (*closing) After(context.Context, hook.Event) {}
func (c *closing) Close(context.Context)           { c.closed++ }

// The manager that recovers rewinds at the start of an ACP agent serves no conversation, and is closed at once.
func TestTheManagerOfARecoveryIsClosed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	p, err := openPlace(lsp.Settings{}, func() []string { return nil }, zap.NewNop())
	require.NoError(t, err)
	cfg, c := p.config(lsp.Settings{}, false, nil, zap.NewNop()), &closing{}
	cfg.Hooks = []hook.Hook{c}
	recoverAlone(cfg, zap.NewNop())
	require.Equal(t, 1, c.closed)
	again := agent.NewManager(cfg) // with the same stores
	require.NoError(t, again.Close(t.Context()))
}
