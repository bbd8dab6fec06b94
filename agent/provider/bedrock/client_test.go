package bedrock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// account sets the credentials of the environment, which Amazon's library reads.
func account(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", providertest.AmazonKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", providertest.AmazonSecret)
	t.Setenv("AWS_SESSION_TOKEN", "the-session")
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	t.Setenv("AWS_CONFIG_FILE", empty)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", empty)
}

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

func TestConformance(t *testing.T) {
	account(t)
	providertest.Run(t, provider.BedrockConverse, func(o guard.Options) provider.Provider { return bedrock.New(o, variables{}.get) })
}
