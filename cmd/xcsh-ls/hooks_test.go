package main_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// A client with ui.hooks is asked before a compaction. If it refuses, it gets no notification of the
// compaction, and the session stays unchanged.
// Proves: P-023
func TestClientCanCancelACompaction(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	long := strings.Repeat("many words ", 10_000)
	put(t, fs, st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", long), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		st.User("cccccccc", "bbbbbbbb", long), st.Assistant("dddddddd", "cccccccc", "four"))
	ed := ask(t, memoryServer(t, fs), hooking, nil)
	resume := ed.BeginExec("xcsh.resume", lsptest.Fields{"target": "0190000000000001"})
	ed.WaitRequest("xcsh/beforeSwitch").Reply(nil)
	_, err := resume.Wait()
	require.Nil(t, err)
	for _, refused := range []bool{true, false} {
		exec := ed.BeginExec("xcsh.compact", lsptest.Fields{"instructions": "the tests"})
		r := ed.WaitRequest("xcsh/beforeCompact")
		require.JSONEq(t, `{"cwd":"/w","reason":"manual","customInstructions":"the tests"}`, string(r.Params))
		before := read(t, fs)
		r.Reply(lsptest.Fields{"cancel": refused})
		_, err = exec.Wait()
		if !refused {
			require.Nil(t, err)
			require.Contains(t, strings.TrimPrefix(read(t, fs), before), `"type":"compaction"`)
			continue
		}
		require.NotNil(t, err)
		require.Equal(t, "cancelled", err.Kind())
		require.Equal(t, "A hook cancelled the compaction.", err.Message)
		require.Equal(t, before, read(t, fs))
	}
}
