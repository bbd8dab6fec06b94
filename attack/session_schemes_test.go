package attack

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// addresses are names that conversations of other programs use for resources that are not files.
var addresses = []string{
	"xd://mcp__probe_one_x_echo", "xd://propose", "local://x-plan.md", "mcp://server/resource", "skill://review", "rule://style",
	"agent://Scouty", "artifact://3", "history://1", "http://127.0.0.1:9/x", "https://example.com/", "file:///etc/hostname", "FILE:///etc/hostname",
	"memory://a/b", "foo+bar.1-2://baz", "@xd://mcp__x", " xd://mcp__x", "omp://docs.md", "foo://",
}

// A conversation of another program calls its tools and resources by address. No such call creates,
// reads or searches a file, and its result says so.
func TestAnAddressIsNoFile(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			var calls []providertest.Call
			for _, a := range addresses {
				for tool, args := range map[string]map[string]any{
					"write": {"content": `{"text":"hello"}`},
					"edit":  {"edits": []any{map[string]any{"oldText": "a", "newText": "b"}}},
					"read":  {}, "ls": {}, "grep": {"pattern": "x"}, "find": {"pattern": "*"},
				} {
					if tool == "read" && strings.HasPrefix(a, "http") {
						continue // a request; see TestAModelReachesNoPrivateAddress
					}
					args["path"] = a
					calls = append(calls, providertest.Call{Name: tool, Args: args})
				}
			}
			before := v.tree()
			v.does(calls)
			v.ask("--approval", mode)
			results := v.results()
			require.Len(t, results, len(calls))
			for i, r := range results {
				if strings.HasPrefix(r, "There is no skill") || strings.HasPrefix(r, "There is no rule") {
					continue
				}
				require.Contains(t, r, "Nothing was read or changed", "%s %v", calls[i].Name, calls[i].Args)
			}
			require.Equal(t, before, v.tree())
		})
	}
}

// The result for a URL of a local file contains the path to use.
func TestAFileURLIsAnsweredWithItsPath(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.does(call("read", map[string]any{"path": "file:///a%20b/c.txt"}))
	v.ask()
	require.Contains(t, v.results()[0], "Use the plain path /a b/c.txt ")
}

// A name with a colon is a file name.
func TestANameWithAColonIsAFile(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	names := []string{"a:b", "xd:c", "C:", "x:/y", "./foo:/bar"}
	var calls [][]providertest.Call
	for _, name := range names {
		calls = append(calls, call("write", map[string]any{"path": name, "content": "text"}))
	}
	v.does(calls...)
	v.ask("--approval", "auto-edit")
	for _, name := range names {
		require.Equal(t, "text", v.read(v.path(name)))
	}
}

// An output that oh-my-pi stored beside the session can be read by its address, and no other file can.
func TestAnArtifactIsReadByItsAddress(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	path := v.session("")
	dir := strings.TrimSuffix(path, ".jsonl")
	v.write(filepath.Join(dir, "3.bash.log"), "line one\nline two\n")
	require.NoError(t, os.Symlink(filepath.Join(v.home, ".ssh/id_rsa"), filepath.Join(dir, "4.bash.log")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "local"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(v.home, ".ssh/id_rsa"), filepath.Join(dir, "local", "x.md")))
	v.write(filepath.Join(dir, "local", "PLAN.md"), "the plan\n")
	var calls [][]providertest.Call
	for _, a := range []string{"artifact://3", "artifact://4", "artifact://../../../../.ssh/id_rsa", "local://x.md", "local://../3.bash.log", "local://PLAN.md"} {
		calls = append(calls, call("read", map[string]any{"path": a}))
	}
	v.does(append(calls, call("write", map[string]any{"path": "artifact://3", "content": "x"}), call("write", map[string]any{"path": "local://PLAN.md", "content": "x"}))...)
	v.ask("--resume", path, "--approval", "yolo")
	r := v.results()
	require.Equal(t, "line one\nline two", strings.TrimSpace(r[0]))
	require.Equal(t, "the plan", strings.TrimSpace(r[5]))
	for _, i := range []int{1, 2, 3, 4, 6, 7} {
		require.Contains(t, r[i], "Nothing was read or changed")
	}
	require.Equal(t, "the plan\n", v.read(filepath.Join(dir, "local", "PLAN.md")))
	require.Empty(t, v.leaked())
}

// tree returns the paths of everything in the project folder.
func (v *victim) tree() (paths []string) {
	v.t.Helper()
	require.NoError(v.t, filepath.WalkDir(v.work, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	slices.Sort(paths)
	return paths
}
