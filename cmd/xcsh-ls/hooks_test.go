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
		require.Regexp(t, `^{"cwd":"/w","reason":"manual","customInstructions":"the tests","firstKeptEntryId":"[a-z]{8}","tokensBefore":[0-9]+}$`, string(r.Params))
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

// A client can give the summary and add entries in its answer. Its mistakes are shown to the user and
// lose nothing.
// Proves: P-023
func TestClientCanReplaceACompactionAndAddEntries(t *testing.T) {
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
	before := read(t, fs)

	exec := ed.BeginExec("xcsh.compact", lsptest.Fields{})
	ed.WaitRequest("xcsh/beforeCompact").Reply(lsptest.Fields{
		"cancel": true, "entries": []lsptest.Fields{{"type": "message", "customType": "x", "id": "aaaaaaaa"}},
	})
	_, err = exec.Wait()
	require.NotNil(t, err, "an invalid entry does not undo the refusal")
	require.Equal(t, "cancelled", err.Kind())
	added := strings.TrimPrefix(read(t, fs), before)
	require.NotContains(t, added, "customType")
	require.NotContains(t, added, "compaction")

	exec = ed.BeginExec("xcsh.compact", lsptest.Fields{})
	ed.WaitRequest("xcsh/beforeCompact").Reply(lsptest.Fields{
		"entries":    []lsptest.Fields{{"type": "custom_message", "customType": "notes", "content": "Keep it short.", "display": true}},
		"compaction": lsptest.Fields{"summary": "By the editor.", "firstKeptEntryId": "dddddddd"},
	})
	res, err := exec.Wait()
	require.Nil(t, err)
	require.Contains(t, string(res), `"summary":"By the editor."`)
	require.Contains(t, string(res), `"firstKeptEntryId":"dddddddd"`)
	added = strings.TrimPrefix(read(t, fs), before)
	require.Contains(t, added, `"summary":"By the editor.","firstKeptEntryId":"dddddddd"`)
	require.Contains(t, added, `"fromExtension":true`)
	require.Contains(t, added, `{"type":"custom_message","customType":"notes","content":"Keep it short.","display":true,"attribution":"agent","id":`)
}
