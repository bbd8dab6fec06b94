package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// modes are the kinds of failure after which the program continues.
var modes = map[string]st.Mode{"fails": st.Once, "stops in the middle": st.Short}

// everyFault runs a test with a failure at the first changing operation, at the second, and so on, until
// a run completes without reaching its fault.
func everyFault(t *testing.T, test func(t *testing.T, fs *st.FaultFs)) {
	t.Helper()
	for how, mode := range modes {
		for at, fired := 1, true; fired; at++ {
			require.Less(t, at, 100, "some run completes without a fault")
			fs := &st.FaultFs{Fs: afero.NewMemMapFs(), Mode: mode}
			t.Run(fmt.Sprintf("operation %d %s", at, how), func(t *testing.T) {
				write(t, fs, file1, talk(id1)...)
				require.NoError(t, fs.Fs.MkdirAll("/w", 0o700))
				*fs = st.FaultFs{Fs: fs.Fs, At: at, Mode: mode} // counting starts here
				test(t, fs)
				fired = fs.Fired()
			})
		}
	}
}

// An export is written completely or not at all, and leaves no other files behind. A file to replace
// keeps its old content until then.
// Proves: O-002
func TestAnExportIsAtomic(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/w/new.html", "/w/new.jsonl", "/w/old.jsonl"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var whole string
			{
				fs := afero.NewMemMapFs()
				write(t, fs, file1, talk(id1)...)
				require.NoError(t, fs.MkdirAll("/w", 0o700))
				do(t, newEnv(fs), "xcsh.export", args{"source": id1, "path": path})
				whole = read(t, fs, path)
			}
			everyFault(t, func(t *testing.T, fs *st.FaultFs) {
				require.NoError(t, afero.WriteFile(fs.Fs, "/w/old.jsonl", []byte("old"), 0o600))
				before := tree(t, fs.Fs)
				_, err := run(t.Context(), newEnv(fs), "xcsh.export", args{"source": id1, "path": path, "overwrite": path == "/w/old.jsonl"})
				after := tree(t, fs.Fs)
				if err == nil {
					require.Equal(t, whole, after[path])
					before[path] = whole
				} else {
					f := requireKind(t, fault.IO, err)
					require.NotEmpty(t, f.Data["path"])
				}
				require.Equal(t, before, after)
			})
		})
	}
}

// If a change of session cannot be completed, the previous session stays live and usable, and no partial
// session is left behind.
// Proves
func TestAChangeOfSessionIsAtomic(t *testing.T) {
	t.Parallel()
	other := sessions + "/2026-01-01T00-00-00-000Z_0190000000000002.jsonl"
	for name, call := range map[string]struct {
		command string
		args    args
	}{
		"resume":               {"xcsh.resume", args{"target": "0190000000000002"}},
		"resume of a new file": {"xcsh.resume", args{"target": "/w/new.jsonl", "create": true}},
		"resume of an empty":   {"xcsh.resume", args{"target": "/w/empty.jsonl"}},
		"fork":                 {"xcsh.fork", nil},
		"fork of another":      {"xcsh.fork", args{"source": "0190000000000002"}},
		"fork at an entry":     {"xcsh.fork", args{"entryId": "aaaaaaaa"}},
		"new":                  {"xcsh.new", nil},
		"continue":             {"xcsh.continue", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyFault(t, func(t *testing.T, fs *st.FaultFs) {
				env := newEnv(fs, func(c *agent.Config) { c.TerminalID = "t1" })
				write(t, fs.Fs, other, talk("0190000000000002")...)
				require.NoError(t, afero.WriteFile(fs.Fs, "/w/empty.jsonl", nil, 0o600))
				at, mode := fs.At, fs.Mode
				*fs = st.FaultFs{Fs: fs.Fs} // no fault yet
				do(t, env, "xcsh.resume", args{"target": id1})
				do(t, env, "xcsh.branch", args{"entryId": "bbbbbbbb"})
				*fs = st.FaultFs{Fs: fs.Fs, At: at, Mode: mode} // counting starts here
				before, files := do(t, env, "xcsh.state", nil), tree(t, fs.Fs)

				_, err := run(t.Context(), env, call.command, call.args)
				require.Equal(t, files[file1], read(t, fs.Fs, file1))
				require.Equal(t, files[other], read(t, fs.Fs, other))
				for path := range tree(t, fs.Fs) {
					require.False(t, strings.HasSuffix(path, ".tmp"), path)
				}
				if err == nil {
					return // the fault hit an operation that may fail: writing the breadcrumb
				}
				requireKind(t, fault.IO, err)
				require.Equal(t, files, tree(t, fs.Fs))
				require.Equal(t, before, do(t, env, "xcsh.state", nil))
				do(t, env, "xcsh.label", args{"entryId": "aaaaaaaa", "label": "continues"})
				require.Contains(t, read(t, fs.Fs, file1), "continues")
			})
		})
	}
}

