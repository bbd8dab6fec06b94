package openai_test

import (
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func TestCompletionsConformance(t *testing.T) {
	providertest.Run(t, provider.OpenAICompletions, func(o guard.Options) provider.Provider { return openai.NewCompletions(o) })
}

func TestAzureConformance(t *testing.T) {
	providertest.Run(t, provider.AzureResponses, func(o guard.Options) provider.Provider {
		return openai.NewAzure(o, func(string) string { return "" })
	})
}

func TestResponsesConformance(t *testing.T) {
	providertest.Run(t, provider.OpenAIResponses, func(o guard.Options) provider.Provider { return openai.NewResponses(o) })
}
