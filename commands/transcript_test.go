package commands_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const transcript1 = agentDir + "/xcsh-ls/transcripts/2026-01-01T00-00-00-000Z_" + id1 + ".md"

// A transcript is a read-only file, which prevents accidental edits, and is written again each time.
func TestTranscriptIsReadOnlyAndNew(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	for _, last := range []string{"", "and more"} {
		if last != "" {
			write(t, fs, file1, append(talk(id1), st.User("eeeeeeee", "bbbbbbbb", last))...)
		}
		require.Equal(t, transcript1, do(t, newEnv(fs), "xcsh.transcript", args{"source": id1})["path"])
		require.Contains(t, read(t, fs, transcript1), last)
		info, err := fs.Stat(transcript1)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o222)
	}
}

func TestTranscriptOfASessionInMemory(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	_, err := run(t.Context(), newEnv(fs, func(c *agent.Config) { c.InMemory = true }), "xcsh.transcript", nil)
	require.True(t, fault.Is(err, fault.NotPersistent), err)
	require.Empty(t, tree(t, fs))
}

// After any fault, the session is unchanged and no partial transcript is left.
func TestATranscriptIsAtomic(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	do(t, newEnv(fs), "xcsh.transcript", args{"source": id1})
	whole := read(t, fs, transcript1)
	everyFault(t, func(t *testing.T, fs *st.FaultFs) {
		before := tree(t, fs.Fs)
		_, err := run(t.Context(), newEnv(fs), "xcsh.transcript", args{"source": id1})
		after := tree(t, fs.Fs)
		if text, ok := after[transcript1]; ok || err == nil {
			require.Equal(t, whole, text)
			delete(after, transcript1)
		}
		require.Equal(t, before, after)
	})
}

// A fork at an entry of a session that is not live leaves that session unchanged after any fault, and
// contains the path to the entry.
func TestForkAtAnEntryOfAnotherSession(t *testing.T) {
	t.Parallel()
	everyFault(t, func(t *testing.T, fs *st.FaultFs) {
		before := read(t, fs.Fs, file1)
		env := newEnv(fs)
		_, err := run(t.Context(), env, "xcsh.fork", args{"source": file1, "entryId": "aaaaaaaa"})
		require.Equal(t, before, read(t, fs.Fs, file1))
		if err != nil {
			return
		}
		state := do(t, env, "xcsh.state", nil)
		require.Equal(t, file1, state["parentSession"])
		require.Equal(t, "aaaaaaaa", state["leafId"])
	})
}

// The live session is forked from memory, even if it is named by its file.
func TestForkAtAnEntryOfTheLiveSessionByItsFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": file1})
	forked := do(t, env, "xcsh.fork", args{"source": file1, "entryId": "aaaaaaaa", "position": "before"})
	require.Equal(t, "one", forked["editorText"])
	_, err := run(t.Context(), newEnv(fs, func(c *agent.Config) { c.InMemory = true }), "xcsh.fork", args{"source": file1, "entryId": "aaaaaaaa"})
	require.True(t, fault.Is(err, fault.NotPersistent), err)
}
