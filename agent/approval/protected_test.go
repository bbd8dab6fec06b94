package approval_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
)

// asked returns the prompt that a request causes, nil if it needs no approval.
func asked(t *testing.T, cfg approval.Config, r approval.Request) (got *approval.Prompt) {
	t.Helper()
	g := approval.NewGate(cfg)
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		got = &p
		return approval.Once, nil
	})
	_, err := g.Ask(t.Context(), r)
	require.NoError(t, err)
	return got
}

// Permission to edit the folder is no permission to change files that other programs obey.
func TestProtectedFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	require.NoError(t, os.Symlink(".vscode", filepath.Join(root, "settings")))
	require.NoError(t, os.Symlink("sub", filepath.Join(root, ".idea")))
	for name, protected := range map[string]bool{
		".vscode/settings.json": true, "sub/.envrc": true, "settings/tasks.json": true, ".idea/x.xml": true, "AGENTS.md": true, "main.go": false, "sub/x": false,
	} {
		for _, cfg := range []approval.Config{
			{Root: root, Mode: approval.AutoEdit}, {Root: root, Mode: approval.Ask, Memory: fixed{{Edit: true}}},
		} {
			p := asked(t, cfg, edit("e", filepath.Join(root, filepath.FromSlash(name))))
			if !protected {
				require.Nil(t, p, name)
				continue
			}
			require.NotNil(t, p, name)
			require.Equal(t, []string{filepath.FromSlash(name)}, p.Protected)
			require.Empty(t, p.Outside)
			require.Empty(t, p.Rules, "no more than this once")
		}
		require.Nil(t, asked(t, approval.Config{Root: root, Mode: approval.Yolo}, edit("e", filepath.Join(root, name))))
	}
	p := asked(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash("cd sub && cp x ../.envrc; echo x > .npmrc"))
	require.Equal(t, []string{".npmrc", filepath.FromSlash("sub/.npmrc"), "../.envrc"}, p.Protected)
	require.Empty(t, p.Rules)
}

// An executable file may be run later by a user who has not reviewed the change.
func TestExecutableFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	root := t.TempDir()
	path := filepath.Join(root, "build")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	cfg := approval.Config{Root: root, Mode: approval.AutoEdit}
	require.Nil(t, asked(t, cfg, edit("e", path)))
	require.NoError(t, os.Chmod(path, 0o700))
	require.Equal(t, []string{"build"}, asked(t, cfg, edit("e", path)).Protected)
	require.Equal(t, []string{"build"}, asked(t, cfg, bash("echo x > build")).Protected)
	require.True(t, approval.Protected(".git/hooks/x"))
	require.False(t, approval.Protected("build"))
}

// Where a command's output would go outside of the folder, the user sees it.
func TestOutputOutside(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	elsewhere, err := filepath.EvalSymlinks(elsewhere)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(root, "out")))
	p := asked(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash("echo x > out/file"))
	require.Equal(t, []string{filepath.Join(elsewhere, "file")}, p.Outside)
	require.Empty(t, p.Rules)
}
