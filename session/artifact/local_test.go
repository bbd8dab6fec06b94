package artifact_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

func TestLocalPath(t *testing.T) {
	t.Parallel()
	fs, path := kit.Disk(t)
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	dir := filepath.Join(path[:len(path)-len(".jsonl")], "local")
	for name, kind := range map[string]fault.Kind{
		"": fault.InvalidArgument, ".": fault.InvalidArgument, "..": fault.InvalidArgument, ".x": fault.InvalidArgument, "a/b": fault.InvalidArgument,
		"../x": fault.InvalidArgument, `a\b`: fault.InvalidArgument, "a:b": fault.InvalidArgument, "a\x00": fault.InvalidArgument,
	} {
		_, err := dirOf(s, path).Local(name)
		require.True(t, fault.Is(err, kind), "%q: %v", name, err)
	}
	file, err := dirOf(s, path).Local("PLAN.md")
	require.NoError(t, err, "it need not exist")
	require.Equal(t, filepath.Join(dir, "PLAN.md"), file)
	_, err = artifact.Dir{Fs: s.Fs}.Local("PLAN.md")
	require.True(t, fault.Is(err, fault.NotPersistent))

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "directory"), 0o700))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = dirOf(s, path).Local("PLAN.md")
	require.NoError(t, err)
	_, err = dirOf(s, path).Local("directory")
	require.True(t, fault.Is(err, fault.OutsideRoot))
}

// A link anywhere on the way leads out of the session.
func TestLocalPathThroughALink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"", "local", "local/PLAN.md"} {
		fs, path := kit.Disk(t)
		s, elsewhere := kit.StoreIn(fs, filepath.Dir(path), nil), t.TempDir()
		at := filepath.Join(path[:len(path)-len(".jsonl")], filepath.FromSlash(link))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		if err := os.Symlink(elsewhere, at); err != nil {
			t.Skip(err)
		}
		_, err := dirOf(s, path).Local("PLAN.md")
		require.True(t, fault.Is(err, fault.OutsideRoot), "%q: %v", link, err)
	}
}
