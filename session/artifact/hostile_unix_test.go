//go:build unix

package artifact_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// With anything in the directory: nothing outside of it is read or written, and nothing blocks.
// Proves: N-02
func TestAHostileArtifactDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	disk := afero.NewBasePathFs(afero.NewOsFs(), root)
	dir := filepath.Join(root, artifactDir)
	kit.Put(t, disk, kit.StoreDir+"/secret", "secret")
	kit.Put(t, disk, artifactDir+"/sub/5.bash.log", "x")
	require.NoError(t, os.Symlink(filepath.Join(root, kit.StoreDir, "secret"), filepath.Join(dir, "0.bash.log")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "1.bash.log")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "sub", "5.bash.log"), filepath.Join(dir, "2.bash.log")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "3.bash.log"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "4.bash.log"), 0o700))
	long := "6." + strings.Repeat("é", 120) + ".log"
	kit.Put(t, disk, artifactDir+"/"+long, "long")
	odd := "7. \n.log"
	kit.Put(t, disk, artifactDir+"/"+odd, "odd")
	s := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()})
	path := filepath.Join(root, artifactSession)

	list, err := dirOf(s, path).List()
	require.NoError(t, err)
	require.Equal(t, []string{"6 " + strings.Repeat("é", 120), "7  \n"}, artifactIDs(list))
	for _, id := range []string{"0", "1", "2", "3", "4", "0.bash.log", "3.bash.log", "sub"} {
		_, err := dirOf(s, path).Read(id, 0, 100)
		require.True(t, fault.Is(err, fault.NotFound), "%q: %v", id, err)
	}
	part, err := dirOf(s, path).Read(long, 0, 100)
	require.NoError(t, err)
	require.Equal(t, "long", part.Text)
	require.Equal(t, "8", keepArtifact(t, s, path, "bash", "mine"), "numbers that links and pipes have are not given again")
	secret, err := os.ReadFile(filepath.Join(root, kit.StoreDir, "secret"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(secret))
	_, err = os.Lstat(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A directory that is a link leads elsewhere: nothing is read or written there.
// Proves: N-02
func TestAnArtifactDirectoryThatIsALink(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "0.bash.log"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(root, "s")))
	s := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()})
	path := filepath.Join(root, "s.jsonl")
	_, err := dirOf(s, path).List()
	require.True(t, fault.Is(err, fault.OutsideRoot), err)
	_, err = dirOf(s, path).Read("0", 0, 10)
	require.True(t, fault.Is(err, fault.OutsideRoot), err)
	_, err = dirOf(s, path).Create("bash")
	require.True(t, fault.Is(err, fault.OutsideRoot), err)
	files, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Len(t, files, 1)

	require.NoError(t, os.WriteFile(filepath.Join(root, "f"), nil, 0o600))
	list, err := dirOf(s, filepath.Join(root, "f.jsonl")).List()
	require.NoError(t, err)
	require.Empty(t, list, "a file has no artifacts in it")
	_, err = dirOf(s, filepath.Join(root, "f.jsonl")).Create("bash")
	require.True(t, fault.Is(err, fault.IO), err)
}
