//go:build peers

package differential

import (
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// pi shows the titles of sessions that follow xcsh's rules, and its renames are shown here.
func TestTitlesAreSharedWithPi(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	pi := startPi(t, home)
	store := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs(), Now: time.Now, DirFor: func(string) (string, error) { return dir, nil }})
	log, err := store.Create(dir, session.NewOptions{Title: "at the beginning"})
	require.NoError(t, err)
	kit.MustAppend(t, log, kit.Say("user", "hello"))
	kit.MustAppend(t, log, kit.Say("assistant", "hi"))
	finder := library.Finder{Fs: afero.NewOsFs(), Now: time.Now, SessionDir: dir}
	requireTitle := func(path, title string) {
		t.Helper()
		var rows []struct{ Path, Name string }
		require.NoError(t, pi.ask(request{Do: "list", Dir: dir}, &rows))
		for _, row := range rows {
			if row.Path == path {
				require.Equal(t, title, row.Name, "in pi")
			}
		}
		require.NotEmpty(t, rows)
		info, err := finder.Describe(path)
		require.NoError(t, err)
		require.Equal(t, title, info.Title)
	}
	requireTitle(log.Path(), "at the beginning")
	rename := func(title string) {
		_, err := log.SetTitle(session.Title{Text: title, Source: "user"})
		require.NoError(t, err)
	}
	rename("by us")
	requireTitle(log.Path(), "by us")

	manager := pi.open("open", log.Path(), dir)
	require.NoError(t, pi.call(manager, nil, "appendSessionInfo", "by pi"))
	requireTitle(log.Path(), "by pi")
	_, err = log.Refresh()
	require.NoError(t, err)
	require.NoError(t, log.View(func(d *session.Document, _ session.Leaf) error {
		require.Equal(t, "by pi", d.Title().Text)
		return nil
	}))
	fork, err := store.Fork(log)
	require.NoError(t, err)
	requireTitle(fork.Path(), "by pi")
	require.NoError(t, fork.Close())

	rename("by us again")
	requireTitle(log.Path(), "by us again")
	require.NoError(t, log.Close())
}
