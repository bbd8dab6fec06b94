package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// The parameters that the programs declare for a tool are understood, or refused with a sentence.
func TestParametersOfOtherPrograms(t *testing.T) {
	t.Parallel()
	byName := map[string]tool.Tool{}
	for _, tl := range tool.All(tool.Options{}) {
		byName[tl.Name] = tl
	}
	for _, tc := range []struct{ tool, args, want, refusal string }{
		{"read", `{"path":"a.go","i":"look"}`, `{"path":"a.go"}`, ""},
		{"read", `{"path":"a.go","_i":"look","sel":"L10-L20","timeout":5}`, `{"path":"a.go","offset":10,"limit":11}`, ""},
		{"read", `{"path":"a.go","sel":"20-10"}`, "", "ends before it begins"},
		{"bash", `{"command":"ls","i":"list","timeout":0,"name":"x","pty":false}`, `{"command":"ls"}`, ""},
		{"bash", `{"command":"ls","i":"list","async":true,"ready":{"port":80}}`, "", `bash has no parameter "ready"; a background command returns at once`},
		{"bash", `{"command":"top","pty":true}`, "", "commands have no terminal"},
		{"edit", `{"i":"change","input":"[a.go#1234]\n"}`, "", `edit takes no patch in "input"`},
		{"write", `{"path":"a","content":"x","i":"write"}`, `{"path":"a","content":"x"}`, ""},
		{"find", `{"path":"*.md","i":"list","hidden":true,"gitignore":true,"limit":5}`, `{"pattern":"*.md","limit":5}`, ""},
		{"find", `{"path":"src/lib/**/*.ts"}`, `{"pattern":"**/*.ts","path":"src/lib"}`, ""},
		{"find", `{"path":"/*.ts"}`, `{"pattern":"*.ts","path":"/"}`, ""},
		{"find", `{"path":"src"}`, `{"pattern":"*","path":"src"}`, ""},
		{"find", `{"path":"src","gitignore":false}`, "", "find omits files that .gitignore excludes"},
		{"grep", `{"pattern":"x","i":"search","case":false,"gitignore":true,"skip":null}`, `{"pattern":"x","ignoreCase":true}`, ""},
		{"grep", `{"pattern":"x","i":true,"case":true}`, `{"pattern":"x","ignoreCase":true}`, ""},
		{"grep", `{"pattern":"x","case":true}`, `{"pattern":"x"}`, ""},
		{"grep", `{"pattern":"x","path":"src/*.go"}`, `{"pattern":"x","path":"src","glob":"*.go"}`, ""},
		{"grep", `{"pattern":"x","skip":20}`, "", "raise limit to see more"},
		{"ls", `{"path":"a","i":"list"}`, `{"path":"a"}`, ""},
	} {
		got, err := byName[tc.tool].Check(json.RawMessage(tc.args))
		if tc.refusal != "" {
			require.ErrorContains(t, err, tc.refusal, tc.args)
			continue
		}
		require.NoError(t, err, tc.args)
		require.JSONEq(t, tc.want, string(got), "%s %s", tc.tool, tc.args)
	}
}

// A selection at the end of a path counts, unless a file has that name.
func TestReadSelectsLinesInThePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.go": "1\n2\n3\n4\n5\n", "a.go:2": "its own name\n", "b:raw": "raw\n"})
	for path, want := range map[string]string{
		"a.go:3-4": "3\n4", "a.go:4+1": "4", "a.go:L5": "5", "a.go:raw": "1\n2\n3\n4\n5", "a.go:2": "its own name", "b:raw": "raw",
	} {
		require.Contains(t, w.ok("read", object(t, "path", path)), want, path)
	}
	for path, want := range map[string]string{"a.go:1-2,4-5": "read cannot select", "a.go:4-2": "ends before it begins", "c.go:1-2": "c.go:1-2"} {
		require.Contains(t, w.refused("read", object(t, "path", path)), want, path)
	}
}