// A failure to save a session is reported, the write is retried as soon as possible, and the failure
// does not affect the next session.
// Proves
func TestAFailedWriteIsReportedAndDoesNotAffectTheNextSession(t *testing.T) {
	t.Parallel()
	fs := &st.FaultFs{Fs: afero.NewMemMapFs()}
	write(t, fs, file1, talk(id1)...)
	write(t, fs, "/w/other.jsonl", talk("0190000000000002")...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	*fs = st.FaultFs{Fs: fs.Fs, At: 1, Mode: st.Dead}
	_, err := run(t.Context(), env, "xcsh.label", args{"entryId": "aaaaaaaa", "label": "kept"})
	requireKind(t, fault.IO, err)
	_, err = run(t.Context(), env, "xcsh.label", args{"entryId": "bbbbbbbb", "label": "kept too"})
	requireKind(t, fault.IO, err)
	require.NotEmpty(t, do(t, env, "xcsh.state", nil)["unsaved"])
	require.Contains(t, fmt.Sprint(do(t, env, "xcsh.tree", nil)["nodes"]), "kept too", "it is in memory")

	*fs = st.FaultFs{Fs: fs.Fs}
	do(t, env, "xcsh.resume", args{"target": "/w/other.jsonl"})
	require.NotContains(t, do(t, env, "xcsh.state", nil), "unsaved")
	do(t, env, "xcsh.label", args{"entryId": "aaaaaaaa", "label": "works"})
	require.Contains(t, read(t, fs, file1), `"label":"kept too"`, "written when the session was left")
}

// Proves: X-112
func TestClosingReportsUnsavedSessions(t *testing.T) {
	t.Parallel()
	fs := &st.FaultFs{Fs: afero.NewMemMapFs()}
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	*fs = st.FaultFs{Fs: fs.Fs, At: 1, Mode: st.Dead}
	_, err := run(t.Context(), env, "xcsh.label", args{"entryId": "aaaaaaaa", "label": "lost"})
	requireKind(t, fault.IO, err)
	require.ErrorIs(t, env.Sessions.Close(t.Context()), st.ErrInjected)
}

// A fork does not fail if it cannot copy the artifacts. Only a session whose name ends in .jsonl has an
// artifact directory.
// Proves: X-232, O-034
func TestAForkSucceedsWithoutItsArtifacts(t *testing.T) {
	t.Parallel()
	fs := &st.FaultFs{Fs: afero.NewMemMapFs()}
	write(t, fs, file1, talk(id1)...)
	write(t, fs, strings.TrimSuffix(file1, ".jsonl")+"/0.bash.log", "output")
	write(t, fs, "/w/talk.txt", talk("0190000000000002")...)
	write(t, fs, "/w/ta/0.bash.log", "of another program") // xcsh cuts off six characters
	broken, env := 0, newEnv(fs)
	for at := 1; ; at++ {
		require.Less(t, at, 100, "some run completes without a fault")
		*fs = st.FaultFs{Fs: fs.Fs, At: at}
		raw, err := run(t.Context(), env, "xcsh.fork", args{"source": id1})
		if err != nil {
			continue
		}
		if !fs.Fired() {
			break
		}
		broken++
		require.Contains(t, string(raw), `"forked":true`)
	}
	require.Positive(t, broken)
	*fs = st.FaultFs{Fs: fs.Fs}
	before := tree(t, fs)
	do(t, env, "xcsh.fork", args{"source": "/w/talk.txt"})
	for path, content := range tree(t, fs) {
		if before[path] == "" {
			require.NotContains(t, content, "another program", path)
		}
	}
}
