package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func withLargeFile(size int64) option {
	return func(c *agent.Config) { c.LargeFile = size }
}

// A large session is announced when it becomes live, once for each server, with the user's options.
// Proves: F-18, F-19
func TestALargeSessionIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path, other := put(t, fs, "a", "0123456789abcdef", "/w"), put(t, fs, "b", "0123456789abcdee", "/w")
	info, err := fs.Stat(path)
	require.NoError(t, err)
	w := newWorld(t, fs, withLargeFile(info.Size()-1))
	s := w.live(t, "/w")
	require.Empty(t, eventsOf[event.LargeSession](w), "a new session has no file")
	_, large := s.Large()
	require.False(t, large)
	for range 2 {
		for _, p := range []string{path, other} {
			_, err := s.Switch(t.Context(), p)
			require.NoError(t, err)
		}
	}
	_, err = s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	reports := eventsOf[event.LargeSession](w)
	require.Len(t, reports, 2, "one for each session")
	require.Equal(t, info.Size(), reports[0].Bytes)
	for _, advice := range []string{"is large", "Start a new session", "fork this one", "Compacting"} {
		require.Contains(t, reports[0].Text, advice)
	}
	again := newWorld(t, fs, withLargeFile(info.Size()-1))
	_, err = again.live(t, "/w").Switch(t.Context(), path)
	require.NoError(t, err)
	require.Len(t, eventsOf[event.LargeSession](again), 1, "another server announces it again")
}

func TestASessionIsAnnouncedWhenItBecomesLarge(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	info, err := fs.Stat(path)
	require.NoError(t, err)
	m := scripted(providertest.Reply{Text: "a short answer"}, providertest.Reply{Text: "another one"})
	w := newWorld(t, fs, withModel(m), withLargeFile(info.Size()))
	s := w.live(t, "/w")
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, eventsOf[event.LargeSession](w), "it has exactly the size")
	prompt(t, s, "grow")
	prompt(t, s, "grow more")
	require.NoError(t, w.Close(t.Context()))
	require.Len(t, eventsOf[event.LargeSession](w), 1)
}

// The default limit is 100 MB.
func TestTheSizeOfALargeSession(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	const limit = 100 << 20
	for _, size := range []int64{25 << 20, 50 << 20, 75 << 20, limit} { // a line may not be longer
		info, err := fs.Stat(path)
		require.NoError(t, err)
		empty := st.User("dddddddd", "cccccccc", "") + "\n"
		_, err = f.WriteString(st.User("dddddddd", "cccccccc", strings.Repeat("x", int(size-info.Size())-len(empty))) + "\n")
		require.NoError(t, err)
	}
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, eventsOf[event.LargeSession](w), "100 MB")
	_, err = f.WriteString("\n")
	require.NoError(t, err)
	_, err = s.Label(t.Context(), "cccccccc", "")
	require.NoError(t, err)
	reports := eventsOf[event.LargeSession](w)
	require.Len(t, reports, 1)
	require.Contains(t, reports[0].Text, "(100 MB)")
	require.NoError(t, w.Close(t.Context()))
}
