package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A session in memory gets a file with all of its content, and continues in it.
// Proves: N-06
func TestKeep(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := kit.NewStore(fs)
		l := s.Memory("/w", session.NewOptions{Title: "Kept"})
		first := kit.MustAppend(t, l, kit.Say("user", "one"))
		kit.MustAppend(t, l, kit.Say("assistant", "two"))
		_, err := l.SetDescription("described")
		require.NoError(t, err)
		require.NoError(t, l.Branch(first))
		want := l.Header()

		kept, err := s.Keep(l)
		require.NoError(t, err)
		require.True(t, kept.OnDisk())
		require.Equal(t, first, kept.LeafID(), "a leaf that was chosen stays")
		require.Equal(t, want.ID, kept.Header().ID)
		_, err = l.Append(kit.Say("user", "too late"))
		require.True(t, fault.Is(err, fault.Stale), err)
		next := kit.MustAppend(t, kept, kit.Say("user", "goes on"))
		require.NoError(t, kept.Close())

		doc, err := session.Load(fs, kept.Path())
		require.NoError(t, err)
		require.Equal(t, 5, doc.Len(), "two messages, the title for pi, the description and what goes on")
		require.Equal(t, "Kept", doc.Title().Text)
		require.Equal(t, "described", descriptionOf(t, fs, kept.Path()))
		path := doc.PathTo(session.At(next))
		require.Len(t, path, 3)
		require.True(t, doc.Hidden(path[0]), "the title")
		require.Equal(t, first, doc.ID(path[1]))
		require.Equal(t, 6, strings.Count(kit.Content(t, fs, kept.Path()), "\n"))
	})
}

func TestKeepRefuses(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := kit.NewStore(fs)
	filedLog, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	_, err = s.Keep(filedLog)
	require.True(t, fault.Is(err, fault.Internal), err)

	l := s.Memory("/w", session.NewOptions{})
	kit.MustAppend(t, l, kit.Say("user", "one"))
	require.NoError(t, l.Close())
	_, err = s.Keep(l)
	require.True(t, fault.Is(err, fault.Stale), err)
	_, err = fs.Stat(kit.StoreDir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
