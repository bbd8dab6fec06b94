package main_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// rewindable is an editor on a disk that fails when fail is set, with a session whose model has edited /w/a.txt and /w/b.txt.
func rewindable(t *testing.T, err error, on func(op, name string) bool) (ed *lsptest.Editor, fs afero.Fs, fail *bool) {
	t.Helper()
	fs, fail = afero.NewMemMapFs(), new(bool)
	faulty := &st.FaultFs{Fs: fs, At: 1, Mode: st.Dead, Err: err, On: func(op, name string) bool { return *fail && on(op, filepath.ToSlash(name)) }}
	for _, path := range []string{"/w/a.txt", "/w/b.txt"} {
		require.NoError(t, afero.WriteFile(fs, path, []byte("one\n"), 0o600))
	}
	ed = lsptest.Start(t, memoryServer(t, faulty))
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
		"initializationOptions": lsptest.Fields{"model": "offline/demo", "approval": "auto-edit"},
	})
	for _, file := range []string{"a.txt", "b.txt"} {
		do(t, ed, "xcsh.prompt", lsptest.Fields{"text": "edit " + file + ": one => two"})
	}
	return ed, fs, fail
}

// everything are the records of all changes.
func everything(t *testing.T, ed *lsptest.Editor) lsptest.Fields {
	t.Helper()
	var c wire.Changes
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.changes", lsptest.Fields{"since": "session"}), &c))
	require.Len(t, c.Files, 2)
	return lsptest.Fields{"records": append(c.Files[0].Records, c.Files[1].Records...), "dryRun": false}
}

// Errors of the disk have their kinds on the wire, name the path, and leave every file as it was. When the disk works again, the same
// rewind succeeds.
// Proves: RW-10, RW-12 (while staging)
func TestFaultsOfTheDiskInARewind(t *testing.T) {
	t.Parallel()
	stages := func(op, name string) bool { return op == "write" && strings.HasPrefix(name, "/w/.xcsh-") }
	for name, c := range map[string]struct {
		err  error
		on   func(op, name string) bool
		kind string
	}{
		"noSpace":                {syscall.ENOSPC, stages, "noSpace"},
		"noSpace of the user":    {syscall.EDQUOT, stages, "noSpace"},
		"noSpace of the journal": {syscall.ENOSPC, func(op, name string) bool { return op == "write" && strings.Contains(name, "/changes/rewind.") }, "noSpace"},
		"readOnly":               {syscall.EROFS, func(op, name string) bool { return op == "open" && strings.HasPrefix(name, "/w/") }, "readOnly"},
		"readOnly, not ours":     {syscall.EACCES, func(op, name string) bool { return op == "open" && strings.HasPrefix(name, "/w/") }, "readOnly"},
		"io":                     {syscall.EIO, stages, "io"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, fs, fail := rewindable(t, c.err, c.on)
			all := everything(t, ed)
			before := inFolder(t, fs)
			*fail = true
			_, failure := ed.Exec("xcsh.rewind", all)
			require.NotNil(t, failure)
			require.Equal(t, c.kind, failure.Kind(), failure.Message)
			require.NotContains(t, failure.Message, "\n")
			require.Contains(t, failure.Message, "no file was changed")
			require.Equal(t, before, inFolder(t, fs))
			*fail = false
			do(t, ed, "xcsh.rewind", all)
			for _, path := range []string{"/w/a.txt", "/w/b.txt"} {
				got, err := afero.ReadFile(fs, path)
				require.NoError(t, err)
				require.Equal(t, "one\n", string(got))
			}
		})
	}
}

// A rewind of a session whose turn waits for permission is busy, and so is a plan of one.
func TestARewindWhileATurnWaits(t *testing.T) {
	t.Parallel()
	ed, fs, _ := rewindable(t, nil, func(string, string) bool { return false })
	all := everything(t, ed)
	before := inFolder(t, fs)
	do(t, ed, "xcsh.setApproval", lsptest.Fields{"mode": "ask"})
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "edit a.txt: two => three"})
	question := ed.WaitRequest("window/showMessageRequest")
	for _, args := range []lsptest.Fields{all, {"records": all["records"]}} {
		_, failure := ed.Exec("xcsh.rewind", args)
		require.NotNil(t, failure)
		require.Equal(t, "busy", failure.Kind())
	}
	require.Equal(t, before, inFolder(t, fs))
	question.Reply(nil)
	_, failure := turn.Wait()
	require.Nil(t, failure)
	do(t, ed, "xcsh.rewind", all)
	require.Equal(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, inFolder(t, fs))
}

// inFolder are the files of the folder with their contents.
func inFolder(t *testing.T, fs afero.Fs) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := afero.ReadDir(fs, "/w")
	require.NoError(t, err)
	for _, info := range names {
		raw, err := afero.ReadFile(fs, filepath.Join("/w", info.Name()))
		require.NoError(t, err)
		files[info.Name()] = string(raw)
	}
	return files
}
