package tool_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestScheme(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"xd://mcp__x": "xd", "@local://x.md": "local", " skill://x": "skill", "File:///x": "file", "a+b-c.1://x": "a+b-c.1", "x://": "x",
		"a:b": "", "C:/x": "", "c:\\x": "", "xd:/x": "", "./xd://x": "", "/xd://x": "", "dir/xd://x": "", "1x://y": "", "://x": "", "": "",
		"é://x": "", "x y://z": "",
	} {
		if want == "x" && runtime.GOOS == "windows" {
			want = "" // a drive
		}
		require.Equal(t, want, tool.Scheme(path), path)
	}
}

// Addresses are refused before a permission prompt, and again when the tool runs.
func TestAddresses(t *testing.T) {
	t.Parallel()
	rest := map[string]string{
		"write": `,"content":"x"`, "edit": `,"edits":[{"oldText":"a","newText":"b"}]`,
		"read": ``, "ls": ``, "grep": `,"pattern":"x"`, "find": `,"pattern":"*"`,
	}
	for name, more := range rest {
		for _, address := range []string{"xd://mcp__x", "mcp://x/y", "https://x.y/", "file:///etc/passwd", "file://host/x", "local://x.md", "artifact://3", "history://x", "skill://x/y.md", "rule://x"} {
			w := newWorld(t, map[string]string{"a.txt": "a"})
			args := json.RawMessage(`{"path":"` + address + `"` + more + `}`)
			_, err := w.tools[name].Check(args)
			scheme := tool.Scheme(address)
			reads := name == "read" || name == "grep"
			resource := scheme == tool.LocalScheme && (reads || name == "write" || name == "edit") ||
				reads && (scheme == tool.ArtifactScheme || scheme == tool.SkillScheme || scheme == tool.RuleScheme)
			require.Equal(t, resource, err == nil, "%s %s: %v", name, address, err)
			_, err = w.tools[name].Run(t.Context(), w.env, args)
			require.ErrorContains(t, err, "Nothing was read or changed")
			require.True(t, fault.Is(err, fault.InvalidArgument))
			if preview := w.tools[name].Preview; preview != nil {
				_, err = preview(t.Context(), w.env, args)
				require.ErrorContains(t, err, "Nothing was read or changed")
			}
		}
	}
}

// A session resolves an address to one of its files.
func TestResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"/s/local/PLAN.md": "# One\n"})
	w.env.Resource = func(name, address string, write bool) (string, error) {
		if address == "local://PLAN.md" && write == (name != "read") {
			return filepath.FromSlash("/s/local/PLAN.md"), nil
		}
		return "", errors.New("unknown")
	}
	run := func(name, args string) (tool.Result, error) {
		return w.tools[name].Run(t.Context(), w.env, json.RawMessage(args))
	}
	_, err := run("edit", `{"path":"@local://PLAN.md","edits":[{"oldText":"One","newText":"Two"}]}`)
	require.NoError(t, err)
	r, err := run("read", `{"path":"local://PLAN.md"}`)
	require.NoError(t, err)
	require.Contains(t, r.Content[0].Text, "# Two")
	_, err = run("write", `{"path":"local://PLAN.md","content":"three"}`)
	require.NoError(t, err)
	require.Equal(t, "three", w.read("/s/local/PLAN.md"))
	_, err = run("write", `{"path":"local://other.md","content":"three"}`)
	require.EqualError(t, err, "unknown")
}

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"xd://x", "file:///a%zz", "@local://../x", "a:b", "file://[::1", "\x1b]0;x\x07://y", "x://\n\r\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		scheme := tool.Scheme(path)
		if scheme == "" {
			return
		}
		require.Contains(t, path, "://")
		require.Equal(t, strings.ToLower(scheme), scheme)
		err := tool.Unavailable("read", path)
		require.True(t, utf8.ValidString(err.Error()))
		require.NotContains(t, err.Error(), "\n")
	})
}
