package attack

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// trigger are files of a folder from which a program that the user starts later runs a command.
var trigger = []string{
	".vscode/settings.json", ".vscode/tasks.json", "sub/.vscode/launch.json", "x.code-workspace", ".idea/workspace.xml", ".nvim.lua", ".exrc", ".helix/config.toml", ".zed/tasks.json",
	".envrc", ".husky/pre-commit", ".githooks/pre-push", ".git/hooks/pre-commit", ".git/config", "lefthook.yml", ".pre-commit-config.yaml", ".devcontainer/devcontainer.json",
	".devcontainer.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".mcp.json", ".claude/settings.json", ".cursor/mcp.json",
	".codex/config.toml", ".gemini/settings.json", ".xcsh/settings.json", "opencode.json", "AGENTS.md", "CLAUDE.md", "gradlew", "mvnw", "gradle/wrapper/gradle-wrapper.properties",
	".npmrc", ".yarnrc.yml", ".cargo/config.toml", ".bazelrc", ".bashrc", ".tool-versions", "mise.toml",
	".VSCode/settings.json", ".vscode./settings.json", "VSCODE~1/settings.json", ".vs\u200ccode/settings.json", "sub/../.envrc",
}

// Permission to edit the folder does not include files that make other programs run commands.
func TestAutoEditDoesNotEscalate(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	require.NoError(t, os.Mkdir(v.path("sub"), 0o700))
	require.NoError(t, os.Symlink(".vscode/settings.json", v.path("link")))
	var calls [][]providertest.Call
	paths := append([]string{"main.go", "sub/new.go", "package.json", "link"}, trigger...)
	for _, path := range paths {
		calls = append(calls, call("write", map[string]any{"path": path, "content": "hostile\n"}))
	}
	for _, path := range []string{".envrc", ".git/hooks/post-merge", "sub/.vscode/tasks.json", "link"} {
		calls = append(calls, bash("echo hostile > "+path))
	}
	v.does(calls...)
	out := v.ask("--approval", "auto-edit")
	require.Len(t, v.results(), len(calls), out.stderr)
	for _, ordinary := range paths[:3] {
		assert.FileExists(t, v.path(ordinary))
	}
	for _, path := range append([]string{".git/hooks/post-merge", ".vscode/settings.json"}, trigger...) {
		assert.NoFileExists(t, v.path(path), path)
	}
}

// An executable file is not changed without approval, either.
func TestAutoEditAsksForExecutables(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	v := newVictim(t)
	for _, name := range []string{"build", "check"} {
		v.write(v.path(name), "#!/bin/sh\ntrue\n")
		require.NoError(t, os.Chmod(v.path(name), 0o700))
	}
	v.does(
		call("write", map[string]any{"path": "build", "content": "hostile\n"}),
		call("edit", map[string]any{"path": "check", "edits": []any{map[string]any{"oldText": "true", "newText": "hostile"}}}),
		bash("echo hostile > build"),
	)
	v.ask("--approval", "auto-edit")
	assert.NotContains(t, v.read(v.path("build")), "hostile")
	assert.NotContains(t, v.read(v.path("check")), "hostile")
}

// The prompt names the file, and the user can approve only this one change.
func TestAProtectedFileIsNamed(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	writes := func(path string) []providertest.Call {
		return call("write", map[string]any{"path": path, "content": "x\n"})
	}
	ed := v.edit(lsptest.Fields{"approval": "auto-edit", "ui": lsptest.Fields{"hooks": true}})
	asked := v.turn(ed, nil, writes(".vscode/settings.json"), writes("main.go"), writes(filepath.Join(v.work, ".envrc")))
	require.Len(t, asked, 2)
	assert.Equal(t, []string{filepath.FromSlash(".vscode/settings.json")}, asked[0].Protected)
	assert.Equal(t, []string{".envrc"}, asked[1].Protected)
	for _, q := range asked {
		assert.Empty(t, q.Rules)
	}
	assert.FileExists(t, v.path("main.go"))

	ed = v.edit(lsptest.Fields{"approval": "auto-edit"})
	asked = v.turn(ed, nil, writes(".github/workflows/x.yml"))
	require.Len(t, asked, 1)
	assert.Contains(t, asked[0].Message, "Changes a protected file: .github/workflows/x.yml")
	for _, a := range asked[0].Actions {
		assert.NotContains(t, a.Title, "session")
	}
}
