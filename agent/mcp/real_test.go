//go:build peers && unix

package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
)

// real returns a published server. "npm ci" in testdata/servers installs them.
func real(t *testing.T, name string, args ...string) mcp.Server {
	t.Helper()
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	script, err := filepath.Abs("testdata/servers/node_modules/@modelcontextprotocol/server-" + name + "/dist/index.js")
	require.NoError(t, err)
	require.FileExists(t, script, "run npm ci in agent/mcp/testdata/servers")
	return mcp.Server{Name: "Probe-One", Transport: mcp.Stdio, Command: node, Args: append([]string{script}, args...)}
}

func TestRealEverything(t *testing.T) {
	t.Parallel()
	k := begin(t, pi(), real(t, "everything"))
	require.Contains(t, said(k.result("echo", `{"message":"hi"}`)), "hi", "%+v", k.States())
	require.NotEmpty(t, k.Prompts(t.Context()))
	require.True(t, k.States()[0].Resources)
}

func TestRealFilesystem(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	k := begin(t, pi(), real(t, "filesystem", dir))
	// It asks for the roots, and allows only them.
	require.NoError(t, os.WriteFile(k.cwd+"/a.txt", []byte("content"), 0o600))
	for n := 0; !strings.Contains(said(k.result("list_allowed_directories", "{}")), k.cwd); n++ {
		require.Less(t, n, 5000, "the server has not got the roots") // it answers before it has them, too
	}
	require.Contains(t, said(k.result("read_text_file", `{"path":"`+k.cwd+`/a.txt"}`)), "content")
	require.True(t, k.result("read_text_file", `{"path":"/etc/passwd"}`).IsError)
}

func TestRealMemory(t *testing.T) {
	t.Parallel()
	def := real(t, "memory")
	def.Env = []string{"MEMORY_FILE_PATH=" + t.TempDir() + "/memory.json"}
	k := begin(t, pi(), def)
	require.False(t, k.result("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["writes programs"]}]}`).IsError)
	require.Contains(t, said(k.result("read_graph", `{}`)), "writes programs")
}
