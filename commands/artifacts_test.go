package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// outputs is an environment with a session that has artifacts of several programs, and the tool calls
// that produced them.
func outputs(t *testing.T) *commands.Env {
	t.Helper()
	fs := afero.NewMemMapFs()
	entry := func(id, parent, message string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`, id, parent, message)
	}
	write(
		t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "one"),
		entry("bbbbbbbb", "aaaaaaaa", `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"timeout":9,"command":"go test ./session -run Artifacts -count 100 -v and much more"}},{"type":"toolCall","id":"c2","name":"mcp__weather","arguments":{"days":3,"grid":[1]}},{"type":"toolCall","id":"c3","name":"web","arguments":{}}]}`),
		entry("cccccccc", "bbbbbbbb", `{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"details":{"meta":{"truncation":{"artifactId":"0"}},"fullOutputPath":"/elsewhere/0.bash.log"}}`),
		entry("dddddddd", "cccccccc", `{"role":"toolResult","toolCallId":"c2","toolName":"mcp__weather","content":[],"details":{"meta":{"limits":{"columnTruncated":{"artifactId":1}}}}}`),
		entry("eeeeeeee", "dddddddd", `{"role":"toolResult","toolCallId":"c3","toolName":"web","content":[],"details":{"fullOutputPath":"C:\\x\\page.html"}}`),
		entry("ffffffff", "eeeeeeee", `{"role":"bashExecution","command":"make test\nand more","output":"…","truncated":true,"meta":{"truncation":{"artifactId":"12"}}}`),
	)
	dir := strings.TrimSuffix(file1, ".jsonl")
	for name, content := range map[string]string{
		"0.bash.log": "line\n", "1.mcp__weather.log": "sun", "page.html": "<p>", "12.bash.log": "tests", "3.read.log": "nobody's", "Task.md": "# Done",
	} {
		require.NoError(t, afero.WriteFile(fs, dir+"/"+name, []byte(content), 0o600))
	}
	return newEnv(fs)
}

func artifactsOf(t *testing.T, env *commands.Env, query string) (lines []string) {
	t.Helper()
	for _, one := range do(t, env, "xcsh.artifacts", args{"source": id1, "query": query})["artifacts"].([]any) {
		a := one.(map[string]any)
		lines = append(lines, fmt.Sprint(a["id"], " ", a["tool"], " ", a["description"], " ", a["entryId"], " ", a["score"]))
	}
	return lines
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	env := outputs(t)
	all := []string{
		"0 bash bash: go test ./session -run Artifacts -count 100 -v and... cccccccc <nil>",
		"1 mcp__weather mcp__weather (2 arguments) dddddddd <nil>",
		"3 read <nil> <nil> <nil>",
		"12 bash bash: make test and more ffffffff <nil>",
		"Task.md <nil> <nil> <nil> <nil>",
		"page.html web web eeeeeeee <nil>",
	}
	require.Equal(t, all, artifactsOf(t, env, ""))
	require.Equal(t, all, artifactsOf(t, env, "go a -v"), "no word of more than two characters")
	require.Equal(t, all, artifactsOf(t, env, "nothing fits"))
	first := do(t, env, "xcsh.artifacts", args{"source": id1})["artifacts"].([]any)[0].(map[string]any)
	require.Equal(t, "0.bash.log", first["name"])
	require.InDelta(t, 5, first["bytes"], 0)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, first["modified"])
}

// The best match comes first, and equal matches in list order. Artifacts without a match are left out.
// Proves: N-01
func TestArtifactsByKeywords(t *testing.T) {
	t.Parallel()
	env := outputs(t)
	for query, want := range map[string]string{
		"the WEATHER, please":        "[1]",
		"test":                       "[0 12]",
		"the make/test of yesterday": "[12 0]",
		"much artifacts":             "[0]", // also matches text beyond the displayed part
		"task":                       "[Task.md]",
		"bash test test test":        "[0 12]",
		"mcp":                        "[1]",
		"read":                       "[3]",
	} {
		var ids []string
		for _, line := range artifactsOf(t, env, query) {
			id, _, _ := strings.Cut(line, " ")
			ids = append(ids, id)
		}
		require.Equal(t, want, fmt.Sprint(ids), query)
	}
}

func TestAnArtifactOverTheWire(t *testing.T) {
	t.Parallel()
	env := outputs(t)
	require.Equal(t, args{"id": "12", "name": "12.bash.log", "text": "tests", "bytes": 5.0, "offset": 0.0}, do(t, env, "xcsh.artifact", args{"source": id1, "id": "12"}))
	require.Equal(t, args{"id": "0", "name": "0.bash.log", "text": "line", "bytes": 5.0, "offset": 0.0, "nextOffset": 4.0},
		do(t, env, "xcsh.artifact", args{"source": id1, "id": "0", "limit": 4}))
	require.Equal(t, args{"id": "0", "name": "0.bash.log", "text": "\n", "bytes": 5.0, "offset": 4.0},
		do(t, env, "xcsh.artifact", args{"source": id1, "id": "0", "offset": 4}))
	require.Equal(t, "tests", do(t, env, "xcsh.artifact", args{"source": id1, "id": "artifact://12"})["text"])
	for _, bad := range []args{
		{"id": "../x"}, {"id": "0", "offset": -1}, {"id": "0", "limit": -1}, {"id": "0", "limit": 1<<20 + 1}, {"id": "a/b"}, {"id": "a\x00b"},
	} {
		bad["source"] = id1
		_, err := run(t.Context(), env, "xcsh.artifact", bad)
		require.Contains(t, []any{"id", "offset", "limit"}, requireKind(t, fault.InvalidArgument, err).Data["field"], bad)
	}
	_, err := run(t.Context(), env, "xcsh.artifact", args{"source": id1, "id": "2"})
	requireKind(t, fault.NotFound, err)
	_, err = run(t.Context(), env, "xcsh.artifact", args{"source": id1})
	require.NotEmpty(t, requireKind(t, fault.ArgumentNeeded, err).Data["choices"])
}

// An in-memory session stores no artifacts, and a session without a file has none yet.
func TestNoArtifacts(t *testing.T) {
	t.Parallel()
	for _, memory := range []bool{true, false} {
		env := newEnv(afero.NewMemMapFs(), func(c *agent.Config) { c.InMemory = memory })
		require.Equal(t, args{"artifacts": []any{}}, do(t, env, "xcsh.artifacts", nil))
		_, err := run(t.Context(), env, "xcsh.artifact", args{"id": "0"})
		requireKind(t, fault.NotFound, err)
	}
}
