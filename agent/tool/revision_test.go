package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// revised runs a call that the user approved with another text.
func (w *world) revised(r tool.Revision, name, args string) (tool.Result, error) {
	env := w.env
	env.Permission.Revision = &r
	return w.tools[name].Run(w.t.Context(), env, json.RawMessage(args))
}

const oneEdit = `{"path":"x","edits":[{"oldText":"one","newText":"1"},{"oldText":"three","newText":"3"}]}`

func TestARevisionIsWrittenInsteadOfTheProposal(t *testing.T) {
	t.Parallel()
	base := tool.Sum([]byte("one\ntwo\nthree\n"))
	for name, args := range map[string]string{"edit": oneEdit, "write": `{"path":"x","content":"all new\n"}`} {
		w := newWorld(t, map[string]string{"x": "one\ntwo\nthree\n"})
		r, err := w.revised(tool.Revision{Target: "/w/x", Base: base, Content: "1\ntwo\nthree\n"}, name, args)
		require.NoError(t, err)
		require.Equal(t, "1\ntwo\nthree\n", w.read("x"))
		require.Equal(t, "The user changed your proposal for x before accepting it. This change was made instead; keep it, and do not repeat the rejected parts.\n\n"+
			"--- x\n+++ x\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n", r.Content[0].Text, name)
		require.Contains(t, string(r.Details), `"firstChangedLine":1`)
	}
	w := newWorld(t, nil)
	_, err := w.revised(tool.Revision{Target: "/w/new", Base: tool.Sum(nil), Content: "mine\n"}, "write", `{"path":"new","content":"yours\n"}`)
	require.NoError(t, err)
	require.Equal(t, "mine\n", w.read("new"))
}

// The text that the model proposed is its own, also if the user sent it.
func TestARevisionThatIsTheProposalIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "one\ntwo\nthree\n"})
	r, err := w.revised(tool.Revision{Target: "/w/x", Base: tool.Sum([]byte("one\ntwo\nthree\n")), Content: "1\ntwo\n3\n"}, "edit", oneEdit)
	require.NoError(t, err)
	require.Equal(t, "Successfully replaced 2 blocks in x.", r.Content[0].Text)
}

// The user's own edits of the file may have removed the text that the model wanted to replace.
func TestARevisionIsWrittenAlsoIfTheProposalNoLongerApplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "two\nthree\n"})
	_, err := w.revised(tool.Revision{Target: "/w/x", Base: tool.Sum([]byte("two\nthree\n")), Content: "two\n3\n"}, "edit", oneEdit)
	require.NoError(t, err)
	require.Equal(t, "two\n3\n", w.read("x"))
}

// A revision never replaces a text that the user has not seen, or another file.
func TestARevisionReplacesOnlyItsBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "one\ntwo\nthree\n", "y": "one\ntwo\nthree\n"})
	base := tool.Sum([]byte("one\ntwo\nthree\n"))
	for name, r := range map[string]tool.Revision{
		"another text": {Target: "/w/x", Base: tool.Sum([]byte("older\n")), Content: "mine\n"},
		"another file": {Target: "/w/y", Base: base, Content: "mine\n"},
		"no base":      {Target: "/w/x", Content: "mine\n"},
	} {
		for tool, args := range map[string]string{"edit": oneEdit, "write": `{"path":"x","content":""}`} {
			_, err := w.revised(r, tool, args)
			require.EqualError(t, err, "x changed while the user was reviewing this call, so nothing was written. Read the file again and repeat the call.", name)
		}
	}
	_, err := w.revised(tool.Revision{Target: "/w/x", Base: base, Content: "one\ntwo\nthree\n"}, "edit", oneEdit)
	require.ErrorContains(t, err, "The user accepted none of the changes to x")
	require.Equal(t, "one\ntwo\nthree\n", w.read("x"))
	require.Equal(t, "one\ntwo\nthree\n", w.read("y"))
}

func TestALongRevisionIsNotRepeatedToTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "one\ntwo\nthree\n"})
	long := strings.Repeat("mine\n", tool.MaxLines+1)
	r, err := w.revised(tool.Revision{Target: "/w/x", Base: tool.Sum([]byte("one\ntwo\nthree\n")), Content: long}, "edit", oneEdit)
	require.NoError(t, err)
	require.Contains(t, r.Content[0].Text, "too long to be shown here. Read the file.")
	require.Less(t, len(r.Content[0].Text), 1000)
	require.Equal(t, long, w.read("x"))
}
