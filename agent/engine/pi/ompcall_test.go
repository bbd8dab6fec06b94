package pi

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// Only a call that plainly changes one file counts as an edit of it, because such an edit may be allowed without a
// question.
func TestCallsOfOmp(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	e := New(engine.Program{Name: "xcsh", Protocol: engine.OmpRPC}, Options{})
	e.at.Cwd = cwd
	yes := true
	of := func(tool, args string) engine.Call {
		return e.d.callOf(e, question{CallID: "c", Tool: tool, Own: &yes, Args: json.RawMessage(args)})
	}
	for _, args := range []string{
		`{"path":"a.go","content":"x"}`, `{"path":"./a.go","content":"x"}`, `{"path":"@a.go","content":"x"}`,
	} {
		call := of("write", args)
		require.Equal(t, engine.Changes, call.Effect, args)
		require.Equal(t, filepath.Join(cwd, "a.go"), call.Path)
		require.NotNil(t, call.Apply)
	}
	for _, args := range []string{
		`{"path":"a.go","edits":[{"old_text":"a","new_text":"b"}]}`, `{"edits":[{"path":"a.go","old_text":"a","new_text":"b"},{"path":"a.go","old_text":"c","new_text":"d"}]}`,
		`{"path":"a.go","old_string":"a","new_string":"b"}`, `{"edits":[{"path":"a.go","op":"update","diff":"@@"}]}`,
	} {
		call := of("edit", args)
		require.Equal(t, engine.Changes, call.Effect, args)
		require.Equal(t, filepath.Join(cwd, "a.go"), call.Path)
		require.Nil(t, call.Apply, "what the forms do is not computed here")
	}
	for tool, list := range map[string][]string{
		"write": {`{"path":"xd://bash","content":"{}"}`, `{"path":"a.zip:b","content":"x"}`, `{"path":"","content":"x"}`, `{"path":"a"}`, `[]`, ``},
		"edit": {
			`{"input":"[a.go#12AB]\n1:x"}`, `{"path":"a.go","edits":[{"move":"../b.go"}]}`, `{"edits":[{"path":"a.go","delete":true}]}`,
			`{"edits":[{"path":"a.go","op":"delete"}]}`, `{"edits":[{"path":"a.go","rename":"b.go"}]}`, `{"edits":[{"path":"a.go"},{"path":"b.go"}]}`,
			`{"edits":"[{\"path\":\"a.go\"}]"}`, `{}`, `{"path":"db.sqlite:users"}`, `{"path":"a.go","input":"*** Update File: b.go"}`,
		},
		"bash": {`{"command":"true"}`}, "mcp__x__read": {`{"path":"a.go"}`},
		"read": {`{"path":"https://example.org/?q"}`, `{"path":"www.example.org"}`, `{"path":" @HTTP://x"}`, `{"path":"ssh://host/etc"}`, `{"paths":["a",{"b":"ftp://x"}]}`},
	} {
		for _, args := range list {
			call := of(tool, args)
			require.Equal(t, engine.Runs, call.Effect, "%s %s", tool, args)
			require.Empty(t, call.Path)
		}
	}
	require.Equal(t, engine.Reads, of("read", `{"path":"a.go:1-20"}`).Effect)
	require.Equal(t, engine.Reads, of("grep", `{"pattern":"a:b","path":"C:\\x"}`).Effect)
	foreign := e.d.callOf(e, question{Tool: "read", Args: json.RawMessage(`{"path":"a"}`)})
	require.Equal(t, engine.Runs, foreign.Effect, "a tool of another extension")
}

// Every form of an edit names its files, so that one with unsaved changes is found.
func TestFilesThatAnEditNames(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		`{"input":"[a.go#12AB]\n1:x\n[dir/b.go]\n2:y"}`:                                                              {"a.go", "dir/b.go"},
		`{"input":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n*** Add File: c d.go\n*** End Patch"}`: {"a.go", "b.go", "c d.go"},
		`{"patch":"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n"}`:                                                          {"x.go", "-1 +1 @@"},
		`{"input":"¶a.go#1F2E\n1:x"}`:                                                                                {"a.go"},
		`{"edits":[{"path":"a.go"},{"path":"b.go"}]}`:                                                                {"a.go", "b.go"},
		`{"edits":"[{\"path\":\"a.go\"}]"}`:                                                                          {"a.go"},
	} {
		paths, _ := editedPaths(json.RawMessage(args))
		require.Equal(t, want, paths, args)
	}
	e := New(engine.Program{Protocol: engine.OmpRPC}, Options{})
	e.at.Cwd = t.TempDir()
	touched := e.touched(question{Tool: "edit", Args: json.RawMessage(`{"path":"a.ts:fn_x#AB@body"}`)})
	require.Contains(t, touched, filepath.Join(e.at.Cwd, "a.ts"))
	require.True(t, e.touches(nil, "/w/main.go", []byte(`{"whatever":"main.go"}`)), "a form that is not known")
}

func FuzzCallsOfOmp(f *testing.F) {
	f.Add("edit", `{"input":"[a.go#12AB]\n1:x"}`)
	f.Add("edit", `{"edits":[{"path":"a.go","move":"b"}]}`)
	f.Add("write", `{"path":"a:b","content":""}`)
	f.Add("read", `{"path":"https://x"}`)
	e := New(engine.Program{Protocol: engine.OmpRPC}, Options{})
	e.at.Cwd = f.TempDir()
	yes := true
	f.Fuzz(func(t *testing.T, tool, args string) {
		if !json.Valid([]byte(args)) {
			args = "{}"
		}
		q := question{Tool: tool, Own: &yes, Args: json.RawMessage(args)}
		call := e.ompCall(q)
		if call.Effect == engine.Changes {
			require.True(t, filepath.IsAbs(call.Path))
			require.Contains(t, e.touched(q), call.Path)
		}
	})
}
