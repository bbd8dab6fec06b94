package gemini_test

import (
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, provider.GoogleGenerativeAI, func(o guard.Options) provider.Provider { return gemini.New(o) })
}
