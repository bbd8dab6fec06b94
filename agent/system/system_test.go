package system_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/system"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

func write(t *testing.T, fs afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
}

func TestTheNearestInstructionsComeLast(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/home/u/.xcsh/agent/AGENTS.md", "for all")
	write(t, fs, "/src/AGENTS.md", "for the company")
	write(t, fs, "/src/p/CLAUDE.md", "for the project")
	write(t, fs, "/src/p/cmd/AGENTS.md", "for the command")
	write(t, fs, "/src/p/cmd/CLAUDE.md", "not used beside AGENTS.md")
	write(t, fs, "/src/other/AGENTS.md", "not of this folder")
	write(t, fs, "/AGENTS.md", "  \n")
	b := system.Builder{Fs: fs, AgentDir: "/home/u/.xcsh/agent", OS: "linux", Tools: []tool.Tool{{Tool: provider.Tool{Name: "read", Description: "Read a file.\nMore."}}}}
	got := b.Prompt("/src/p/cmd")
	var at []int
	for _, s := range []string{"- read: Read a file.\n", "for all", "for the company", "for the project", "for the command", "Working directory: /src/p/cmd"} {
		i := strings.Index(got, s)
		require.GreaterOrEqual(t, i, 0, s)
		at = append(at, i)
	}
	assert.IsIncreasing(t, at)
	assert.NotContains(t, got, "not used")
	assert.NotContains(t, got, "not of this folder")
	assert.NotContains(t, got, `path="/AGENTS.md"`)
	assert.Equal(t, got, b.Prompt("/src/p/cmd"), "it does not change between turns")
}

func TestWorkingInTheAgentDirNamesItsFileOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/a/AGENTS.md", "mine")
	assert.Len(t, system.Builder{Fs: fs, AgentDir: "/a"}.Files("/a"), 1)
}

func TestLongAndBrokenFiles(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/w/AGENTS.md", strings.Repeat("é", 64<<10))
	files := system.Builder{Fs: fs, AgentDir: "/a"}.Files("/w")
	require.Len(t, files, 1)
	assert.True(t, files[0].Cut)
	assert.LessOrEqual(t, len(files[0].Content), 64<<10)
	assert.NotContains(t, files[0].Content, "\uFFFD")

	var reported []string
	failing := failingFs{fs}
	b := system.Builder{Fs: failing, AgentDir: "/a", Report: func(path string, _ error) { reported = append(reported, path) }}
	assert.Empty(t, b.Files("/w"))
	assert.Contains(t, reported, "/w/AGENTS.md")
}

type failingFs struct{ afero.Fs }

func (failingFs) Open(string) (afero.File, error) {
	return nil, os.NewSyscallError("open", errors.New("broken"))
}
