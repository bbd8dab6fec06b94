//go:build unix

package gitremote_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
)

// A repository of another user does not decide which project a conversation belongs to, unless git was allowed to use it.
func TestRepositoriesOfOtherUsersAreRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	w := newWorld(t)
	w.repository("theirs", "https://example.com/x")
	require.NoError(t, os.Chown(w.path("theirs/.git"), 12345, 12345))
	_, ok, err := gitremote.Find(w.configured, w.path("theirs"))
	require.True(t, ok)
	require.Equal(t, fault.Denied, fault.KindOf(err))
	for _, safe := range []string{"*", w.path("theirs"), w.dir + "/*"} {
		w.write("home/.gitconfig", "[safe]\ndirectory = "+safe+"\n")
		r, _, err := gitremote.Find(w.configured, w.path("theirs"))
		require.NoError(t, err)
		require.Equal(t, "https://example.com/x", r.Remote)
	}
	w.write("home/.gitconfig", "[safe]\ndirectory = *\n[safe]\ndirectory =\n")
	w.write("theirs/.git/config", "[safe]\ndirectory = *\n[remote \"origin\"]\nurl = https://example.com/x\n")
	_, _, err = gitremote.Find(w.configured, w.path("theirs"))
	require.Equal(t, fault.Denied, fault.KindOf(err), "a repository cannot allow itself")
}

func TestAPipeIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("r", "https://example.com/x")
	require.NoError(t, syscall.Mkfifo(w.path("r/pipe"), 0o600))
	w.write("r/.git/config", "[include]\npath = "+filepath.Join(w.dir, "r", "pipe")+"\n")
	_, ok, err := gitremote.Find(w.configured, w.path("r"))
	require.True(t, ok)
	require.Equal(t, fault.IO, fault.KindOf(err))
}
