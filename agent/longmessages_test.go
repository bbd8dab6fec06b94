package agent_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// A prompt after messages that no service accepts fails before anything of it is recorded; images don't count.
func TestMessagesThatFitNoRequestAreRefused(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	long := strings.Repeat("A", 33<<20)
	image := `{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":[` +
		`{"type":"image","mimeType":"image/png","data":"` + long + `"}]}}`
	for line, fits := range map[string]bool{st.User("dddddddd", "cccccccc", long): false, image: true} {
		fs := afero.NewMemMapFs()
		path := put(t, fs, "a", "0123456789abcdef", "/w")
		content, err := afero.ReadFile(fs, path)
		require.NoError(t, err)
		require.NoError(t, afero.WriteFile(fs, path, append(content, line+"\n"...), 0o600))
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "an answer"})))
		s := w.live(t, "/w")
		_, err = s.Switch(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, 4, state(t, s).MessageCount)
		before := len(lines(t, fs, s))
		_, err = s.Prompt(t.Context(), agent.Input{Text: "go on"})
		if fits {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, fault.Limit, fault.KindOf(err))
		require.EqualError(t, err, "The conversation has messages of 33 MiB in all, but a model's service accepts requests of 32 MiB. "+
			"Branch before entry dddddddd, which is the longest.")
		require.Len(t, lines(t, fs, s), before)
	}
}
