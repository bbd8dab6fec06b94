package commands_test

import (
	"context"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// progressing is an editor that shows the progress of a command.
type progressing struct {
	commands.Headless
	shown []string
	ended bool
}

func (p *progressing) Progress(_ context.Context, title string) commands.Progress {
	p.shown = append(p.shown, title)
	return p
}

func (p *progressing) Report(message string, _ int) { p.shown = append(p.shown, message) }
func (p *progressing) End(string)                   { p.ended = true }

// An editor without a plugin shows the retries as the message of the turn's progress, which disappears.
func TestRetriesAreShownAsProgress(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	var model providertest.Scripted
	model.Script(
		"demo", providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Fault: providertest.OverloadedBefore},
		providertest.Reply{Text: "Here."},
	)
	env := newEnv(fs, func(c *agent.Config) {
		withDemo(fs)(c)
		models, ok := c.Models.(*catalog.Catalog)
		require.True(t, ok)
		models.Services = map[provider.API]provider.Provider{provider.Scripted: &model}
		c.Retry.Base = time.Nanosecond
	})
	ui := &progressing{}
	env.UI = ui
	_, err := run(t.Context(), env, "xcsh.prompt", args{"text": "hello"})
	require.NoError(t, err)
	require.Len(t, ui.shown, 4)
	require.Equal(t, "xcsh", ui.shown[0])
	require.Regexp(t, `^Retrying \(1 of 3\): .+`, ui.shown[1])
	require.Regexp(t, `^Retrying \(2 of 6\): .+`, ui.shown[2])
	require.Empty(t, ui.shown[3], "the message is removed")
	require.True(t, ui.ended)
}
