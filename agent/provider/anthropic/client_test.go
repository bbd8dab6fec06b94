package anthropic_test

import (
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, provider.AnthropicMessages, func(o guard.Options) provider.Provider { return anthropic.New(o) })
}
