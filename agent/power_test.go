package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// inspected are models whose requests are looked at when they leave.
type inspected struct {
	models
	leaves func()
}

func (w *inspected) Service(provider.Model) (provider.Provider, error) { return w, nil }

func (w *inspected) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	w.leaves()
	return w.Scripted.Stream(ctx, req)
}

// TestALossOfPowerInATurn cuts the power when each request leaves, at which the prompt is in the
// session or in the journal, and after each turn, at which everything is in the session.
// Proves: F-06, F-11
func TestALossOfPowerInATurn(t *testing.T) {
	t.Parallel()
	power := sessiontest.NewPowerFs()
	options := tool.Options{Fs: power}
	shell := tool.NewShell(options)
	said := ""
	m := &inspected{leaves: func() {
		kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
			require.True(t, holds(t, disk, said), "%q when the request leaves", said)
		})
	}}
	m.Script("m",
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "bash", Args: json.RawMessage(`{"command":"seq 5000"}`)}}},
		providertest.Reply{Text: "The numbers are printed."}, providertest.Reply{Text: "The second answer."})
	w := newWorld(t, power, withJournal(t, power), withTools(tool.All(options)...), func(c *agent.Config) {
		c.Models, c.Defaults.Model, c.Shell, c.Approval = m, "p/m", &shell, "yolo"
	})
	s := w.live(t, t.TempDir())
	for _, turn := range []struct{ prompt, answer string }{
		{"print the numbers", "The numbers are printed."}, {"and now?", "The second answer."},
	} {
		said = turn.prompt
		prompt(t, s, turn.prompt)
		kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
			text := kit.Content(t, disk, s.File())
			require.Contains(t, text, turn.prompt)
			require.Contains(t, text, turn.answer)
			dir, ok := session.ArtifactDir(s.File())
			require.True(t, ok)
			require.Contains(t, kit.Content(t, disk, filepath.Join(dir, "0.bash.log")), "\n5000\n", "the session names it")
		})
	}
}

// holds reports whether any file on disk contains text.
func holds(t *testing.T, disk afero.Fs, text string) (found bool) {
	t.Helper()
	require.NoError(t, afero.Walk(disk, "/", func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			found = found || strings.Contains(kit.Content(t, disk, path), text)
		}
		return err
	}))
	return found
}
